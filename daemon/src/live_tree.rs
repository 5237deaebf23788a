//! What is in a workspace, known without walking it: walked once in the background when the daemon starts,
//! asked by every listing from then on.
//!
//! Commands without a daemon walk: they end before a tree would be of use.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use moss_sdk::RelPath;
use moss_sdk::file::{ListOptions, Listing};
use moss_workspace::{Error, LiveOptions, LiveState, LiveStatus, LiveTree};

use crate::state::{Daemon, WorkspaceState};

/// How long nobody looks at what no event reports: writes through a mapping or another name, mounts.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// Sweeping takes at most this part of the time: one in so many.
const SWEEP_SHARE: u32 = 100;

/// The tree of a workspace, and whether anybody asks it.
#[derive(Debug)]
pub struct KeptTree {
    tree: LiveTree,
    was_asked: AtomicBool,
}

/// Walks a workspace until it is known, then looks again now and then at what nobody reports, until the
/// daemon ends. Where it cannot be known, listings walk.
pub(crate) async fn keep(daemon: Arc<Daemon>, workspace: Arc<WorkspaceState>) {
    let config = daemon.config().index.clone();
    if !config.enabled {
        return;
    }
    let options = LiveOptions { entries_max: config.entries_max, ..LiveOptions::default() };
    let tree = LiveTree::new(Arc::clone(&workspace.files), options);
    workspace.live.get_or_init(|| KeptTree { tree, was_asked: AtomicBool::new(false) });
    if let Some(status) = on_tree(&daemon, &workspace, LiveTree::build).await {
        let reason = status.reason.unwrap_or_default();
        let workspace = workspace.name();
        tracing::info!(workspace, state = ?status.state, reason, "the files were looked at");
    }
    let mut wait = SWEEP_EVERY;
    loop {
        tokio::select! {
            () = daemon.draining.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
        }
        if !workspace.live.get().is_some_and(KeptTree::was_asked) {
            continue;
        }
        let started = Instant::now();
        let sweep = |tree: &LiveTree, cancelled: &dyn Fn() -> bool| {
            // Cancelled: the daemon ends.
            let _ = tree.sweep(cancelled);
        };
        on_tree(&daemon, &workspace, sweep).await;
        wait = SWEEP_EVERY.max(started.elapsed() * SWEEP_SHARE);
    }
}

/// Does work on the tree of a workspace where it may wait for disks; returns how the tree is then.
async fn on_tree(
    daemon: &Arc<Daemon>,
    workspace: &Arc<WorkspaceState>,
    work: fn(&LiveTree, &dyn Fn() -> bool),
) -> Option<LiveStatus> {
    let (daemon, workspace) = (Arc::clone(daemon), Arc::clone(workspace));
    let done = tokio::task::spawn_blocking(move || {
        let kept = workspace.live.get()?;
        work(&kept.tree, &|| daemon.draining.is_cancelled());
        Some(kept.tree.status())
    });
    done.await.unwrap_or_else(|error| {
        tracing::error!(%error, "the files of a workspace could not be looked at");
        None
    })
}

// === impl KeptTree ===

impl KeptTree {
    /// Returns how it is doing.
    pub fn status(&self) -> LiveStatus {
        self.tree.status()
    }

    /// Whether somebody asked it since this was asked last, and it knows from events.
    fn was_asked(&self) -> bool {
        self.was_asked.swap(false, Ordering::Relaxed) && self.tree.status().state == LiveState::Live
    }
}

// === impl WorkspaceState ===

impl WorkspaceState {
    /// Lists a directory as [`moss_workspace::Workspace::list`] does: from what is known, where it is
    /// known, else by a walk.
    pub(crate) fn list(
        &self,
        directory: &RelPath,
        options: ListOptions,
        keep: &dyn Fn(&RelPath) -> bool,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Listing, Error> {
        if let Some(kept) = self.live.get() {
            kept.was_asked.store(true, Ordering::Relaxed);
            if let Some(listing) = kept.tree.list(directory, options, keep, cancelled)? {
                return Ok(listing);
            }
        }
        self.files.list(directory, options, keep, cancelled)
    }
}
