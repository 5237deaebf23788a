//! The real daemon on a machine of its own: home, state, configuration and workspace lie in a
//! temporary directory, and nothing of the user's reaches it.
//!
//! Knows nothing of what a test is about. Every wait has a bound, and what was started is ended.

mod client;
mod compiled;
mod editor;
pub(crate) mod guests;
pub(crate) mod https;
mod log;
mod program;
pub(crate) mod raw_http2;

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use tempfile::TempDir;

pub(crate) use self::client::{
    Client, Events, Watcher, call, details, failure, output, reason, refusing, waiting,
};
pub(crate) use self::compiled::keep_code;
pub(crate) use self::editor::{Editor, range};
use self::log::Log;
pub(crate) use self::program::{binary, plugin};

/// Longest wait for anything, on a machine with much else to do.
pub(crate) const BOUND: Duration = Duration::from_secs(60);
/// How often a condition is looked at that nobody reports.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// A machine of one user with one workspace.
pub(crate) struct Site {
    directory: TempDir,
    root: PathBuf,
    arguments: Vec<String>,
}

/// A running daemon. Killed when dropped.
pub(crate) struct Daemon {
    child: Child,
    log: Log,
    socket: PathBuf,
    state: PathBuf,
}

/// A command that ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit code; of a killed command none.
    pub(crate) code: Option<i32>,
    /// What it wrote as its result.
    pub(crate) stdout: String,
    /// What else it said.
    pub(crate) stderr: String,
}

/// Waits for a future.
///
/// # Panics
///
/// Where it takes longer than [`BOUND`].
pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(BOUND, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what} took longer than {BOUND:?}"),
    }
}

/// Waits until a condition holds, looking again and again.
///
/// # Panics
///
/// Where it does not hold within [`BOUND`].
pub(crate) async fn until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    within(what, async {
        let mut looks = tokio::time::interval(LOOK_INTERVAL);
        while !condition().await {
            looks.tick().await;
        }
    })
    .await;
}

// === impl Site ===

impl Site {
    /// Makes a machine with an empty workspace.
    pub(crate) fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("moss-").tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let site = Self { directory, root, arguments: Vec::new() };
        for name in ["home", "config/moss", "state", "run", "work"] {
            std::fs::create_dir_all(site.root.join(name)).unwrap();
        }
        let private = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(site.root.join("run"), private).unwrap();
        site
    }

    /// Makes a machine where every edit of an ordinary file is allowed.
    pub(crate) fn allowing() -> Self {
        let site = Self::new();
        site.user_policy(
            "version = 1\n[[rule]]\neffects = [\"write\", \"delete\"]\ndecision = \"allow\"\n",
        );
        site
    }

    /// The root directory of the workspace.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.root.join("work")
    }

    /// A path on the machine, outside of the workspace.
    pub(crate) fn outside(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Where moss keeps its own files.
    pub(crate) fn state(&self) -> PathBuf {
        self.root.join("state/moss")
    }

    /// The state directory of the workspace.
    pub(crate) fn workspace_state(&self) -> PathBuf {
        let entries = std::fs::read_dir(self.state().join("workspaces")).unwrap();
        let all: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.root.join("run/moss/moss.sock")
    }

    /// Writes a file of the workspace.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        write(&self.workspace().join(path), content.as_ref())
    }

    /// Reads a file of the workspace as text.
    pub(crate) fn read(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).unwrap()
    }

    /// Reads a file of the workspace.
    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.workspace().join(path)).unwrap()
    }

    /// Whether the workspace has such an entry.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.workspace().join(path).symlink_metadata().is_ok()
    }

    /// Every file of the workspace with its content, for tests that nothing changes.
    pub(crate) fn snapshot(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut all = Vec::new();
        let mut directories = vec![self.workspace()];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let entry = entry.unwrap();
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    directories.push(entry.path());
                }
                let content = kind.is_file().then(|| std::fs::read(entry.path()).unwrap());
                all.push((entry.path(), content));
            }
        }
        all.sort();
        all
    }

    /// Writes the user's configuration.
    pub(crate) fn config(&self, text: &str) {
        write(&self.root.join("config/moss/config.toml"), text.as_bytes());
    }

    /// Writes the user's policy.
    pub(crate) fn user_policy(&self, text: &str) -> PathBuf {
        write(&self.root.join("config/moss/policy.toml"), text.as_bytes())
    }

    /// Writes the policy that the workspace brings along.
    pub(crate) fn workspace_policy(&self, text: &str) {
        self.write(".moss/policy.toml", text);
    }

    /// Writes an admin policy and names it to the daemon.
    pub(crate) fn admin_policy(&mut self, text: &str) -> PathBuf {
        let file = write(&self.root.join("admin.toml"), text.as_bytes());
        self.argument("--admin-policy").argument(file.to_str().unwrap());
        file
    }

    /// Writes the user's plugin list.
    pub(crate) fn plugin_list(&self, text: &str) -> PathBuf {
        write(&self.root.join("config/moss/moss-tools.json"), text.as_bytes())
    }

    /// Adds an argument of `moss serve`.
    pub(crate) fn argument(&mut self, argument: &str) -> &mut Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Prepares a moss command on this machine.
    pub(crate) fn command<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = Command::new(binary());
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.join("home"))
            .env("XDG_CONFIG_HOME", self.root.join("config"))
            .env("XDG_STATE_HOME", self.root.join("state"))
            .env("XDG_DATA_HOME", self.root.join("data"))
            .env("XDG_CACHE_HOME", self.root.join("cache"))
            .env("XDG_RUNTIME_DIR", self.root.join("run"))
            .env("TMPDIR", self.directory.path())
            .current_dir(self.workspace())
            .stdin(Stdio::null())
            .args(arguments);
        command
    }

    /// Runs a moss command in the workspace to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    /// Starts the daemon and waits until it serves.
    pub(crate) fn serve(&self) -> Daemon {
        Daemon::start(self.serve_command(), &self.socket(), &self.state())
    }

    /// Starts a daemon that must refuse to serve.
    pub(crate) fn serve_refused(&self) -> Ended {
        Ended::of(self.serve_command().stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    /// Prepares `moss serve` for this machine.
    pub(crate) fn serve_command(&self) -> Command {
        let listen = format!("unix:{}", self.socket().display());
        let mut command = self.command(["serve", "--listen", &listen]);
        command.args(&self.arguments);
        if !self.arguments.iter().any(|argument| argument == "--workspace") {
            command.arg("--workspace").arg(self.workspace());
        }
        command
    }
}

fn write(path: &Path, content: &[u8]) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
    path.to_owned()
}

// === impl Daemon ===

impl Daemon {
    /// Starts a daemon and waits until it serves on a socket.
    pub(crate) fn start(mut command: Command, socket: &Path, state: &Path) -> Self {
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("moss starts");
        let log = Log::follow(child.stderr.take().expect("it is piped"));
        let mut daemon = Self { child, log, socket: socket.to_owned(), state: state.to_owned() };
        daemon.wait_ready();
        daemon
    }

    fn wait_ready(&mut self) {
        let end = Instant::now() + BOUND;
        while !self.log.text().contains("moss listens on") {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.log.wait_end();
                panic!("the daemon ended with {status}: {}", self.log.text());
            }
            assert!(Instant::now() < end, "the daemon does not serve: {}", self.log.text());
            self.log.wait_more(LOOK_INTERVAL);
        }
    }

    /// Connects as a caller.
    pub(crate) async fn caller(&self) -> Client {
        self.connect(Some(&self.token("caller"))).await
    }

    /// Connects as an approver.
    pub(crate) async fn approver(&self) -> Client {
        self.connect(Some(&self.token("approver"))).await
    }

    /// Connects with a credential, or none, on a connection of its own.
    pub(crate) async fn connect(&self, token: Option<&str>) -> Client {
        Client::connect(&self.socket, token).await
    }

    /// Returns the credential of a role.
    pub(crate) fn token(&self, role: &str) -> String {
        std::fs::read_to_string(self.state.join(format!("{role}.token"))).unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Connects to its first port on this machine with a credential, or none.
    pub(crate) async fn dial(&self, token: Option<&str>) -> Client {
        Client::dial(self.port(), token).await
    }

    /// The first port on this machine that it says it listens on.
    pub(crate) fn port(&self) -> u16 {
        let log = self.log();
        let (_, rest) = log.split_once("tcp:127.0.0.1:").expect("it listens on a port");
        let digits = rest.chars().take_while(char::is_ascii_digit);
        digits.collect::<String>().parse().unwrap()
    }

    /// What the daemon has logged so far.
    pub(crate) fn log(&self) -> String {
        self.log.text()
    }

    /// Asks the daemon to end.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends the daemon a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("it is a child of ours");
    }

    /// Waits for the end of the daemon.
    pub(crate) fn wait(mut self) -> ExitStatus {
        let end = Instant::now() + BOUND;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < end, "the daemon does not end: {}", self.log.text());
            self.log.wait_more(LOOK_INTERVAL);
        }
    }

    /// Ends the daemon as a user does, and holds it to a clean end.
    pub(crate) fn stop(self) {
        self.terminate();
        let socket = self.socket.clone();
        let status = self.wait();
        assert_eq!(status.code(), Some(0), "ended by signal {:?}", status.signal());
        assert!(!socket.exists(), "the socket is left behind");
    }

    /// Kills the daemon where it stands.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- the daemon's log\n{}", self.log.text());
        }
    }
}

// === impl Ended ===

impl Ended {
    /// Runs a command to its end, in bounded time.
    pub(crate) fn of(command: &mut Command) -> Self {
        Self::of_slow(command, BOUND)
    }

    /// As [`Ended::of`], for a command that may take longer than [`BOUND`]: a build.
    pub(crate) fn of_slow(command: &mut Command, bound: Duration) -> Self {
        let mut child = command.spawn().expect("the command starts");
        let stdout = child.stdout.take().map(Log::follow);
        let stderr = child.stderr.take().map(Log::follow);
        let end = Instant::now() + bound;
        let all = |log: Option<Log>| {
            log.map_or_else(String::new, |log| {
                log.wait_end();
                log.text()
            })
        };
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return Self { code: status.code(), stdout: all(stdout), stderr: all(stderr) };
            }
            if Instant::now() > end {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("the command does not end: {command:?}\n{}\n{}", all(stdout), all(stderr));
            }
            match &stderr {
                Some(log) => log.wait_more(LOOK_INTERVAL),
                None => std::thread::park_timeout(LOOK_INTERVAL),
            }
        }
    }
}
