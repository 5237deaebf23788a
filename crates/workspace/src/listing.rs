//! Listing directories: the entries that a walk comes to, with what is known of them.

use moss_sdk::RelPath;
use moss_sdk::file::{Entry, EntryKind, ListOptions, Listing, Skipped};

use crate::error::Error;
use crate::handle::Stat;
use crate::root::Workspace;
use crate::tree::{Extent, TreeStep, WalkControl};

// === impl Workspace ===

impl Workspace {
    /// Lists a directory in path order. What `keep` refuses is counted as denied and not entered;
    /// `.git` and what ignore files name is counted as ignored; names that are not text and
    /// directories that cannot be read are counted as unreadable. An ignored directory is listed
    /// when it is asked for by name. moss's own directories are left out and not counted.
    ///
    /// # Errors
    ///
    /// As [`Workspace::resolve`]; `NotFound`, `NotADirectory`, `Cancelled`; `Protected` for one of
    /// moss's own directories.
    pub fn list(
        &self,
        directory: &RelPath,
        options: ListOptions,
        keep: &dyn Fn(&RelPath) -> bool,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Listing, Error> {
        let ListOptions { recursive, entries_max } = options;
        let mut entries = Vec::new();
        let mut denied = 0;
        let left_out =
            self.walk(directory, Extent { recursive, entries_max, cancelled }, |step| {
                let TreeStep::Entry(found) = step else { return WalkControl::Past };
                if !keep(found.real) || (found.shown != found.real && !keep(found.shown)) {
                    denied += 1;
                    return WalkControl::Past;
                }
                entries.push(entry(found.shown.clone(), found.stat));
                WalkControl::On
            })?;
        let skipped =
            Skipped { ignored: left_out.ignored, denied, unreadable: left_out.unreadable };
        Ok(Listing { entries, skipped, truncated: left_out.truncated })
    }
}

fn entry(path: RelPath, stat: &Stat) -> Entry {
    Entry {
        path,
        kind: stat.kind,
        size_bytes: (stat.kind == EntryKind::File).then_some(stat.size_bytes),
        modified: Some(stat.modified),
        changed: Some(stat.changed_time()),
    }
}
