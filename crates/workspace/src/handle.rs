//! Operations on held descriptors: everything below a workspace root happens through these.
//!
//! A name is only ever used together with the descriptor of its directory, and never with a link
//! at its end. Nothing here takes a path with more than one component.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use moss_sdk::ContentHash;
use moss_sdk::file::EntryKind;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::{Errno, Result};
use rustix::path::Arg;

/// How a directory is held: without the right to read it where the system has that.
#[cfg(target_os = "linux")]
pub(crate) const DIRECTORY: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// How a directory is held.
#[cfg(not(target_os = "linux"))]
pub(crate) const DIRECTORY: OFlags =
    OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How a file is opened for reading: a FIFO does not block, a terminal does not become ours.
pub(crate) const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

const BUFFER_BYTES: usize = 64 * 1024;
/// Fewest bytes that are asked for at once.
const ROOM_BYTES_MIN: usize = 4 * 1024;

static FILE_SYNCS: AtomicU64 = AtomicU64::new(0);
static HISTORY_SYNCS: AtomicU64 = AtomicU64::new(0);

/// How often this process has waited for the disk so that an edit is durable. Moss's own files are not counted, and
/// neither is what SQLite does when it brings a log into its database, nor what makes durable that nothing lies
/// beside files any more: no edit waits for these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncCount {
    /// Of new versions of files, and of directories.
    pub files: u64,
    /// Of the log of a history. They take place while files wait.
    pub history: u64,
}

/// Which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// The file system that it is on, as `st_dev` names it.
    pub device: u64,
    /// The inode on it.
    pub inode: u64,
}

/// Whether reading may wait for a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// It waits for as long as the disk takes.
    Wait,
    /// It fails with `AGAIN` where it would.
    #[cfg(target_os = "linux")]
    AtOnce,
}

/// Whether whoever waits for a read has gone: loops over bytes ask it.
#[derive(Clone, Copy)]
pub(crate) struct CancelCheck<'a>(pub(crate) &'a (dyn Fn() -> bool + Sync));

/// What the system says of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) identity: Identity,
    pub(crate) kind: EntryKind,
    /// Permission bits, with set-id and sticky bits.
    pub(crate) mode: u32,
    pub(crate) names: u64,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) size_bytes: u64,
    pub(crate) modified: SystemTime,
    /// Changes with every write, rename of or link to the file.
    pub(crate) changed: (i64, i64),
}

pub(crate) fn stat(fd: impl AsFd) -> Result<Stat> {
    Ok(Stat::new(&rustix::fs::fstat(fd)?))
}

/// Looks at a name without following it.
pub(crate) fn stat_at(directory: impl AsFd, name: impl Arg) -> Result<Stat> {
    Ok(Stat::new(&rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?))
}

/// Has the server of a network file system asked for what it says of a name: without it, size and times may be
/// those of some seconds ago.
pub(crate) fn ask_server_at(directory: impl AsFd, name: &str) {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::StatxFlags;
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::STATX_FORCE_SYNC;
        // Who looks at the name then meets the same error, or what is known of it.
        let _ = rustix::fs::statx(directory, name, flags, StatxFlags::BASIC_STATS);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (directory, name);
}

/// As [`stat_at`], with none for a name that does not exist.
pub(crate) fn find_at(directory: impl AsFd, name: &str) -> Result<Option<Stat>> {
    match stat_at(directory, name) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

pub(crate) fn open_at(directory: impl AsFd, name: impl Arg, flags: OFlags) -> Result<OwnedFd> {
    rustix::fs::openat(directory, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// Opens a held directory again so that its entries can be read.
pub(crate) fn readable(directory: impl AsFd) -> Result<OwnedFd> {
    open_at(directory, ".", OFlags::RDONLY | OFlags::DIRECTORY)
}

/// Makes the names in a directory durable.
pub(crate) fn sync_directory(directory: impl AsFd) -> Result<()> {
    sync(readable(directory)?.as_fd())
}

/// As [`sync_directory`], where no edit waits for it.
pub(crate) fn sync_directory_later(directory: impl AsFd) -> Result<()> {
    flush(readable(directory)?.as_fd())
}

/// Makes the content of a file durable.
pub(crate) fn sync(fd: BorrowedFd<'_>) -> Result<()> {
    FILE_SYNCS.fetch_add(1, Ordering::Relaxed);
    flush(fd)
}

fn flush(fd: BorrowedFd<'_>) -> Result<()> {
    #[cfg(target_vendor = "apple")]
    return rustix::fs::fcntl_fullfsync(fd);
    #[cfg(not(target_vendor = "apple"))]
    rustix::fs::fsync(fd)
}

/// Makes the content of a history's log durable, without its times.
pub(crate) fn sync_log(fd: BorrowedFd<'_>) -> Result<()> {
    HISTORY_SYNCS.fetch_add(1, Ordering::Relaxed);
    #[cfg(target_vendor = "apple")]
    return rustix::fs::fcntl_fullfsync(fd);
    #[cfg(not(target_vendor = "apple"))]
    rustix::fs::fdatasync(fd)
}

/// Returns how often this process has waited for the disk so that an edit is durable.
pub fn sync_count() -> SyncCount {
    SyncCount {
        files: FILE_SYNCS.load(Ordering::Relaxed),
        history: HISTORY_SYNCS.load(Ordering::Relaxed),
    }
}

/// Feeds a file to a function from its start, up to one byte more than the limit, so that the
/// caller sees that there is more. Returns how many bytes were fed.
///
/// With the size that the file was found to have, a small one is read at one go: a read that wanted
/// more and ended there found the end.
pub(crate) fn feed(
    fd: &OwnedFd,
    bytes_max: u64,
    found_bytes: Option<u64>,
    patience: Patience,
    mut take: impl FnMut(&[u8]) -> bool,
) -> Result<u64> {
    let end = bytes_max.saturating_add(1);
    let room = found_bytes.map_or(u64::MAX, |found_bytes| found_bytes.saturating_add(1));
    // A file that has more by now, or does not say its size, is not read byte by byte.
    let room = usize::try_from(room).unwrap_or(usize::MAX).clamp(ROOM_BYTES_MIN, BUFFER_BYTES);
    let mut buffer = vec![0; room];
    let mut offset = 0;
    while offset < end {
        let most = usize::try_from(end - offset).unwrap_or(usize::MAX).min(room);
        let count = match patience.read(fd, &mut buffer[..most], offset) {
            Ok(0) => break,
            Ok(count) => count,
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(errno),
        };
        offset += count as u64;
        if !take(&buffer[..count]) || (count < most && Some(offset) == found_bytes) {
            break;
        }
    }
    Ok(offset)
}

/// Reads a file from its start, up to one byte more than the limit.
pub(crate) fn read_to(fd: &OwnedFd, bytes_max: u64, patience: Patience) -> Result<Vec<u8>> {
    read_until(fd, bytes_max, None, (patience, CancelCheck::NEVER))
}

/// As [`read_to`], with the size that the file was found to have, where that is known; fails with `CANCELED` where
/// nobody waits for it any more.
pub(crate) fn read_until(
    fd: &OwnedFd,
    bytes_max: u64,
    found_bytes: Option<u64>,
    (patience, stop): (Patience, CancelCheck<'_>),
) -> Result<Vec<u8>> {
    let expected = found_bytes.map_or(0, |found_bytes| found_bytes.min(bytes_max));
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or_default());
    feed(fd, bytes_max, found_bytes, patience, |chunk| {
        bytes.extend_from_slice(chunk);
        !stop.is_due()
    })?;
    if stop.is_due() { Err(Errno::CANCELED) } else { Ok(bytes) }
}

/// Hashes a file that was found to have so many bytes, from its start in constant memory, up to the
/// limit. Fails with `CANCELED` where nobody waits for it any more.
pub(crate) fn hash_to(
    fd: &OwnedFd,
    bytes_max: u64,
    found_bytes: u64,
    (patience, stop): (Patience, CancelCheck<'_>),
) -> Result<(ContentHash, u64)> {
    let mut hasher = blake3::Hasher::new();
    let size_bytes = feed(fd, bytes_max, Some(found_bytes), patience, |chunk| {
        hasher.update(chunk);
        !stop.is_due()
    })?;
    if stop.is_due() {
        return Err(Errno::CANCELED);
    }
    Ok((ContentHash::from_bytes(hasher.finalize().into()), size_bytes))
}

/// Returns the name of a content.
pub fn hash(bytes: &[u8]) -> ContentHash {
    ContentHash::from_bytes(blake3::hash(bytes).into())
}

// === impl Patience ===

impl Patience {
    fn read(self, fd: &OwnedFd, buffer: &mut [u8], offset: u64) -> Result<usize> {
        match self {
            Self::Wait => rustix::io::pread(fd, buffer, offset),
            #[cfg(target_os = "linux")]
            Self::AtOnce if offset > crate::cached::BYTES_MAX => Err(Errno::AGAIN),
            #[cfg(target_os = "linux")]
            Self::AtOnce => {
                let buffers = &mut [std::io::IoSliceMut::new(buffer)];
                rustix::io::preadv2(fd, buffers, offset, rustix::io::ReadWriteFlags::NOWAIT)
            }
        }
    }
}

/// How a commit reads: waiting for the disk, whoever has gone meanwhile.
pub(crate) const TO_THE_END: (Patience, CancelCheck<'static>) =
    (Patience::Wait, CancelCheck::NEVER);

// === impl CancelCheck ===

impl CancelCheck<'_> {
    /// Somebody waits to the end.
    pub(crate) const NEVER: Self = Self(&|| false);

    pub(crate) fn is_due(self) -> bool {
        (self.0)()
    }
}

impl std::fmt::Debug for CancelCheck<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Stop").finish_non_exhaustive()
    }
}

// === impl Stat ===

impl Stat {
    #[allow(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "the fields of stat have other widths on other systems"
    )]
    pub(crate) fn new(stat: &rustix::fs::Stat) -> Self {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::Symlink,
            _ => EntryKind::Other,
        };
        Self {
            identity: Identity { device: stat.st_dev as u64, inode: stat.st_ino as u64 },
            kind,
            mode: u32::from(stat.st_mode) & 0o7777,
            names: stat.st_nlink as u64,
            uid: stat.st_uid,
            gid: stat.st_gid,
            size_bytes: u64::try_from(stat.st_size).unwrap_or(0),
            modified: time(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    /// When anything about it changed last.
    pub(crate) fn changed_time(&self) -> SystemTime {
        time(self.changed.0, self.changed.1)
    }

    /// Whether the owner may write, whoever asks: the super-user is held to it too.
    pub(crate) fn is_writable(&self) -> bool {
        self.mode & 0o200 != 0
    }
}

pub(crate) fn time(seconds: i64, nanoseconds: i64) -> SystemTime {
    let fraction = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0));
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let start = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(whole)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(whole)
    };
    start.and_then(|start| start.checked_add(fraction)).unwrap_or(SystemTime::UNIX_EPOCH)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay out their own files")]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_fed_whole_whatever_size_it_was_found_to_have() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("file");
        for size in [0, 1, 100, BUFFER_BYTES - 1, BUFFER_BYTES, 2 * BUFFER_BYTES + 3] {
            let content: Vec<u8> = (0..size).map(|at| u8::try_from(at % 251).unwrap()).collect();
            std::fs::write(&path, &content).unwrap();
            let fd = OwnedFd::from(std::fs::File::open(&path).unwrap());
            let size = size as u64;
            for found in [None, Some(0), Some(1), Some(size), Some(size + 1), Some(u64::MAX)] {
                let mut fed = Vec::new();
                let take = |chunk: &[u8]| {
                    fed.extend_from_slice(chunk);
                    true
                };
                assert_eq!(feed(&fd, 1 << 20, found, Patience::Wait, take).unwrap(), size);
                assert!(fed == content, "{size} bytes, found {found:?}");
                // Nobody makes room for what a size only claims.
                let (bound, how) = (size.max(1), (Patience::Wait, CancelCheck::NEVER));
                let read = read_until(&fd, bound, found, how).unwrap();
                assert!(read == content, "{size} bytes, found {found:?}");
            }
        }
    }
}
