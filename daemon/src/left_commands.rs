//! The records of commands that run, by which another moss settles what they left should this one be killed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use moss_sandbox::{CommandRecord, LeftCommand};
use moss_workspace::own::OwnDir;

/// Where the records of commands that run are, in the state directory of a workspace.
const DIRECTORY: &str = "commands";

/// The records of the commands of a workspace.
#[derive(Debug)]
pub struct LeftCommands {
    directory: PathBuf,
}

// === impl LeftCommands ===

impl LeftCommands {
    /// Opens the records in a state directory, which must exist.
    ///
    /// # Errors
    ///
    /// Where the directory is not the user's own.
    pub fn open(state: &Path) -> Result<Self, moss_workspace::Error> {
        let directory = state.join(DIRECTORY);
        OwnDir::create(&directory)?;
        Ok(Self { directory })
    }

    /// A record for a command that is about to start, with the protected names that there are; without them,
    /// new ones stay.
    pub(crate) fn record(&self, known: Option<BTreeSet<PathBuf>>) -> CommandRecord {
        CommandRecord::new(self.directory.clone(), known)
    }

    /// Clears what is still marked in indexes of git for such commands as have ended.
    pub(crate) fn clear_marks(&self) -> std::io::Result<()> {
        moss_sandbox::clear_left_marks(&self.directory)
    }

    /// Finds the commands whose moss lives no more.
    pub(crate) fn find(&self) -> std::io::Result<Vec<LeftCommand>> {
        LeftCommand::find(&self.directory)
    }
}
