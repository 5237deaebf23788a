//! From proposed changes to a plan: the exact bytes before and after, the diff, the digest.
//!
//! Planning reads and computes; it writes nothing. A plan is bound to what it saw: the commit
//! refuses it where any file has changed since.

mod refusal;

use std::path::{Path, PathBuf};

use moss_sdk::edit::{Change, ChangeKind, ChangeSet, Retention};
use moss_sdk::file::Text;
use moss_sdk::{ContentHash, RelPath};

use crate::diff::{self, Diff};
use crate::error::Error;
use crate::handle::{self, Identity};
use crate::read::{check_size, refusal};
use crate::resolve::{Found, Place};
use crate::root::Workspace;
use crate::text;

pub(crate) use refusal::{check_base, check_gap, check_writable};
use refusal::{check_clashes, check_removable};

/// What a change set will do, exactly. Made by [`Workspace::plan`] and by
/// [`History::plan_undo`](crate::History::plan_undo).
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) root: PathBuf,
    pub(crate) files: Vec<PlannedFile>,
}

/// What happens to one file.
#[derive(Debug, Clone)]
pub struct PlannedFile {
    /// The file, as the change named it.
    pub path: RelPath,
    /// Its real path, after all links. Policy is asked about both.
    pub real: RelPath,
    /// What happens.
    pub action: Action,
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
    pub diff: String,
    /// Whether the content comes from merging an undo with later changes.
    pub merged: bool,
    pub(crate) identity: Option<Identity>,
    pub(crate) old: Option<Vec<u8>>,
    pub(crate) new: Option<Vec<u8>>,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// It is made.
    Create,
    /// Its content is replaced.
    Modify,
    /// It is removed.
    Delete,
}

/// The content that a file shall have.
pub(crate) enum Target {
    Create { new: Vec<u8>, mode: Option<u32> },
    Modify { base: ContentHash, new: Vec<u8>, merged: bool },
    Delete { base: ContentHash, retention: Retention },
}

// === impl Action ===

impl Action {
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

    /// Returns the root that the plan is for.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the digest of the exact effect: it binds the canonical root and, for every file,
    /// both paths, action, content before and after, mode and retention.
    pub fn digest(&self) -> ContentHash {
        let mut hasher = blake3::Hasher::new_derive_key("moss 2026 change set digest v1");
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
        self.plan_each(changes.changes.iter().map(|change| (&change.path, Source::Change(change))))
    }

    /// Plans given contents; used to take changes back.
    pub(crate) fn plan_targets(&self, targets: Vec<(RelPath, Target)>) -> Result<Plan, Error> {
        let (paths, targets): (Vec<_>, Vec<_>) = targets.into_iter().unzip();
        self.plan_each(paths.iter().zip(targets.into_iter().map(Source::Target)))
    }

    fn plan_each<'a>(
        &self,
        changes: impl ExactSizeIterator<Item = (&'a RelPath, Source<'a>)>,
    ) -> Result<Plan, Error> {
        let limits = self.limits();
        if changes.len() > limits.change_files_max {
            let max = limits.change_files_max as u64;
            return Err(Error::Limit { what: "files in one change", max });
        }
        let mut files: Vec<PlannedFile> = Vec::with_capacity(changes.len());
        let mut bytes: u64 = 0;
        for (path, source) in changes {
            let file = self.plan_one(path, source)?;
            bytes += file.before_bytes + file.after_bytes;
            if bytes > limits.change_bytes_max {
                let max = limits.change_bytes_max;
                return Err(Error::Limit { what: "bytes in one change", max });
            }
            files.push(file);
        }
        check_clashes(&files)?;
        Ok(Plan { root: self.path.clone(), files })
    }

    fn plan_one(&self, path: &RelPath, source: Source<'_>) -> Result<PlannedFile, Error> {
        match source {
            Source::Target(target) => self.plan_target(path, target),
            Source::Change(Change { kind, .. }) => match kind {
                ChangeKind::Create { content } => {
                    let new = utf8(path, content)?;
                    self.plan_target(path, Target::Create { new, mode: None })
                }
                ChangeKind::Write { base, content } => {
                    let new = utf8(path, content)?;
                    self.plan_target(path, Target::Modify { base: *base, new, merged: false })
                }
                ChangeKind::Edit { base, splices } => {
                    let (place, old) = self.read_base(path, *base)?;
                    let text = text::decode(&old).map_err(|not| refusal(path, not))?;
                    let new = edited(path, &text, splices)?;
                    self.modified(path, place, old, new, false)
                }
                ChangeKind::Delete { base, retention } => {
                    let (base, retention) = (*base, *retention);
                    self.plan_target(path, Target::Delete { base, retention })
                }
            },
        }
    }

    fn plan_target(&self, path: &RelPath, target: Target) -> Result<PlannedFile, Error> {
        match target {
            Target::Create { new, mode } => self.created(path, new, mode),
            Target::Modify { base, new, merged } => {
                let (place, old) = self.read_base(path, base)?;
                self.modified(path, place, old, new, merged)
            }
            Target::Delete { base, retention } => self.deleted(path, base, retention),
        }
    }

    fn created(
        &self,
        path: &RelPath,
        new: Vec<u8>,
        mode: Option<u32>,
    ) -> Result<PlannedFile, Error> {
        let gap = match self.find(path)? {
            Found::Missing(gap) => gap,
            Found::Existing(_) => return Err(Error::Exists { path: path.clone() }),
        };
        check_gap(&gap)?;
        check_size(path, new.len() as u64, self.limits().edit_bytes_max)?;
        let diff = diff::between(path, None, Some(&new));
        let file = PlannedFile::new(path, gap.real()?, Action::Create, diff);
        Ok(PlannedFile { mode, ..file }.with_new(new))
    }

    fn modified(
        &self,
        path: &RelPath,
        place: Place,
        old: Vec<u8>,
        new: Vec<u8>,
        merged: bool,
    ) -> Result<PlannedFile, Error> {
        check_writable(&place)?;
        if place.stat.names > 1 {
            let names = place.stat.names;
            return Err(Error::HardLinked { path: path.clone(), names });
        }
        check_size(path, new.len() as u64, self.limits().edit_bytes_max)?;
        if old == new {
            return Err(Error::NoChange { path: path.clone() });
        }
        let diff = diff::between(path, Some(&old), Some(&new));
        let file = PlannedFile::new(path, place.path, Action::Modify, diff);
        // Set-id bits belong to the content that somebody once trusted, not to this one.
        let mode = Some(place.stat.mode & 0o1777);
        let identity = Some(place.stat.identity);
        Ok(PlannedFile { mode, identity, merged, ..file }.with_old(old).with_new(new))
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
        let kept = self.read_base(path, base).map_err(|error| match error {
            // A deletion for good only hashes the file.
            Error::TooLarge { path, size_bytes, bytes_max }
                if size_bytes <= self.limits().read_bytes_max =>
            {
                Error::TooLargeToKeep { path, size_bytes, bytes_max }
            }
            error => error,
        });
        let (place, old) = kept?;
        check_removable(self, path, &place)?;
        let diff = diff::between(path, Some(&old), None);
        let file = PlannedFile::new(path, place.path, Action::Delete, diff);
        let mode = Some(place.stat.mode & 0o1777);
        Ok(PlannedFile { mode, identity: Some(place.stat.identity), ..file }.with_old(old))
    }

    /// Plans a deletion of which nothing is kept: the content is hashed and not held.
    fn forgotten(&self, path: &RelPath, base: ContentHash) -> Result<PlannedFile, Error> {
        let (place, fd, stat) = self.open_file(path)?;
        check_removable(self, path, &place)?;
        let bytes_max = self.limits().read_bytes_max;
        check_size(path, stat.size_bytes, bytes_max)?;
        let (hash, before_bytes) =
            handle::hash_to(&fd, bytes_max).map_err(|errno| Error::io(path, "read", errno))?;
        check_base(path, base, hash)?;
        let text = format!("{path} is deleted for good ({before_bytes} bytes)\n");
        let diff = Diff { text, added: 0, removed: 0 };
        Ok(PlannedFile {
            before: Some(hash),
            before_bytes,
            identity: Some(place.stat.identity),
            retention: Retention::Permanent,
            ..PlannedFile::new(path, place.path, Action::Delete, diff)
        })
    }

    fn read_base(&self, path: &RelPath, base: ContentHash) -> Result<(Place, Vec<u8>), Error> {
        let (place, bytes) = self.read_bytes(path)?;
        check_base(path, base, handle::hash(&bytes))?;
        Ok((place, bytes))
    }
}

// === impl PlannedFile ===

impl PlannedFile {
    fn new(path: &RelPath, real: RelPath, action: Action, diff: Diff) -> Self {
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
            diff: diff.text,
            merged: false,
            identity: None,
            old: None,
            new: None,
        }
    }

    fn with_old(mut self, old: Vec<u8>) -> Self {
        self.before = Some(handle::hash(&old));
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

enum Source<'a> {
    Change(&'a Change),
    Target(Target),
}

fn utf8(path: &RelPath, content: &str) -> Result<Vec<u8>, Error> {
    check_text(path, content)?;
    Ok(content.as_bytes().to_vec())
}

fn check_text(path: &RelPath, text: &str) -> Result<(), Error> {
    if !text.contains('\0') {
        return Ok(());
    }
    let reason = "the new text holds a NUL character".to_owned();
    Err(Error::Encoding { path: path.clone(), reason })
}

fn edited(
    path: &RelPath,
    text: &Text,
    splices: &[moss_sdk::edit::Splice],
) -> Result<Vec<u8>, Error> {
    splices.iter().try_for_each(|splice| check_text(path, &splice.text))?;
    let new = text::splice(&text.text, splices).map_err(|fault| Error::Splice {
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
