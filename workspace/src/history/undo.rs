//! Taking an entry back: exactly where the files still hold its result, by a three-way merge of
//! lines where they were changed since, and not at all where the same lines were.

use moss_sdk::edit::Retention;
use moss_sdk::{ContentHash, RelPath};
use similar::TextMerge;

use super::{History, HistoryFile};
use crate::buffers::{Buffers, NoBuffers};
use crate::changes::{Action, Plan, Planner, Target};
use crate::error::Error;
use crate::handle;
use crate::root::Workspace;
use crate::text;

// === impl History ===

impl History {
    /// Plans to take an entry back. The plan is like any other: it is shown, decided on and
    /// committed, and is an entry of its own.
    ///
    /// # Errors
    ///
    /// `NoEntry`; `NoChange` where all files are as before it already; `Merge` where a file was
    /// changed again at the same lines; `Forgotten` where a content is no longer held; and as
    /// [`Workspace::plan`].
    pub fn plan_undo(&self, workspace: &Workspace, number: u64) -> Result<Plan, Error> {
        self.plan_undo_over(workspace, number, &NoBuffers)
    }

    /// As [`History::plan_undo`], where the unsaved texts of editors stand for the files that they
    /// are of.
    ///
    /// # Errors
    ///
    /// As [`History::plan_undo`]; `Unsaved` for what cannot be done to a buffer.
    pub fn plan_undo_over(
        &self,
        workspace: &Workspace,
        number: u64,
        buffers: &dyn Buffers,
    ) -> Result<Plan, Error> {
        let planner = Planner { workspace, buffers };
        let entry = super::query::get(&self.connection(), number)?;
        let mut targets = Vec::with_capacity(entry.files.len());
        for file in &entry.files {
            if let Some(target) = self.undo_file(&planner, file)? {
                targets.push((file.real.clone(), target));
            }
        }
        if targets.is_empty() {
            let path = entry.files.first().map_or_else(RelPath::root, |file| file.path.clone());
            return Err(Error::NoChange { path });
        }
        planner.plan_targets(targets)
    }

    /// What brings one file back; none where it already is as before.
    fn undo_file(
        &self,
        planner: &Planner<'_>,
        file: &HistoryFile,
    ) -> Result<Option<Target>, Error> {
        let present = match planner.present(&file.real) {
            Ok(present) => Some(present.bytes),
            Err(Error::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        let hash = present.as_deref().map(handle::hash);
        if hash == file.before {
            return Ok(None);
        }
        let changed = |what: &str| Error::Merge { path: file.path.clone(), place: what.to_owned() };
        match (file.action, present, hash) {
            (Action::Create, Some(_), Some(hash)) if Some(hash) == file.after => {
                Ok(Some(Target::Delete { base: hash, retention: Retention::Recoverable }))
            }
            (Action::Create, ..) => Err(changed("some lines since it was created")),
            (Action::Delete, None, _) => {
                let new = self.held(file, file.before.as_ref())?;
                Ok(Some(Target::Create { new, mode: file.mode }))
            }
            (Action::Delete, ..) => Err(changed("its name: there is a new file in its place")),
            (Action::Modify, Some(_), Some(base)) if Some(base) == file.after => {
                let new = self.held(file, file.before.as_ref())?;
                Ok(Some(Target::Modify { base, new, merged: false }))
            }
            (Action::Modify, Some(present), Some(base)) => {
                let after = self.held(file, file.after.as_ref())?;
                let before = self.held(file, file.before.as_ref())?;
                let new = merge(file, &after, &present, &before)?;
                // What differed since may be just what the undo takes back.
                let target = Target::Modify { base, new: new.clone(), merged: true };
                Ok((new != present).then_some(target))
            }
            (Action::Modify, ..) => Err(changed("its name: it is gone")),
        }
    }

    fn held(&self, file: &HistoryFile, hash: Option<&ContentHash>) -> Result<Vec<u8>, Error> {
        let held = match hash {
            Some(hash) if !file.forgotten => self.content(hash)?,
            _ => None,
        };
        held.ok_or_else(|| Error::Forgotten { path: file.path.clone() })
    }
}

/// Brings the step from `after` back to `before` into what the file holds now.
fn merge(
    file: &HistoryFile,
    after: &[u8],
    present: &[u8],
    before: &[u8],
) -> Result<Vec<u8>, Error> {
    let conflict = |place: String| Error::Merge { path: file.path.clone(), place };
    let decode = |bytes| {
        text::decode(bytes).map_err(|_| conflict("some bytes that are not text".to_owned()))
    };
    let (base, ours, theirs) = (decode(after)?, decode(present)?, decode(before)?);
    let same_form = |form: &moss_sdk::file::TextForm| {
        form.encoding == ours.form.encoding && form.bom == ours.form.bom
    };
    if !same_form(&base.form) || !same_form(&theirs.form) {
        return Err(conflict("its encoding".to_owned()));
    }
    let merged =
        TextMerge::from_lines(base.text.as_str(), ours.text.as_str(), theirs.text.as_str());
    if merged.is_conflicted() {
        let places: Vec<String> = merged
            .conflicts()
            .map(|region| {
                let lines = region.ours_range();
                format!("lines {}-{}", lines.start + 1, lines.end.max(lines.start + 1))
            })
            .collect();
        return Err(conflict(places.join(", ")));
    }
    text::encode(&merged.to_string(), &ours.form).map_err(|c| {
        conflict(format!("a character that its encoding lacks: `{}`", c.escape_debug()))
    })
}
