//! What happens when a policy, a plugin list or a component changes while the daemon runs: it is
//! read again, checked, and applied as a whole. What is broken leaves in effect what was there
//! before, and says where it is broken.
//!
//! Of the limits (`config.toml`) those change that can; the others wait for the next start, and the
//! status says which.

use std::sync::Arc;

use tokio::task::spawn_blocking;

use crate::setup;
use crate::state::{Daemon, WorkspaceState};
use moss_config::Config;
use moss_config::watch::{FileWatcher, Group};
use moss_live_index::live_tree::KeptTree;
use moss_plugins::{Changes, Plugins};

/// Loads the plugins, then follows every file until the daemon is about to stop.
pub(crate) async fn run(daemon: Arc<Daemon>) {
    let made = spawn_blocking(|| Arc::new(FileWatcher::new())).await;
    let Ok(watch) = made else {
        daemon.plugins_loading.send_replace(false);
        tracing::error!("nothing is reloaded: the file watcher failed");
        return;
    };
    tokio::select! {
        () = daemon.draining.cancelled() => {}
        () = watch.run() => {}
        () = follow_configuration(&daemon, &watch) => {}
        () = follow_policies(&daemon, &watch) => {}
        () = follow_plugins(&daemon, &watch) => {}
    }
}

/// Keeps the limits up with their files.
async fn follow_configuration(daemon: &Arc<Daemon>, watch: &Arc<FileWatcher>) {
    let mut rounds = watch.subscribe();
    loop {
        rounds.borrow_and_update();
        let (daemon, watch) = (Arc::clone(daemon), Arc::clone(watch));
        let looked = spawn_blocking(move || {
            watch.follow(Group::Configuration, setup::config_files(&daemon.setup).to_vec());
            reload_configuration(&daemon);
        });
        if let Err(error) = looked.await {
            tracing::error!(%error, "internal error: the limits stay as they are");
        }
        if rounds.changed().await.is_err() {
            return;
        }
    }
}

fn reload_configuration(daemon: &Daemon) {
    let before = daemon.config();
    let (after, problem) = match setup::configuration(&daemon.setup) {
        Err(error) => {
            let held = "the previous limits stay in effect until the file is fixed";
            (Config::clone(&before), format!("{error}; {held}"))
        }
        Ok(read) => {
            let (after, waiting) = before.renewed(&read);
            let problem = match waiting.as_slice() {
                [] => String::new(),
                waiting => format!("restart the daemon to change {}", waiting.join(", ")),
            };
            (after, problem)
        }
    };
    if after != **before {
        daemon.replace_config(after);
        tracing::info!("the limits were read again");
    }
    if **daemon.config_problem.load() != problem {
        if !problem.is_empty() {
            tracing::warn!(problem, "part of the configuration is not in effect");
        }
        daemon.config_problem.store(Arc::new(problem));
    }
}

/// Keeps the policy of every workspace up with its files.
async fn follow_policies(daemon: &Arc<Daemon>, watch: &Arc<FileWatcher>) {
    let mut rounds = watch.subscribe();
    loop {
        rounds.borrow_and_update();
        let (daemon, watch) = (Arc::clone(daemon), Arc::clone(watch));
        let looked = spawn_blocking(move || {
            let files = daemon
                .workspaces()
                .flat_map(|workspace| setup::policy_files(&daemon.setup, &workspace.files));
            // First: what changes after it was read is reported.
            watch.follow(Group::Policies, files.collect());
            daemon.workspaces().for_each(|workspace| reload_policy(&daemon, workspace));
        });
        if let Err(error) = looked.await {
            tracing::error!(%error, "internal error: the policy stays as it is");
        }
        if rounds.changed().await.is_err() {
            return;
        }
    }
}

fn reload_policy(daemon: &Daemon, workspace: &WorkspaceState) {
    let sources = setup::policy_sources(&daemon.setup, &workspace.files);
    let Some(policy) = workspace.policy.load().reload(sources) else { return };
    let rules = policy.rules().count();
    for problem in policy.problems() {
        tracing::warn!(problem = problem.one_line(), "a policy file is invalid");
    }
    workspace.policy.store(Arc::new(policy));
    // What is denied by now leaves the index, though nobody searches.
    if let Some(texts) = workspace.live.get().and_then(KeptTree::texts) {
        texts.note_work();
    }
    workspace.embeddings.note_work();
    tracing::info!(workspace = workspace.name(), rules, "the policy was read again");
}

/// Keeps the plugins up with their lists and components.
async fn follow_plugins(daemon: &Arc<Daemon>, watch: &Arc<FileWatcher>) {
    let mut changes = Changes::of(watch.subscribe(), daemon.config_replaced.subscribe());
    let mut plugins = Plugins::new(Arc::clone(&daemon.plugins));
    let lists = plugins.list_files();
    follow(watch, lists.clone()).await;
    daemon.follow_plugins();
    loop {
        changes.are_seen();
        let components = plugins.read_lists().await;
        follow(watch, lists.iter().cloned().chain(components).collect()).await;
        let is_told = plugins.refresh(&mut changes).await;
        if plugins.has_loaded() {
            daemon.plugins_loading.send_replace(false);
        }
        if !is_told && !changes.next().await {
            return;
        }
    }
}

async fn follow(watch: &Arc<FileWatcher>, files: Vec<std::path::PathBuf>) {
    let watch = Arc::clone(watch);
    if let Err(error) = spawn_blocking(move || watch.follow(Group::Plugins, files)).await {
        tracing::error!(%error, "internal error: plugins are not watched");
    }
}
