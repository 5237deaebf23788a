//! Why a command was not run, or nothing is known about how it ended.

use std::io;
use std::path::{Path, PathBuf};

use crate::cover::TooManyMounts;
use crate::tier::{SandboxReport, Tier};

/// Why a command was not run. Nothing of this is the command's own failure.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// This machine isolates less well than is demanded.
    #[error("the command needs a sandbox of tier {needed}, and this machine has {report}")]
    Tier {
        /// The best tier of this machine.
        found: Tier,
        /// The lowest tier that the command may run in.
        needed: Tier,
        /// What was found, and what would raise it.
        report: Box<SandboxReport>,
    },
    /// The workspace, or the directory to run in, cannot be used.
    #[error("a command cannot run in {}: {reason}", .path.display())]
    Directory {
        /// As it was given.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The arguments are none.
    #[error("{0}")]
    Arguments(String),
    /// The program cannot be run, as the command would see it.
    #[error(
        "`{program}` cannot be run: {reason}; is it installed, and in a directory that commands see?"
    )]
    Program {
        /// As it was looked up.
        program: String,
        /// What the system said.
        reason: String,
    },
    /// There is more to be kept out of its reach than can be.
    #[error("{0}")]
    TooManyMounts(#[from] TooManyMounts),
    /// What it may not change cannot be looked at, and so cannot be restored.
    #[error(
        "no command may change {}, and nobody would see whether one does: {} cannot be looked into; run \
         `chmod u+rwx {}`, or move it out of the workspace", .path.display(), .closed.display(), .closed.display()
    )]
    Closed {
        /// The name that is protected.
        path: PathBuf,
        /// The directory that it lies in and that cannot be looked into.
        closed: PathBuf,
    },
    /// The sandbox itself failed.
    #[error("the sandbox failed: {0}; `moss doctor` tries it again and says what to do")]
    Setup(String),
    /// A pipe or a process could not be made.
    #[error("the sandbox failed: {0}")]
    Io(#[from] io::Error),
}

// === impl SandboxError ===

impl SandboxError {
    /// The refusal of a command that could change a path unseen.
    pub(crate) fn closed(path: &Path) -> Self {
        let seen = path.ancestors().find(|around| around.symlink_metadata().is_ok());
        Self::Closed { path: path.to_owned(), closed: seen.unwrap_or(path).to_owned() }
    }
}
