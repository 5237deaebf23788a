//! The files of a project as a language server knows them from the disk, and which have changed since.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Included, Unbounded};
use std::sync::Arc;
use std::time::SystemTime;

use moss_sdk::RelPath;
use moss_sdk::file::{EntryKind, Listing};

use crate::servers::ServerSpec;

/// The size of a file, and when it changed last.
pub type FileState = (Option<u64>, Option<SystemTime>);

/// Files of which changes were reported, as they are now; without a state where they are gone.
pub type ReportedStates = BTreeMap<RelPath, Option<FileState>>;

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
    Reported(ReportedStates, u64),
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

/// Which directories to list so that all of a project that is beneath some others is listed, and nothing twice.
fn outermost<'a>(subtrees: &'a BTreeSet<RelPath>, project: &'a RelPath) -> Vec<&'a RelPath> {
    if subtrees.iter().any(|directory| project.beneath(directory).is_some()) {
        return vec![project];
    }
    let within = |directory: &&RelPath| directory.beneath(project).is_some();
    let mut listed: Vec<_> = subtrees.iter().filter(within).collect();
    // By their components, each stands right before those beneath it.
    listed.sort_unstable_by(|one, other| one.cmp_components(other));
    listed.dedup_by(|next, kept| next.beneath(kept).is_some());
    listed
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
    fn beneath(&self, directory: &RelPath) -> impl Iterator<Item = &RelPath> {
        let from = if directory.is_root() { Unbounded } else { Included(directory) };
        // What begins alike stands together.
        let alike = self.files.range::<RelPath, _>((from, Unbounded)).map(|(path, _)| path);
        alike
            .take_while(|path| directory.is_root() || path.as_str().starts_with(directory.as_str()))
            .filter(|path| path.beneath(directory).is_some())
    }

    /// The files of a project beneath directories that are others by now, by what lists one of them; without a state
    /// those that are gone. Nothing is listed twice.
    ///
    /// # Errors
    ///
    /// As what lists one.
    pub fn listed_anew<E>(
        &self,
        subtrees: &BTreeSet<RelPath>,
        project: &RelPath,
        list: &mut dyn FnMut(&RelPath, &mut ReportedStates) -> Result<(), E>,
    ) -> Result<ReportedStates, E> {
        let mut now = ReportedStates::new();
        for directory in outermost(subtrees, project) {
            now.extend(self.beneath(directory).map(|path| (path.clone(), None)));
            list(directory, &mut now)?;
        }
        Ok(now)
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

    fn take_in(&mut self, reported: ReportedStates, generation: u64) -> ChangedOnDisk {
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

    #[test]
    fn what_is_beneath_directories_of_a_project_is_listed_once() {
        for (subtrees, project, expected) in [
            (
                &["web/a", "web/a/b", "web/a/b/c", "web/a-b", "web/d"][..],
                "web",
                &["web/a", "web/a-b", "web/d"][..],
            ),
            (&["web/a", "docs/a", "web-old"], "web", &["web/a"]),
            (&[".", "web/a"], "web", &["web"]),
            (&["web", "web/a"], "web", &["web"]),
            (&["web/a"], "web/a/b", &["web/a/b"]),
            (&["web/a", "web/a/b"], ".", &["web/a"]),
            (&["docs"], "web", &[]),
        ] {
            let changed = subtrees.iter().map(|one| path(one)).collect();
            let project = path(project);
            let listed: Vec<_> =
                outermost(&changed, &project).into_iter().map(RelPath::as_str).collect();
            assert_eq!(listed, expected, "{subtrees:?} of {project}");
        }
    }

    #[test]
    fn a_flood_of_directories_takes_as_many_listings_as_it_has_roots() {
        let nested = |root: &str| {
            let deeper = |at: &String| Some(format!("{at}/d"));
            std::iter::successors(Some(root.to_owned()), deeper).take(100).collect::<Vec<_>>()
        };
        let flood = ["web/new", "web/new-too", "elsewhere"].map(nested).concat();
        let changed = flood.iter().map(|one| path(one)).collect();
        let known = ["web/kept.py", "web/new/gone.py"].map(|one| (path(one), (None, None)));
        let before = WatchedFiles::as_of(1, known.into(), 2);
        let mut listings = Vec::new();
        let mut list = |directory: &RelPath, now: &mut ReportedStates| {
            listings.push(directory.to_string());
            now.insert(directory.join("a.py").unwrap(), Some((Some(1), None)));
            Ok(())
        };
        let now = before.listed_anew::<()>(&changed, &path("web"), &mut list).unwrap();
        assert_eq!(listings, ["web/new", "web/new-too"]);
        let expected = [
            (path("web/new/a.py"), Some((Some(1), None))),
            (path("web/new/gone.py"), None),
            (path("web/new-too/a.py"), Some((Some(1), None))),
        ];
        assert_eq!(now, expected.into());
    }
}
