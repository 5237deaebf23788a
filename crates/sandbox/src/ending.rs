//! How a command ended, and what is known about its sandbox: values.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::command::{NetworkMode, Profile};
use crate::environment::named_in;
use crate::git_outside::GitOutside;
use crate::hindered::{Hindered, HinderingPaths, is_of_git};
use crate::shown::shown;
use crate::tier::Tier;
use crate::worker::ProcessExit;

/// Most processes that are listed of those that a command left running.
pub const LEFT_RUNNING_MAX: usize = 32;
/// What is said of a command some of whose processes may run on.
pub const RUNS_ON: &str = "processes that it started may still run: they were killed, and moss did not see all of them \
                           end; a person can look for them with `ps`";
/// What is said where a command could reach abstract sockets of the machine.
pub(crate) const ABSTRACT_SOCKETS: &str = "this kernel does not keep the command from abstract Unix sockets of the machine, such as that of X11 \
                                           (`@/tmp/.X11-unix/X0`): Linux does from 6.12 on (Landlock ABI 6)";
/// What to do about files that git takes for changed.
const TRACKED: &str = "git takes for changed, since commands may not read them, and `add -A`, `commit -a`, `stash` and \
                       `rebase` fail where moss has not marked them in the index: another program ran git, a job ran what \
                       lasts beside git, somebody else wrote the index, or the checkout is sparse. Run git by itself, name \
                       other files, or a person adds a rule with their `paths`, `protected = true` and `decision = \"allow\"` to the policy";
/// What is said of files that it leaves alone, where a command wrote the name of one.
const LEFT_ALONE: &str = "it adds, commits, stashes and replaces nothing of them, whatever it says of a sparse checkout. \
                          A person does that, or adds a rule with their `paths`, `protected = true` and `decision = \
                          \"allow\"` to the policy";
/// What is said where it leaves them alone although the command has ended.
const STILL_MARKED: &str = "their skip-worktree bits could not be cleared, most likely as `index.lock` lies beside the \
                            index, or git has split that. moss tries again before the next command; a person removes \
                            that file where no git runs, or has the index whole again with `git update-index \
                            --no-split-index` (`--no-skip-worktree FILE` clears the bit of one)";
/// What to do about worktrees that are gone.
const THROWN_AWAY: &str = "outside of what commands write: their files are thrown away with the command that made them, \
                           their branches and commits stay. Add worktrees within the workspace (`git worktree add .worktrees/NAME`); a \
                           person removes what git still knows of these with `git worktree prune`";
/// What is said of what git rewrites in other worktrees.
const UNATTRIBUTED: &str = "changed while the command ran, by it or by others. git rewrites them by itself, so they stay as \
                            they are: where nobody else worked there, a person looks at them";
/// What it means that a command could not change what is protected.
const INCOMPLETE: &str = "what the command did is incomplete, whatever its exit status, since commands may not write, \
                          replace or remove what is protected, or hidden from them: do not commit all changes \
                          (`commit -a`, `add -A`) before `git status` shows only those that you mean";
/// What is said where it is not certain which file that was.
const UNNAMED: &str = "Which file that was its output does not say for certain";
/// What helps with such a file.
const BY_RULE: &str = "A person does that, or adds a rule with its `paths`, `protected = true` and `decision = \"allow\"` \
                       to the policy";
/// What helps with one of git's own.
const BY_PERSON: &str =
    "What git keeps for itself (`config`, `hooks` …) only a person changes or removes";
/// What to do where a temporary directory holds too much.
const THERE: &str =
    "on this tier that is on the disk: remove there what is done with, or write into the workspace";
/// Longest shown command line of a process, in bytes.
pub const LEFT_COMMAND_BYTES_MAX: usize = 256;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEnd {
    /// How its leader ended: the process that was started.
    pub exit: ProcessExit,
    /// Whether it ended by itself or was ended.
    pub cause: EndCause,
    /// From its start to the end of its leader.
    pub duration: Duration,
    /// What still ran when its leader had ended: at most [`LEFT_RUNNING_MAX`]. All of it was killed.
    pub left_running: Vec<LeftProcess>,
    /// How many those were.
    pub left_running_count: usize,
    /// Whether some of them may run on: they were killed, and others had been started by then.
    pub may_run_on: bool,
    /// Bytes of its standard output.
    pub stdout_bytes: u64,
    /// Bytes of its standard error.
    pub stderr_bytes: u64,
    /// Whether something kept its streams open past the bound: the end of the output may be missing.
    pub is_output_cut: bool,
    /// Protected paths that it changed or made all the same, and that are as before now.
    pub restored: Vec<PathBuf>,
    /// Protected paths that it changed and that could not be restored: they were too large.
    pub changed: Vec<PathBuf>,
    /// What git rewrites in other worktrees of the same repository and that changed meanwhile, by whomever: see
    /// [`CommandEnd::what_changed_elsewhere`].
    pub unattributed: Vec<PathBuf>,
    /// Files that git still leaves alone although it has ended: see [`CommandEnd::what_git_still_leaves`].
    pub still_marked: Vec<PathBuf>,
    /// Worktrees that git made where nothing stays: see [`CommandEnd::what_git_lost`].
    pub lost_worktrees: Vec<PathBuf>,
    /// Why it was ended, where something disturbed its sandbox.
    pub disturbance: Option<Disturbance>,
    /// What is known about its sandbox.
    pub facts: SandboxFacts,
}

/// Why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndCause {
    /// It ended by itself, with whatever exit status.
    Ended,
    /// It ran longer than its limit.
    Timeout,
    /// It was stopped before its end, on demand.
    Stopped,
    /// It used more than it may.
    Limit(CommandLimit),
    /// Something of what is kept from it was not as it has to be: see [`CommandEnd::disturbance`].
    Disturbed,
}

/// What became of a path while a command ran that is kept from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disturbance {
    /// Which one that is.
    pub path: PathBuf,
    /// What became of it.
    pub change: CoverChange,
}

/// How a path is no more as it has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoverChange {
    /// A file that the command may not read was replaced or moved from outside, and could be read.
    Unmasked,
    /// A file that it may not write was replaced, moved or removed from outside, and could be written.
    Unprotected,
    /// A protected file was made that there was not.
    Made,
    /// A directory in which something is protected was closed again and again.
    Closed,
}

/// A limit that ends a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandLimit {
    /// CPU time of a process.
    Cpu,
    /// Size of a file.
    FileSize,
    /// Memory of all processes together.
    Memory,
    /// Number of processes at one time.
    Processes,
    /// Bytes of all files together in a temporary directory that is on the disk: so many at most.
    TemporaryBytes(u64),
    /// Number of files and directories there: so many at most.
    TemporaryFiles(u64),
    /// What can be typed where it asks: nothing, on a terminal that it made for itself.
    Input,
    /// Time in which none of its processes runs, as each has stopped.
    Standstill,
}

/// A process that a command left running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftProcess {
    /// Its id, as the command saw it.
    pub pid: u32,
    /// Its command line, cut to [`LEFT_COMMAND_BYTES_MAX`].
    pub command: String,
}

/// What is known about the sandbox of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxFacts {
    /// How well it was isolated.
    pub tier: Tier,
    /// What it could write.
    pub profile: Profile,
    /// Whether it reached the network.
    pub network: NetworkMode,
    /// Names of variables that it was not given.
    pub environment_removed: Vec<String>,
    /// Names of variables that it was given because they were granted, in order.
    pub environment_granted: Vec<String>,
    /// Sockets that it could connect to because they were granted.
    pub sockets: Vec<PathBuf>,
    /// Protected paths that could only be compared afterwards.
    pub compared_afterwards: Vec<PathBuf>,
    /// What it could not change, where mounts keep that from it: see [`SandboxFacts::why_incomplete`].
    pub hindering: HinderingPaths,
    /// Masked paths that it could read all the same.
    pub unmasked: Vec<PathBuf>,
    /// Masked files that git tracks, and takes for changed: see [`SandboxFacts::why_changed_for_git`].
    pub tracked_masks: Vec<PathBuf>,
    /// Such as it left alone instead: see [`SandboxFacts::what_git_left`].
    pub left_alone: Vec<PathBuf>,
    /// What its git may want outside of what it sees: see [`SandboxFacts::what_git_misses`].
    pub git_outside: GitOutside,
    /// Whether it could connect to abstract sockets of the machine, which are no files, although it was kept in
    /// otherwise.
    pub has_abstract_sockets: bool,
}

// === impl CommandEnd ===

impl CommandEnd {
    /// What of other worktrees changed meanwhile, and stays so.
    pub fn what_changed_elsewhere(&self) -> Option<String> {
        let shown = shown(&self.unattributed)?;
        Some(format!("git's own files of other worktrees ({shown}) {UNATTRIBUTED}"))
    }

    /// Which files git still leaves alone that the command may not read, and what helps.
    pub fn what_git_still_leaves(&self) -> Option<String> {
        let shown = shown(&self.still_marked)?;
        Some(format!("git still leaves files alone ({shown}): {STILL_MARKED}"))
    }

    /// Which worktrees were thrown away with the command, and what helps.
    pub fn what_git_lost(&self) -> Option<String> {
        let shown = shown(&self.lost_worktrees)?;
        Some(format!("git has made worktrees ({shown}) {THROWN_AWAY}"))
    }
}

// === impl SandboxFacts ===

impl SandboxFacts {
    /// Why git takes masked files for changed, where a command wrote the name of one.
    pub fn why_changed_for_git(&self, written: [&str; 2]) -> Option<String> {
        let named: Vec<_> =
            self.tracked_masks.iter().filter(|path| is_named(path, written)).collect();
        let shown = shown(&named)?;
        Some(format!("there are files that {TRACKED}: {shown}"))
    }

    /// Which masked files git left alone, with more on it where a command wrote the name of one.
    pub fn what_git_left(&self, written: [&str; 2]) -> Option<String> {
        let is_named = self.left_alone.iter().any(|path| is_named(path, written));
        let why = if is_named { format!("; {LEFT_ALONE}") } else { String::new() };
        let shown = shown(&self.left_alone)?;
        Some(format!("git left files alone that commands may not read: {shown}{why}"))
    }

    /// Why what a command did is incomplete, where it wrote that it could not change a protected or masked file.
    pub fn why_incomplete(&self, written: [&str; 2]) -> Option<String> {
        let Hindered { named, is_unsure } = self.hindering.named(written);
        let shown = shown(&Vec::from_iter(&named)).map(|shown| format!(": {shown}"));
        if shown.is_none() && !is_unsure {
            return None;
        }
        let (of_git, others): (Vec<_>, Vec<_>) =
            named.into_iter().partition(|path| is_of_git(path));
        let unnamed = is_unsure.then_some(UNNAMED);
        let by_rule = (is_unsure || !others.is_empty()).then_some(BY_RULE);
        let by_person = (is_unsure || !of_git.is_empty()).then_some(BY_PERSON);
        let ways: Vec<_> = unnamed.into_iter().chain(by_rule).chain(by_person).collect();
        Some(format!("{INCOMPLETE}{}. {}", shown.unwrap_or_default(), ways.join(". ")))
    }

    /// What git did not find or could not write since it lies outside, where a command wrote that it did not.
    pub fn what_git_misses(&self, written: [&str; 2]) -> Option<String> {
        self.git_outside.why(written, self.network)
    }

    /// Names of variables that it was not given and that one of these texts has.
    pub fn removed_in(&self, texts: &[&str]) -> Vec<String> {
        named_in(&self.environment_removed, texts)
    }

    /// What people and models are to know of it with every result.
    pub fn warning(&self) -> Option<&'static str> {
        self.has_abstract_sockets.then_some(ABSTRACT_SOCKETS)
    }
}

/// Whether the name of a file stands in a text.
fn is_named(path: &Path, written: [&str; 2]) -> bool {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    written.iter().any(|text| text.contains(&*name))
}

// === impl Disturbance ===

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.change {
            CoverChange::Unmasked => write!(
                f,
                "{path}, which the command may not read, was replaced or moved from outside while it ran: it could be \
                 read from then on. Start it again to have it hidden"
            ),
            CoverChange::Unprotected => write!(
                f,
                "{path}, which the command may not write, was replaced, moved or removed from outside while it ran: \
                 it could be written from then on. Look at it, then start the command again"
            ),
            CoverChange::Closed => write!(
                f,
                "{path}, in which something is protected, was closed while it ran, and closed again as often as it was \
                 opened: by it, or by another one that ran then"
            ),
            CoverChange::Made => {
                write!(
                    f,
                    "{path}, which no command may make, was made while it ran: by it, or by another one that ran then"
                )
            }
        }
    }
}

// === impl CoverChange ===

impl CoverChange {
    pub(crate) const ALL: [Self; 4] = [Self::Unmasked, Self::Unprotected, Self::Made, Self::Closed];
}

// === impl CommandLimit ===

impl CommandLimit {
    /// The numbers by which a keeper reports it.
    pub(crate) fn code(self) -> (u64, u64) {
        match self {
            Self::Cpu => (1, 0),
            Self::FileSize => (2, 0),
            Self::Memory => (3, 0),
            Self::Processes => (4, 0),
            Self::TemporaryBytes(most) => (5, most),
            Self::TemporaryFiles(most) => (6, most),
            Self::Input => (7, 0),
            Self::Standstill => (8, 0),
        }
    }

    pub(crate) fn of_code(kind: u64, most: u64) -> Option<Self> {
        Some(match kind {
            1 => Self::Cpu,
            2 => Self::FileSize,
            3 => Self::Memory,
            4 => Self::Processes,
            5 => Self::TemporaryBytes(most),
            6 => Self::TemporaryFiles(most),
            7 => Self::Input,
            8 => Self::Standstill,
            _ => return None,
        })
    }
}

impl fmt::Display for CommandLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("CPU time"),
            Self::FileSize => f.write_str("size of a file"),
            Self::Memory => f.write_str("memory"),
            Self::Processes => f.write_str("number of processes"),
            Self::Input => f.write_str("what can be typed on a terminal of its own"),
            Self::TemporaryBytes(most) => {
                write!(
                    f,
                    "its temporary directory (TMPDIR) had more than {} MiB; {THERE}",
                    most >> 20
                )
            }
            Self::TemporaryFiles(most) => {
                write!(f, "its temporary directory (TMPDIR) had more than {most} files; {THERE}")
            }
            Self::Standstill => f.write_str(
                "all of its processes were stopped (SIGSTOP), and none was left to continue them",
            ),
        }
    }
}
