//! A command and what it may do, as a value: nothing is run or opened here.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use crate::record::CommandRecord;
use crate::tier::{Tier, UnknownWord};

/// A command and how it is run.
#[derive(Debug, Clone)]
pub struct SandboxedCommand {
    /// The program and its arguments. A name without `/` is looked up in the command's own `PATH`.
    pub arguments: Vec<OsString>,
    /// Where it runs: absolute, in the workspace.
    pub directory: PathBuf,
    /// Which files it sees.
    pub files: FileView,
    /// What it may write.
    pub profile: Profile,
    /// Whether it reaches the network.
    pub network: NetworkMode,
    /// Where its variables come from.
    pub environment: CommandEnvironment,
    /// Where it is written down what is restored should moss be killed while it runs; unset where it writes
    /// nothing.
    pub record: Option<CommandRecord>,
    /// Whether it runs git, as far as is known: what is hidden of the files that git tracks is marked then in the indexes
    /// that it may write, where there is a record.
    pub runs_git: bool,
    /// What it may use at most.
    pub limits: CommandLimits,
    /// Whether it is given a standard input that can be written to; otherwise that is empty.
    pub has_input: bool,
    /// Whether its standard streams are a terminal of its own: what it writes there comes as standard
    /// output, what is written to its input is typed.
    pub has_terminal: bool,
    /// It is refused where the machine isolates less well.
    pub tier_min: Tier,
}

/// What a command may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Profile {
    /// Its private temporary and home directories alone.
    ReadOnly,
    /// The workspace and caches, less protected files.
    #[default]
    WorkspaceWrite,
    /// Whatever its user may, less masked files.
    DangerFull,
}

/// Whether a command reaches the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NetworkMode {
    /// Nothing but a loopback interface of its own.
    #[default]
    Off,
    /// As its user does.
    On,
}

/// Which files a command sees beside the system's programs, the toolchains of the home directory
/// and its private temporary directory. All paths are absolute.
#[derive(Debug, Clone, Default)]
pub struct FileView {
    /// The root of the workspace: a real path, without links.
    pub workspace: PathBuf,
    /// Directories that are writable besides: see [`FileView::caches`]. One that a link leads to, or that is, holds or
    /// lies in what is masked or `apart`, is left out.
    pub writable: Vec<PathBuf>,
    /// What none of `writable` may be, hold or lie in.
    pub apart: Vec<PathBuf>,
    /// Files and directories that it may read besides.
    pub readable: Vec<PathBuf>,
    /// Files and directories that stay as they are. Those that do not exist are removed if the
    /// command makes them.
    pub protected: Vec<PathBuf>,
    /// Such as matter less: where there are not enough mounts for all, they are compared afterwards.
    pub protected_last: Vec<PathBuf>,
    /// `.git`s beside that of the workspace's root: directories, or the files of worktrees and
    /// submodules. What commits need is writable there, what runs code is protected.
    pub repositories: Vec<PathBuf>,
    /// Files and directories that are not readable.
    pub masked: Vec<PathBuf>,
    /// Unix sockets that the command may connect to.
    pub sockets: Vec<PathBuf>,
    /// When the workspace was looked at for all this; none where that is just now.
    pub looked: Option<Instant>,
}

/// Where the environment of a command comes from: allowed names of `from`, then `set`.
#[derive(Debug, Clone)]
pub struct CommandEnvironment {
    /// Variables that may be passed on.
    pub from: Vec<(OsString, OsString)>,
    /// Names that are passed on besides those of the table; `PREFIX_*` stands for all that start so.
    pub granted: Vec<String>,
    /// Variables that are set in any case.
    pub set: Vec<(OsString, OsString)>,
}

/// What a command may use at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandLimits {
    /// Longest run, in wall-clock time; without one it runs until it ends or is stopped.
    pub timeout: Option<Duration>,
    /// How long it has to end by itself once it is to end.
    pub grace: Duration,
    /// CPU time of each of its processes, in seconds.
    pub cpu_seconds: u64,
    /// Open files of each of its processes.
    pub files_max: u64,
    /// Size of each file that it writes.
    pub file_bytes_max: u64,
    /// Memory of all its processes together.
    pub memory_bytes_max: u64,
    /// How many processes it may have at once.
    pub processes_max: u64,
}

/// Directories beneath the home directory that build tools write to, and fail without.
const CACHES: &[&str] = &[
    ".cache/go-build",
    ".cache/pip",
    ".cache/pnpm",
    ".cache/uv",
    ".cache/yarn",
    ".cargo/git",
    ".cargo/registry",
    ".gradle/caches",
    ".gradle/wrapper",
    ".ivy2/cache",
    ".local/share/pnpm/store",
    ".m2/repository",
    ".npm/_cacache",
    ".npm/_logs",
    ".nuget/packages",
    "go/pkg/mod",
];

/// Variables that move caches elsewhere, and the caches in the directory that they name.
const MOVED_CACHES: &[(&str, &[&str])] = &[
    ("CARGO_HOME", &["git", "registry"]),
    ("GOCACHE", &[""]),
    ("GOMODCACHE", &[""]),
    ("GOPATH", &["pkg/mod"]),
    ("GRADLE_USER_HOME", &["caches", "wrapper"]),
    ("NPM_CONFIG_CACHE", &["_cacache", "_logs"]),
    ("npm_config_cache", &["_cacache", "_logs"]),
];

// === impl SandboxedCommand ===

impl SandboxedCommand {
    /// A command at the root of a workspace, with every default.
    pub fn new(
        workspace: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        let workspace = workspace.into();
        Self {
            arguments: arguments.into_iter().map(Into::into).collect(),
            directory: workspace.clone(),
            files: FileView { workspace, looked: Some(Instant::now()), ..FileView::default() },
            profile: Profile::default(),
            network: NetworkMode::default(),
            environment: CommandEnvironment::default(),
            record: None,
            runs_git: false,
            limits: CommandLimits::default(),
            has_input: false,
            has_terminal: false,
            tier_min: Tier::Full,
        }
    }

    /// A script for `bash`, or for `sh` if it is missing. No start-up file is read.
    pub fn shell(workspace: impl Into<PathBuf>, script: impl Into<OsString>) -> Self {
        let script = script.into();
        let bash = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
        let arguments: Vec<OsString> = match bash.iter().find(|path| Path::new(path).exists()) {
            Some(bash) => {
                vec![(*bash).into(), "--norc".into(), "--noprofile".into(), "-c".into(), script]
            }
            None => vec!["/bin/sh".into(), "-c".into(), script],
        };
        Self::new(workspace, arguments)
    }
}

// === impl FileView ===

impl FileView {
    /// Returns the caches of build tools that exist: beneath a home directory, and where variables of an
    /// environment moved them. One that would be the home directory, or one above it, is left out.
    pub fn caches(home: Option<&Path>, environment: &[(OsString, OsString)]) -> Vec<PathBuf> {
        let of_home =
            home.into_iter().flat_map(|home| CACHES.iter().map(move |cache| home.join(cache)));
        let of_variable = |(name, value): &(OsString, OsString)| {
            // Of several directories a tool writes to the first.
            let moved = std::env::split_paths(value).next().unwrap_or_default();
            let known = MOVED_CACHES.iter().filter(|(variable, _)| name == variable);
            let caches = known.flat_map(|(_, caches)| caches.iter());
            caches.map(|cache| moved.join(cache)).collect::<Vec<_>>()
        };
        let is_above = |path: &Path| home.is_some_and(|home| home.starts_with(path));
        let is_cache = |path: &PathBuf| {
            let is_deep = path.is_absolute() && path.components().count() > 2;
            is_deep && !is_above(path) && path.is_dir()
        };
        let all = of_home.chain(environment.iter().flat_map(of_variable)).filter(is_cache);
        // Without a slash at their end.
        let all = all.map(|path| path.components().collect::<PathBuf>());
        all.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

// === impl CommandLimits ===

impl Default for CommandLimits {
    fn default() -> Self {
        Self {
            timeout: Some(Duration::from_secs(120)),
            grace: Duration::from_secs(2),
            cpu_seconds: 3600,
            files_max: 4096,
            file_bytes_max: 8 << 30,
            memory_bytes_max: 4 << 30,
            processes_max: 1024,
        }
    }
}

// === impl Profile ===

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::DangerFull => "danger-full",
        })
    }
}

impl FromStr for Profile {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let all = [Self::ReadOnly, Self::WorkspaceWrite, Self::DangerFull];
        all.into_iter().find(|profile| profile.to_string() == word).ok_or_else(|| UnknownWord {
            word: word.to_owned(),
            expected: "`read-only`, `workspace-write`, `danger-full`",
        })
    }
}

// === impl NetworkMode ===

impl fmt::Display for NetworkMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::On => "on",
        })
    }
}
