//! Names of the in-memory host: what there is under one, and walks beneath directories.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::SystemTime;

use super::{EDIT_BYTES_MAX, MemoryFile, MemoryHostState};
use crate::error::{ErrorCode, ToolError};
use crate::file::{Entry, EntryKind, ListOptions};
use crate::path::RelPath;

/// What no walk shows, whatever ignore files say.
const GIT: &str = ".git";

/// What a walk itself left out.
#[derive(Default)]
pub(super) struct TreeOmissions {
    pub(super) ignored: u64,
    /// Whether the bound on entries ended the walk.
    pub(super) truncated: bool,
}

/// Returns the directories above a path, the root last.
pub(super) fn ancestors(path: &RelPath) -> impl Iterator<Item = RelPath> + use<> {
    std::iter::successors(path.parent(), RelPath::parent)
}

/// Fails for a file that is larger than those that are read as a whole.
pub(super) fn check_size(path: &RelPath, bytes: &[u8]) -> Result<(), ToolError> {
    let size_bytes = bytes.len();
    if size_bytes as u64 <= EDIT_BYTES_MAX {
        return Ok(());
    }
    let message =
        format!("{path} has {size_bytes} bytes; at most {EDIT_BYTES_MAX} are allowed here");
    Err(ToolError::new(ErrorCode::TooLarge, message))
}

// === impl MemoryHostState ===

impl MemoryHostState {
    pub(super) fn file(&self, path: &RelPath) -> Result<&MemoryFile, ToolError> {
        if let Some(file) = self.files.get(path) {
            return Ok(file);
        }
        if self.is_directory(path) {
            let message = format!("{path} is a directory, not a regular file");
            return Err(ToolError::new(ErrorCode::NotAFile, message));
        }
        if ancestors(path).any(|above| self.files.contains_key(&above)) {
            return Err(not_a_directory(path));
        }
        Err(ToolError::new(ErrorCode::NotFound, format!("{path} does not exist")))
    }

    pub(super) fn is_directory(&self, path: &RelPath) -> bool {
        let holds = |file: &RelPath| ancestors(file).any(|above| above == *path);
        path.is_root() || self.directories.contains(path) || self.files.keys().any(holds)
    }

    /// Comes to every entry beneath a directory in path order, but for `.git` and what is ignored.
    /// What is ignored itself is walked when it is asked for by name.
    pub(super) fn walk(
        &self,
        directory: &RelPath,
        options: ListOptions,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<TreeOmissions, ToolError> {
        if !self.is_directory(directory) {
            self.file(directory)?;
            return Err(not_a_directory(directory));
        }
        let mut left_out = TreeOmissions::default();
        let mut entered = BTreeSet::from([directory.clone()]);
        let mut visited = 0;
        for entry in self.entries() {
            if !entry.path.parent().is_some_and(|parent| entered.contains(&parent)) {
                continue;
            }
            if self.cancelled {
                return Err(ToolError::new(ErrorCode::Cancelled, "cancelled"));
            }
            if visited == options.entries_max {
                left_out.truncated = true;
                break;
            }
            visited += 1;
            if self.ignored.contains(&entry.path) || entry.path.file_name() == Some(GIT) {
                left_out.ignored += 1;
                continue;
            }
            if options.recursive && entry.kind == EntryKind::Directory {
                entered.insert(entry.path.clone());
            }
            if visit(entry).is_break() {
                break;
            }
        }
        Ok(left_out)
    }

    /// Returns every file and directory, in path order.
    fn entries(&self) -> Vec<Entry> {
        let above = self.files.keys().flat_map(ancestors).filter(|path| !path.is_root());
        let directories: BTreeSet<RelPath> =
            above.chain(self.directories.iter().cloned()).collect();
        let directories = directories.into_iter().map(|path| Entry {
            path,
            kind: EntryKind::Directory,
            size_bytes: None,
            modified: Some(SystemTime::UNIX_EPOCH),
            changed: None,
        });
        let files = self.files.iter().map(|(path, file)| Entry {
            path: path.clone(),
            kind: EntryKind::File,
            size_bytes: Some(file.bytes.len() as u64),
            modified: Some(file.modified),
            changed: None,
        });
        let mut entries: Vec<Entry> = directories.chain(files).collect();
        entries.sort_by(|a, b| a.path.cmp_components(&b.path));
        entries
    }
}

fn not_a_directory(path: &RelPath) -> ToolError {
    let message = format!("{path} is not a directory or goes through something that is not");
    ToolError::new(ErrorCode::NotADirectory, message)
}
