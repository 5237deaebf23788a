//! The history of one workspace: every committed change set, with the contents before and after.
//!
//! A SQLite database in a state directory outside of the workspace. An entry is written, durably,
//! as an intent before the first file is exchanged, and becomes history in the transaction that
//! marks it committed; an intent that was rolled back leaves nothing. Transactions are written
//! without a wait for the disk; what must be durable is waited for in `group_sync`, together with
//! other commits. Contents are stored plain, once per content; each is bounded by the limit on
//! editable files.
//!
//! A permanent deletion forgets: everything that history holds of that file is erased, earlier
//! versions too, unless another file's history holds the same bytes. What remains of the earlier
//! entries is that they happened; they can no longer be undone.

mod claims;
mod commits;
mod examine;
mod group_sync;
mod lease;
mod load;
mod merge;
mod prune;
mod query;
mod renewal;
mod rows;
mod settled;
pub(crate) mod store;
mod undo;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use moss_sdk::edit::{MatchLevel, Retention};
use moss_sdk::{ContentHash, RelPath};
use rusqlite::Connection;
use rustix::io::Errno;

use crate::changes::{FileAction, Plan};
use crate::diff;
use crate::error::Error;
use crate::handle::Identity;
use crate::origin::Origin;
use crate::own::{Lock, OwnDir};

use claims::Claims;
pub(crate) use claims::{Claim, Touched};
use group_sync::GroupSync;
pub(crate) use group_sync::PendingSync;
use lease::Lease;
pub(crate) use lease::LeaseShare;
pub use load::UndoBounds;
use settled::SettledEntries;
pub use store::FILE as HISTORY_FILE;
pub(crate) use store::IntentFile;

/// How long a commit waits for others that commit to the same workspace.
const LOCK_WAIT: Duration = Duration::from_secs(10);
const OPEN_LOCK_FILE: &str = "open.lock";

/// The history of one workspace. Several processes may open the same one.
#[derive(Debug)]
pub struct History {
    connection: Mutex<Connection>,
    directory: OwnDir,
    /// Which file the database was when it was opened.
    database: Option<Identity>,
    limits: HistoryLimits,
    claims: Claims,
    lease: Lease<Lock>,
    group_sync: GroupSync,
    settled: Mutex<SettledEntries>,
}

/// Bounds on what is kept. The oldest entries go first; the newest `entries_min` never go by age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryLimits {
    /// Most bytes of contents.
    pub bytes_max: u64,
    /// Longest time that an entry is kept.
    pub age_max: Duration,
    /// Entries that stay whatever their age: a clock that was set wrong erases nothing.
    pub entries_min: u64,
}

/// One committed change set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Its stable number; they rise, with gaps.
    pub number: u64,
    /// When it was begun, by the wall clock; order is by number.
    pub at: SystemTime,
    /// The tool, the call and the caller that made it.
    pub origin: Origin,
    /// What happened to each file.
    pub files: Vec<HistoryFile>,
    /// The entries that this one undid, the newest first. They may be gone.
    pub undo_of: Vec<u64>,
    /// The entries that undid this one, the newest first.
    pub undone_by: Vec<u64>,
}

/// What an entry did to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryFile {
    /// The file, as the change named it.
    pub path: RelPath,
    /// Its real path, after all links.
    pub real: RelPath,
    /// What was done to the file.
    pub action: FileAction,
    /// Hash of the content before; none if there is no file.
    pub before: Option<ContentHash>,
    /// Hash of the content after; none if there is no file.
    pub after: Option<ContentHash>,
    /// Size before, in bytes.
    pub before_bytes: u64,
    /// Size after, in bytes.
    pub after_bytes: u64,
    /// Permission bits after, or before a deletion.
    pub mode: Option<u32>,
    /// Whether a deleted content was kept.
    pub retention: Retention,
    /// Lines that are new or changed.
    pub added: usize,
    /// Lines that are gone or changed.
    pub removed: usize,
    /// Whether the contents are no longer held.
    pub forgotten: bool,
    /// Whether an editor did it in a buffer that was not saved.
    pub unsaved: bool,
    /// How the locations of an edit were found; none where nothing was searched for.
    pub match_level: Option<MatchLevel>,
}

/// Bytes of another program that a commit found in its way and could not leave in place, or of a file whose
/// interrupted deletion could not be rolled back because another program had taken its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptContent {
    /// Number in the history, from 1.
    pub number: u64,
    /// When the commit found it.
    pub at: SystemTime,
    /// The file it was in.
    pub path: String,
    /// Names the content in the store.
    pub hash: ContentHash,
}

/// Which entries to list, the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryFilter {
    /// Only entries that changed this file, by either of its paths.
    pub path: Option<RelPath>,
    /// Only entries of this call.
    pub call_id: Option<String>,
    /// Only entries that this tool made.
    pub tool: Option<String>,
    /// Only entries of who is called this.
    pub caller: Option<String>,
    /// Only entries after this number.
    pub since: Option<u64>,
    /// Only entries before this number.
    pub before: Option<u64>,
    /// So many entries are left out, the newest first.
    pub skip: usize,
    /// Maximum number of entries.
    pub entries_max: usize,
}

/// Which changes to undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoTarget {
    /// The entry with this number.
    Entry(u64),
    /// Everything that one call has changed.
    Call(String),
    /// Everything after an entry, which must be there, or after 0 everything that is held.
    Since(u64),
}

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryStats {
    /// How many committed entries there are.
    pub entries: u64,
    /// How much the contents of files take, in bytes.
    pub bytes: u64,
    /// Contents of other programs that were kept.
    pub kept: u64,
}

// === impl HistoryLimits ===

impl Default for HistoryLimits {
    fn default() -> Self {
        Self {
            bytes_max: 1 << 30,
            age_max: Duration::from_secs(90 * 24 * 60 * 60),
            entries_min: 50,
        }
    }
}

// === impl HistoryFilter ===

impl Default for HistoryFilter {
    fn default() -> Self {
        Self {
            path: None,
            call_id: None,
            tool: None,
            caller: None,
            since: None,
            before: None,
            skip: 0,
            entries_max: 100,
        }
    }
}

// === impl History ===

impl History {
    /// Opens the history in a state directory, making both where they are missing. The directory
    /// belongs to one workspace.
    ///
    /// # Errors
    ///
    /// `Own` where the directory is not private; `History` where the store is damaged or was made
    /// by a newer version; `Busy`; `Io`.
    pub fn open(state_directory: &Path, limits: HistoryLimits) -> Result<Self, Error> {
        Self::open_syncing(state_directory, limits, store::log_sync)
    }

    /// As [`History::open`], with another way to bring what is written to disk.
    fn open_syncing<S: FnMut() -> Result<(), Errno> + Send + 'static>(
        state_directory: &Path,
        limits: HistoryLimits,
        log_sync: impl FnOnce(&OwnDir) -> Result<S, Error>,
    ) -> Result<Self, Error> {
        let directory = OwnDir::create(state_directory)?;
        // Two that make the tables at once would not wait for each other.
        let _lock = directory.lock(OPEN_LOCK_FILE, LOCK_WAIT)?;
        let path = directory.path().join(store::FILE);
        let connection = store::open(&directory).map_err(|error| match error {
            Error::History { reason, damaged } => {
                Error::History { reason: format!("{}: {reason}", path.display()), damaged }
            }
            other => other,
        })?;
        // What a process before this one could not bring to disk looks as if it were there. One that has it open now
        // watches over it itself, and is not waited for.
        connection.busy_timeout(Duration::ZERO)?;
        let is_renewed = matches!(store::renew_log(&connection), Ok(()) | Err(Error::Busy { .. }));
        connection.busy_timeout(store::BUSY_TIMEOUT)?;
        let connection = Mutex::new(connection);
        let database = directory.at_path(store::FILE)?;
        let group_sync = GroupSync::start(log_sync(&directory)?)
            .map_err(|error| Error::std_io(&state_directory.display(), "serve", error))?;
        if !is_renewed {
            // On a full disk, say: reading goes on, and the first change tries it again.
            group_sync.distrust(Errno::IO);
        }
        let (claims, lease, settled) = (Claims::default(), Lease::default(), Mutex::default());
        Ok(Self { connection, directory, database, limits, claims, lease, group_sync, settled })
    }

    /// As [`History::open`], for tests of what happens at the waits for the disk.
    #[cfg(test)]
    pub(crate) fn open_with(
        state_directory: &Path,
        limits: HistoryLimits,
        sync: impl FnMut() -> Result<(), Errno> + Send + 'static,
    ) -> Result<Self, Error> {
        Self::open_syncing(state_directory, limits, |_| Ok(sync))
    }

    /// Lists entries, the newest first.
    ///
    /// # Errors
    ///
    /// `History`, `Busy`.
    pub fn list(&self, filter: &HistoryFilter) -> Result<Vec<HistoryEntry>, Error> {
        query::list(&self.connection(), filter)
    }

    /// Counts the entries that a filter lets through, of all pages.
    ///
    /// # Errors
    ///
    /// `History`, `Busy`.
    pub fn count(&self, filter: &HistoryFilter) -> Result<u64, Error> {
        query::count(&self.connection(), filter)
    }

    /// Returns one entry.
    ///
    /// # Errors
    ///
    /// `NoEntry`, `History`, `Busy`.
    pub fn get(&self, number: u64) -> Result<HistoryEntry, Error> {
        query::get(&self.connection(), number)
    }

    /// Computes the unified diff of a file of an entry; none where its contents are no longer
    /// held. Others can use the history meanwhile.
    ///
    /// # Errors
    ///
    /// `History`, `Busy`.
    pub fn diff(&self, file: &HistoryFile) -> Result<Option<String>, Error> {
        let sides = query::sides(&self.connection(), file)?;
        Ok(sides.map(|(before, after)| {
            diff::between(&file.path, before.as_deref(), after.as_deref()).text
        }))
    }

    /// Returns how much is kept.
    ///
    /// # Errors
    ///
    /// `History`, `Busy`.
    pub fn stats(&self) -> Result<HistoryStats, Error> {
        query::stats(&self.connection())
    }

    /// Lists bytes of other programs that were kept, the newest first.
    ///
    /// # Errors
    ///
    /// `History`, `Busy`.
    pub fn kept(&self) -> Result<Vec<KeptContent>, Error> {
        query::kept(&self.connection())
    }

    /// Returns a content by its hash; none where it is not held.
    ///
    /// # Errors
    ///
    /// `History`, `Busy`.
    pub fn content(&self, hash: &ContentHash) -> Result<Option<Vec<u8>>, Error> {
        store::blob(&self.connection(), hash)
    }

    /// Records a plan that an editor has carried out in a buffer that is not saved, and returns the
    /// number of its entry. On return it is durable.
    ///
    /// # Errors
    ///
    /// `History`, `Busy`.
    pub fn record(&self, plan: &Plan, origin: &Origin) -> Result<u64, Error> {
        self.check_path()?;
        if self.group_sync.failure().is_some() {
            // Whoever is alone finds a log that can be trusted.
            drop(self.alone()?);
        }
        let number = store::record(&mut self.connection(), plan, origin)?;
        self.make_durable()?;
        // Room is made after the fact, as after a commit.
        let _ = self.prune(number);
        Ok(number)
    }

    /// Runs the store's own check of its integrity.
    ///
    /// # Errors
    ///
    /// `History` with what is wrong.
    pub fn check_integrity(&self) -> Result<(), Error> {
        query::check_integrity(&self.connection())
    }

    /// Entries in a file that has lost its name would be gone with this process.
    fn check_path(&self) -> Result<(), Error> {
        let found = self.directory.at_path(store::FILE)?;
        if found.is_some() && found == self.database {
            return Ok(());
        }
        let path = self.directory.path().join(store::FILE);
        Err(Error::History {
            reason: format!(
                "{} was moved, removed or replaced while it is in use: put it back or restart the daemon",
                path.display()
            ),
            damaged: false,
        })
    }

    pub(crate) fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic elsewhere leaves no transaction open: it is rolled back when dropped.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room, the oldest entries first. Never touches the entry `newest`, nor what may not be swept yet.
    pub(crate) fn prune(&self, newest: u64) -> Result<(), Error> {
        prune::prune(&mut self.connection(), &self.limits, newest)
    }
}
