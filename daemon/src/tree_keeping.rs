//! Keeping the trees of workspaces: walked once in the background when the daemon starts, looked at again
//! now and then.

use std::sync::Arc;
use std::time::{Duration, Instant};

use moss_workspace::{LiveOptions, LiveStatus};

use crate::live_tree::KeptTree;
use crate::state::{Daemon, WorkspaceState};

/// How long nobody looks at what no event reports: writes through a mapping or another name.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// Sweeping takes at most this part of the time: one in so many.
const SWEEP_SHARE: u32 = 100;

/// Walks a workspace until it is known, then looks again now and then at what nobody reports, until the
/// daemon ends. Where it cannot be known, listings walk.
pub(crate) async fn keep(daemon: Arc<Daemon>, workspace: Arc<WorkspaceState>) {
    let config = daemon.config().index.clone();
    if !config.enabled {
        return;
    }
    let options = LiveOptions { entries_max: config.entries_max, ..LiveOptions::default() };
    workspace.live.get_or_init(|| KeptTree::new(Arc::clone(&workspace.files), options));
    if let Some(status) = on_tree(&daemon, &workspace, KeptTree::build).await {
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
        on_tree(&daemon, &workspace, KeptTree::sweep).await;
        wait = SWEEP_EVERY.max(started.elapsed() * SWEEP_SHARE);
    }
}

/// Does work on the tree of a workspace where it may wait for disks; returns how the tree is then.
async fn on_tree(
    daemon: &Arc<Daemon>,
    workspace: &Arc<WorkspaceState>,
    work: fn(&KeptTree, &dyn Fn() -> bool),
) -> Option<LiveStatus> {
    let (daemon, workspace) = (Arc::clone(daemon), Arc::clone(workspace));
    let done = tokio::task::spawn_blocking(move || {
        let kept = workspace.live.get()?;
        work(kept, &|| daemon.draining.is_cancelled());
        Some(kept.status())
    });
    done.await.unwrap_or_else(|error| {
        tracing::error!(%error, "the files of a workspace could not be looked at");
        None
    })
}
