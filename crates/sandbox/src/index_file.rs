//! The index of a repository as a file: read whole, and replaced as git does it, by way of `index.lock`. No link is
//! followed on the way to it: commands write around it.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use crate::git_index::ChangedIndex;
use crate::reached::ReachedDirectory;

/// Longest index that is read, in bytes.
const INDEX_BYTES_MAX: u64 = 256 << 20;
/// What whoever writes an index makes beside it, and renames in the end.
const LOCK: &str = "index.lock";
/// Beside the index: what a sparse checkout has.
const SPARSE: [&str; 2] = ["info", "sparse-checkout"];
/// How long one waits each time until nobody else writes it.
const LOCK_PAUSE: Duration = Duration::from_millis(25);
/// How often one tries at least.
const TRIES_MIN: u32 = 4;

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

/// Where an index is: its directory stays the same one, whatever its path becomes.
#[derive(Debug)]
pub(crate) struct IndexPlace {
    directory: ReachedDirectory,
    name: OsString,
    /// The device and inode of the directory.
    id: (u64, u64),
}

/// Another index, whole and on the disk, before it is in the place of one; removed in the end.
#[derive(Debug)]
struct NewIndex<'a> {
    place: &'a IndexPlace,
    name: &'a OsStr,
}

/// The right to write an index, until it is dropped: the new one has the name of the lock as well.
#[derive(Debug)]
struct IndexLock<'a> {
    new: &'a NewIndex<'a>,
    is_over: bool,
}

// === impl IndexFile ===

impl IndexFile {
    pub(crate) fn open(at: &Path) -> io::Result<Self> {
        IndexPlace::reach(at)?.open()
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

// === impl IndexPlace ===

impl IndexPlace {
    /// Reaches the directory of an index.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] where there is no such directory.
    pub(crate) fn reach(at: &Path) -> io::Result<Self> {
        let (directory, name) = ReachedDirectory::above(at)?;
        let found = directory.stat(".".as_ref())?;
        Ok(Self { directory, name: name.to_owned(), id: (found.device, found.inode) })
    }

    /// Whether both are in the same directory, by whichever path.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.id == other.id
    }

    pub(crate) fn open(&self) -> io::Result<IndexFile> {
        let file = self.directory.open_file(&self.name)?;
        let found = file.metadata()?;
        if !found.is_file() || found.len() > INDEX_BYTES_MAX {
            return Err(io::Error::other("it is no file, or too large"));
        }
        Ok(IndexFile { file, found })
    }

    /// Changes the index, where nobody else writes it for a moment within this time. The new one is first written under
    /// a name of its own, and nobody else is locked out until it is whole. `pause` waits between two tries. Returns the
    /// names of what is another; none where there is no index.
    ///
    /// # Errors
    ///
    /// Where it is not changed: [`io::ErrorKind::AlreadyExists`] where somebody else writes it all the time.
    pub(crate) fn replace(
        &self,
        new: &OsStr,
        wait: Duration,
        mut pause: impl FnMut(Duration),
        change: impl Fn(&[u8], u32) -> Option<ChangedIndex>,
    ) -> io::Result<Option<Vec<Vec<u8>>>> {
        let deadline = Instant::now() + wait;
        if self.inode_of(&self.name)?.is_none() {
            return Ok(None);
        }
        let new = NewIndex { place: self, name: new };
        for tried in 1.. {
            use io::ErrorKind::{AlreadyExists, NotFound};
            match new.put(&change) {
                // What is missing from now on was removed or replaced meanwhile.
                Err(error) if matches!(error.kind(), AlreadyExists | NotFound) => {
                    if tried >= TRIES_MIN && Instant::now() >= deadline {
                        return Err(error);
                    }
                }
                put => return put.map(Some),
            }
            pause(LOCK_PAUSE);
        }
        Err(written_meanwhile())
    }

    /// Whether it may be that of a sparse checkout, in which git itself sets bits and clears them.
    pub(crate) fn is_sparse(&self) -> bool {
        let [directory, name] = SPARSE;
        let info = self.directory.within(directory.as_ref());
        let found = info.and_then(|info| info.stat(name.as_ref()));
        found.map_or_else(|error| error.kind() != io::ErrorKind::NotFound, |_| true)
    }

    /// Removes what a killed moss left of an index that it wrote, and its lock, which is the same file.
    pub(crate) fn remove_left(&self, new: &OsStr) -> io::Result<()> {
        let Some(left) = self.inode_of(new)? else { return Ok(()) };
        if self.inode_of(LOCK.as_ref())? == Some(left) {
            self.directory.remove(LOCK.as_ref())?;
        }
        self.directory.remove(new)
    }

    /// Sees to it that what was replaced stays so after a power failure.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.directory.sync()
    }

    /// The device and inode of what is under a name.
    fn inode_of(&self, name: &OsStr) -> io::Result<Option<(u64, u64)>> {
        match self.directory.stat(name) {
            Ok(found) => Ok(Some((found.device, found.inode))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn written_meanwhile() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "somebody else writes it")
}

// === impl NewIndex ===

impl NewIndex<'_> {
    /// Puts what is made of an index in its place, unless somebody else writes that meanwhile.
    fn put(&self, change: impl Fn(&[u8], u32) -> Option<ChangedIndex>) -> io::Result<Vec<Vec<u8>>> {
        if self.place.inode_of(LOCK.as_ref())?.is_some() {
            return Err(written_meanwhile());
        }
        let before = self.place.open()?;
        let unknown = || io::Error::other("it is kept in a way that moss does not know");
        let changed = change(&before.read()?, before.written_s()).ok_or_else(unknown)?;
        if !changed.names.is_empty() {
            self.write(&changed.bytes, &before.found)?;
            let lock = IndexLock::take(self)?;
            if self.place.open()?.stamp() != before.stamp() {
                return Err(written_meanwhile());
            }
            lock.rename()?;
        }
        Ok(changed.names)
    }

    /// It is as old as the one before: git compares the content of files that are as new.
    fn write(&self, bytes: &[u8], before: &Metadata) -> io::Result<()> {
        let directory = &self.place.directory;
        directory.remove(self.name)?;
        let mut file = directory.create(self.name)?;
        file.write_all(bytes)?;
        file.set_permissions(before.permissions())?;
        file.set_modified(before.modified()?)?;
        file.sync_all()
    }
}

impl Drop for NewIndex<'_> {
    fn drop(&mut self) {
        let _ = self.place.directory.remove(self.name);
    }
}

// === impl IndexLock ===

impl<'a> IndexLock<'a> {
    fn take(new: &'a NewIndex<'a>) -> io::Result<Self> {
        new.place.directory.link(new.name, LOCK.as_ref())?;
        Ok(Self { new, is_over: false })
    }

    /// Whether nobody has removed or replaced it.
    fn is_held(&self) -> io::Result<bool> {
        let place = self.new.place;
        let own = place.inode_of(self.new.name)?;
        Ok(own.is_some() && place.inode_of(LOCK.as_ref())? == own)
    }

    fn rename(mut self) -> io::Result<()> {
        if !self.is_held()? {
            return Err(written_meanwhile());
        }
        let IndexPlace { directory, name, .. } = self.new.place;
        directory.rename(LOCK.as_ref(), name)?;
        self.is_over = true;
        Ok(())
    }
}

impl Drop for IndexLock<'_> {
    fn drop(&mut self) {
        if !self.is_over && self.is_held().unwrap_or_default() {
            let _ = self.new.place.directory.remove(LOCK.as_ref());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const NEW: &str = "index.new";

    /// Replaces an index without a wait.
    fn replace(
        at: &Path,
        change: impl Fn(&[u8], u32) -> Option<ChangedIndex>,
    ) -> io::Result<Option<Vec<Vec<u8>>>> {
        IndexPlace::reach(at)?.replace(NEW.as_ref(), Duration::ZERO, |_| {}, change)
    }

    fn names(root: &Path) -> Vec<OsString> {
        let mut names: Vec<_> =
            fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    fn upper(bytes: &[u8], _: u32) -> Option<ChangedIndex> {
        Some(ChangedIndex { bytes: bytes.to_ascii_uppercase(), names: vec![b"a".to_vec()] })
    }

    #[test]
    fn an_index_is_replaced_by_one_that_is_as_old_unless_somebody_else_writes_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (at, lock) = (root.join("index"), root.join(LOCK));
        assert_eq!(replace(&at, upper).unwrap(), None);
        let missing = replace(&root.join("missing/index"), upper).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        fs::write(&at, "a").unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_600_000_000_123_456_789);
        File::options().write(true).open(&at).unwrap().set_modified(long_ago).unwrap();
        let before = IndexFile::open(&at).unwrap();
        assert_eq!(before.written_s(), 1_600_000_000);
        assert_eq!(replace(&at, upper).unwrap(), Some(vec![b"a".to_vec()]));
        let after = IndexFile::open(&at).unwrap();
        assert_eq!((after.read().unwrap(), after.written().unwrap()), (b"A".to_vec(), long_ago));
        assert_eq!(after.found.mode(), before.found.mode());
        assert!(after.stamp() != before.stamp() && names(&root) == ["index"]);
        assert!(replace(&at, |_, _| None).is_err());
        assert_eq!(names(&root), ["index"], "who changes nothing leaves no lock");
        fs::write(&lock, "of git").unwrap();
        assert_eq!(replace(&at, upper).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&lock).unwrap(), "of git");
    }

    #[test]
    fn nobody_is_locked_out_while_one_is_made_and_what_others_write_stays() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (at, lock) = (root.join("index"), root.join(LOCK));
        fs::write(&at, "a").unwrap();
        let count = std::cell::Cell::new(0);
        let changed = replace(&at, |bytes, written_s| {
            assert!(!lock.exists());
            count.set(count.get() + 1);
            // As git does it, which writes one meanwhile, or waits for nobody.
            if count.get() == 1 {
                fs::write(&lock, "bb").unwrap();
                fs::rename(&lock, &at).unwrap();
            }
            upper(bytes, written_s)
        });
        assert!(changed.unwrap().is_some());
        assert_eq!((count.get(), fs::read_to_string(&at).unwrap()), (2, "BB".to_owned()));
        let all_the_time = replace(&at, |bytes, written_s| {
            fs::write(root.join("other"), bytes).unwrap();
            fs::rename(root.join("other"), &at).unwrap();
            upper(bytes, written_s)
        });
        assert_eq!(all_the_time.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        let removed = replace(&at, |bytes, written_s| {
            let _ = fs::remove_file(&at);
            upper(bytes, written_s)
        });
        assert_eq!(removed.unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(names(&root).is_empty(), "{:?}", names(&root));
    }

    #[test]
    fn what_a_killed_moss_left_is_removed_and_no_lock_of_others() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (lock, new) = (root.join(LOCK), root.join(NEW));
        let place = IndexPlace::reach(&root.join("index")).unwrap();
        fs::write(&new, "a").unwrap();
        fs::hard_link(&new, &lock).unwrap();
        place.remove_left(NEW.as_ref()).unwrap();
        assert!(names(&root).is_empty());
        fs::write(&lock, "of git").unwrap();
        place.remove_left(NEW.as_ref()).unwrap();
        fs::write(&new, "of git").unwrap();
        place.remove_left(NEW.as_ref()).unwrap();
        assert_eq!(names(&root), [LOCK]);
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
            assert!(replace(&root.join(at), upper).is_err(), "{at}");
        }
        assert_eq!(fs::read_to_string(root.join("other/index")).unwrap(), "a");
        assert!(!root.join(LOCK).exists());
    }
}
