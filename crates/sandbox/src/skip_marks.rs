//! Marks by which git leaves files alone that are hidden from a command which may write: the skip-worktree bit of their
//! entries in the index itself, set while the command runs. Git neither adds, commits nor stashes such a file then, and
//! refuses what would replace it. A bit that somebody else has set stays. All that is set is written down before, and
//! cleared also where moss is killed meanwhile.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::git_index::{self, ChangedIndex, SkipChange};
use crate::index_file::{self, IndexFile};
use crate::record::{CommandRecord, MarkRecord};
use crate::region::HeldRegion;

/// The marks of all commands that run in this process: what several need is cleared with the last of them.
static HELD: Mutex<Vec<Arc<MarkRecord>>> = Mutex::new(Vec::new());
/// How often one looks whether git has written an index, before a command and after it.
const LOOKS_BEFORE: u32 = 4;
const LOOKS_AFTER: u32 = 40;

/// The marks of one command in one index, until they are cleared or it is dropped.
#[derive(Debug)]
pub(crate) struct SkipMarks(Option<Arc<MarkRecord>>);

fn held() -> MutexGuard<'static, Vec<Arc<MarkRecord>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The names that commands have marked which run in this process.
fn held_in(index: &Path) -> BTreeSet<OsString> {
    let held = held();
    let of_index = held.iter().filter(|one| one.index == index);
    of_index.flat_map(|one| one.names.iter().cloned()).collect()
}

/// Whether something in an index is marked by commands that run in this process.
pub(crate) fn has_marks(index: &Path) -> bool {
    held().iter().any(|one| one.index == index)
}

/// Clears what is marked in indexes by commands whose moss was killed, or could not do it, by the records of them in a
/// directory.
///
/// # Errors
///
/// Where some of it is still marked: the first of the reasons.
pub fn clear_left_marks(directory: &Path) -> io::Result<()> {
    let mut problem = Ok(());
    for left in MarkRecord::find(directory)? {
        let _region = HeldRegion::enter(vec![left.index.clone()]);
        match clear(&left, 1) {
            Ok(_) => left.settled(),
            Err(error) => {
                let (index, kind) = (left.index.display(), error.kind());
                problem = problem.and(Err(io::Error::new(kind, format!("{index}: {error}"))));
            }
        }
    }
    problem
}

fn mark(index: &[u8], written_s: u32, is_meant: impl Fn(&[u8]) -> bool) -> Option<ChangedIndex> {
    git_index::changed(index, SkipChange::Set { written_s }, is_meant)
}

/// Clears what nobody else needs. Returns what was still marked of it.
fn clear(record: &MarkRecord, looks: u32) -> io::Result<BTreeSet<OsString>> {
    let others = held_in(&record.index);
    let is_meant = |name: &[u8]| {
        let name = OsStr::from_bytes(name);
        record.names.contains(name) && !others.contains(name)
    };
    let replaced = index_file::replace(&record.index, looks, |bytes, _| {
        git_index::changed(bytes, SkipChange::Clear, is_meant)
    });
    match replaced {
        Ok(cleared) => {
            let kept = others.into_iter().filter(|name| record.names.contains(name));
            Ok(cleared.into_iter().map(OsString::from_vec).chain(kept).collect())
        }
        // The repository, or its index, is gone.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(error),
    }
}

// === impl SkipMarks ===

impl SkipMarks {
    /// Marks what is hidden in an index, and writes it down before. None where nothing of it is to be marked.
    ///
    /// # Errors
    ///
    /// Where nothing was marked: somebody writes the index, or it is not understood.
    pub(crate) fn set(
        index: &Path,
        record: &CommandRecord,
        is_hidden: impl Fn(&[u8]) -> bool,
    ) -> io::Result<Option<Self>> {
        let _region = HeldRegion::enter(vec![index.to_owned()]);
        let file = IndexFile::open(index)?;
        let unmarked = mark(&file.read()?, file.written_s(), &is_hidden);
        let unmarked = unmarked.into_iter().flat_map(|found| found.names).map(OsString::from_vec);
        let shared = held_in(index).into_iter().filter(|name| is_hidden(name.as_bytes()));
        let names: BTreeSet<OsString> = unmarked.chain(shared).collect();
        if names.is_empty() {
            return Ok(None);
        }
        let marks = record.write_marks(index, names)?;
        let is_own = |name: &[u8]| marks.names.contains(OsStr::from_bytes(name));
        let replaced = index_file::replace(index, LOOKS_BEFORE, |bytes, written_s| {
            mark(bytes, written_s, is_own)
        });
        if let Err(error) = replaced {
            marks.settled();
            return Err(error);
        }
        let marks = Arc::new(marks);
        held().push(Arc::clone(&marks));
        Ok(Some(Self(Some(marks))))
    }

    /// The names of what is marked.
    pub(crate) fn names(&self) -> impl Iterator<Item = &OsString> {
        self.0.iter().flat_map(|record| &record.names)
    }

    /// Clears what no other command needs, and waits for whoever writes the index. Returns which of the names git had
    /// left marked.
    ///
    /// # Errors
    ///
    /// Where it stays marked until [`clear_left_marks`].
    pub(crate) fn clear(mut self) -> io::Result<BTreeSet<OsString>> {
        self.release(LOOKS_AFTER)
    }

    fn release(&mut self, looks: u32) -> io::Result<BTreeSet<OsString>> {
        let Some(own) = self.0.take() else { return Ok(BTreeSet::new()) };
        let _region = HeldRegion::enter(vec![own.index.clone()]);
        held().retain(|one| !Arc::ptr_eq(one, &own));
        let left = clear(&own, looks)?;
        own.settled();
        Ok(left)
    }
}

impl Drop for SkipMarks {
    fn drop(&mut self) {
        // What stays marked is cleared before the next command.
        let _ = self.release(1);
    }
}
