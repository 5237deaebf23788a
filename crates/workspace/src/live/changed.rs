//! What changed in a tree, for those who derive something from it: a bounded list of what is to be
//! looked at again.

use std::collections::{BTreeSet, VecDeque};

use moss_sdk::RelPath;

/// How many of the last changes are looked through for files.
const LATEST_LOOKED_AT_MAX: usize = 1_000;

/// What is to be looked at again since a generation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LiveChanges {
    /// What to ask with the next time.
    pub generation: u64,
    /// Whether all of the tree is: the generation is unknown, or too long ago.
    pub is_everything: bool,
    /// Regular files that were added, changed or removed; whether they are there is for the tree to
    /// say.
    pub files: BTreeSet<RelPath>,
    /// Directories that were added, replaced or removed: all beneath them.
    pub subtrees: BTreeSet<RelPath>,
}

/// The last changes of a tree.
#[derive(Debug)]
pub(super) struct ChangeLog {
    changes: VecDeque<(u64, LoggedPath)>,
    changes_max: usize,
    generation: u64,
    /// The first generation of which nothing was dropped.
    complete_from: u64,
    has_new: bool,
}

#[derive(Debug)]
enum LoggedPath {
    File(RelPath),
    Subtree(RelPath),
}

// === impl ChangeLog ===

impl ChangeLog {
    pub(super) fn new(changes_max: usize) -> Self {
        let changes = VecDeque::new();
        Self { changes, changes_max, generation: 1, complete_from: 1, has_new: false }
    }

    pub(super) fn file(&mut self, path: RelPath) {
        self.add(LoggedPath::File(path));
    }

    pub(super) fn subtree(&mut self, path: RelPath) {
        self.add(LoggedPath::Subtree(path));
    }

    /// Ends a generation, if anything changed in it.
    pub(super) fn close(&mut self) {
        if std::mem::take(&mut self.has_new) {
            self.generation += 1;
        }
    }

    /// Drops all changes: nobody knows an earlier generation.
    pub(super) fn clear(&mut self) {
        self.close();
        self.changes = VecDeque::new();
        self.complete_from = self.generation;
    }

    pub(super) fn since(&self, generation: u64) -> LiveChanges {
        let mut since = LiveChanges { generation: self.generation, ..LiveChanges::default() };
        if generation < self.complete_from || generation > self.generation {
            since.is_everything = true;
            return since;
        }
        let start = self.changes.partition_point(|(at, _)| *at < generation);
        for (_, change) in self.changes.range(start..) {
            match change {
                LoggedPath::File(path) => since.files.insert(path.clone()),
                LoggedPath::Subtree(path) => since.subtrees.insert(path.clone()),
            };
        }
        since
    }

    /// The files that changed last, each once and the very last one first: at most so many, of the last changes.
    pub(super) fn latest(&self, files_max: usize) -> Vec<&RelPath> {
        let mut latest: Vec<&RelPath> = Vec::new();
        for (_, change) in self.changes.iter().rev().take(LATEST_LOOKED_AT_MAX) {
            match change {
                LoggedPath::File(path) if !latest.contains(&path) => latest.push(path),
                LoggedPath::File(_) | LoggedPath::Subtree(_) => {}
            }
            if latest.len() == files_max {
                break;
            }
        }
        latest
    }

    fn add(&mut self, change: LoggedPath) {
        self.has_new = true;
        self.changes.push_back((self.generation, change));
        if self.changes.len() > self.changes_max
            && let Some((dropped, _)) = self.changes.pop_front()
        {
            self.complete_from = dropped + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_files_come_once_and_the_very_last_one_first() {
        let path = |name: &str| RelPath::parse(name).unwrap();
        let mut log = ChangeLog::new(100);
        assert!(log.latest(2).is_empty());
        ["a", "b", "c", "b"].iter().for_each(|name| log.file(path(name)));
        log.subtree(path("d"));
        log.close();
        assert_eq!(log.latest(2), [&path("b"), &path("c")]);
        assert_eq!(log.latest(9), [&path("b"), &path("c"), &path("a")]);
    }

    #[test]
    fn changes_are_given_since_a_generation_and_everything_where_some_were_dropped() {
        let path = |name: &str| RelPath::parse(name).unwrap();
        let mut log = ChangeLog::new(2);
        let start = log.since(0).generation;
        assert!(log.since(0).is_everything && log.since(start + 1).is_everything);
        log.file(path("a"));
        log.close();
        log.subtree(path("b"));
        log.close();
        log.close();
        let all = log.since(start);
        assert_eq!((all.files.len(), all.subtrees.len(), all.is_everything), (1, 1, false));
        assert_eq!(log.since(start + 1).files.len(), 0);
        log.file(path("c"));
        log.close();
        assert!(log.since(start).is_everything);
        let rest = log.since(start + 1);
        assert_eq!((rest.files.len(), rest.subtrees.len(), rest.is_everything), (1, 1, false));
        assert!(!log.since(rest.generation).is_everything);
        assert_eq!(log.since(rest.generation).files.len(), 0);
    }
}
