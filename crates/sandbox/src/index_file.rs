//! The index of a repository as a file: read whole, and replaced as git does it, by way of `index.lock`. No link is
//! followed on the way to it: commands write around it.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::git_index::ChangedIndex;
use crate::reached::ReachedDirectory;

/// Longest index that is read, in bytes.
const INDEX_BYTES_MAX: u64 = 256 << 20;
/// What whoever writes an index makes beside it, and renames in the end.
const LOCK: &str = "index.lock";
/// How long one waits each time until nobody else writes it.
const LOCK_PAUSE: Duration = Duration::from_millis(25);

/// An index that is open.
#[derive(Debug)]
pub(crate) struct IndexFile {
    file: File,
    found: Metadata,
}

/// What is another where an index was written since: its device, inode and length, and the times at which it was
/// written and changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexStamp([u64; 3], [i64; 4]);

/// The right to write an index, until it is dropped.
#[derive(Debug)]
struct IndexLock<'a> {
    directory: &'a ReachedDirectory,
    file: File,
    is_over: bool,
}

/// Changes an index, where nobody else writes it after so many looks. Returns the names of what is another.
///
/// # Errors
///
/// Where it is not changed: [`io::ErrorKind::NotFound`] where it does not exist.
pub(crate) fn replace(
    at: &Path,
    looks: u32,
    change: impl FnOnce(&[u8], u32) -> Option<ChangedIndex>,
) -> io::Result<Vec<Vec<u8>>> {
    let (directory, name) = ReachedDirectory::above(at)?;
    // Without one nothing is locked, either.
    directory.stat(name)?;
    let lock = IndexLock::take(&directory, looks)?;
    let index = IndexFile::within(&directory, name)?;
    let unknown = || io::Error::other("it is kept in a way that moss does not know");
    let changed = change(&index.read()?, index.written_s()).ok_or_else(unknown)?;
    if !changed.names.is_empty() {
        lock.write(&changed.bytes, &index.found, name)?;
    }
    Ok(changed.names)
}

// === impl IndexFile ===

impl IndexFile {
    pub(crate) fn open(at: &Path) -> io::Result<Self> {
        let (directory, name) = ReachedDirectory::above(at)?;
        Self::within(&directory, name)
    }

    fn within(directory: &ReachedDirectory, name: &OsStr) -> io::Result<Self> {
        let file = directory.open_file(name)?;
        let found = file.metadata()?;
        if !found.is_file() || found.len() > INDEX_BYTES_MAX {
            return Err(io::Error::other("it is no file, or too large"));
        }
        Ok(Self { file, found })
    }

    pub(crate) fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        (&self.file).take(INDEX_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The second in which it was written, as git notes it of files.
    pub(crate) fn written_s(&self) -> u32 {
        let since =
            self.written().ok().and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        since.and_then(|since| u32::try_from(since.as_secs()).ok()).unwrap_or_default()
    }

    /// When it was written: what git takes for unchanged depends on it.
    pub(crate) fn written(&self) -> io::Result<SystemTime> {
        self.found.modified()
    }

    pub(crate) fn stamp(&self) -> IndexStamp {
        let Self { found, .. } = self;
        IndexStamp(
            [found.dev(), found.ino(), found.len()],
            [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()],
        )
    }
}

// === impl IndexLock ===

impl<'a> IndexLock<'a> {
    fn take(directory: &'a ReachedDirectory, looks: u32) -> io::Result<Self> {
        let mut left = looks;
        loop {
            match directory.create(LOCK.as_ref()) {
                Ok(file) => return Ok(Self { directory, file, is_over: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && left > 1 => {
                    left -= 1;
                    std::thread::sleep(LOCK_PAUSE);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Puts another index in the place of one. It is as old as that: git compares the content of files that are as new.
    fn write(mut self, bytes: &[u8], before: &Metadata, name: &OsStr) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.file.set_permissions(before.permissions())?;
        self.file.set_modified(before.modified()?)?;
        self.directory.rename(LOCK.as_ref(), name)?;
        self.is_over = true;
        Ok(())
    }
}

impl Drop for IndexLock<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            let _ = self.directory.remove(LOCK.as_ref());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn upper(bytes: &[u8], _: u32) -> Option<ChangedIndex> {
        Some(ChangedIndex { bytes: bytes.to_ascii_uppercase(), names: vec![b"a".to_vec()] })
    }

    #[test]
    fn an_index_is_replaced_by_one_that_is_as_old_unless_somebody_else_writes_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (at, lock) = (root.join("index"), root.join(LOCK));
        let missing = replace(&at, 1, upper).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        fs::write(&at, "a").unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_600_000_000_123_456_789);
        File::options().write(true).open(&at).unwrap().set_modified(long_ago).unwrap();
        let before = IndexFile::open(&at).unwrap();
        assert_eq!(before.written_s(), 1_600_000_000);
        assert_eq!(replace(&at, 1, upper).unwrap(), [b"a".to_vec()]);
        let after = IndexFile::open(&at).unwrap();
        assert_eq!((after.read().unwrap(), after.written().unwrap()), (b"A".to_vec(), long_ago));
        assert_eq!(after.found.mode(), before.found.mode());
        assert!(after.stamp() != before.stamp() && !lock.exists());
        assert!(replace(&at, 1, |_, _| None).is_err());
        assert!(!lock.exists(), "who changes nothing leaves no lock");
        fs::write(&lock, "of git").unwrap();
        assert_eq!(replace(&at, 2, upper).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&lock).unwrap(), "of git");
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir(root.join("other")).unwrap();
        fs::write(root.join("other/index"), "a").unwrap();
        std::os::unix::fs::symlink("other", root.join("git")).unwrap();
        std::os::unix::fs::symlink("other/index", root.join("index")).unwrap();
        for at in ["git/index", "index"] {
            assert!(replace(&root.join(at), 1, upper).is_err(), "{at}");
        }
        assert_eq!(fs::read_to_string(root.join("other/index")).unwrap(), "a");
        assert!(!root.join(LOCK).exists());
    }
}
