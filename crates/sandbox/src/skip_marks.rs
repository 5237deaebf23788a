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
use std::time::Duration;

use tokio::runtime::Handle;

use crate::git_index::{self, ChangedIndex, SkipChange};
use crate::index_file::IndexPlace;
use crate::record::{CommandRecord, MarkRecord};
use crate::region::HeldRegion;

/// The marks of all commands that run in this process: what several need is cleared with the last of them.
static HELD: Mutex<Vec<Arc<HeldMarks>>> = Mutex::new(Vec::new());
/// How long one waits for whoever writes an index, before a command and after it: as long as most of git's commands take.
const WAIT_BEFORE: Duration = Duration::from_secs(2);
const WAIT_AFTER: Duration = Duration::from_secs(10);

/// The marks of one command in one index, until they are cleared or it is dropped.
#[derive(Debug)]
pub(crate) struct SkipMarks(Option<Arc<HeldMarks>>);

/// Marks, and the index in which they are, wherever it is moved.
#[derive(Debug)]
struct HeldMarks {
    record: MarkRecord,
    place: IndexPlace,
}

fn held() -> MutexGuard<'static, Vec<Arc<HeldMarks>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The names that commands have marked which run in this process.
fn held_in(place: &IndexPlace) -> BTreeSet<OsString> {
    let held = held();
    let of_index = held.iter().filter(|one| one.place.is_same(place));
    of_index.flat_map(|one| one.record.names.iter().cloned()).collect()
}

/// Whether something in an index is marked by commands that run in this process.
pub(crate) fn has_marks(index: &Path) -> bool {
    IndexPlace::reach(index).is_ok_and(|place| held().iter().any(|one| one.place.is_same(&place)))
}

/// Clears what is marked in indexes by commands whose moss was killed, or could not do it, by the records of them in a
/// directory. Where the directory of an index is not there, its record stays: a repository may be moved away and back.
///
/// # Errors
///
/// Where some of it is still marked: the first of the reasons.
pub fn clear_left_marks(directory: &Path) -> io::Result<()> {
    let mut problem = Ok(());
    for left in MarkRecord::find(directory)? {
        let _region = HeldRegion::enter(vec![left.index.clone()]);
        let place = match IndexPlace::reach(&left.index) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            place => place,
        };
        let cleared = place.and_then(|place| {
            place.remove_left(&left.new_index())?;
            clear(&left, &place, Duration::ZERO)
        });
        match cleared {
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

fn named(names: Vec<Vec<u8>>) -> impl Iterator<Item = OsString> {
    names.into_iter().map(OsString::from_vec)
}

/// Clears what nobody else needs. Returns what was still marked of it.
fn clear(
    record: &MarkRecord,
    place: &IndexPlace,
    wait: Duration,
) -> io::Result<BTreeSet<OsString>> {
    let (kept, own): (BTreeSet<OsString>, BTreeSet<OsString>) = {
        let others = held_in(place);
        record.names.iter().cloned().partition(|name| others.contains(name))
    };
    if own.is_empty() {
        return Ok(kept);
    }
    let is_own = |name: &[u8]| own.contains(OsStr::from_bytes(name));
    let cleared = place.replace(&record.new_index(), wait, |bytes, _| {
        git_index::changed(bytes, SkipChange::Clear, is_own)
    })?;
    // The repository, or its index, is gone.
    let Some(cleared) = cleared else { return Ok(BTreeSet::new()) };
    place.sync()?;
    Ok(named(cleared).chain(kept).collect())
}

fn release(own: &Arc<HeldMarks>, wait: Duration) -> io::Result<BTreeSet<OsString>> {
    let _region = HeldRegion::enter(vec![own.record.index.clone()]);
    held().retain(|one| !Arc::ptr_eq(one, own));
    let left = clear(&own.record, &own.place, wait)?;
    own.record.settled();
    Ok(left)
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
        let place = IndexPlace::reach(index)?;
        let file = place.open()?;
        let unmarked = mark(&file.read()?, file.written_s(), &is_hidden);
        let unmarked: BTreeSet<_> =
            named(unmarked.map(|found| found.names).unwrap_or_default()).collect();
        let shared = held_in(&place).into_iter().filter(|name| is_hidden(name.as_bytes()));
        let shared: BTreeSet<_> = shared.collect();
        if unmarked.is_empty() && shared.is_empty() {
            return Ok(None);
        }
        let mut written = record.write_marks(index, unmarked.union(&shared).cloned().collect())?;
        let mut names = shared;
        // Where all is marked for others nobody is kept from the index.
        if !unmarked.is_empty() {
            let is_unmarked = |name: &[u8]| unmarked.contains(OsStr::from_bytes(name));
            let marked = place.replace(&written.new_index(), WAIT_BEFORE, |bytes, written_s| {
                mark(bytes, written_s, is_unmarked)
            });
            match marked {
                Ok(marked) => names.extend(named(marked.unwrap_or_default())),
                Err(error) => {
                    written.settled();
                    return Err(error);
                }
            }
        }
        if names.is_empty() {
            written.settled();
            return Ok(None);
        }
        // What somebody else has marked since it was read stays.
        if names != written.names
            && let Ok(rewritten) = record.write_marks(index, names)
        {
            written.settled();
            written = rewritten;
        }
        let marks = Arc::new(HeldMarks { record: written, place });
        held().push(Arc::clone(&marks));
        Ok(Some(Self(Some(marks))))
    }

    /// The names of what is marked.
    pub(crate) fn names(&self) -> impl Iterator<Item = &OsString> {
        self.0.iter().flat_map(|marks| &marks.record.names)
    }

    /// Clears what no other command needs, and waits for whoever writes the index. Returns which of the names git had
    /// left marked.
    ///
    /// # Errors
    ///
    /// Where it stays marked until [`clear_left_marks`].
    pub(crate) fn clear(mut self) -> io::Result<BTreeSet<OsString>> {
        self.0.take().map_or_else(|| Ok(BTreeSet::new()), |own| release(&own, WAIT_AFTER))
    }
}

impl Drop for SkipMarks {
    fn drop(&mut self) {
        let Some(own) = self.0.take() else { return };
        // What stays marked is cleared before the next command.
        let release = move || drop(release(&own, Duration::ZERO));
        // It waits for the disk, and may be dropped where nothing is to wait.
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(release)),
            Err(_) => release(),
        }
    }
}
