//! What is written down before a command starts that may write, so that what it changed is settled also where moss is
//! killed meanwhile: a file in moss's own state for each such command, locked while its moss lives, and one for what moss
//! itself marks in an index for it.
//!
//! These files are opened by their paths, with `std::fs`, while moss's other files go through `moss_workspace::own`:
//! that crate lies above this one. Who makes the directory makes it there, so that nobody else writes in it, and no
//! name in it comes from outside.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::compare::{ComparedPaths, Snapshot};
use crate::wire::{Decoder, Encoder};

/// How names of records end.
const RECORD: &str = ".command";
/// How those end of what is marked in an index.
const MARKS: &str = ".marks";
/// How names of those begin that are being written.
const UNFINISHED: &str = "unfinished-";
/// Age at which nobody writes one any more.
const UNFINISHED_AGE: Duration = Duration::from_secs(60);
/// By how much times of files may differ that are the same.
const CLOCK_STEP: Duration = Duration::from_secs(1);
/// Longest record that is read, in bytes.
const BYTES_MAX: u64 = 128 << 20;

/// The record of one command. Clones share it.
#[derive(Debug, Clone)]
pub struct CommandRecord {
    inner: Arc<RecordInner>,
}

#[derive(Debug)]
struct RecordInner {
    directory: PathBuf,
    known: Option<BTreeSet<PathBuf>>,
    written: Mutex<Option<(File, PathBuf)>>,
}

/// A command whose moss was killed before it was settled.
#[derive(Debug)]
pub struct LeftCommand {
    path: PathBuf,
    snapshot: Snapshot,
    /// The protected and masked names that there were before it; none where new ones stay.
    pub known: Option<BTreeSet<PathBuf>>,
    /// When the command started, by the clock of the system.
    pub started: SystemTime,
    /// Nobody else settles it meanwhile.
    _lock: File,
}

/// Entries of an index that moss marks for a command: written down until they are cleared.
#[derive(Debug)]
pub(crate) struct MarkRecord {
    pub(crate) index: PathBuf,
    /// Their names, as they stand there.
    pub(crate) names: BTreeSet<OsString>,
    /// The names of those that were marked before; an older moss has not written them down.
    pub(crate) before: Option<BTreeSet<OsString>>,
    path: PathBuf,
    /// Nobody else clears them meanwhile.
    _lock: File,
}

// === impl CommandRecord ===

impl CommandRecord {
    /// A record in a directory that is moss's own. It is written when the command starts, and names what there was
    /// before, where what is new is to be looked for.
    pub fn new(directory: PathBuf, known: Option<BTreeSet<PathBuf>>) -> Self {
        Self { inner: Arc::new(RecordInner { directory, known, written: Mutex::default() }) }
    }

    /// Writes it, and keeps it locked. One of an attempt to start the command that failed is removed.
    pub(crate) fn write(&self, snapshot: &Snapshot) -> io::Result<()> {
        self.settled();
        let (file, path) = self.write_unfinished(snapshot)?;
        let finished = finish_new(&path, RECORD)?;
        *self.written() = Some((file, finished));
        Ok(())
    }

    /// Writes down what is to be marked, so that it is on the disk, and keeps that locked.
    pub(crate) fn write_marks(
        &self,
        index: &Path,
        names: BTreeSet<OsString>,
        before: BTreeSet<OsString>,
    ) -> io::Result<MarkRecord> {
        let directory = &self.inner.directory;
        let mut message = Encoder::default();
        message.text(index).list(&names).list(&before);
        let (file, path) = write_unfinished(directory, &message.into_bytes())?;
        file.sync_all()?;
        let path = finish_new(&path, MARKS)?;
        File::open(directory)?.sync_all()?;
        Ok(MarkRecord { index: index.to_owned(), names, before: Some(before), path, _lock: file })
    }

    /// Writes another snapshot of the same command in its place. What cannot be written is no longer known: the old
    /// one would restore what another command had made.
    pub(crate) fn rewrite(&self, snapshot: &Snapshot) {
        let mut written = self.written();
        let Some((file, finished)) = &mut *written else { return };
        let replace = || {
            let started = file.metadata()?.modified()?;
            let (new, path) = self.write_unfinished(snapshot)?;
            new.set_modified(started)?;
            finish(&path, finished)?;
            Ok::<_, io::Error>(new)
        };
        match replace() {
            Ok(new) => *file = new,
            Err(_) => drop(fs::remove_file(finished)),
        }
    }

    fn write_unfinished(&self, snapshot: &Snapshot) -> io::Result<(File, PathBuf)> {
        let RecordInner { directory, known, .. } = &*self.inner;
        let mut message = Encoder::default();
        message.number(known.is_some().into()).list(known.iter().flatten());
        snapshot.encode(&mut message);
        write_unfinished(directory, &message.into_bytes())
    }

    fn written(&self) -> MutexGuard<'_, Option<(File, PathBuf)>> {
        self.inner.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes it: what the command changed is settled.
    pub fn settled(&self) {
        let written = self.written().take();
        if let Some((_lock, path)) = written {
            // Where it stays, it is settled once more.
            let _ = fs::remove_file(path);
        }
    }
}

// === impl LeftCommand ===

impl LeftCommand {
    /// Finds those whose records are in a directory, and whose moss lives no more, the one that began last first:
    /// where several ran at once, what was there before all of them is restored last. One is settled no earlier than
    /// those before it.
    ///
    /// # Errors
    ///
    /// Where the directory cannot be listed.
    pub fn find(directory: &Path) -> io::Result<Vec<Self>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.ends_with(RECORD) {
                // Others may settle the same meanwhile.
                found.extend(Self::open(path).unwrap_or_default());
            } else if name.starts_with(UNFINISHED) && !name.ends_with(MARKS) {
                remove_unfinished(&path);
            }
        }
        found.sort_by_key(|left| Reverse(left.started));
        Ok(found)
    }

    fn open(path: PathBuf) -> io::Result<Option<Self>> {
        let Some((lock, bytes)) = read_left(&path)? else { return Ok(None) };
        let started = lock.metadata()?.modified()?;
        let mut message = Decoder::new(&bytes);
        let mut read = || -> io::Result<_> {
            let has_known = message.number()? == 1;
            let known: BTreeSet<PathBuf> = message.list()?.into_iter().map(PathBuf::from).collect();
            Ok((has_known.then_some(known), Snapshot::decode(&mut message)?))
        };
        let Ok((known, snapshot)) = read() else {
            // A power failure has left half of it.
            fs::remove_file(&path)?;
            return Ok(None);
        };
        Ok(Some(Self { path, snapshot, known, started, _lock: lock }))
    }

    /// Whether what is at a path may be there since it started.
    pub fn may_have_made(&self, path: &Path) -> bool {
        let Ok(found) = fs::symlink_metadata(path) else { return false };
        let since = self.started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let since = since.saturating_sub(CLOCK_STEP).as_secs();
        u64::try_from(found.ctime()).unwrap_or_default() >= since
    }

    /// Restores what was compared, and says what that was.
    pub fn restore(&self) -> ComparedPaths {
        self.snapshot.restore()
    }

    /// Removes its record: all of it is settled.
    pub fn settled(self) {
        // Where it stays, it is settled once more.
        let _ = fs::remove_file(&self.path);
    }
}

// === impl MarkRecord ===

impl MarkRecord {
    /// Finds those in a directory whose moss lives no more, or could not clear what they name.
    pub(crate) fn find(directory: &Path) -> io::Result<Vec<Self>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(MARKS)) {
                // Others may clear the same meanwhile.
                found.extend(Self::open(path).unwrap_or_default());
            }
        }
        Ok(found)
    }

    fn open(path: PathBuf) -> io::Result<Option<Self>> {
        let Some((lock, bytes)) = read_left(&path)? else { return Ok(None) };
        let mut message = Decoder::new(&bytes);
        // It is whole: nothing is marked before it is on the disk.
        let (index, names) = (message.text()?.into(), message.list()?.into_iter().collect());
        let before = message.list().ok().map(|before| before.into_iter().collect());
        Ok(Some(Self { index, names, before, path, _lock: lock }))
    }

    /// The name beside the index under which another one is written for it: what a killed moss left there is found.
    pub(crate) fn new_index(&self) -> OsString {
        let own = self.path.file_stem().unwrap_or_default().to_string_lossy();
        format!("index.moss-{}", own.trim_start_matches(UNFINISHED)).into()
    }

    /// Removes it: nothing that it names is marked any more.
    pub(crate) fn settled(&self) {
        // Where it stays, they are cleared once more.
        let _ = fs::remove_file(&self.path);
    }
}

/// Writes a record under a name that nobody looks for, and locks it.
fn write_unfinished(directory: &Path, bytes: &[u8]) -> io::Result<(File, PathBuf)> {
    let unfinished = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(directory)?;
    let (mut file, path) = unfinished.keep().map_err(|kept| kept.error)?;
    if let Err(error) = file.lock().and_then(|()| file.write_all(bytes)) {
        let _ = fs::remove_file(&path);
        return Err(error);
    }
    Ok((file, path))
}

/// Locks a record and reads it; none where somebody holds it.
fn read_left(path: &Path) -> io::Result<Option<(File, Vec<u8>)>> {
    let lock = File::open(path)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let found = lock.metadata()?;
    // It is removed, or another one is in its place, which its moss holds.
    if fs::symlink_metadata(path).ok().is_none_or(|there| there.ino() != found.ino()) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    (&lock).take(BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(Some((lock, bytes)))
}

/// Gives a new record the name by which one of its kind is found, and returns that.
fn finish_new(path: &Path, kind: &str) -> io::Result<PathBuf> {
    let finished = path.with_extension(kind.trim_start_matches('.'));
    finish(path, &finished)?;
    Ok(finished)
}

/// Gives a record the name by which it is found.
fn finish(path: &Path, finished: &Path) -> io::Result<()> {
    fs::rename(path, finished).inspect_err(|_| {
        let _ = fs::remove_file(path);
    })
}

fn remove_unfinished(path: &Path) {
    let age = fs::symlink_metadata(path).and_then(|found| found.modified());
    if age.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > UNFINISHED_AGE)) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_left_where_nobody_settles_it_and_found_where_nobody_holds_it() {
        let root = tempfile::tempdir().unwrap();
        let (records, made) = (root.path().join("records"), root.path().join("made"));
        fs::create_dir(&records).unwrap();
        let names = BTreeSet::from([root.path().join("known")]);
        let record = CommandRecord::new(records.clone(), Some(names.clone()));
        record
            .write(&Snapshot::take(
                std::slice::from_ref(&made),
                &[root.path().canonicalize().unwrap()],
            ))
            .unwrap();
        fs::write(&made, "x").unwrap();
        assert!(LeftCommand::find(&records).unwrap().is_empty(), "its moss lives");
        drop(record);
        let mut found = LeftCommand::find(&records).unwrap();
        let left = found.pop().unwrap();
        assert!(found.is_empty() && left.known.as_ref() == Some(&names));
        assert!(LeftCommand::find(&records).unwrap().is_empty(), "it is being settled");
        assert_eq!(left.restore().restored, std::slice::from_ref(&made));
        assert!(!made.exists());
        left.settled();
        assert_eq!(fs::read_dir(&records).unwrap().count(), 0);

        let record = CommandRecord::new(records.clone(), None);
        record.write(&Snapshot::default()).unwrap();
        // Of a start that is tried again one is left, which is held.
        record.write(&Snapshot::default()).unwrap();
        assert_eq!(fs::read_dir(&records).unwrap().count(), 1);
        assert!(LeftCommand::find(&records).unwrap().is_empty());
        record.settled();
        assert_eq!(fs::read_dir(&records).unwrap().count(), 0);
    }

    #[test]
    fn marks_are_found_where_nobody_holds_them_until_they_are_cleared() {
        let root = tempfile::tempdir().unwrap();
        let (index, names) = (Path::new("/r/.git/index"), BTreeSet::from([OsString::from(".env")]));
        let record = CommandRecord::new(root.path().to_owned(), None);
        let before = BTreeSet::from([OsString::from("of the person")]);
        let marks = record.write_marks(index, names.clone(), before.clone()).unwrap();
        assert!(MarkRecord::find(root.path()).unwrap().is_empty(), "its moss lives");
        File::open(&marks.path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(LeftCommand::find(root.path()).unwrap().is_empty(), "it is no command");
        drop(marks);
        let found = MarkRecord::find(root.path()).unwrap().pop().unwrap();
        assert_eq!((found.index.as_path(), &found.names), (index, &names));
        assert_eq!(found.before, Some(before));
        found.settled();
        assert!(MarkRecord::find(root.path()).unwrap().is_empty());
    }

    #[test]
    fn half_a_record_is_removed() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("x.command"), [1; 9]).unwrap();
        assert!(LeftCommand::find(root.path()).unwrap().is_empty());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    }
}
