//! The journal: what was called, decided, confirmed and changed, in order and for good.
//!
//! One thread writes. A batched record is queued and written a little later with others; a durable
//! one is on disk, with all records before it, when [`Journal::record`] returns. A full queue makes
//! callers wait, without keeping a thread from other work: a record is never dropped without an
//! error to whoever made it. While the disk refuses, batched records are refused too, so that
//! nothing runs without leaving a trace; what was accepted before is tried again until it is
//! written or the journal is closed.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests lay out their own files"))]

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::sync::mpsc::{Sender, channel, error::TrySendError};
use tokio::sync::oneshot;

pub mod audit;
pub mod folding;
pub mod record;
pub mod redact;
pub mod room;
mod writer;

pub use self::record::{AskOutcome, AuditEvent, CalledBy, PluginDigest, Record, RecordedChange};

use self::audit::pruning::PruningBounds;
use self::audit::uses::ApprovalUses;
use self::audit::{AuditEntry, AuditFilter, Verification};
use self::room::{Room, Rooms};
use self::writer::{JournalWriter, Signals, WriterMessage};

/// Most records that wait for the writer.
pub const QUEUE_RECORDS_MAX: usize = 4096;
/// Longest wait for a slot in the queue.
pub const QUEUE_WAIT_MAX: Duration = Duration::from_secs(10);
/// How often a caller that blocks looks for a slot in a full queue.
const QUEUE_POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The audit journal of a state directory. Several processes may have the same one open.
pub struct Journal {
    sender: Sender<WriterMessage>,
    signals: Arc<Signals>,
    thread: std::thread::Thread,
    writer: Mutex<Option<JoinHandle<()>>>,
    rooms: Arc<Rooms>,
    dir: PathBuf,
}

/// When a record has to be on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A little later: a crash may lose it, and the ones after it.
    Batched,
    /// When recording it returns, together with everything recorded before.
    Durable,
}

/// Why something cannot be recorded or read back.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// The directory or the database cannot be opened.
    #[error(
        "the audit journal {path} cannot be opened: {reason}; check permissions and disk space"
    )]
    Open {
        /// Absolute path of the database file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The database is not what was written.
    #[error(
        "the audit journal {path} is damaged: {reason}; move it away with the files next to it \
         that start with its name; a new one is made"
    )]
    Damaged {
        /// Absolute path of the database file.
        path: PathBuf,
        /// What the check of the database or of the chain found.
        reason: String,
    },
    /// Another file, or none, has the name of the database.
    #[error(
        "the audit journal {path} was moved, removed or replaced while it is in use; put it back \
         or restart the daemon"
    )]
    Replaced {
        /// Absolute path of the database file.
        path: PathBuf,
    },
    /// A record cannot be written.
    #[error("the audit journal cannot be written: {0}; check disk space and permissions")]
    Write(String),
    /// The disk has no room for the records of a change.
    #[error(
        "the audit journal {path} has no room for the records of this change: {reason}; nothing was \
         changed: free space on the disk that it lies on, then retry"
    )]
    NoRoom {
        /// Absolute path of the database file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The journal cannot be read.
    #[error("the audit journal cannot be read: {0}")]
    Read(String),
    /// The queue stayed full.
    #[error("the audit journal is overloaded; try again later")]
    Overloaded,
    /// The journal is closed.
    #[error("the audit journal is closed")]
    Closed,
}

// === impl Journal ===

impl Journal {
    /// Opens the journal in a state directory, which must exist, and starts its writer.
    ///
    /// The database `audit.db` is made if it is missing, for its owner's eyes only.
    ///
    /// # Errors
    ///
    /// [`JournalError::Open`], [`JournalError::Damaged`].
    pub fn open(dir: &Path) -> Result<Self, JournalError> {
        Self::open_bounded(dir, PruningBounds::default())
    }

    /// As [`Journal::open`]; keeps so much of the journal.
    ///
    /// # Errors
    ///
    /// As [`Journal::open`].
    pub fn open_bounded(dir: &Path, bounds: PruningBounds) -> Result<Self, JournalError> {
        let log = audit::Log::open(dir)?;
        let rooms = Arc::new(Rooms::open(dir)?);
        let (sender, receiver) = channel(QUEUE_RECORDS_MAX);
        let signals = Arc::new(Signals::default());
        let writer = JournalWriter::new(log, bounds, receiver, Arc::clone(&signals));
        let writer = std::thread::Builder::new()
            .name("moss-journal".to_owned())
            .spawn(move || writer.run())
            .map_err(|error| JournalError::Open {
                path: dir.join(audit::FILE_NAME),
                reason: error.to_string(),
            })?;
        let thread = writer.thread().clone();
        let (writer, dir) = (Mutex::new(Some(writer)), dir.to_owned());
        Ok(Self { sender, signals, thread, writer, rooms, dir })
    }

    /// Records something, after everything that was recorded before this was called. Waits for a
    /// place while the queue is full.
    ///
    /// A record that has its slot is written even if the caller stops waiting, or hears of an
    /// error of the disk that passes.
    ///
    /// # Errors
    ///
    /// [`JournalError::Write`], [`JournalError::Replaced`], [`JournalError::Overloaded`],
    /// [`JournalError::Closed`].
    pub async fn record(&self, record: Record, durability: Durability) -> Result<(), JournalError> {
        self.record_of(Timestamp::now(), Box::new(record), durability).await
    }

    /// As [`Journal::record`], of what happened a little earlier. A record is large: in a box, no future on its way
    /// has room for it, and none of it is moved with them.
    ///
    /// # Errors
    ///
    /// As [`Journal::record`].
    pub async fn record_of(
        &self,
        time: Timestamp,
        record: Box<Record>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        match durability {
            Durability::Batched => {
                self.accepts()?;
                self.send(WriterMessage::Record { time, record, reply: None }).await
            }
            Durability::Durable => {
                let (reply, receiver) = oneshot::channel();
                self.send(WriterMessage::Record { time, record, reply: Some(reply) }).await?;
                receiver.await.unwrap_or(Err(JournalError::Closed))
            }
        }
    }

    /// Reserves room on the disk for the records of a change, before anything changes: see
    /// [`room::needed`]. Blocks for a moment, but waits for no disk.
    ///
    /// # Errors
    ///
    /// [`JournalError::NoRoom`].
    pub fn reserve(&self, bytes: u64) -> Result<Room, JournalError> {
        self.rooms.reserve(bytes)
    }

    /// Reads records back, what was just recorded included. Blocks: not for async code.
    ///
    /// # Errors
    ///
    /// As [`Journal::record`], and [`JournalError::Read`].
    pub fn tail(&self, filter: &AuditFilter) -> Result<Vec<AuditEntry>, JournalError> {
        self.flush()?;
        audit::tail(&self.dir, filter)
    }

    /// Counts the uses of each standing approval, by its name, as far as the journal reaches back.
    /// Blocks: not for async code.
    ///
    /// # Errors
    ///
    /// As [`Journal::record`], and [`JournalError::Read`].
    pub fn approval_uses(&self) -> Result<HashMap<String, ApprovalUses>, JournalError> {
        self.flush()?;
        audit::uses::approval_uses(&self.dir)
    }

    /// Checks the chain of hashes over all records. Blocks: not for async code.
    ///
    /// # Errors
    ///
    /// As [`Journal::record`], and [`JournalError::Read`].
    pub fn verify(&self) -> Result<Verification, JournalError> {
        self.flush()?;
        audit::verify(&self.dir)
    }

    /// Writes what is queued and ends the writer. Later records are refused. Dropping does the
    /// same.
    pub fn close(&self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            self.signals.close();
            self.thread.unpark();
            let _ = writer.join();
        }
    }

    /// Returns how often records were brought to disk because somebody waited for that, since it was opened. Those
    /// who wait at once share one of them.
    pub fn syncs(&self) -> u64 {
        self.signals.syncs()
    }

    /// Batched records are refused while the disk refuses.
    pub fn accepts(&self) -> Result<(), JournalError> {
        self.signals.failure().map_or(Ok(()), Err)
    }

    /// Puts a message into the queue, in bounded time.
    async fn send(&self, message: WriterMessage) -> Result<(), JournalError> {
        let is_awaited = message.is_awaited();
        let place = match self.sender.try_reserve() {
            Ok(place) => place,
            Err(TrySendError::Closed(())) => return Err(JournalError::Closed),
            Err(TrySendError::Full(())) => {
                let place = tokio::time::timeout(QUEUE_WAIT_MAX, self.sender.reserve()).await;
                if !is_awaited || place.is_err() {
                    self.accepts()?;
                }
                place.map_err(|_| JournalError::Overloaded)?.map_err(|_| JournalError::Closed)?
            }
        };
        place.send(message);
        self.wake(is_awaited);
        Ok(())
    }

    /// Brings everything recorded so far to disk. Blocks.
    fn flush(&self) -> Result<(), JournalError> {
        let (reply, receiver) = oneshot::channel();
        let mut message = WriterMessage::Flush(reply);
        let start = Instant::now();
        loop {
            message = match self.sender.try_send(message) {
                Ok(()) => break,
                Err(TrySendError::Closed(_)) => return Err(JournalError::Closed),
                Err(TrySendError::Full(message)) => message,
            };
            if start.elapsed() > QUEUE_WAIT_MAX {
                return Err(self.signals.failure().unwrap_or(JournalError::Overloaded));
            }
            std::thread::sleep(QUEUE_POLL_INTERVAL);
        }
        self.wake(true);
        receiver.blocking_recv().unwrap_or(Err(JournalError::Closed))
    }

    /// Wakes the writer for what somebody awaits, for the first batched record after a rest, and
    /// when the queue fills. It comes for the others by itself.
    fn wake(&self, is_awaited: bool) {
        let is_first = self.signals.announce();
        if is_awaited || is_first || self.sender.capacity() < QUEUE_RECORDS_MAX / 2 {
            self.thread.unpark();
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("dir", &self.dir).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
