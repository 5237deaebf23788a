//! Undoing entries, the newest first: exactly where the files still hold their results, by a
//! three-way merge of lines where they were changed since, and not at all where the same lines
//! were. An undo is an entry like any other: it is undone in the same way.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use moss_sdk::edit::Retention;
use moss_sdk::{ContentHash, RelPath};

use super::load::{UndoBounds, UndoLoad};
use super::merge::{Clash, RevertStep, UndoStop};
use super::{History, HistoryEntry, HistoryFile, HistoryFilter, UndoTarget, query};
use crate::buffers::{Buffers, NoBuffers};
use crate::changes::{FileAction, Plan, Planner, TargetContent};
use crate::conflicts::{LaterChange, UndoConflict, UndoConflicts};
use crate::error::Error;
use crate::handle;
use crate::options::FileLimits;
use crate::root::Workspace;

/// Most entries that are undone at once.
const ENTRIES_MAX: usize = 1_000;
/// Most later changes of a file among which the one is looked for that stands in the way of an undo.
const LATER_MAX: usize = 32;
/// How long files are merged to find it.
const LATER_MERGING_MAX: Duration = Duration::from_secs(1);

/// What entries did to one file, the newest first.
struct UndoTrail<'a> {
    real: &'a RelPath,
    steps: Vec<(u64, &'a HistoryFile)>,
}

/// A file once steps are undone.
#[derive(Default)]
struct Back {
    content: Option<Vec<u8>>,
    /// The permission bits, where a deleted file comes back.
    mode: Option<u32>,
    merged: bool,
    /// The entries that were undone.
    undone: Vec<u64>,
}

// === impl History ===

impl History {
    /// Plans to undo entries, all or none. The plan is like any other: it is shown, decided on
    /// and committed, and is an entry of its own.
    ///
    /// # Errors
    ///
    /// `NoEntry`; `NoCall`; `NothingToUndo` where all files are as before it already; `Merge` where
    /// a file was changed again at the same lines; `Forgotten` where a content is no longer held;
    /// `Limit`; and as [`Workspace::plan`].
    pub fn plan_undo(&self, workspace: &Workspace, target: &UndoTarget) -> Result<Plan, Error> {
        self.plan_undo_over(workspace, target, &NoBuffers, UndoBounds::default())
    }

    /// As [`History::plan_undo`], where the unsaved texts of editors stand for the files that they
    /// are of, within bounds.
    ///
    /// # Errors
    ///
    /// As [`History::plan_undo`]; `Unsaved` for what cannot be done to a buffer; `Cancelled`; `Memory`
    /// and `MergeTime` where it takes too much.
    pub fn plan_undo_over(
        &self,
        workspace: &Workspace,
        target: &UndoTarget,
        buffers: &dyn Buffers,
        bounds: UndoBounds<'_>,
    ) -> Result<Plan, Error> {
        let planner = Planner { workspace, buffers, cancelled: bounds.cancelled };
        let mut load = UndoLoad::new(bounds);
        let entries = self.entries_of(target)?;
        let mut targets = Vec::new();
        let mut undone = BTreeSet::new();
        let mut conflicts = Vec::new();
        let bytes_max = workspace.limits().change_bytes_max;
        let mut bytes = 0;
        for trail in trails(&entries, workspace.limits())? {
            load.check()?;
            let present = present(&planner, trail.real)?;
            match self.undo_step(&trail, present.as_deref(), &load)? {
                Ok(back) => {
                    load.kept += [&present, &back.content].map(size).iter().sum::<u64>();
                    bytes += back.content.as_ref().map_or(0, Vec::len) as u64;
                    if bytes > bytes_max {
                        return Err(Error::Limit { what: "bytes in one change", max: bytes_max });
                    }
                    undone.extend(&back.undone);
                    targets.extend(back.target(present).map(|to| (trail.real.clone(), to)));
                }
                Err(conflict) => conflicts.push(conflict),
            }
        }
        if !conflicts.is_empty() {
            return Err(Error::Merge(UndoConflicts(conflicts)));
        }
        if targets.is_empty() {
            return Err(nothing(target, &entries));
        }
        let plan = planner.plan_targets(targets)?;
        Ok(Plan { undo_of: undone.into_iter().rev().collect(), ..plan })
    }

    /// Returns what the entries that are to be undone did to files: what a plan would look at.
    ///
    /// # Errors
    ///
    /// `NoEntry`; `NoCall`; `Limit`.
    pub fn undo_files(&self, target: &UndoTarget) -> Result<Vec<HistoryFile>, Error> {
        Ok(self.entries_of(target)?.into_iter().flat_map(|entry| entry.files).collect())
    }

    /// The entries that are meant, the newest first.
    fn entries_of(&self, target: &UndoTarget) -> Result<Vec<HistoryEntry>, Error> {
        let connection = self.connection();
        let mut filter = HistoryFilter { entries_max: ENTRIES_MAX + 1, ..HistoryFilter::default() };
        match target {
            UndoTarget::Entry(number) => return Ok(vec![query::get(&connection, *number)?]),
            UndoTarget::Call(call_id) => filter.call_id = Some(call_id.clone()),
            UndoTarget::Since(number) => {
                // What came after an entry that is gone may be gone as well.
                if *number > 0 {
                    query::get(&connection, *number)?;
                }
                filter.since = Some(*number);
            }
        }
        let entries = query::list(&connection, &filter)?;
        match target {
            UndoTarget::Call(call_id) if entries.is_empty() => {
                Err(Error::NoCall { call_id: call_id.clone() })
            }
            _ if entries.len() > ENTRIES_MAX => {
                Err(Error::Limit { what: "changes in one undo", max: ENTRIES_MAX as u64 })
            }
            _ => Ok(entries),
        }
    }

    /// Takes what was done to one file back: from its newest result on where the file holds that;
    /// otherwise, or where it leads to a conflict, only what its content does not lack already.
    fn undo_step(
        &self,
        trail: &UndoTrail<'_>,
        present: Option<&[u8]>,
        load: &UndoLoad<'_>,
    ) -> Result<Result<Back, UndoConflict>, Error> {
        let hash = present.map(handle::hash);
        let steps = &trail.steps[..];
        let lacked = steps.iter().rposition(|(_, file)| file.before == hash);
        let rest = &steps[lacked.map_or(0, |last| last + 1)..];
        if rest.len() < steps.len()
            && steps[0].1.after == hash
            && let Ok(Ok(whole)) = self.walk_back(steps, present, load)
        {
            return Ok(Ok(whole));
        }
        self.walk_back(rest, present, load)
    }

    fn walk_back(
        &self,
        steps: &[(u64, &HistoryFile)],
        present: Option<&[u8]>,
        load: &UndoLoad<'_>,
    ) -> Result<Result<Back, UndoConflict>, Error> {
        let content = present.map(<[u8]>::to_vec);
        let mut back = Back { content, ..Back::default() };
        for &(number, file) in steps {
            match self.step_back(number, file, &mut back, present, load) {
                Ok(()) => {}
                Err(UndoStop::Failed(error)) => return Err(error),
                Err(UndoStop::Conflict(Clash { what, lines })) => {
                    let later = self.later(number, file, steps, load)?;
                    let path = file.path.clone();
                    return Ok(Err(UndoConflict { number, path, what, lines, later }));
                }
            }
        }
        Ok(Ok(back))
    }

    /// The change since which a step cannot be undone: the earliest of those after which it never
    /// could, as far as there is time to look. None where the newest of them leaves it possible, or is
    /// one of the steps.
    fn later(
        &self,
        number: u64,
        file: &HistoryFile,
        steps: &[(u64, &HistoryFile)],
        load: &UndoLoad<'_>,
    ) -> Result<Option<LaterChange>, Error> {
        let looking = load.within(LATER_MERGING_MAX);
        let (path, since) = (Some(file.real.clone()), Some(number));
        let filter = HistoryFilter { path, since, entries_max: LATER_MAX, ..Default::default() };
        let entries = query::list(&self.connection(), &filter)?;
        let mut found = None;
        for HistoryEntry { number: later, at, origin, files, .. } in entries {
            let Some(made) = files.iter().find(|made| made.real == file.real) else { continue };
            if steps.iter().any(|(step, _)| *step == later) {
                break;
            }
            let Ok(content) =
                made.after.map(|hash| self.held(later, made, Some(&hash))).transpose()
            else {
                break;
            };
            let present = content.clone();
            let mut back = Back { content, ..Back::default() };
            match self.step_back(number, file, &mut back, present.as_deref(), &looking) {
                Err(UndoStop::Conflict(_)) => {
                    found = Some(LaterChange { number: later, at, origin });
                }
                Ok(()) | Err(UndoStop::Failed(_)) => break,
            }
        }
        load.spend(looking.spent());
        Ok(found)
    }

    /// Brings a file one step back.
    fn step_back(
        &self,
        number: u64,
        file: &HistoryFile,
        back: &mut Back,
        present: Option<&[u8]>,
        load: &UndoLoad<'_>,
    ) -> Result<(), UndoStop> {
        load.check()?;
        let conflict = |what: &str| Err(UndoStop::Conflict(Clash::from(what)));
        let hash = back.content.as_deref().map(handle::hash);
        if hash == file.before {
            return Ok(());
        }
        let is_result = hash == file.after;
        let there = present.map_or(0, <[u8]>::len) as u64 + size(&back.content);
        let kept = there.saturating_add(file.before_bytes).saturating_add(file.after_bytes);
        load.hold(usize::try_from(kept).unwrap_or(usize::MAX))?;
        match (file.action, &back.content) {
            (FileAction::Create, Some(_)) if is_result => back.content = None,
            (FileAction::Delete, None) => {
                back.content = Some(self.held(number, file, file.before.as_ref())?);
                back.mode = file.mode;
            }
            (FileAction::Modify, Some(_)) if is_result => {
                back.content = Some(self.held(number, file, file.before.as_ref())?);
            }
            (FileAction::Modify, Some(now)) => {
                let after = self.held(number, file, file.after.as_ref())?;
                let before = self.held(number, file, file.before.as_ref())?;
                let (after, before, present) = (&after, &before, present.unwrap_or_default());
                let path = &file.path;
                let merged = RevertStep { path, after, before, now, present }.merge(load)?;
                if merged == *now {
                    // What differed since is just what was to be undone.
                    return Ok(());
                }
                back.content = Some(merged);
                back.merged = true;
            }
            (FileAction::Create, _) => return conflict("was changed again"),
            (FileAction::Delete, _) => return conflict("is there again, with another content,"),
            (FileAction::Modify, None) => return conflict("is gone"),
        }
        back.undone.push(number);
        Ok(())
    }

    fn held(
        &self,
        number: u64,
        file: &HistoryFile,
        hash: Option<&ContentHash>,
    ) -> Result<Vec<u8>, Error> {
        let held = match hash {
            Some(hash) if !file.forgotten => self.content(hash)?,
            _ => None,
        };
        held.ok_or_else(|| Error::Forgotten { path: file.path.clone(), number: Some(number) })
    }
}

/// Sorts what entries did by file.
fn trails<'a>(
    entries: &'a [HistoryEntry],
    limits: &FileLimits,
) -> Result<Vec<UndoTrail<'a>>, Error> {
    let mut trails: Vec<UndoTrail<'a>> = Vec::new();
    let mut places = BTreeMap::new();
    for entry in entries {
        for file in &entry.files {
            let place = *places.entry(&file.real).or_insert(trails.len());
            if place == trails.len() {
                trails.push(UndoTrail { real: &file.real, steps: Vec::new() });
            }
            trails[place].steps.push((entry.number, file));
        }
    }
    if trails.len() > limits.change_files_max {
        let max = limits.change_files_max as u64;
        return Err(Error::Limit { what: "files in one change", max });
    }
    Ok(trails)
}

fn present(planner: &Planner<'_>, real: &RelPath) -> Result<Option<Vec<u8>>, Error> {
    match planner.present(real) {
        Ok(present) => Ok(Some(present.bytes)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn size(content: &Option<Vec<u8>>) -> u64 {
    content.as_ref().map_or(0, Vec::len) as u64
}

/// Says why there is nothing to undo.
fn nothing(target: &UndoTarget, entries: &[HistoryEntry]) -> Error {
    let why = match target {
        UndoTarget::Since(number) if entries.is_empty() => {
            format!("nothing was changed through moss since change {number}")
        }
        UndoTarget::Since(number) => {
            format!("every file that was changed since change {number} is as it was then")
        }
        UndoTarget::Call(call_id) => {
            format!("every file that the call {call_id} changed is as it was before")
        }
        UndoTarget::Entry(number) => {
            let by = entries.first().and_then(|entry| entry.undone_by.first());
            let by = by.map(|by| format!(" (change {by} undid it)")).unwrap_or_default();
            format!("every file is as it was before change {number}{by}")
        }
    };
    Error::NothingToUndo { why }
}

// === impl Back ===

impl Back {
    /// What brings the file from what it holds to what it shall hold; none where that is the same.
    fn target(self, present: Option<Vec<u8>>) -> Option<TargetContent> {
        let Self { content, mode, merged, .. } = self;
        match (present, content) {
            (None, None) => None,
            (None, Some(new)) => Some(TargetContent::Create { new, mode }),
            (Some(old), None) => {
                let base = handle::hash(&old);
                Some(TargetContent::Delete { base, retention: Retention::Recoverable })
            }
            (Some(old), Some(new)) if old == new => None,
            (Some(old), Some(new)) => {
                Some(TargetContent::Modify { base: handle::hash(&old), new, mode, merged })
            }
        }
    }
}
