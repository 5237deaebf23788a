//! Room on the disk for what a change will leave in the journal, reserved before anything changes: a
//! change whose records could not be written is refused while there is nothing to record.
//!
//! The database appends to its write-ahead log. The blocks behind the log's end are allocated here,
//! beyond its size, where appending finds them. That waits for no disk. Most changes find what an
//! earlier one has left.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::{JournalError, audit};

/// Room for the records of a call beside those of its files: its start with bounded arguments, its
/// decisions, its replies and its end, each in pages of its own.
const CALL_BYTES: u64 = 128 << 10;
/// Room for the records of a file that is changed, beside its path.
const FILE_BYTES: u64 = 2 << 10;
/// Most bytes that a byte of a path takes in them: it stands there up to twice, escaped.
const PATH_FACTOR: u64 = 12;
/// Room for what other calls and other processes append meanwhile.
const SPARE_BYTES: u64 = 256 << 10;
/// Room is allocated in steps of so much.
const STEP_BYTES: u64 = 1 << 20;

/// The write-ahead log of the audit database, and what is reserved behind its end.
#[derive(Debug)]
pub(super) struct Rooms {
    log: OwnedFd,
    path: PathBuf,
    reserved: Mutex<Reserved>,
}

#[derive(Debug, Default)]
struct Reserved {
    /// What changes that are under way may still append.
    bytes: u64,
    /// The size of the log when it was last looked at.
    log_bytes: u64,
    /// Up to where the log has blocks.
    allocated_to: u64,
}

/// Room for the records of one change; given back when dropped.
#[derive(Debug)]
#[must_use = "the room is given back when this is dropped"]
pub struct Room {
    rooms: Arc<Rooms>,
    bytes: u64,
}

/// Returns how much room the records of a change of some files may need.
pub fn needed<'a>(paths: impl IntoIterator<Item = &'a str>) -> u64 {
    let of_file = |path: &str| FILE_BYTES + path.len() as u64 * PATH_FACTOR;
    CALL_BYTES + paths.into_iter().map(of_file).sum::<u64>()
}

/// Allocates blocks from one position to another, beyond the end of the file.
#[cfg(target_os = "linux")]
fn allocate(file: &OwnedFd, from: u64, to: u64) -> Result<(), Errno> {
    let flags = rustix::fs::FallocateFlags::KEEP_SIZE;
    rustix::io::retry_on_intr(|| rustix::fs::fallocate(file, flags, from, to - from))
}

/// Elsewhere blocks cannot be allocated without making the file longer.
#[cfg(not(target_os = "linux"))]
fn allocate(_file: &OwnedFd, _from: u64, _to: u64) -> Result<(), Errno> {
    Err(Errno::OPNOTSUPP)
}

/// Where blocks cannot be allocated ahead: whether there are as many now.
fn look_for(file: &OwnedFd, bytes: u64) -> Result<(), Errno> {
    let disk = rustix::fs::fstatvfs(file)?;
    match disk.f_bavail.saturating_mul(disk.f_frsize) >= bytes {
        true => Ok(()),
        false => Err(Errno::NOSPC),
    }
}

// === impl Rooms ===

impl Rooms {
    /// Opens the log of a database that is open already: it exists, and nobody locks it.
    pub(super) fn open(dir: &Path) -> Result<Self, JournalError> {
        let path = dir.join(audit::FILE_NAME);
        let log = dir.join(format!("{}-wal", audit::FILE_NAME));
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        #[expect(clippy::disallowed_methods, reason = "SQLite has made it, by name")]
        match rustix::fs::open(&log, flags, Mode::empty()) {
            Ok(log) => Ok(Self { log, path, reserved: Mutex::default() }),
            Err(errno) => Err(JournalError::Open { path: log, reason: errno.to_string() }),
        }
    }

    /// Reserves room for a change. Does not wait for the disk.
    pub(super) fn reserve(self: &Arc<Self>, bytes: u64) -> Result<Room, JournalError> {
        let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        self.extend(&mut reserved, bytes).map_err(|errno| JournalError::NoRoom {
            path: self.path.clone(),
            reason: errno.to_string(),
        })?;
        reserved.bytes += bytes;
        Ok(Room { rooms: Arc::clone(self), bytes })
    }

    /// Allocates what is missing behind the end of the log. The log begins anew at its front now and
    /// then and keeps its size: what is behind its end is left in any case.
    fn extend(&self, reserved: &mut Reserved, bytes: u64) -> Result<(), Errno> {
        let log_bytes = rustix::fs::fstat(&self.log)?.st_size.unsigned_abs();
        if log_bytes < reserved.log_bytes {
            // Cutting it has given back what was behind its end.
            reserved.allocated_to = 0;
        }
        reserved.log_bytes = log_bytes;
        let missing = reserved.bytes + bytes + SPARE_BYTES;
        if log_bytes + missing <= reserved.allocated_to {
            return Ok(());
        }
        let to = (log_bytes + missing).next_multiple_of(STEP_BYTES);
        match allocate(&self.log, log_bytes, to) {
            Ok(()) => {
                reserved.allocated_to = to;
                Ok(())
            }
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => look_for(&self.log, missing),
            Err(errno) => Err(errno),
        }
    }
}

// === impl Room ===

impl Drop for Room {
    fn drop(&mut self) {
        let mut reserved = self.rooms.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        reserved.bytes -= self.bytes;
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[allow(clippy::disallowed_methods, reason = "tests look at files from outside")]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use tempfile::TempDir;

    use super::*;
    use crate::Journal;

    const BLOCK_BYTES: u64 = 512;

    /// How long the log is, and how many bytes it has blocks for.
    fn log(dir: &TempDir) -> (u64, u64) {
        let log = std::fs::metadata(dir.path().join("audit.db-wal")).unwrap();
        (log.size(), log.blocks() * BLOCK_BYTES)
    }

    #[test]
    fn reserved_room_lies_behind_the_end_of_the_log() {
        let dir = TempDir::new().unwrap();
        let journal = Journal::open(dir.path()).unwrap();
        let (before, _) = log(&dir);
        let bytes = 3 * STEP_BYTES;
        let _room = journal.reserve(bytes).unwrap();
        let (size, allocated) = log(&dir);
        assert_eq!(size, before);
        assert!(allocated >= size + bytes + SPARE_BYTES, "{allocated}");
    }

    #[test]
    fn room_counts_until_it_is_given_back() {
        let dir = TempDir::new().unwrap();
        let journal = Journal::open(dir.path()).unwrap();
        let first = journal.reserve(2 * STEP_BYTES).unwrap();
        let both = journal.reserve(2 * STEP_BYTES).unwrap();
        let (_, allocated) = log(&dir);
        assert!(allocated >= 4 * STEP_BYTES, "{allocated}");
        drop((first, both));
        let _again = journal.reserve(4 * STEP_BYTES).unwrap();
        assert_eq!(log(&dir).1, allocated);
    }

    #[test]
    fn room_that_a_disk_lacks_is_refused_with_the_journal_and_what_to_do() {
        let dir = TempDir::new().unwrap();
        let journal = Journal::open(dir.path()).unwrap();
        let error = journal.reserve(1 << 60).unwrap_err().to_string();
        assert!(error.contains("audit.db") && error.contains("free space"), "{error}");
        let _room = journal.reserve(1).unwrap();
    }
}
