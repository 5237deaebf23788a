//! moss: one daemon that gives editors and models a complete, safe set of coding tools.
//!
//! Tools propose; one function decides; the host commits. Read [`call`] next: it is a call's whole
//! life. Every front (`grpc/`, the command line) turns its request into a [`moss_dispatch::Call`]; nothing but
//! [`moss_policy::decide`] decides; nothing but `moss-workspace` touches a workspace file.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests lay out their own files"))]

pub mod approvals;
pub mod artifacts;

pub mod call;
pub mod caller;
pub mod confirm;
mod embedding_keeping;
pub mod explain;
pub mod ids;
mod job_keeping;
pub mod jobs;
pub mod language_servers;
pub mod left_commands;
pub mod metrics;
pub mod permits;
pub mod recorded_decision;
mod reload;
pub mod remembered;
pub mod sessions;
mod settling;
pub mod setup;
pub mod start;
pub mod state;
pub mod todos;
pub mod traces;
mod tree_keeping;
pub mod turns;
pub mod user_prompt;

use std::sync::Arc;
use std::time::Duration;

pub use self::setup::Setup;
pub use self::start::{StartError, Started, start};

/// How long cancelled calls may take to notice.
const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// Loads the plugins of a daemon that lives on, and follows its files until it drains: policies, limits,
/// plugins, what its workspaces hold. Commands can be left running in it. Call it before the first call, which waits for plugins that are on
/// their way.
pub fn keep_current(daemon: &Arc<state::Daemon>) {
    daemon.jobs.open();
    daemon.plugins_loading.send_replace(true);
    daemon.tasks.spawn(reload::run(Arc::clone(daemon)));
    daemon.tasks.spawn(record_folded(Arc::clone(daemon)));
    for workspace in daemon.workspaces() {
        daemon.tasks.spawn(tree_keeping::keep(Arc::clone(daemon), Arc::clone(workspace)));
        daemon.tasks.spawn(embedding_keeping::keep(Arc::clone(daemon), Arc::clone(workspace)));
    }
}

/// Records now and then how many refused calls were counted, until the daemon drains.
async fn record_folded(daemon: Arc<state::Daemon>) {
    let wait = Duration::from_millis(daemon.config().journal.refusals_folded_ms);
    loop {
        tokio::select! {
            () = daemon.draining.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
        }
        for workspace in daemon.workspaces() {
            workspace.record_folded(false).await;
        }
    }
}

/// Lets running calls end, cancels those that take longer than `shutdown.grace_ms`, and closes what is
/// open: journals, traces.
pub async fn drain(daemon: &state::Daemon) {
    daemon.draining.cancel();
    daemon.tasks.close();
    let grace = Duration::from_millis(daemon.config().shutdown.grace_ms);
    if tokio::time::timeout(grace, daemon.tasks.wait()).await.is_err() {
        tracing::warn!(running = daemon.calls().0, "cancelling calls that still run");
        daemon.stopping.cancel();
        if tokio::time::timeout(CANCEL_GRACE, daemon.tasks.wait()).await.is_err() {
            tracing::error!("some calls did not end; no file is partly written");
        }
    }
    if let Some(traces) = daemon.traces.clone()
        && let Err(error) = tokio::task::spawn_blocking(move || traces.close()).await
    {
        tracing::error!(%error, "the last spans were not sent");
    }
    for workspace in daemon.workspaces() {
        let workspace = Arc::clone(workspace);
        workspace.record_folded(true).await;
        let close = move || workspace.journal.close();
        if let Err(error) = tokio::task::spawn_blocking(close).await {
            tracing::error!(%error, "the journal was not closed");
        }
    }
}
