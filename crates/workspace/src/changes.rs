//! From proposed changes to a plan: the exact bytes before and after, the diff, the digest.
//!
//! Planning reads and computes; it writes nothing. A plan is bound to what it saw: the commit
//! refuses it where any file has changed since.

mod edits;
mod planning;
mod refusal;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use moss_sdk::edit::{ChangeSet, Matched, Retention};
use moss_sdk::{ContentHash, RelPath};

use crate::buffers::{Buffers, NoBuffers};
use crate::diff::Diff;
use crate::error::Error;
use crate::handle::{self, Identity};
use crate::protect::Protection;
use crate::root::Workspace;

pub(crate) use planning::{PlannedContent, Planner};
pub(crate) use refusal::{check_base, check_gap, check_writable};

/// What a change set will do, exactly. Made by [`Workspace::plan`] and by
/// [`History::plan_undo`](crate::History::plan_undo).
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) root: PathBuf,
    pub(crate) files: Vec<PlannedFile>,
    pub(crate) undo_of: Vec<u64>,
}

/// What happens to one file.
#[derive(Debug, Clone)]
pub struct PlannedFile {
    /// The file, as the change named it.
    pub path: RelPath,
    /// Its real path, after all links. Policy is asked about both.
    pub real: RelPath,
    /// What the commit does with it.
    pub action: FileAction,
    /// The content before; none for a new file.
    pub before: Option<ContentHash>,
    /// The content after; none for a deleted file.
    pub after: Option<ContentHash>,
    /// Size before, in bytes.
    pub before_bytes: u64,
    /// Size after, in bytes.
    pub after_bytes: u64,
    /// The permission bits that the file will have; none where the system's default applies.
    pub mode: Option<u32>,
    /// Whether history keeps the content of a deleted file.
    pub retention: Retention,
    /// Lines that are new or changed.
    pub added: usize,
    /// Lines that are gone or changed.
    pub removed: usize,
    /// The unified diff; one sentence in its place where a side is not text or not kept.
    pub diff: Arc<str>,
    /// Whether the content comes from merging an undo with later changes.
    pub merged: bool,
    /// How the locations of an edit were found, where they were searched for.
    pub matched: Option<Matched>,
    /// Whether the content before is that of an editor's unsaved buffer, and the one after belongs
    /// there.
    pub unsaved: bool,
    /// Why it is protected beside its names: by what is around it.
    pub around: Option<Protection>,
    /// The permission bits that the file has.
    pub(crate) mode_before: Option<u32>,
    pub(crate) identity: Option<Identity>,
    pub(crate) old: Option<Vec<u8>>,
    pub(crate) new: Option<Vec<u8>>,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileAction {
    /// A new file, with the directories that are missing.
    Create,
    /// Its content is replaced.
    Modify,
    /// Its name is removed; the history may keep its content.
    Delete,
}

/// The content that a file shall have.
pub(crate) enum TargetContent {
    Create {
        new: Vec<u8>,
        mode: Option<u32>,
    },
    /// Permission bits stay as they are where none are given.
    Modify {
        base: ContentHash,
        new: Vec<u8>,
        mode: Option<u32>,
        merged: bool,
    },
    Delete {
        base: ContentHash,
        retention: Retention,
    },
}

// === impl FileAction ===

impl FileAction {
    /// Returns the stored and shown form.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Modify => "modify",
            Self::Delete => "delete",
        }
    }
}

// === impl Plan ===

impl Plan {
    /// Returns what happens to each file, in the order of the change set.
    pub fn files(&self) -> &[PlannedFile] {
        &self.files
    }

    /// Returns the entries of the history that the plan undoes, the newest first; none where
    /// it is no undo.
    pub fn undo_of(&self) -> &[u64] {
        &self.undo_of
    }

    /// Returns how much memory the contents and the diffs take, in bytes.
    pub fn held_bytes(&self) -> usize {
        let len = |content: &Option<Vec<u8>>| content.as_ref().map_or(0, Vec::len);
        self.files.iter().map(|file| len(&file.old) + len(&file.new) + file.diff.len()).sum()
    }

    /// Returns the root that the plan is for.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether editors carry this plan out, in buffers that are not saved, and not the workspace.
    pub fn is_unsaved(&self) -> bool {
        self.files.iter().any(|file| file.unsaved)
    }

    /// Returns the digest of the exact effect: it binds the canonical root and, for every file,
    /// both paths, action, content before and after, mode, retention and the lines that were not as
    /// a search claimed: who approves has seen them.
    pub fn digest(&self) -> ContentHash {
        let mut hasher = blake3::Hasher::new_derive_key("moss 2026 change set digest v2");
        let mut field = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        field(self.root.as_os_str().as_encoded_bytes());
        for file in &self.files {
            field(file.path.as_str().as_bytes());
            field(file.real.as_str().as_bytes());
            field(file.action.as_str().as_bytes());
            field(file.before.as_ref().map_or(&[][..], |hash| hash.as_bytes()));
            field(file.after.as_ref().map_or(&[][..], |hash| hash.as_bytes()));
            field(&file.mode.map_or_else(Vec::new, |mode| mode.to_le_bytes().to_vec()));
            field(match file.retention {
                Retention::Recoverable => b"recoverable",
                Retention::Permanent => b"permanent",
            });
            let drift = file.matched.as_ref().map_or(&[][..], |matched| &matched.drift);
            field(&drift.len().to_le_bytes());
            for drift in drift {
                field(&drift.line.to_le_bytes());
                field(drift.expected.as_bytes());
                field(drift.found.as_bytes());
            }
        }
        // Not the same effect as the same change of the file; all files are, or none is.
        if self.is_unsaved() {
            field(b"unsaved");
        }
        ContentHash::from_bytes(hasher.finalize().into())
    }
}

// === impl Workspace ===

impl Workspace {
    /// Computes what a change set will do. Reads the files, checks that they are what the changes
    /// were made for, applies the replacements. Nothing is written.
    ///
    /// # Errors
    ///
    /// As [`Workspace::resolve`] and [`Workspace::read`]; `Changed` where a base does not match,
    /// `Exists`, `IsLink`, `HardLinked`, `ReadOnly`, `Encoding`, `Splice`, `NoChange`, `Clash` and
    /// `Limit`.
    pub fn plan(&self, changes: &ChangeSet) -> Result<Plan, Error> {
        self.plan_over(changes, &NoBuffers, &|| false)
    }

    /// As [`Workspace::plan`], where the unsaved texts of editors stand for the files that they are
    /// of. What is planned for them is carried out by their editors: [`Plan::is_unsaved`].
    ///
    /// # Errors
    ///
    /// As [`Workspace::plan`]; `Unsaved` for what cannot be done to a buffer; `Cancelled`.
    pub fn plan_over(
        &self,
        changes: &ChangeSet,
        buffers: &dyn Buffers,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Plan, Error> {
        let sources =
            changes.changes.iter().map(|change| (&change.path, PlannedContent::Change(change)));
        Planner { workspace: self, buffers, cancelled }.plan(sources)
    }
}

// === impl PlannedFile ===

impl PlannedFile {
    /// The texts before and after, where the file is there afterwards and both are UTF-8; none before for a
    /// new file.
    pub fn texts(&self) -> Option<(Option<&str>, &str)> {
        let new = str::from_utf8(self.new.as_deref()?).ok()?;
        let old = self.old.as_deref().map(str::from_utf8).transpose().ok()?;
        Some((old, new))
    }

    fn new(path: &RelPath, real: RelPath, action: FileAction, diff: Diff) -> Self {
        Self {
            path: path.clone(),
            real,
            action,
            before: None,
            after: None,
            before_bytes: 0,
            after_bytes: 0,
            mode: None,
            retention: Retention::Recoverable,
            added: diff.added,
            removed: diff.removed,
            diff: diff.text.into(),
            merged: false,
            matched: None,
            unsaved: false,
            around: None,
            mode_before: None,
            identity: None,
            old: None,
            new: None,
        }
    }

    fn with_old(mut self, old: Vec<u8>, hash: ContentHash) -> Self {
        self.before = Some(hash);
        self.before_bytes = old.len() as u64;
        self.old = Some(old);
        self
    }

    fn with_new(mut self, new: Vec<u8>) -> Self {
        self.after = Some(handle::hash(&new));
        self.after_bytes = new.len() as u64;
        self.new = Some(new);
        self
    }
}
