//! Listings of the in-memory host.

use std::collections::BTreeSet;
use std::time::SystemTime;

use super::{State, ancestors};
use crate::error::{ErrorCode, ToolError};
use crate::file::{Entry, EntryKind, ListOptions, Listing};
use crate::path::RelPath;

// === impl State ===

impl State {
    pub(super) fn list(&self, path: &RelPath, options: ListOptions) -> Result<Listing, ToolError> {
        if !self.is_directory(path) {
            self.file(path)?;
            let message = format!("{path} is not a directory");
            return Err(ToolError::new(ErrorCode::NotADirectory, message));
        }
        let mut listing = Listing::default();
        for entry in self.entries() {
            let beneath = ancestors(&entry.path).any(|dir| dir == *path);
            let direct = entry.path.parent().as_ref() == Some(path);
            let hidden = ancestors(&entry.path).any(|dir| self.ignored.contains(&dir));
            if !beneath || hidden || !(direct || options.recursive) {
                continue;
            }
            if self.ignored.contains(&entry.path) {
                listing.skipped.ignored += 1;
            } else if listing.entries.len() == options.entries_max {
                listing.truncated = true;
                break;
            } else {
                listing.entries.push(entry);
            }
        }
        Ok(listing)
    }

    /// Returns every file and directory, in path order.
    fn entries(&self) -> Vec<Entry> {
        let directories: BTreeSet<RelPath> =
            self.files.keys().flat_map(ancestors).filter(|path| !path.is_root()).collect();
        let directories = directories.into_iter().map(|path| Entry {
            path,
            kind: EntryKind::Directory,
            size_bytes: None,
            modified: Some(SystemTime::UNIX_EPOCH),
        });
        let files = self.files.iter().map(|(path, file)| Entry {
            path: path.clone(),
            kind: EntryKind::File,
            size_bytes: Some(file.bytes.len() as u64),
            modified: Some(file.modified),
        });
        let mut entries: Vec<Entry> = directories.chain(files).collect();
        entries.sort_by(|a, b| a.path.components().cmp(b.path.components()));
        entries
    }
}
