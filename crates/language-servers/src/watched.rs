//! The files of a project as a language server knows them from the disk, and which have changed since.

use std::collections::BTreeMap;
use std::time::SystemTime;

use moss_sdk::RelPath;
use moss_sdk::file::{EntryKind, Listing};

use crate::servers::ServerSpec;

/// The files of a language at one moment.
#[derive(Debug, Default)]
pub struct WatchedFiles {
    files: BTreeMap<RelPath, (Option<u64>, Option<SystemTime>)>,
    /// Whether there are more than are compared.
    is_cut: bool,
}

/// What is another file than it was.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChangedOnDisk {
    /// Files that were not there.
    pub created: Vec<RelPath>,
    /// Files of another size or time.
    pub changed: Vec<RelPath>,
    /// Files that are gone.
    pub deleted: Vec<RelPath>,
}

// === impl WatchedFiles ===

impl WatchedFiles {
    /// The files of a listing that a server knows, and its manifests.
    pub fn of(listing: Listing, spec: &ServerSpec) -> Self {
        let is_watched = |path: &RelPath| {
            let name = path.file_name().unwrap_or_default();
            spec.language_of(name).is_some() || spec.manifests.iter().any(|one| one == name)
        };
        let files = listing.entries.into_iter();
        let files =
            files.filter(|entry| entry.kind != EntryKind::Directory && is_watched(&entry.path));
        Self {
            files: files.map(|entry| (entry.path, (entry.size_bytes, entry.modified))).collect(),
            is_cut: listing.truncated,
        }
    }

    /// What has changed since; nothing that is known where there are too many files.
    pub fn changed_since(&self, before: &Self) -> ChangedOnDisk {
        let mut found = ChangedOnDisk::default();
        if self.is_cut || before.is_cut {
            return found;
        }
        for (path, now) in &self.files {
            match before.files.get(path) {
                None => found.created.push(path.clone()),
                Some(was) if was != now => found.changed.push(path.clone()),
                Some(_) => {}
            }
        }
        let gone = before.files.keys().filter(|path| !self.files.contains_key(*path));
        found.deleted = gone.cloned().collect();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(files: &[(&str, u64)]) -> WatchedFiles {
        let file =
            |&(path, size): &(&str, u64)| (RelPath::parse(path).unwrap(), (Some(size), None));
        WatchedFiles { files: files.iter().map(file).collect(), is_cut: false }
    }

    #[test]
    fn what_is_new_other_and_gone_is_distinguished() {
        let before = watched(&[("a.py", 1), ("b.py", 1), ("c.py", 1)]);
        let now = watched(&[("a.py", 1), ("b.py", 2), ("d.py", 1)]);
        let path = |path: &str| vec![RelPath::parse(path).unwrap()];
        let expected =
            ChangedOnDisk { created: path("d.py"), changed: path("b.py"), deleted: path("c.py") };
        assert_eq!(now.changed_since(&before), expected);
        let cut = WatchedFiles { is_cut: true, ..watched(&[]) };
        assert_eq!(cut.changed_since(&before), ChangedOnDisk::default());
    }
}
