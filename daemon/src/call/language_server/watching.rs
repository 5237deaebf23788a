//! Which files of a project a language server has to be notified of: those of which the live tree reports a change;
//! where it reports none, those that a listing shows to be others.

use std::collections::{BTreeMap, HashMap};

use moss_language_servers::{FileState, ReportedStates, ServerSpec, WatchedFiles, WatchedLook};
use moss_live_index::live_tree::KeptTree;
use moss_sdk::RelPath;
use moss_sdk::file::ListOptions;
use moss_workspace::{Error, FileMark, LiveChanges};

use crate::call::read_access::ReadAccess;
use crate::call::searching::lists;

/// Most files of a project of which a server is notified when they change.
const WATCHED_MAX: usize = 250_000;
/// Most entries of a project that are listed for that at each question, where no changes are reported.
const LISTED_MAX: usize = 50_000;

/// Looks at the files of a project that a server knows and the caller may see: those that changed since a look before.
pub(super) fn look(
    reader: &ReadAccess,
    (spec, project): (&ServerSpec, &RelPath),
    before: Option<&WatchedFiles>,
) -> Result<WatchedLook, Error> {
    let cancelled = || reader.is_cancelled();
    if let Some(kept) = reader.workspace().live.get()
        && let Some(changes) =
            kept.changes_since(before.map_or(0, WatchedFiles::generation), &cancelled)?
        && let Some(look) = reported((reader, kept), (spec, project), &changes, before)?
    {
        return Ok(look);
    }
    let options = ListOptions { recursive: true, entries_max: LISTED_MAX };
    let keep = |path: &RelPath| reader.lists(path);
    let listing = reader.workspace().list(project, options, &keep, &cancelled)?;
    Ok(WatchedLook::Whole(WatchedFiles::of(listing, spec)))
}

/// What the tree says by what it reports. None where it does not know the project.
fn reported(
    (reader, kept): (&ReadAccess, &KeptTree),
    (spec, project): (&ServerSpec, &RelPath),
    changes: &LiveChanges,
    before: Option<&WatchedFiles>,
) -> Result<Option<WatchedLook>, Error> {
    let is_watched = |path: &RelPath| spec.watches(path) && path.beneath(project).is_some();
    let mut listed = HashMap::new();
    let mut sees = |path: &RelPath| {
        let around = path.parent().is_none_or(|parent| lists(reader, &parent, &mut listed));
        around && reader.lists(path)
    };
    let Some(before) = before.filter(|_| !changes.is_everything) else {
        let mut files = BTreeMap::new();
        let is_known = kept.files(project, &mut |path, mark| {
            if files.len() <= WATCHED_MAX && is_watched(path) {
                files.insert(path.clone(), state(&mark));
            }
        });
        let is_cut = files.len() > WATCHED_MAX;
        files.retain(|path, _| is_cut || sees(path));
        let files = WatchedFiles::as_of(changes.generation, files, WATCHED_MAX);
        return Ok(is_known.then_some(WatchedLook::Whole(files)));
    };
    let mut list = |directory: &RelPath, now: &mut ReportedStates| {
        if reader.is_cancelled() {
            return Err(Error::Cancelled);
        }
        kept.files(directory, &mut |path, mark| {
            if is_watched(path) {
                now.insert(path.clone(), Some(state(&mark)));
            }
        });
        Ok(())
    };
    let mut now = before.listed_anew(&changes.subtrees, project, &mut list)?;
    let files = changes.files.iter().filter(|path| is_watched(path));
    now.extend(files.map(|path| (path.clone(), kept.file(path).map(|mark| state(&mark)))));
    now.retain(|path, state| state.is_none() || sees(path));
    Ok(Some(WatchedLook::Reported(now, changes.generation)))
}

fn state(mark: &FileMark) -> FileState {
    (Some(mark.size_bytes), Some(mark.modified))
}
