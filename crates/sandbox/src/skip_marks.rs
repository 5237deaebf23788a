//! Marks by which git leaves files alone that are hidden from a command which may write: the skip-worktree bit of their
//! entries in the index itself, set while the command runs. Git neither adds, commits nor stashes such a file then, and
//! refuses what would replace it. A bit that somebody else had set stays, and one that git has carried to another name is
//! cleared with the others. All that is set is written down before, and cleared also where moss is killed meanwhile.
//!
//! Who waits for another writer of the index keeps nobody else waiting, and is one of those who hold marks until then.

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
/// Most entries that somebody else may have marked: who has more has a kind of sparse checkout.
const BEFORE_MAX: usize = 10_000;

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

/// The names that commands have marked which run in this process, all but one of them.
fn held_in(place: &IndexPlace, but: Option<&MarkRecord>) -> BTreeSet<OsString> {
    let held = held();
    let others = held.iter().filter(|one| but.is_none_or(|but| !std::ptr::eq(&one.record, but)));
    let of_index = others.filter(|one| one.place.is_same(place));
    of_index.flat_map(|one| one.record.names.iter().cloned()).collect()
}

/// The names that somebody else has marked in an index, or had before the first of the commands that run.
fn marked_before(index: &[u8], place: &IndexPlace) -> Option<BTreeSet<OsString>> {
    let first = held().iter().find(|one| one.place.is_same(place)).cloned();
    let before = first.and_then(|first| first.record.before.clone());
    before.or_else(|| {
        let marked = git_index::changed(index, SkipChange::Clear, |_| true)?;
        Some(named(marked.names).collect())
    })
}

/// When marks are cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clearing {
    /// At the end of their command.
    AtEnd,
    /// Later, by what was written down of them.
    Left,
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
        let mut region = HeldRegion::enter(vec![left.index.clone()]);
        let place = match IndexPlace::reach(&left.index) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            place => place,
        };
        let cleared = place.and_then(|place| {
            place.remove_left(&left.new_index())?;
            clear((&left, Clearing::Left), &place, &mut region, Duration::ZERO)
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

/// Clears in an index what a command has marked and no other needs. Where some of that is no longer marked, git has
/// changed these entries, and `git mv` carries their bits to the new names: then all is cleared that nobody had marked
/// before.
fn unmark(
    index: &[u8],
    (record, when): (&MarkRecord, Clearing),
    place: &IndexPlace,
) -> Option<ChangedIndex> {
    let others = held_in(place, Some(record));
    let clear = |before: Option<&BTreeSet<OsString>>| {
        git_index::changed(index, SkipChange::Clear, |name| {
            let name = OsStr::from_bytes(name);
            let is_carried = || before.is_some_and(|before| !before.contains(name));
            !others.contains(name) && (record.names.contains(name) || is_carried())
        })
    };
    let own = clear(None)?;
    let is_lost = own.names.len() < record.names.difference(&others).count();
    // Later somebody else may have cleared all of them, and a person have marked others since.
    let is_lost = is_lost && (when == Clearing::AtEnd || !own.names.is_empty());
    match &record.before {
        Some(before) if is_lost && !place.is_sparse() => clear(Some(before)),
        _ => Some(own),
    }
}

/// Clears what nobody else needs. Returns what was still marked of it.
fn clear(
    (record, when): (&MarkRecord, Clearing),
    place: &IndexPlace,
    region: &mut HeldRegion,
    wait: Duration,
) -> io::Result<BTreeSet<OsString>> {
    if record.names.is_subset(&held_in(place, Some(record))) {
        return Ok(record.names.clone());
    }
    let pause = |pause| region.pause(pause);
    let cleared = place.replace(&record.new_index(), wait, pause, |bytes, _| {
        unmark(bytes, (record, when), place)
    })?;
    // The repository, or its index, is gone.
    let Some(cleared) = cleared else { return Ok(BTreeSet::new()) };
    place.sync()?;
    let others = held_in(place, Some(record));
    Ok(named(cleared).chain(record.names.intersection(&others).cloned()).collect())
}

fn release(own: &Arc<HeldMarks>, wait: Duration) -> io::Result<BTreeSet<OsString>> {
    let mut region = HeldRegion::enter(vec![own.record.index.clone()]);
    let left = clear((&own.record, Clearing::AtEnd), &own.place, &mut region, wait);
    // Whoever came meanwhile has these marks as well, and none that are about to be cleared.
    held().retain(|one| !Arc::ptr_eq(one, own));
    let left = left?;
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
        let mut region = HeldRegion::enter(vec![index.to_owned()]);
        let place = IndexPlace::reach(index)?;
        let file = place.open()?;
        let bytes = file.read()?;
        let unmarked = mark(&bytes, file.written_s(), &is_hidden);
        let unmarked: BTreeSet<_> =
            named(unmarked.map(|found| found.names).unwrap_or_default()).collect();
        let shared = || {
            let held = held_in(&place, None).into_iter();
            held.filter(|name| is_hidden(name.as_bytes())).collect::<BTreeSet<_>>()
        };
        let wanted: BTreeSet<_> = unmarked.union(&shared()).cloned().collect();
        if wanted.is_empty() || place.is_sparse() {
            return Ok(None);
        }
        let before = marked_before(&bytes, &place).filter(|before| before.len() <= BEFORE_MAX);
        let Some(before) = before else { return Ok(None) };
        let mut written = record.write_marks(index, wanted, before.clone())?;
        let mut names = BTreeSet::new();
        // Where all is marked for others nobody is kept from the index.
        if !unmarked.is_empty() {
            let is_wanted = |name: &[u8]| written.names.contains(OsStr::from_bytes(name));
            let pause = |pause| region.pause(pause);
            let change = |bytes: &[u8], written_s| mark(bytes, written_s, is_wanted);
            match place.replace(&written.new_index(), WAIT_BEFORE, pause, change) {
                Ok(marked) => names.extend(named(marked.unwrap_or_default())),
                Err(error) => {
                    written.settled();
                    return Err(error);
                }
            }
        }
        names.extend(shared());
        if names.is_empty() {
            written.settled();
            return Ok(None);
        }
        // What somebody else has marked since it was read stays.
        if names != written.names
            && let Ok(rewritten) = record.write_marks(index, names, before)
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
