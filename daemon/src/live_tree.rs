//! What is in a workspace, known without walking it: asked by every listing of a daemon.
//!
//! Commands without a daemon walk: they end before a tree would be of use.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use moss_sdk::RelPath;
use moss_sdk::file::{ListOptions, Listing};
use moss_workspace::{Error, LiveOptions, LiveState, LiveStatus, LiveTree, Workspace};

/// The tree of a workspace, and whether anybody asks it.
#[derive(Debug)]
pub struct KeptTree {
    tree: LiveTree,
    was_asked: AtomicBool,
}

// === impl KeptTree ===

impl KeptTree {
    /// Makes one of which nothing is known yet.
    pub(crate) fn new(files: Arc<Workspace>, options: LiveOptions) -> Self {
        Self { tree: LiveTree::new(files, options), was_asked: AtomicBool::new(false) }
    }

    /// Walks the workspace; from then on it is known.
    pub(crate) fn build(&self, cancelled: &dyn Fn() -> bool) {
        self.tree.build(cancelled);
    }

    /// Looks at everything again, for what no event reports, where it knows from events.
    pub(crate) fn sweep(&self, cancelled: &dyn Fn() -> bool) {
        if self.tree.status().state == LiveState::Live {
            // Cancelled: the daemon ends.
            let _ = self.tree.sweep(cancelled);
        }
    }

    /// Returns how it is doing.
    pub fn status(&self) -> LiveStatus {
        self.tree.status()
    }

    /// Whether somebody asked it since this was asked last.
    pub(crate) fn was_asked(&self) -> bool {
        self.was_asked.swap(false, Ordering::Relaxed)
    }

    /// As [`LiveTree::list`].
    pub(crate) fn list(
        &self,
        directory: &RelPath,
        options: ListOptions,
        keep: &dyn Fn(&RelPath) -> bool,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<Listing>, Error> {
        self.was_asked.store(true, Ordering::Relaxed);
        self.tree.list(directory, options, keep, cancelled)
    }
}
