//! Reporting to an index of texts what a live tree knows: which files there are, which have changed, and which of
//! them it may not know any more.

use std::cell::Cell;
use std::sync::{Arc, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use moss_index::{DocumentChange, DocumentMark};
use moss_sdk::RelPath;
use moss_workspace::{LiveChanges, LiveState, LiveTree};

use super::{IndexRules, IndexedTexts, ReportedTree, mark};

/// So long does a search wait for who reports changes to the index: who does it in the background may take long, and
/// what the index does not know is read.
const REPORTED_WITHIN: Duration = Duration::from_millis(100);
/// How often it looks whether they are done.
const REPORTED_PAUSE: Duration = Duration::from_millis(1);

/// The files beneath some directories that an index may know.
fn listing<'a>(
    tree: &LiveTree,
    directories: impl IntoIterator<Item = &'a RelPath>,
    admits: &dyn Fn(&RelPath) -> bool,
) -> Vec<(RelPath, DocumentMark)> {
    let mut listing = Vec::new();
    for directory in directories {
        tree.files(directory, &mut |path, found| {
            if admits(path) {
                listing.push((path.clone(), mark(&found)));
            }
        });
    }
    listing
}

// === impl IndexedTexts ===

impl IndexedTexts {
    /// Reports to the index all that the tree knows by now. Returns whether it knows that then.
    pub fn follow(
        &self,
        tree: &LiveTree,
        rules: &dyn IndexRules,
        cancelled: &dyn Fn() -> bool,
    ) -> bool {
        self.follow_as(self.reported(), tree, rules, cancelled)
    }

    fn follow_as(
        &self,
        mut reported: MutexGuard<'_, ReportedTree>,
        tree: &LiveTree,
        rules: &dyn IndexRules,
        cancelled: &dyn Fn() -> bool,
    ) -> bool {
        let Ok(Some(changes)) = tree.changes_since(reported.generation, cancelled) else {
            return false;
        };
        self.take_in(&mut reported, tree, rules, &changes);
        true
    }

    /// As [`IndexedTexts::follow`], for a search that has just had the tree brought up to date. Without events that was
    /// a look at every file, which is not had twice. Nobody else is waited for: then it reads everything.
    pub(super) fn follow_search(
        &self,
        tree: &LiveTree,
        rules: &dyn IndexRules,
        cancelled: &dyn Fn() -> bool,
    ) -> bool {
        let Some(mut reported) = self.reported_soon(cancelled) else { return false };
        if tree.status().state != LiveState::Sweeping {
            return self.follow_as(reported, tree, rules, cancelled);
        }
        let Some(changes) = tree.changes_seen(reported.generation) else { return false };
        self.take_in(&mut reported, tree, rules, &changes);
        true
    }

    fn take_in(
        &self,
        reported: &mut ReportedTree,
        tree: &LiveTree,
        rules: &dyn IndexRules,
        changes: &LiveChanges,
    ) {
        let policy = rules.policy();
        let admits = |path: &RelPath| rules.admits(&policy, path);
        let is_same = reported.policy.as_ref().is_some_and(|known| Arc::ptr_eq(known, &policy));
        if changes.is_everything || !is_same {
            self.index.load().sync(listing(tree, [&RelPath::root()], &admits));
        } else if changes.files.is_empty() && changes.subtrees.is_empty() {
            return;
        } else {
            self.report(tree, changes, &admits);
        }
        reported.generation = changes.generation;
        reported.policy = Some(Arc::clone(&policy));
        self.has_work.notify_one();
    }

    fn report(&self, tree: &LiveTree, changes: &LiveChanges, admits: &dyn Fn(&RelPath) -> bool) {
        let index = self.index.load();
        let is_any_denied = Cell::new(false);
        let admits = |path: &RelPath| {
            let is_admitted = admits(path);
            is_any_denied.set(is_any_denied.get() || !is_admitted);
            is_admitted
        };
        let listed = listing(tree, &changes.subtrees, &admits);
        let change = |path: &RelPath| match tree.file(path) {
            Some(found) if admits(path) => DocumentChange::Present(path.clone(), mark(&found)),
            Some(_) => DocumentChange::Denied(path.clone()),
            None => DocumentChange::Gone(path.clone()),
        };
        let mut changed: Vec<_> = changes.files.iter().map(change).collect();
        // What is denied now may be what had another name before: of that nothing may stay either.
        if is_any_denied.get() {
            changed = changed.into_iter().map(DocumentChange::or_denied).collect();
        }
        if !changes.subtrees.is_empty() {
            index.sync_beneath(&changes.subtrees, listed, is_any_denied.get());
        }
        index.update(changed);
    }

    /// What was reported, where nobody reports for long.
    fn reported_soon(&self, cancelled: &dyn Fn() -> bool) -> Option<MutexGuard<'_, ReportedTree>> {
        let end = Instant::now() + REPORTED_WITHIN;
        loop {
            match self.reported.try_lock() {
                Ok(reported) => return Some(reported),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if cancelled() || Instant::now() >= end => {
                    return None;
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(REPORTED_PAUSE),
            }
        }
    }
}
