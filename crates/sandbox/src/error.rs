//! Why a command was not run, or nothing is known about how it ended.

use std::io;
use std::path::PathBuf;

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
    /// The sandbox itself failed.
    #[error("the sandbox failed: {0}; `moss doctor` tries it again and says what to do")]
    Setup(String),
    /// A pipe or a process could not be made.
    #[error("the sandbox failed: {0}")]
    Io(#[from] io::Error),
}
