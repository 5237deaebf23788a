//! The files of a project as a language server knows them from the disk, and which have changed since.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use moss_sdk::RelPath;
use moss_sdk::file::{EntryKind, Listing};

use crate::servers::ServerSpec;

/// The size of a file, and when it changed last.
pub type FileState = (Option<u64>, Option<SystemTime>);

/// The files of a language at one moment.
#[derive(Debug, Clone, Default)]
pub struct WatchedFiles {
    files: BTreeMap<RelPath, FileState>,
    /// Whether there are more than are compared.
    is_cut: bool,
    /// The last change in it of all that are reported; 0 where none are.
    generation: u64,
}

/// What a look at the files of a project found.
#[derive(Debug)]
pub enum WatchedLook {
    /// All that there are.
    Whole(WatchedFiles),
    /// Those of which changes were reported up to a generation; without a state where they are gone.
    Reported(BTreeMap<RelPath, Option<FileState>>, u64),
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
        let files = listing.entries.into_iter();
        let files =
            files.filter(|entry| entry.kind == EntryKind::File && spec.watches(&entry.path));
        Self {
            files: files.map(|entry| (entry.path, (entry.size_bytes, entry.modified))).collect(),
            is_cut: listing.truncated,
            generation: 0,
        }
    }

    /// The files of a project, as of a generation of the changes that are reported. Where they are more than so many,
    /// nothing is known of any.
    pub fn as_of(generation: u64, mut files: BTreeMap<RelPath, FileState>, max: usize) -> Self {
        let is_cut = files.len() > max;
        if is_cut {
            files.clear();
        }
        Self { files, is_cut, generation }
    }

    /// Which changes are to be asked for.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Those beneath a directory.
    pub fn beneath(&self, directory: &RelPath) -> impl Iterator<Item = &RelPath> {
        self.files.keys().filter(|path| path.beneath(directory).is_some())
    }

    /// Takes in a look. Returns what is another file than at the look before; nothing after the first one.
    pub fn follow(known: &mut Option<Arc<Self>>, look: WatchedLook) -> ChangedOnDisk {
        match (known.as_mut(), look) {
            (Some(files), WatchedLook::Reported(reported, generation)) => {
                Arc::make_mut(files).take_in(reported, generation)
            }
            (None, WatchedLook::Reported(..)) => ChangedOnDisk::default(),
            (before, WatchedLook::Whole(now)) => {
                let changed = before.map(|before| now.changed_since(before)).unwrap_or_default();
                *known = Some(Arc::new(now));
                changed
            }
        }
    }

    fn take_in(
        &mut self,
        reported: BTreeMap<RelPath, Option<FileState>>,
        generation: u64,
    ) -> ChangedOnDisk {
        let mut found = ChangedOnDisk::default();
        self.generation = generation;
        if self.is_cut {
            return found;
        }
        for (path, state) in reported {
            let before = match state {
                Some(state) => self.files.insert(path.clone(), state),
                None => self.files.remove(&path),
            };
            match (before, state) {
                (None, Some(_)) => found.created.push(path),
                (Some(before), Some(state)) if before != state => found.changed.push(path),
                (Some(_), None) => found.deleted.push(path),
                (Some(_), Some(_)) | (None, None) => {}
            }
        }
        found
    }

    /// What has changed since; nothing that is known where there are too many files.
    fn changed_since(&self, before: &Self) -> ChangedOnDisk {
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

    fn path(path: &str) -> RelPath {
        RelPath::parse(path).unwrap()
    }

    fn watched(files: &[(&str, u64)]) -> WatchedFiles {
        let file = |&(name, size): &(&str, u64)| (path(name), (Some(size), None));
        WatchedFiles::as_of(1, files.iter().map(file).collect(), 3)
    }

    fn changed() -> ChangedOnDisk {
        let [created, changed, deleted] = ["d.py", "b.py", "c.py"].map(|name| vec![path(name)]);
        ChangedOnDisk { created, changed, deleted }
    }

    #[test]
    fn what_is_new_other_and_gone_is_distinguished() {
        let mut known = None;
        let mut look =
            |files: &[_]| WatchedFiles::follow(&mut known, WatchedLook::Whole(watched(files)));
        let before = [("a.py", 1), ("b.py", 1), ("c.py", 1)];
        assert_eq!(look(&before), ChangedOnDisk::default());
        assert_eq!(look(&[("a.py", 1), ("b.py", 2), ("d.py", 1)]), changed());
        assert_eq!(look(&[("a", 1), ("b", 1), ("c", 1), ("d", 1)]), ChangedOnDisk::default());
        assert_eq!(look(&before), ChangedOnDisk::default(), "not against what was cut");
    }

    #[test]
    fn reported_changes_are_taken_in_one_by_one() {
        let mut known = Some(Arc::new(watched(&[("a.py", 1), ("b.py", 1), ("c.py", 1)])));
        let earlier = known.clone();
        let state = |size| Some((Some(size), None));
        let reported = [
            ("a.py", state(1)),
            ("b.py", state(2)),
            ("c.py", None),
            ("d.py", state(1)),
            ("e.py", None),
        ];
        let reported: BTreeMap<_, _> =
            reported.into_iter().map(|(name, state)| (path(name), state)).collect();
        let mut look = |generation| {
            let look = WatchedLook::Reported(reported.clone(), generation);
            let changed = WatchedFiles::follow(&mut known, look);
            (changed, known.as_ref().map(|known| known.generation()))
        };
        assert_eq!(look(7), (changed(), Some(7)));
        assert_eq!(look(8), (ChangedOnDisk::default(), Some(8)), "they are known by now");
        assert_eq!(earlier.unwrap().generation(), 1, "who still looks by it sees it unchanged");
    }

    #[test]
    fn files_beneath_a_directory_are_found() {
        let known = watched(&[("a/b.py", 1), ("a/b/c.py", 1), ("a/b-c/d.py", 1)]);
        let found: Vec<_> = known.beneath(&path("a/b")).map(RelPath::as_str).collect();
        assert_eq!(found, ["a/b/c.py"]);
        assert_eq!(known.beneath(&RelPath::root()).count(), 3);
    }
}
