//! Proposed changes of the in-memory host, applied whole or not at all.

use std::time::SystemTime;

use super::tree::{ancestors, check_size};
use super::{MemoryFile, MemoryHostState, decode, hash};
use crate::context::{Applied, AppliedFile};
use crate::edit::{Change, ChangeKind, ChangeSet, Retention, splice};
use crate::error::{ErrorCode, ToolError};
use crate::file::{Content, Text};
use crate::hash::ContentHash;
use crate::path::RelPath;

/// What a file will be.
struct Planned {
    path: RelPath,
    before: Option<ContentHash>,
    /// None where it is removed.
    after: Option<Vec<u8>>,
}

// === impl MemoryHostState ===

impl MemoryHostState {
    pub(super) fn propose(&mut self, changes: ChangeSet) -> Result<Applied, ToolError> {
        self.proposals.push(changes.clone());
        if let Some((path, bytes)) = self.interference.take() {
            self.files.insert(path, MemoryFile { bytes, modified: SystemTime::UNIX_EPOCH });
        }
        let planned: Result<Vec<Planned>, _> =
            changes.changes.into_iter().map(|change| self.planned(change)).collect();
        let planned = planned?;
        check_clashes(&planned)?;
        let files = planned.iter().map(|file| AppliedFile {
            path: file.path.clone(),
            hash: file.after.as_deref().map(hash),
        });
        let files = files.collect();
        if self.dry_run {
            return Ok(Applied { history: None, files });
        }
        planned.into_iter().for_each(|file| self.carry_out(file));
        self.history += 1;
        Ok(Applied { history: Some(self.history), files })
    }

    /// Writes or removes a file. What was read before counts as read after.
    fn carry_out(&mut self, Planned { path, before, after }: Planned) {
        if self.read.get(&path).copied() == before {
            match after.as_deref().map(hash) {
                Some(hash) => self.read.insert(path.clone(), hash),
                None => self.read.remove(&path),
            };
        }
        match after {
            Some(bytes) => {
                self.files.insert(path, MemoryFile { bytes, modified: SystemTime::UNIX_EPOCH });
            }
            None => {
                self.directories.extend(ancestors(&path).filter(|above| !above.is_root()));
                self.files.remove(&path);
            }
        }
    }

    fn planned(&self, Change { path, kind, .. }: Change) -> Result<Planned, ToolError> {
        let before = self.files.get(&path).map(|file| hash(&file.bytes));
        let after = match kind {
            ChangeKind::Create { content } => {
                check_text(&path, &content)?;
                self.check_absent(&path)?;
                Some(content.into_bytes())
            }
            ChangeKind::Write { base, content } => {
                check_text(&path, &content)?;
                self.editable(&path, base)?;
                Some(content.into_bytes())
            }
            ChangeKind::Edit { base, splices } => {
                let Content::Text(Text { text, form }) = decode(self.editable(&path, base)?) else {
                    let message = format!("{path} is a binary file");
                    return Err(ToolError::new(ErrorCode::Binary, message));
                };
                splices.iter().try_for_each(|splice| check_text(&path, &splice.text))?;
                let text = splice(&text, &splices).map_err(|fault| {
                    let message =
                        format!("{path}: replacement {} {}", fault.position, fault.reason);
                    ToolError::new(ErrorCode::InvalidArguments, message)
                })?;
                let bom = if form.bom { "\u{feff}" } else { "" };
                Some(format!("{bom}{text}").into_bytes())
            }
            ChangeKind::Delete { base, retention: Retention::Recoverable } => {
                self.editable(&path, base)?;
                None
            }
            ChangeKind::Delete { base, retention: Retention::Permanent } => {
                self.base(&path, base)?;
                None
            }
        };
        if let Some(bytes) = &after {
            check_size(&path, bytes)?;
            if before == Some(hash(bytes)) {
                let message = format!("{path}: the change leaves the file as it is");
                return Err(ToolError::new(ErrorCode::NoChange, message));
            }
        }
        Ok(Planned { path, before, after })
    }

    fn check_absent(&self, path: &RelPath) -> Result<(), ToolError> {
        match self.file(path) {
            Err(error) if error.code == ErrorCode::NotFound => Ok(()),
            Err(error) if error.code == ErrorCode::NotADirectory => Err(error),
            _ => Err(ToolError::new(ErrorCode::AlreadyExists, format!("{path} already exists"))),
        }
    }

    /// What a file holds, where it is what the change was made for and not too large to be edited.
    fn editable(&self, path: &RelPath, base: ContentHash) -> Result<&[u8], ToolError> {
        check_size(path, &self.file(path)?.bytes)?;
        self.base(path, base)
    }

    fn base(&self, path: &RelPath, base: ContentHash) -> Result<&[u8], ToolError> {
        let bytes = &self.file(path)?.bytes;
        if hash(bytes) == base {
            return Ok(bytes);
        }
        Err(ToolError::new(ErrorCode::Conflict, format!("{path} has changed")))
    }
}

/// Refuses two changes of one file and a file where another change needs a directory.
fn check_clashes(files: &[Planned]) -> Result<(), ToolError> {
    let clashes = |one: &Planned, other: &Planned| {
        one.path == other.path || ancestors(&other.path).any(|above| above == one.path)
    };
    for (at, one) in files.iter().enumerate() {
        let mut others = files[at + 1..].iter();
        if let Some(other) = others.find(|other| clashes(one, other) || clashes(other, one)) {
            let message = format!("{} and {} cannot be changed together", one.path, other.path);
            return Err(ToolError::new(ErrorCode::InvalidArguments, message));
        }
    }
    Ok(())
}

fn check_text(path: &RelPath, text: &str) -> Result<(), ToolError> {
    if !text.contains('\0') {
        return Ok(());
    }
    let message = format!("{path}: the new text has a NUL character");
    Err(ToolError::new(ErrorCode::Encoding, message))
}
