//! One language server that runs: its process in the sandbox, the two streams between it and its client, and the
//! task that ends it.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use moss_language_servers::{ClientOptions, ServerClient, ServerSpec, WatchedFiles};
use moss_policy::Policy;
use moss_sandbox::{
    CommandInput, EndCause, OutputChunk, OutputStream, RunningCommand, Sandbox, SandboxedCommand,
    Stopper,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use moss_config::LanguageServersConfig;

/// Chunks of output that are held for a client that is slow.
const CHUNKS_MAX: usize = 16;
/// What lies between the process and its client, in bytes.
const PIPE_BYTES: usize = 256 << 10;
/// How much of what it says on its standard error is kept, in bytes: the end.
const SAID_BYTES_MAX: usize = 4 << 10;
/// How many questions in a row it may leave without a response.
const SILENT_MAX: usize = 3;
/// How long it may take to end once its client has gone.
const FAREWELL: Duration = Duration::from_secs(2);
/// How often moss looks whether somebody still asks it, and whether it may run.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);

/// A server that runs.
#[derive(Debug)]
pub(crate) struct RunningServer {
    pub(crate) client: ServerClient,
    /// The policy under which it was started.
    pub(crate) policy: Arc<Policy>,
    pub(crate) started: Instant,
    /// The files as it knows them from the disk; who holds it brings it up to date.
    pub(crate) watched: tokio::sync::Mutex<Option<Arc<WatchedFiles>>>,
    stopper: Stopper,
    said: Arc<SaidText>,
    used: Mutex<Instant>,
    asked: AtomicUsize,
    /// How many questions in a row it did not respond to.
    unanswered: AtomicUsize,
    was_ended: AtomicBool,
}

/// A server that may be started.
pub(crate) struct ServerStart {
    pub(crate) spec: ServerSpec,
    pub(crate) command: SandboxedCommand,
    /// The root of its project.
    pub(crate) root: PathBuf,
    /// The files of its project as they are before it reads any.
    pub(crate) watched: Option<Arc<WatchedFiles>>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) settings: LanguageServersConfig,
    pub(crate) is_wanted: IsWanted,
}

/// Counts as being asked while it is held.
pub(crate) struct ServerUse(Arc<RunningServer>);

/// What the task of a server has.
struct KeptProcess {
    stopper: Stopper,
    said: Arc<SaidText>,
    draining: CancellationToken,
    /// Gives it the server, once that has said what it can do.
    to_hand: oneshot::Receiver<Weak<RunningServer>>,
    idle: Duration,
    is_wanted: IsWanted,
}

/// Whether a server that was started under a policy may run by what is in effect now.
pub(crate) type IsWanted = Box<dyn Fn(&Arc<Policy>) -> bool + Send + Sync>;

/// A process as it was started, with what it writes and reads.
type StartedProcess = (RunningCommand, mpsc::Receiver<OutputChunk>, Option<CommandInput>);

/// The end of what a server says beside the protocol, and why its process ended.
#[derive(Debug, Default)]
struct SaidText(Mutex<String>);

// === impl ServerStart ===

impl ServerStart {
    /// Starts it, and waits until it has said what it can do. It ends with what drains.
    ///
    /// # Errors
    ///
    /// Why it does not run, in words.
    pub(crate) async fn start(
        self,
        sandbox: &Sandbox,
        tasks: &TaskTracker,
        draining: CancellationToken,
    ) -> Result<Arc<RunningServer>, String> {
        let Self { spec, mut command, root, watched, policy, settings, is_wanted } = self;
        command.limits.timeout = None;
        command.limits.cpu_seconds = 24 * 3600;
        command.limits.memory_bytes_max = settings.memory_bytes;
        command.has_input = true;
        let set = spec.environment.iter();
        command.environment.set.extend(set.map(|(name, value)| (name.into(), value.into())));
        let (sender, chunks) = mpsc::channel(CHUNKS_MAX);
        let started = sandbox.start(command, sender).await;
        let mut process = started.map_err(|error| format!("it was not started: {error}"))?;
        let (stopper, input) = (process.stopper(), process.take_input());
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        let (from_client, to_client) = tokio::io::split(theirs);
        let said = Arc::new(SaidText::default());
        let (handed, to_hand) = oneshot::channel::<Weak<RunningServer>>();
        let kept = KeptProcess {
            stopper: stopper.clone(),
            said: Arc::clone(&said),
            draining,
            to_hand,
            idle: Duration::from_millis(settings.idle_ms),
            is_wanted,
        };
        tasks.spawn(kept.keep((process, chunks, input), (from_client, to_client)));
        let (from, to) = tokio::io::split(ours);
        let options = ClientOptions {
            root,
            start_max: Duration::from_millis(settings.ready_ms),
            response_max: Duration::from_millis(settings.response_ms),
        };
        let client = match ServerClient::start(from, to, &spec, &options).await {
            Ok(client) => client,
            Err(fault) => {
                stopper.kill();
                return Err(said.with(&fault.to_string()));
            }
        };
        let now = Instant::now();
        let server = Arc::new(RunningServer {
            client,
            policy,
            started: now,
            watched: tokio::sync::Mutex::new(watched),
            stopper,
            said,
            used: Mutex::new(now),
            asked: AtomicUsize::new(0),
            unanswered: AtomicUsize::new(0),
            was_ended: AtomicBool::new(false),
        });
        // Where its task has gone, its client sees so.
        let _ = handed.send(Arc::downgrade(&server));
        Ok(server)
    }
}

// === impl KeptProcess ===

impl KeptProcess {
    /// Hands on what both sides say, until the process has ended; ends it when it has to.
    async fn keep(
        self,
        (process, chunks, input): StartedProcess,
        (from_client, to_client): (ReadHalf<DuplexStream>, WriteHalf<DuplexStream>),
    ) {
        let Self { stopper, said, draining, to_hand, idle, is_wanted } = self;
        let over = CancellationToken::new();
        let handing = hand_output(chunks, to_client, &said, &over);
        let ended = async { tokio::join!(process.wait(), handing).0 };
        let stopped = async {
            tokio::select! {
                () = draining.cancelled() => {}
                () = feed(from_client, input) => {}
                () = until_unwanted(to_hand, idle, &is_wanted) => {}
            }
            over.cancel();
            stopper.kill();
            std::future::pending::<Infallible>().await
        };
        let end = tokio::select! {
            end = ended => end,
            never = stopped => match never {},
        };
        match end.map(|end| end.cause) {
            Ok(EndCause::Limit(limit)) => said.add(&format!("\nit was ended at a limit: {limit}")),
            Ok(_) => {}
            Err(error) => said.add(&format!("\n{error}")),
        }
    }
}

/// Hands what a server writes to its client, until it is over; of what it says beside that the end is kept.
async fn hand_output(
    mut chunks: mpsc::Receiver<OutputChunk>,
    mut to_client: WriteHalf<DuplexStream>,
    said: &SaidText,
    over: &CancellationToken,
) {
    let mut is_read = true;
    while let Some(chunk) = chunks.recv().await {
        match chunk.stream {
            OutputStream::Stderr => said.add(&String::from_utf8_lossy(&chunk.bytes)),
            // What nobody reads any more is taken all the same: the process may be ending.
            OutputStream::Stdout if is_read => {
                is_read = tokio::select! {
                    written = to_client.write_all(&chunk.bytes) => written.is_ok(),
                    () = over.cancelled() => false,
                };
            }
            OutputStream::Stdout => {}
        }
    }
    let _ = to_client.shutdown().await;
}

/// Hands what the client says to the server, until a while after the client has gone.
async fn feed(mut from_client: ReadHalf<DuplexStream>, input: Option<CommandInput>) {
    let mut buffer = vec![0; PIPE_BYTES];
    if let Some(input) = input {
        'talk: while let Ok(count @ 1..) = from_client.read(&mut buffer).await {
            let mut left = &buffer[..count];
            while !left.is_empty() {
                if input.write_some(&mut left).await.is_err() {
                    break 'talk;
                }
            }
        }
    }
    tokio::time::sleep(FAREWELL).await;
}

/// Waits until nobody asks a server any more, nobody can ask it, or it may not run any more.
async fn until_unwanted(
    to_hand: oneshot::Receiver<Weak<RunningServer>>,
    idle: Duration,
    is_wanted: &IsWanted,
) {
    let Ok(server) = to_hand.await else { return };
    loop {
        tokio::time::sleep(idle.min(LOOK_INTERVAL)).await;
        let Some(server) = server.upgrade() else { return };
        if server.client.over().is_some() {
            return;
        }
        if !is_wanted(&server.policy) {
            return server.end();
        }
        if !server.is_asked() && server.used_at().elapsed() >= idle {
            server.was_ended.store(true, Ordering::Relaxed);
            return server.client.say_farewell().await;
        }
    }
}

// === impl RunningServer ===

impl RunningServer {
    /// Notes that it is being asked, for as long as what is returned is held.
    pub(crate) fn in_use(self: &Arc<Self>) -> ServerUse {
        self.asked.fetch_add(1, Ordering::Relaxed);
        ServerUse(Arc::clone(self))
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed) > 0
    }

    /// When it was asked last.
    pub(crate) fn used_at(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it at once.
    pub(crate) fn end(&self) {
        self.was_ended.store(true, Ordering::Relaxed);
        self.stopper.kill();
    }

    /// Notes whether it responded. One that does not, again and again, is ended: it has failed.
    pub(crate) fn note_response(&self, has_responded: bool) {
        if has_responded {
            self.unanswered.store(0, Ordering::Relaxed);
        } else if self.unanswered.fetch_add(1, Ordering::Relaxed) + 1 >= SILENT_MAX {
            self.said.add("\nit did not respond again and again");
            self.stopper.kill();
        }
    }

    /// Whether moss ended it, and not itself.
    pub(crate) fn was_ended(&self) -> bool {
        self.was_ended.load(Ordering::Relaxed)
    }

    /// What went wrong, with the last words of the server.
    pub(crate) fn said(&self, fault: &str) -> String {
        self.said.with(fault)
    }
}

// === impl ServerUse ===

impl Drop for ServerUse {
    fn drop(&mut self) {
        self.0.asked.fetch_sub(1, Ordering::Relaxed);
        *self.0.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

// === impl SaidText ===

impl SaidText {
    fn add(&self, text: &str) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.push_str(text);
        let excess = said.len().saturating_sub(SAID_BYTES_MAX);
        if excess > 0 {
            let cut = said.ceil_char_boundary(excess);
            said.drain(..cut);
        }
    }

    /// A fault, with the last line that was said.
    fn with(&self, fault: &str) -> String {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match said.lines().map(str::trim).rfind(|line| !line.is_empty()) {
            Some(line) => {
                let line = &line[..line.floor_char_boundary(300)];
                format!("{fault} (its last words: {line})")
            }
            None => fault.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn output_that_nobody_reads_is_dropped_once_it_is_over() {
        let (sender, chunks) = mpsc::channel(CHUNKS_MAX);
        let (_unread, theirs) = tokio::io::duplex(1);
        let (said, over) = (SaidText::default(), CancellationToken::new());
        for stream in [OutputStream::Stdout, OutputStream::Stdout, OutputStream::Stderr] {
            sender.send(OutputChunk { stream, bytes: b"bye".to_vec() }).await.unwrap();
        }
        drop(sender);
        let handing = hand_output(chunks, tokio::io::split(theirs).1, &said, &over);
        tokio::join!(handing, async { over.cancel() });
        assert_eq!(said.with("it has ended"), "it has ended (its last words: bye)");
    }

    #[tokio::test]
    async fn a_server_whose_start_was_given_up_is_not_wanted() {
        let (handed, to_hand) = oneshot::channel();
        drop(handed);
        let is_wanted: IsWanted = Box::new(|_| true);
        until_unwanted(to_hand, Duration::MAX, &is_wanted).await;
    }

    #[test]
    fn of_what_a_server_says_the_end_is_kept() {
        let said = SaidText::default();
        assert_eq!(said.with("it has ended"), "it has ended");
        for _ in 0..1_000 {
            said.add("ein Wörtchen\n");
        }
        said.add("error: no toolchain\n\n");
        assert!(said.0.lock().unwrap().len() <= SAID_BYTES_MAX);
        assert_eq!(said.with("it has ended"), "it has ended (its last words: error: no toolchain)");
    }
}
