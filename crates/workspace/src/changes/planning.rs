//! Making a plan: reads every file, holds it to what the change was made for, computes what it will
//! hold.

use moss_sdk::edit::{self, Change, ChangeKind, Retention, Splice};
use moss_sdk::file::Text;
use moss_sdk::{ContentHash, RelPath};

use super::refusal::{check_base, check_clashes, check_gap, check_removable, check_writable};
use super::{FileAction, Plan, PlannedFile, TargetContent};
use crate::buffers::Buffers;
use crate::diff::{self, Diff};
use crate::error::Error;
use crate::handle::{self, CancelCheck, Patience};
use crate::read::{check_size, refusal};
use crate::resolve::{PathTarget, ResolvedPath};
use crate::root::Workspace;
use crate::text;

/// Why a file is not deleted.
const DELETED_UNSAVED: &str =
    "has changes in an editor that deleting it would leave without a file";

/// Plans over the files of a workspace and the unsaved texts of editors.
pub(crate) struct Planner<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) buffers: &'a dyn Buffers,
    /// Whether nobody waits for the plan any more: looked at between files, each of which is read and
    /// compared, and within those of which nothing is kept, which may be large.
    pub(crate) cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// What a file is to become.
pub(crate) enum PlannedContent<'a> {
    Change(&'a Change),
    Target(TargetContent),
}

/// What a file holds before a change.
pub(crate) struct Base {
    pub(crate) place: ResolvedPath,
    pub(crate) bytes: Vec<u8>,
    /// Whether an editor holds it and has not saved it.
    pub(crate) unsaved: bool,
}

// === impl Planner ===

impl Planner<'_> {
    /// Plans given contents; used to roll back changes.
    pub(crate) fn plan_targets(
        &self,
        targets: Vec<(RelPath, TargetContent)>,
    ) -> Result<Plan, Error> {
        let (paths, targets): (Vec<_>, Vec<_>) = targets.into_iter().unzip();
        self.plan(paths.iter().zip(targets.into_iter().map(PlannedContent::Target)))
    }

    pub(crate) fn plan<'a>(
        &self,
        changes: impl ExactSizeIterator<Item = (&'a RelPath, PlannedContent<'a>)>,
    ) -> Result<Plan, Error> {
        let limits = self.workspace.limits();
        if changes.len() > limits.change_files_max {
            let max = limits.change_files_max as u64;
            return Err(Error::Limit { what: "files in one change", max });
        }
        let mut files: Vec<PlannedFile> = Vec::with_capacity(changes.len());
        let mut bytes: u64 = 0;
        for (path, source) in changes {
            if (self.cancelled)() {
                return Err(Error::Cancelled);
            }
            let file = self.plan_one(path, source)?;
            bytes += file.before_bytes + file.after_bytes;
            if bytes > limits.change_bytes_max {
                let max = limits.change_bytes_max;
                return Err(Error::Limit { what: "bytes in one change", max });
            }
            files.push(file);
        }
        check_clashes(&files)?;
        check_mixture(&files)?;
        self.look_around(&mut files);
        Ok(Plan { root: self.workspace.path.clone(), files, undo_of: Vec::new() })
    }

    /// Notes which files are protected by what is around them, the other files of the plan included.
    fn look_around(&self, files: &mut [PlannedFile]) {
        let made = files.iter().filter(|file| file.action == FileAction::Create);
        let made: Vec<RelPath> = made.map(|file| file.real.clone()).collect();
        let made: Vec<&RelPath> = made.iter().collect();
        for file in files {
            file.around = self.workspace.protection_around(&file.real, &made);
        }
    }

    fn plan_one(&self, path: &RelPath, source: PlannedContent<'_>) -> Result<PlannedFile, Error> {
        match source {
            PlannedContent::Target(target) => self.plan_target(path, target),
            PlannedContent::Change(change) => self.plan_change(change),
        }
    }

    fn plan_change(&self, Change { path, kind, matched }: &Change) -> Result<PlannedFile, Error> {
        let file = match kind {
            ChangeKind::Create { content } => {
                let new = utf8(path, content)?;
                let mode = self.workspace.options.create_mode;
                self.plan_target(path, TargetContent::Create { new, mode })
            }
            ChangeKind::Write { base, content } => {
                let new = utf8(path, content)?;
                let target = TargetContent::Modify { base: *base, new, mode: None, merged: false };
                self.plan_target(path, target)
            }
            ChangeKind::Edit { base, splices } => {
                let old = self.base(path, *base)?;
                let text = text::decode(&old.0.bytes).map_err(|not| refusal(path, not))?;
                let new = edited(path, &text, splices)?;
                self.modified(path, old, new, None, false)
            }
            ChangeKind::Delete { base, retention } => {
                let (base, retention) = (*base, *retention);
                self.plan_target(path, TargetContent::Delete { base, retention })
            }
        };
        Ok(PlannedFile { matched: matched.clone(), ..file? })
    }

    fn plan_target(&self, path: &RelPath, target: TargetContent) -> Result<PlannedFile, Error> {
        match target {
            TargetContent::Create { new, mode } => self.created(path, new, mode),
            TargetContent::Modify { base, new, mode, merged } => {
                let old = self.base(path, base)?;
                self.modified(path, old, new, mode, merged)
            }
            TargetContent::Delete { base, retention } => self.deleted(path, base, retention),
        }
    }

    fn created(
        &self,
        path: &RelPath,
        new: Vec<u8>,
        mode: Option<u32>,
    ) -> Result<PlannedFile, Error> {
        let gap = match self.workspace.find(path)? {
            PathTarget::Missing(gap) => gap,
            PathTarget::Existing(_) => return Err(Error::Exists { path: path.clone() }),
        };
        check_gap(&gap)?;
        let real = gap.real()?;
        self.check_saved(path, &real, "is about to be made by an editor")?;
        check_new_size(path, &new, self.workspace)?;
        let mut diff = diff::between(path, None, Some(&new));
        if let Some(mode) = mode.filter(|mode| Some(*mode) != self.workspace.options.create_mode) {
            diff.text = format!("new file mode {mode:o}\n{}", diff.text);
        }
        let file = PlannedFile::new(path, real, FileAction::Create, diff);
        Ok(PlannedFile { mode, ..file }.with_new(new))
    }

    fn modified(
        &self,
        path: &RelPath,
        (old, before): (Base, ContentHash),
        new: Vec<u8>,
        mode: Option<u32>,
        merged: bool,
    ) -> Result<PlannedFile, Error> {
        let Base { place, bytes: old, unsaved } = old;
        check_writable(&place)?;
        if place.stat.names > 1 {
            let names = place.stat.names;
            return Err(Error::HardLinked { path: path.clone(), names });
        }
        check_new_size(path, &new, self.workspace)?;
        if old == new {
            return Err(Error::NoChange { path: path.clone() });
        }
        let mut diff = diff::between(path, Some(&old), Some(&new));
        // Set-id bits belong to the content that somebody once trusted, not to this one.
        let mode_before = place.stat.mode & 0o1777;
        // A buffer has no permission bits.
        let mode = mode.filter(|_| !unsaved).unwrap_or(mode_before);
        if mode != mode_before {
            diff.text = format!("old mode {mode_before:o}\nnew mode {mode:o}\n{}", diff.text);
        }
        let file = PlannedFile::new(path, place.path, FileAction::Modify, diff);
        let identity = Some(place.stat.identity);
        let (mode, mode_before) = (Some(mode), Some(mode_before));
        let file = PlannedFile { mode, mode_before, identity, merged, unsaved, ..file };
        Ok(file.with_old(old, before).with_new(new))
    }

    fn deleted(
        &self,
        path: &RelPath,
        base: ContentHash,
        retention: Retention,
    ) -> Result<PlannedFile, Error> {
        if retention == Retention::Permanent {
            return self.forgotten(path, base);
        }
        let read_bytes_max = self.workspace.limits().read_bytes_max;
        let kept = self.base(path, base).map_err(|error| match error {
            // A deletion for good only hashes the file.
            Error::TooLarge { path, size_bytes, bytes_max, .. } if size_bytes <= read_bytes_max => {
                Error::TooLargeToKeep { path, size_bytes, bytes_max }
            }
            error => error,
        });
        let (Base { place, bytes: old, .. }, before) = kept?;
        self.check_saved(path, &place.path, DELETED_UNSAVED)?;
        check_removable(self.workspace, path, &place)?;
        let diff = diff::between(path, Some(&old), None);
        let file = PlannedFile::new(path, place.path, FileAction::Delete, diff);
        let mode = Some(place.stat.mode & 0o1777);
        Ok(PlannedFile { mode, identity: Some(place.stat.identity), ..file }.with_old(old, before))
    }

    /// Plans a deletion of which nothing is kept: the content is hashed and not held.
    fn forgotten(&self, path: &RelPath, base: ContentHash) -> Result<PlannedFile, Error> {
        let (place, fd, stat) = self.workspace.open_file(path)?;
        self.check_saved(path, &place.path, DELETED_UNSAVED)?;
        check_removable(self.workspace, path, &place)?;
        let bound = self.workspace.limits().read();
        check_size(path, stat.size_bytes, bound)?;
        let reading = (Patience::Wait, CancelCheck(self.cancelled));
        let (hash, before_bytes) = handle::hash_to(&fd, bound.bytes_max, stat.size_bytes, reading)
            .map_err(|errno| self.workspace.unread(path, errno))?;
        check_base(path, base, hash)?;
        let text = format!("{path} is deleted for good ({before_bytes} bytes)\n");
        let diff = Diff { text, added: 0, removed: 0 };
        Ok(PlannedFile {
            before: Some(hash),
            before_bytes,
            identity: Some(place.stat.identity),
            retention: Retention::Permanent,
            ..PlannedFile::new(path, place.path, FileAction::Delete, diff)
        })
    }

    /// What a file holds, where it is what the change was made for, with the hash that it has then.
    fn base(&self, path: &RelPath, base: ContentHash) -> Result<(Base, ContentHash), Error> {
        let found = self.present(path)?;
        let hash = handle::hash(&found.bytes);
        check_base(path, base, hash)?;
        Ok((found, hash))
    }

    /// What a file holds now: what an editor has not saved comes before what is on disk.
    pub(crate) fn present(&self, path: &RelPath) -> Result<Base, Error> {
        let (place, bytes) = self.workspace.read_bytes(path)?;
        Ok(match self.buffers.unsaved(&place.path) {
            Some(text) => Base { place, bytes: text.as_bytes().to_vec(), unsaved: true },
            None if self.buffers.holds(&place.path) => {
                let reason = "has changes in an editor that moss could not take";
                return Err(Error::Unsaved { path: path.clone(), reason });
            }
            None => Base { place, bytes, unsaved: false },
        })
    }

    fn check_saved(
        &self,
        path: &RelPath,
        real: &RelPath,
        reason: &'static str,
    ) -> Result<(), Error> {
        if self.buffers.holds(real) {
            return Err(Error::Unsaved { path: path.clone(), reason });
        }
        Ok(())
    }
}

/// Refuses to change files and buffers at once: not all of them could be rolled back where one of
/// them fails.
fn check_mixture(files: &[PlannedFile]) -> Result<(), Error> {
    match files.iter().find(|file| file.unsaved) {
        Some(unsaved) if files.len() > 1 => Err(Error::Unsaved {
            path: unsaved.path.clone(),
            reason: "cannot be changed together with other files while it is not saved",
        }),
        _ => Ok(()),
    }
}

fn check_new_size(path: &RelPath, new: &[u8], workspace: &Workspace) -> Result<(), Error> {
    check_size(path, new.len() as u64, workspace.limits().edit()).map_err(|error| match error {
        Error::TooLarge { path, size_bytes, bytes_max, setting, .. } => {
            Error::TooLarge { path, size_bytes, bytes_max, setting, is_new: true }
        }
        error => error,
    })
}

fn utf8(path: &RelPath, content: &str) -> Result<Vec<u8>, Error> {
    check_text(path, content)?;
    Ok(content.as_bytes().to_vec())
}

fn check_text(path: &RelPath, text: &str) -> Result<(), Error> {
    if !text.contains('\0') {
        return Ok(());
    }
    let reason = "the new text has a NUL character".to_owned();
    Err(Error::Encoding { path: path.clone(), reason })
}

fn edited(path: &RelPath, text: &Text, splices: &[Splice]) -> Result<Vec<u8>, Error> {
    splices.iter().try_for_each(|splice| check_text(path, &splice.text))?;
    let new = edit::splice(&text.text, splices).map_err(|fault| Error::Splice {
        path: path.clone(),
        position: fault.position,
        reason: fault.reason,
    })?;
    text::encode(&new, &text.form).map_err(|c| Error::Encoding {
        path: path.clone(),
        reason: format!(
            "the file is stored as {}, which has no character `{}`",
            text.form.encoding,
            c.escape_debug()
        ),
    })
}
