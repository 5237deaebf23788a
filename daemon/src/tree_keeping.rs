//! Keeping what is known of workspaces: walked once in the background when the daemon starts, texts
//! read then and as they change, all looked at again now and then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use moss_index::IndexProblem;
use moss_workspace::{LiveOptions, LiveState, LiveStatus};

use crate::call::ReadableByAll;
use crate::state::{Daemon, WorkspaceState};
use moss_config::ExcludedPaths;
use moss_dispatch::low_priority;
use moss_live_index::live_tree::{KeptTree, TextSettings};
use moss_live_index::text_index;

/// How long changes are let gather before they are read, at least and at most. Who asks meanwhile has them
/// read at once.
const GATHER_MIN: Duration = Duration::from_millis(500);
const GATHER_MAX: Duration = Duration::from_secs(10);
/// Reading changes takes at most this part of the time, one in so many: files that change all the time
/// would otherwise be read all the time, at the cost of the calls that change them.
const GATHER_SHARE: u32 = 10;

/// After how long an index of texts is opened again that another daemon had.
const REOPEN_EVERY: Duration = Duration::from_secs(5);
/// The same where the system lacked something, at least and at most: then all texts are read again. So is it tried
/// to have events reported again.
const RETRY_MIN: Duration = Duration::from_secs(60);
const RETRY_MAX: Duration = Duration::from_secs(3600);

/// Work on what is known of a workspace, where it may wait for disks.
type TreeWork = fn(&KeptTree, &WorkspaceState, &(dyn Fn() -> bool + Sync));

/// Walks a workspace until it is known and reads its texts, then keeps up with both until the daemon
/// ends. Where they cannot be known, listings walk and searches read.
pub(crate) async fn keep(daemon: Arc<Daemon>, workspace: Arc<WorkspaceState>) {
    let config = daemon.config().index.clone();
    let directory = daemon.setup.dirs.workspace_index(workspace.files.root());
    if !config.enabled {
        // What the policy denies from now on would stay in it.
        let clearing = move || directory.exists().then(|| text_index::clear(&directory));
        return drop(tokio::task::spawn_blocking(clearing).await);
    }
    let options = LiveOptions { entries_max: config.entries_max, ..LiveOptions::default() };
    let settings = TextSettings {
        directory,
        excluded: ExcludedPaths::new(&config.exclude).unwrap_or_default(),
        disk_bytes_max: config.disk_bytes_max,
    };
    let making = {
        let workspace = Arc::clone(&workspace);
        move || KeptTree::new(Arc::clone(&workspace.files), options, settings)
    };
    // What a directory of indexes holds is read here: the disk may be slow.
    let Ok(made) = tokio::task::spawn_blocking(making).await else { return };
    let kept = workspace.live.get_or_init(|| made);
    if let Err(reason) = kept.text_status() {
        tracing::warn!(workspace = workspace.name(), reason, "texts are not indexed");
    }
    if let Some(status) = on_tree(&daemon, &workspace, |tree, _, ended| tree.build(ended)).await {
        let reason = status.reason.unwrap_or_default();
        let workspace = workspace.name();
        tracing::info!(workspace, state = ?status.state, reason, "the files were looked at");
    }
    on_tree(&daemon, &workspace, read_texts).await;
    if let Some(texts) = kept.texts() {
        texts.make_room();
    }
    tokio::select! {
        () = follow(&daemon, &workspace, kept) => {}
        () = reopen(&daemon, &workspace, kept) => {}
    }
    // The daemon waits for this: the next one need not read again what this one has read.
    on_tree(&daemon, &workspace, |tree, _, _| tree.persist()).await;
}

/// Keeps up with the files of a workspace until the daemon ends.
async fn follow(daemon: &Arc<Daemon>, workspace: &Arc<WorkspaceState>, kept: &KeptTree) {
    let mut wait = kept.sweep_pause();
    let mut sweep_at = Instant::now() + wait;
    let mut gather = GATHER_MIN;
    // What was announced is not forgotten where a sweep comes before it is read.
    let is_announced = AtomicBool::new(false);
    loop {
        let gather_for = gather;
        let work = async {
            match kept.texts() {
                Some(_) if is_announced.load(Ordering::Relaxed) => {}
                Some(texts) => texts.wait_for_work().await,
                None => std::future::pending().await,
            }
            is_announced.store(true, Ordering::Relaxed);
            tokio::time::sleep(gather_for).await;
        };
        tokio::select! {
            () = daemon.draining.cancelled() => return,
            () = tokio::time::sleep_until(sweep_at.into()) => {
                if kept.is_in_use() {
                    let swept = on_tree(daemon, workspace, |tree, _, ended| tree.sweep(ended)).await;
                    // Without events it was tried to have them again.
                    let is_sweeping = |tree: LiveStatus| tree.state == LiveState::Sweeping;
                    let tried = swept.is_some_and(is_sweeping).then(|| (wait * 2).min(RETRY_MAX));
                    wait = tried.unwrap_or_default().max(kept.sweep_pause());
                }
                sweep_at = Instant::now() + wait;
            }
            () = work => {
                is_announced.store(false, Ordering::Relaxed);
                let started = Instant::now();
                on_tree(daemon, workspace, read_texts).await;
                gather = (started.elapsed() * GATHER_SHARE).clamp(GATHER_MIN, GATHER_MAX);
            }
        }
    }
}

/// Opens the index of texts again where it is off for a reason that may have passed, until the daemon ends.
async fn reopen(daemon: &Arc<Daemon>, workspace: &Arc<WorkspaceState>, kept: &KeptTree) {
    let mut later = RETRY_MIN;
    loop {
        let problem = kept.passing_problem();
        if matches!(problem, None | Some(IndexProblem::Busy)) {
            tokio::time::sleep(REOPEN_EVERY).await;
        } else {
            tokio::time::sleep(later).await;
            later = (later * 2).min(RETRY_MAX);
        }
        // One that came meanwhile has its own time first.
        if problem.is_some() && kept.passing_problem().is_some() {
            on_tree(daemon, workspace, |tree, _, _| tree.reopen_texts()).await;
        }
    }
}

fn read_texts(tree: &KeptTree, workspace: &WorkspaceState, ended: &(dyn Fn() -> bool + Sync)) {
    let rules = ReadableByAll(workspace);
    tree.read_texts(&workspace.files, &rules, ended);
    tree.read_words(&workspace.files, (&rules, &*workspace.editors), ended);
    workspace.embeddings.note_work();
}

/// Does work on what is known of a workspace; returns how its tree is then.
async fn on_tree(
    daemon: &Arc<Daemon>,
    workspace: &Arc<WorkspaceState>,
    work: TreeWork,
) -> Option<LiveStatus> {
    let (daemon, workspace) = (Arc::clone(daemon), Arc::clone(workspace));
    let done = low_priority::run("moss-index", move || {
        let kept = workspace.live.get()?;
        work(kept, &workspace, &|| daemon.draining.is_cancelled());
        Some(kept.status())
    });
    done.await.unwrap_or_else(|error| {
        tracing::error!(%error, "the files of a workspace could not be looked at");
        None
    })
}
