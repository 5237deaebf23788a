//! One conversation with a server: who waits for what, and the two tasks that read and write. They end with it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::fault::ServerFault;
use crate::framing::read_message;
use crate::outgoing::{Outgoing, WaitingMessages, outgoing};
use crate::readiness::{ReadySign, ReportedWork, logs};
use crate::wire::{self, CONTENT_MODIFIED, SERVER_CANCELLED, WireMessage};

/// Largest message of a server.
const MESSAGE_BYTES_MAX: usize = 64 << 20;
/// Most messages of a server, and most bytes of them, within [`FLOOD_WINDOW`].
const FLOOD_MESSAGES_MAX: u64 = 100_000;
const FLOOD_BYTES_MAX: u64 = 512 << 20;
const FLOOD_WINDOW: Duration = Duration::from_secs(60);
/// Most requests that wait for a server at once.
const PENDING_MAX: usize = 64;
/// How often a request is put again because the text changed meanwhile.
const TRIES_MAX: usize = 4;
/// Longest message of an error that is shown, in bytes.
const SAID_BYTES_MAX: usize = 300;
/// How long the last words may take to be written.
const FAREWELL_MAX: Duration = Duration::from_millis(500);

/// What a server responded, as text; none where that is null.
type ServerResult = Option<Box<RawValue>>;
type PendingReply = oneshot::Sender<Result<ServerResult, WireRefusal>>;

/// What a server replied to a request that it does not serve.
#[derive(Debug)]
struct WireRefusal {
    code: i64,
    message: String,
}

/// The two tasks of a conversation, and what they share with who talks.
#[derive(Debug)]
pub(crate) struct ServerTalk {
    shared: Arc<TalkState>,
    outgoing: Outgoing,
    next_id: AtomicI64,
    tasks: [JoinHandle<()>; 2],
}

#[derive(Debug)]
struct TalkState {
    /// None once it is over: nobody waits any more.
    pending: Mutex<Option<HashMap<i64, PendingReply>>>,
    /// Why it is over.
    over: watch::Sender<Option<ServerFault>>,
    work: watch::Sender<ReportedWork>,
    /// What its log has once it knows nothing any more.
    exit_sign: Option<&'static str>,
    settings: Value,
    root: String,
}

/// A request that waits for its reply. Where nobody waits for that any more, the server hears so: what is dropped
/// with its call would be worked on all the same.
struct WaitingRequest<'t> {
    talk: &'t ServerTalk,
    id: i64,
}

/// How much a server has said lately.
struct Flood {
    since: Instant,
    messages: u64,
    bytes: u64,
}

// === impl ServerTalk ===

impl ServerTalk {
    pub(crate) fn new(
        from: impl AsyncRead + Send + Unpin + 'static,
        to: impl AsyncWrite + Send + Unpin + 'static,
        (settings, root): (Value, String),
        (ready, exit_sign): (ReadySign, Option<&'static str>),
    ) -> Self {
        let shared = Arc::new(TalkState {
            pending: Mutex::new(Some(HashMap::new())),
            over: watch::Sender::new(None),
            work: watch::Sender::new(ReportedWork::new(ready)),
            exit_sign,
            settings,
            root,
        });
        let (outgoing, waiting) = outgoing();
        let reader = tokio::spawn(read(from, Arc::clone(&shared), outgoing.clone()));
        let writer = tokio::spawn(write(to, Arc::clone(&shared), waiting));
        Self { shared, outgoing, next_id: AtomicI64::new(1), tasks: [reader, writer] }
    }

    /// What is known of the server's work.
    pub(crate) fn work(&self) -> &watch::Sender<ReportedWork> {
        &self.shared.work
    }

    /// Why nothing can be asked any more; none where something can.
    pub(crate) fn over(&self) -> Option<ServerFault> {
        self.shared.over.borrow().clone()
    }

    /// Waits until it is over.
    pub(crate) async fn until_over(&self) -> ServerFault {
        let mut over = self.shared.over.subscribe();
        let fault = over.wait_for(Option::is_some).await;
        fault.ok().and_then(|fault| fault.clone()).unwrap_or(ServerFault::Ended)
    }

    /// Says something that nobody responds to.
    pub(crate) fn notify(&self, method: &str, parameters: &Value) -> Result<(), ServerFault> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": parameters}))
    }

    /// Asks, and waits in bounded time; again where the text changed while the server looked.
    pub(crate) async fn request(
        &self,
        method: &'static str,
        parameters: &Value,
        timeout: Duration,
    ) -> Result<ServerResult, ServerFault> {
        let ask = async {
            let mut tries = 0;
            loop {
                tries += 1;
                match self.request_once(method, parameters).await? {
                    Ok(result) => return Ok(result),
                    Err(refusal) => {
                        let is_passing =
                            matches!(refusal.code, CONTENT_MODIFIED | SERVER_CANCELLED);
                        if !is_passing || tries == TRIES_MAX {
                            return Err(ServerFault::Refused { method, message: refusal.message });
                        }
                    }
                }
            }
        };
        let asked = tokio::time::timeout(timeout, ask).await;
        asked.unwrap_or(Err(ServerFault::Timeout { method, after: timeout }))
    }

    async fn request_once(
        &self,
        method: &str,
        parameters: &Value,
    ) -> Result<Result<ServerResult, WireRefusal>, ServerFault> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, reply) = oneshot::channel();
        {
            let mut pending = self.shared.lock();
            let Some(pending) = pending.as_mut() else { return Err(self.ended()) };
            if pending.len() >= PENDING_MAX {
                return Err(ServerFault::Busy(pending.len()));
            }
            pending.insert(id, sender);
        }
        let _waiting = WaitingRequest { talk: self, id };
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}))?;
        reply.await.map_err(|_| self.ended())
    }

    fn send(&self, message: &Value) -> Result<(), ServerFault> {
        self.outgoing.say(&message.to_string()).map_err(|fault| match fault {
            ServerFault::Ended => self.ended(),
            fault => self.shared.end(fault),
        })
    }

    fn ended(&self) -> ServerFault {
        self.over().unwrap_or(ServerFault::Ended)
    }

    /// Asks the server to end, without waiting for a reply: whoever keeps its process ends it in any case.
    pub(crate) async fn say_farewell(&self) {
        let _ = self.request("shutdown", &Value::Null, FAREWELL_MAX).await;
        let _ = self.notify("exit", &Value::Null);
    }
}

impl Drop for ServerTalk {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

// === impl WaitingRequest ===

impl Drop for WaitingRequest<'_> {
    fn drop(&mut self) {
        let waiting = self.talk.shared.lock().as_mut().and_then(|pending| pending.remove(&self.id));
        if waiting.is_some() {
            // Whether it listens does not matter.
            let _ = self.talk.notify("$/cancelRequest", &json!({"id": self.id}));
        }
    }
}

// === impl TalkState ===

impl TalkState {
    fn lock(&self) -> MutexGuard<'_, Option<HashMap<i64, PendingReply>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it for all who wait; the first reason counts.
    fn end(&self, fault: ServerFault) -> ServerFault {
        self.over.send_if_modified(|over| {
            let is_first = over.is_none();
            over.get_or_insert(fault);
            is_first
        });
        // Those who wait see it by their channels.
        self.lock().take();
        self.over.borrow().clone().unwrap_or(ServerFault::Ended)
    }

    /// Takes one message. Returns what is to be said to it.
    fn take(&self, message: &[u8]) -> Result<Option<String>, ServerFault> {
        let read: Result<WireMessage<'_>, _> = serde_json::from_slice(message);
        let message = read
            .map_err(|error| ServerFault::Broken(format!("a message cannot be read: {error}")))?;
        match (message.method, message.id) {
            (Some(method), Some(id)) => {
                let asked = (id, method.as_ref());
                wire::reply(asked, message.params, &self.settings, &self.root).map(Some)
            }
            (Some(method), None) => {
                if self.exit_sign.is_some_and(|sign| logs(&method, message.params, sign)) {
                    return Err(ServerFault::Ended);
                }
                self.work.send_if_modified(|work| work.take(&method, message.params));
                Ok(None)
            }
            (None, Some(id)) => {
                let waiting = id
                    .get()
                    .parse()
                    .ok()
                    .and_then(|id: i64| self.lock().as_mut().and_then(|all| all.remove(&id)));
                // One that comes too late, or that nobody asked for, is for nobody.
                let Some(waiting) = waiting else { return Ok(None) };
                let result = match message.error {
                    None => Ok(message.result.map(ToOwned::to_owned)),
                    Some(error) => {
                        Err(WireRefusal { code: error.code, message: cut(error.message) })
                    }
                };
                let _ = waiting.send(result);
                Ok(None)
            }
            (None, None) => {
                Err(ServerFault::Broken("a message is neither of its kinds".to_owned()))
            }
        }
    }
}

fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(SAID_BYTES_MAX));
    text
}

/// Reads all that the server says, until it ends or breaks the protocol.
async fn read(from: impl AsyncRead + Unpin, shared: Arc<TalkState>, outgoing: Outgoing) {
    let mut from = BufReader::new(from);
    let mut flood = Flood { since: Instant::now(), messages: 0, bytes: 0 };
    let fault = loop {
        let message = match read_message(&mut from, MESSAGE_BYTES_MAX).await {
            Ok(Some(message)) => message,
            Ok(None) => break ServerFault::Ended,
            Err(fault) => break fault,
        };
        if let Err(fault) = flood.count(message.len()) {
            break fault;
        }
        match shared.take(&message) {
            Ok(None) => {}
            Ok(Some(reply)) => {
                if let Err(fault) = outgoing.say(&reply) {
                    break fault;
                }
            }
            Err(fault) => break fault,
        }
    };
    shared.end(fault);
}

/// Writes what is to be said, until nobody listens.
async fn write(to: impl AsyncWrite + Unpin, shared: Arc<TalkState>, waiting: WaitingMessages) {
    if waiting.write(to).await.is_err() {
        shared.end(ServerFault::Ended);
    }
}

// === impl Flood ===

impl Flood {
    fn count(&mut self, bytes: usize) -> Result<(), ServerFault> {
        if self.since.elapsed() > FLOOD_WINDOW {
            *self = Self { since: Instant::now(), messages: 0, bytes: 0 };
        }
        self.messages += 1;
        self.bytes += bytes as u64;
        if self.messages > FLOOD_MESSAGES_MAX || self.bytes > FLOOD_BYTES_MAX {
            let (messages, bytes) = (self.messages, self.bytes);
            let message = format!("it sent {messages} messages, {bytes} bytes, within a minute");
            return Err(ServerFault::Broken(message));
        }
        Ok(())
    }
}
