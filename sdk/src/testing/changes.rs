//! Proposed changes of the in-memory host, applied whole or not at all.

use std::time::SystemTime;

use super::{File, State, decode, hash};
use crate::context::{Applied, AppliedFile};
use crate::edit::{Change, ChangeKind, ChangeSet, splice};
use crate::error::{ErrorCode, ToolError};
use crate::file::{Content, Text};
use crate::hash::ContentHash;
use crate::path::RelPath;

// === impl State ===

impl State {
    pub(super) fn propose(&mut self, changes: ChangeSet) -> Result<Applied, ToolError> {
        self.proposals.push(changes.clone());
        if let Some((path, bytes)) = self.interference.take() {
            self.files.insert(path, File { bytes, modified: SystemTime::UNIX_EPOCH });
        }
        let mut files = self.files.clone();
        let mut applied = Vec::new();
        for change in changes.changes {
            let bytes = self.changed(&change)?;
            let before = self.files.get(&change.path).map(|file| hash(&file.bytes));
            let hash = bytes.as_deref().map(hash);
            if self.read.get(&change.path).copied() == before && !self.dry_run {
                match hash {
                    Some(hash) => self.read.insert(change.path.clone(), hash),
                    None => self.read.remove(&change.path),
                };
            }
            match bytes {
                Some(bytes) => {
                    let modified = SystemTime::UNIX_EPOCH;
                    files.insert(change.path.clone(), File { bytes, modified })
                }
                None => files.remove(&change.path),
            };
            applied.push(AppliedFile { path: change.path, hash });
        }
        if self.dry_run {
            return Ok(Applied { history: None, files: applied });
        }
        self.files = files;
        self.history += 1;
        Ok(Applied { history: Some(self.history), files: applied })
    }

    /// Returns the bytes of a file after a change; none where the change removes it.
    fn changed(&self, change: &Change) -> Result<Option<Vec<u8>>, ToolError> {
        let path = &change.path;
        match &change.kind {
            ChangeKind::Create { content } => {
                if self.files.contains_key(path) || self.is_directory(path) {
                    let message = format!("{path} exists already");
                    return Err(ToolError::new(ErrorCode::AlreadyExists, message));
                }
                Ok(Some(content.clone().into_bytes()))
            }
            ChangeKind::Write { base, content } => {
                self.base(path, *base)?;
                Ok(Some(content.clone().into_bytes()))
            }
            ChangeKind::Edit { base, splices } => {
                let bytes = self.base(path, *base)?;
                let Content::Text(Text { text, form }) = decode(bytes) else {
                    return Err(ToolError::new(ErrorCode::Binary, format!("{path} is not text")));
                };
                let text = splice(&text, splices).map_err(|fault| {
                    let message = format!("splice {} {}", fault.position, fault.reason);
                    ToolError::new(ErrorCode::Internal, message)
                })?;
                let bom = if form.bom { "\u{feff}" } else { "" };
                Ok(Some(format!("{bom}{text}").into_bytes()))
            }
            ChangeKind::Delete { base, .. } => self.base(path, *base).map(|_| None),
        }
    }

    fn base(&self, path: &RelPath, base: ContentHash) -> Result<&[u8], ToolError> {
        let bytes = &self.file(path)?.bytes;
        if hash(bytes) == base {
            return Ok(bytes);
        }
        Err(ToolError::new(ErrorCode::Conflict, format!("{path} changed in the meantime")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MemoryHost, finish, fixture};
    use super::*;
    use crate::context::Host as _;

    #[test]
    fn a_change_set_is_applied_whole_or_not_at_all() {
        let host = MemoryHost::new([("a", "1")]);
        let base = hash(b"1");
        let retention = crate::edit::Retention::Recoverable;
        let delete = Change::new(fixture("a"), ChangeKind::Delete { base, retention });
        let stale = Change::new(fixture("b"), ChangeKind::Write { base, content: String::new() });
        let both = ChangeSet { changes: vec![delete, stale] };
        assert_eq!(finish(host.propose(both)).unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(host.text("a").as_deref(), Some("1"));
    }
}
