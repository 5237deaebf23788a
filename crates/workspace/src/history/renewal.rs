//! Once a sync of the log has failed: it is written anew before anything relies on it.
//!
//! What a sync could not write the system takes for written, so that the next one returns well without it. What
//! such a log holds may be lost by a power cut, and all that is written behind it with it. So the store is closed
//! and opened again, by which SQLite checks the log and drops what is no longer as it was written; the rest goes
//! into the database, and the log begins anew. What was acknowledged is in it: a sync returned well before.

use std::io;

use rusqlite::Connection;

use super::settled::SettledEntries;
use super::{History, store};
use crate::error::Error;

// === impl History ===

impl History {
    /// Writes the log anew where a sync of it has failed. Called while nobody changes the workspace.
    pub(super) fn renew(&self) -> Result<(), Error> {
        if self.group_sync.failure().is_none() {
            return Ok(());
        }
        self.check_path()?;
        let mut connection = self.connection();
        store::distrust_log(&connection)?;
        // Only the log of a store that nobody has open is checked as it is opened.
        let none = Connection::open_in_memory()?;
        drop(std::mem::replace(&mut *connection, none));
        match store::open(&self.directory) {
            Ok(opened) => *connection = opened,
            Err(error) => {
                // For whoever only reads. The next change tries it again.
                *connection = Connection::open(self.directory.path().join(store::FILE))?;
                store::distrust_log(&connection)?;
                return Err(self.not_renewed(error));
            }
        }
        store::renew_log(&connection).map_err(|error| self.not_renewed(error))?;
        // Entries that are lost give their numbers to others.
        *self.settled() = SettledEntries::default();
        self.group_sync.trust();
        Ok(())
    }

    /// Where a disk is full, say: reading goes on, and the next change tries it again.
    fn not_renewed(&self, error: Error) -> Error {
        let path = self.directory.path().join(store::FILE);
        match error {
            Error::History { reason, damaged: false } => {
                let action = "bring to disk what was written to";
                Error::std_io(&path.display(), action, io::Error::other(reason))
            }
            other => other,
        }
    }
}
