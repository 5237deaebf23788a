//! Workspaces, commands and what they leave behind.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use moss_sandbox::{
    CommandEnd, LauncherKind, OutputStream, RunningCommand, Sandbox, SandboxError, SandboxOptions,
    SandboxedCommand, Tier,
};
use tempfile::TempDir;
use tokio::sync::{OnceCell, mpsc};

/// The program that is a keeper, and a stand-in for moss.
pub(crate) const KEEPER: &str = env!("CARGO_BIN_EXE_moss-sandbox-keeper");
/// The ways in which commands are kept in.
pub(crate) const WAYS: [Way; 3] = [Way::Bubblewrap, Way::Own, Way::Landlock];
/// Those of the full tier.
pub(crate) const FULL: [Way; 2] = [Way::Bubblewrap, Way::Own];
/// Longest wait for a condition.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A tier, and what makes its namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Bubblewrap,
    Own,
    Landlock,
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) end: CommandEnd,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A workspace, removed at the end.
pub(crate) struct Place {
    pub(crate) root: PathBuf,
    _directory: TempDir,
}

/// The sandbox of a way, which this machine must have.
pub(crate) async fn sandbox(way: Way) -> Sandbox {
    static FOUND: [OnceCell<Sandbox>; WAYS.len()] = [const { OnceCell::const_new() }; WAYS.len()];
    let find = || {
        Sandbox::detect(SandboxOptions {
            program: KEEPER.into(),
            tier_max: way.tier(),
            launchers: way.launchers(),
        })
    };
    let sandbox = FOUND[way as usize].get_or_init(find).await;
    assert_eq!(sandbox.tier(), way.tier(), "{way}: {}", sandbox.report());
    sandbox.clone()
}

/// Tests ways side by side: for tests that wait most of the time.
pub(crate) fn side_by_side<F: Future<Output = ()>>(ways: &[Way], test: impl Fn(Way) -> F + Sync) {
    std::thread::scope(|scope| {
        for way in ways {
            let test = &test;
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.unwrap().block_on(test(*way));
            });
        }
    });
}

/// Runs a command to its end.
pub(crate) async fn run(way: Way, mut command: SandboxedCommand) -> Ran {
    command.tier_min = way.tier();
    try_run(way, command).await.unwrap()
}

pub(crate) async fn try_run(way: Way, command: SandboxedCommand) -> Result<Ran, SandboxError> {
    let (sender, mut chunks) = mpsc::channel(16);
    let running = sandbox(way).await.start(command, sender).await?;
    let mut written = [Vec::new(), Vec::new()];
    let listen = async {
        while let Some(chunk) = chunks.recv().await {
            written[(chunk.stream == OutputStream::Stderr) as usize].extend(chunk.bytes);
        }
    };
    let ((), end) = tokio::join!(listen, running.wait());
    let [stdout, stderr] = written.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Ran { end: end?, stdout, stderr })
}

/// Starts a command whose output nobody wants.
pub(crate) async fn start(way: Way, mut command: SandboxedCommand) -> RunningCommand {
    command.tier_min = way.tier();
    let (sender, _) = mpsc::channel(1);
    sandbox(way).await.start(command, sender).await.unwrap()
}

/// A number that no other test has: `sleep` with it is found among all processes.
pub(crate) fn marker() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("98{:07}.{next:03}", std::process::id())
}

/// The processes of this machine whose command line has a word.
pub(crate) fn alive(word: &str) -> Vec<i32> {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let has = |pid: &i32| {
        // Of one whose first thread has ended the others have it.
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let lines = threads.filter_map(|thread| fs::read(thread.path().join("cmdline")).ok());
        // Shells that are about to start it have it within a longer word.
        lines
            .into_iter()
            .any(|line| line.split(|byte| *byte == 0).any(|part| part == word.as_bytes()))
    };
    pids.filter(has).collect()
}

/// Waits until a condition is met.
pub(crate) async fn eventually(what: &str, mut is_met: impl FnMut() -> bool) {
    let since = Instant::now();
    let mut ticks = tokio::time::interval(Duration::from_millis(10));
    while !is_met() {
        assert!(since.elapsed() < PATIENCE, "{what}");
        ticks.tick().await;
    }
}

/// Waits until no process has a word.
pub(crate) async fn dead(word: &str) {
    eventually(&format!("`{word}` is still running"), || alive(word).is_empty()).await;
}

// === impl Way ===

impl Way {
    pub(crate) fn tier(self) -> Tier {
        match self {
            Self::Bubblewrap | Self::Own => Tier::Full,
            Self::Landlock => Tier::Landlock,
        }
    }

    /// Whether what a command may not change is restored after it, and not kept from it.
    pub(crate) fn restores_afterwards(self) -> bool {
        match self {
            Self::Bubblewrap | Self::Own => false,
            Self::Landlock => true,
        }
    }

    pub(crate) fn launchers(self) -> &'static [LauncherKind] {
        match self {
            Self::Bubblewrap => &[LauncherKind::Bubblewrap],
            Self::Own => &[LauncherKind::Own],
            Self::Landlock => &[],
        }
    }
}

/// The word by which the stand-in for moss knows it.
impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Own => "own",
            Self::Landlock => "landlock",
        })
    }
}

// === impl Place ===

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap().join("workspace");
        fs::create_dir(&root).unwrap();
        Self { root, _directory: directory }
    }

    /// A script at its root.
    pub(crate) fn shell(&self, script: &str) -> SandboxedCommand {
        SandboxedCommand::shell(self.root.clone(), script)
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root.join(path);
        write(&path, text);
        path
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
