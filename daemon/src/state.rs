//! What a running daemon holds: its workspaces, its slots for calls, its open questions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use jiff::Timestamp;
use moss_sdk::RelPath;
use moss_sdk::context::TextVisitor;
use moss_sdk::file::{ListOptions, Listing, VisitOptions, Visited};
use moss_workspace::{History, VisitGate, Workspace};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::approvals::StandingApprovals;
use crate::budget::Budgets;
use crate::config::Config;
use crate::confirm::{self, Confirmations};
use crate::editors::EditorRegistry;
use crate::live_tree::KeptTree;
use crate::metrics::{Metrics, Moment};
use crate::permits::Permits;
use crate::sessions::Sessions;
use crate::setup::{self, Setup};
use crate::text_index::IndexRules;
use crate::todos::Todos;
use crate::traces::Traces;
use crate::turns::Turns;
use moss_catalog::Catalog;
use moss_dispatch::{Role, UnknownTool, UnknownWorkspace, Unready};
use moss_journal::folding::{self, RefusalFolding};
use moss_journal::{Durability, Journal};
use moss_plugins::{Environment, Installed, PluginState, PluginStatus, store::PluginStores};
use moss_policy::Policy;

/// Most large values that are held to schemas at once; fewer where there are fewer processors.
const THINKERS_MAX: usize = 4;
/// Longest wait of a call for plugins that are being loaded.
const PLUGINS_WAIT: Duration = Duration::from_secs(10);

/// A running daemon.
#[derive(Debug)]
pub struct Daemon {
    config: ArcSwap<Config>,
    /// Reports when there are other limits.
    pub config_replaced: watch::Sender<()>,
    /// What is wrong with the configuration files, or waits for a start; empty where nothing does.
    pub config_problem: ArcSwap<String>,
    /// Open questions.
    pub confirmations: Arc<Confirmations>,
    /// Questions that stay open when their call is over, and the decisions about them.
    pub left_questions: Arc<confirm::LeftQuestions>,
    /// Slots for running calls of callers.
    pub permits: Permits,
    /// As many for those of approvers, whom callers cannot lock out.
    pub approver_permits: Permits,
    /// What calls came with, while they run or wait for a slot.
    pub calls_held: Budgets,
    /// What replies hold that are written for clients of APIs.
    pub encoding: Budgets,
    /// Slots for blocking work of calls.
    pub workers: Permits,
    /// Long work of the daemon itself: holding large values to schemas.
    pub thinkers: Arc<Semaphore>,
    /// What its plugins need, wherever they are used.
    pub plugins: Arc<Environment>,
    /// What is counted.
    pub metrics: Metrics,
    /// Where spans of calls go, if somebody wants them.
    pub traces: Option<Traces>,
    /// Everything that runs and must end before the daemon does.
    pub tasks: TaskTracker,
    /// The daemon is about to stop: nobody will answer questions any more.
    pub draining: CancellationToken,
    /// Cancels every call.
    pub stopping: CancellationToken,
    /// Whether the plugins are being loaded for the first time.
    pub plugins_loading: watch::Sender<bool>,
    is_following_plugins: AtomicBool,
    /// When it started.
    pub started_at: Timestamp,
    /// Its start options; what it names is read again when it changes.
    pub setup: Setup,
    workspaces: BTreeMap<PathBuf, Arc<WorkspaceState>>,
}

/// One workspace with all that belongs to it.
#[derive(Debug)]
pub struct WorkspaceState {
    /// The door to its files.
    pub files: Arc<Workspace>,
    /// What is known of them without walking: nothing until somebody builds it.
    pub live: OnceLock<KeptTree>,
    /// Its committed changes.
    pub history: Arc<History>,
    /// What happened in it.
    pub journal: Journal,
    /// The refused calls that are counted there and not recorded one by one.
    pub folding: RefusalFolding,
    /// The rules in effect.
    pub policy: ArcSwap<Policy>,
    /// What people answered for longer than once.
    pub answers: StandingApprovals,
    /// Its tools and plugins.
    pub installed: Arc<Installed>,
    /// The editors that are attached to it.
    pub editors: Arc<EditorRegistry>,
    /// What its callers have read.
    pub sessions: Sessions,
    /// Who may change which file now.
    pub turns: Turns,
    /// Their task lists.
    pub todos: Todos,
    name: String,
}

/// What the state directory of a workspace holds.
#[derive(Debug)]
pub struct WorkspaceStores {
    /// Its committed changes.
    pub history: History,
    /// What happened in it.
    pub journal: Journal,
    /// What people answered for longer than once.
    pub answers: StandingApprovals,
    /// The task lists of its callers.
    pub todos: Todos,
    /// What its plugins keep.
    pub plugin_stores: PluginStores,
}

fn thinkers_max() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(THINKERS_MAX)
}

// === impl Daemon ===

impl Daemon {
    /// The slots for calls of a role.
    pub fn places(&self, role: Role) -> &Permits {
        match role {
            Role::Caller => &self.permits,
            Role::Approver => &self.approver_permits,
        }
    }

    /// How many calls run, and how many wait for a slot.
    pub fn calls(&self) -> (usize, usize) {
        let of = [&self.permits, &self.approver_permits];
        let running = of.iter().map(|places| places.running()).sum();
        (running, of.iter().map(|places| places.queued()).sum())
    }

    /// Values of the metrics that are not counters.
    pub fn moment(&self) -> Moment {
        let (running, queued) = self.calls();
        let pending = self.confirmations.pending().len();
        let mut plugins = Vec::new();
        for workspace in self.workspaces() {
            plugins.extend(
                workspace.installed.statuses.load().iter().map(|plugin| plugin.state.as_str()),
            );
        }
        Moment { running, queued, pending, plugins }
    }

    /// Makes a daemon that serves these workspaces.
    pub fn new(
        config: Config,
        workspaces: Vec<WorkspaceState>,
        traces: Option<Traces>,
        setup: Setup,
    ) -> Arc<Self> {
        let expiry = Duration::from_millis(config.confirmations.expiry_ms);
        let limits = confirm::ConfirmationLimits {
            pending_max: config.confirmations.pending_max,
            caller_pending_max: config.confirmations.caller_pending_max,
            session_pending_max: config.confirmations.session_pending_max,
            bytes_max: config.confirmations.bytes_max,
            caller_bytes_max: config.confirmations.caller_bytes_max,
        };
        let workspaces: BTreeMap<_, _> = workspaces
            .into_iter()
            .map(|workspace| (workspace.files.root().to_owned(), Arc::new(workspace)))
            .collect();
        let installed = workspaces.values().map(|workspace| Arc::clone(&workspace.installed));
        let plugins = Environment::new(
            setup.dirs.clone(),
            setup::list_files(&setup),
            setup.program.clone(),
            setup.compilations.clone(),
            config.plugin_settings(),
            installed,
        );
        Arc::new(Self {
            plugins: Arc::new(plugins),
            confirmations: Arc::new(Confirmations::new(limits, expiry)),
            left_questions: Arc::new(confirm::LeftQuestions::new(expiry)),
            permits: Permits::new(config.calls.running_max, config.calls.queued_max),
            approver_permits: Permits::new(config.calls.running_max, config.calls.queued_max),
            calls_held: Budgets::default(),
            encoding: Budgets::default(),
            workers: Permits::new(config.calls.running_max, 0),
            thinkers: Arc::new(Semaphore::new(thinkers_max())),
            metrics: Metrics::default(),
            traces,
            tasks: TaskTracker::new(),
            draining: CancellationToken::new(),
            stopping: CancellationToken::new(),
            plugins_loading: watch::Sender::new(false),
            is_following_plugins: AtomicBool::new(false),
            started_at: Timestamp::now(),
            setup,
            workspaces,
            config: ArcSwap::from_pointee(config),
            config_problem: ArcSwap::default(),
            config_replaced: watch::Sender::new(()),
        })
    }

    /// Finds a workspace by its root directory; the only one where none is named.
    ///
    /// # Errors
    ///
    /// Where it is not served, or there are several and none is named.
    pub fn workspace(&self, root: &str) -> Result<Arc<WorkspaceState>, UnknownWorkspace> {
        let served = || {
            let roots: Vec<_> = self.workspaces().map(|workspace| workspace.name()).collect();
            roots.join(", ")
        };
        if root.is_empty() {
            let mut all = self.workspaces.values();
            return match (all.next(), all.next()) {
                (Some(only), None) => Ok(Arc::clone(only)),
                _ => Err(UnknownWorkspace::NotNamed { served: served() }),
            };
        }
        self.workspaces
            .get(Path::new(root))
            .cloned()
            .ok_or_else(|| UnknownWorkspace::NotServed { asked: root.to_owned(), served: served() })
    }

    /// Waits, in bounded time, for a tool that there may be when the plugins are loaded.
    pub async fn await_tool(&self, workspace: &WorkspaceState, tool: &str) {
        if !*self.plugins_loading.borrow() {
            return;
        }
        let mut loading = self.plugins_loading.subscribe();
        let mut replaced = workspace.installed.catalog_replaced.subscribe();
        let there = async {
            while *loading.borrow_and_update() && !workspace.installed.catalog.load().contains(tool)
            {
                let told = tokio::select! {
                    told = loading.changed() => told,
                    told = replaced.changed() => told,
                };
                if told.is_err() {
                    return;
                }
            }
        };
        // After that the call says what it finds.
        let _ = tokio::time::timeout(PLUGINS_WAIT, there).await;
    }

    /// Whether plugins are loaded again when their lists or components change.
    pub fn is_following_plugins(&self) -> bool {
        self.is_following_plugins.load(Ordering::Relaxed)
    }

    /// Says that they are from now on.
    pub(crate) fn follow_plugins(&self) {
        self.is_following_plugins.store(true, Ordering::Relaxed);
    }

    /// Adds to a name that no tool has the plugins that might have it, were they loaded.
    pub fn with_plugins(&self, workspace: &WorkspaceState, unknown: UnknownTool) -> UnknownTool {
        let is_loaded = |status: &&PluginStatus| matches!(status.state, PluginState::Ready(_));
        let plugins = workspace.installed.statuses.load();
        let missing = plugins.iter().filter(|status| !is_loaded(status));
        let not_loaded: Vec<_> = missing.map(|status| status.name.clone()).collect();
        let compiling = |name: &String| {
            let compiling = self.setup.compilations.of_listed(name)?;
            let seconds = compiling.seconds();
            Some(Unready { plugin: compiling.plugin, bytes: compiling.bytes, seconds })
        };
        let compiling = not_loaded.iter().filter_map(compiling).collect();
        UnknownTool { not_loaded, compiling, ..unknown }
    }

    /// Returns every limit as it is now.
    pub fn config(&self) -> arc_swap::Guard<Arc<Config>> {
        self.config.load()
    }

    /// Puts other limits into effect.
    pub fn replace_config(&self, config: Config) {
        self.workspaces().for_each(|workspace| workspace.answers.limit(config.approvals.clone()));
        self.plugins.replace_settings(config.plugin_settings());
        self.config.store(Arc::new(config));
        self.config_replaced.send_replace(());
    }

    /// Returns the workspaces, by root directory.
    pub fn workspaces(&self) -> impl Iterator<Item = &Arc<WorkspaceState>> {
        self.workspaces.values()
    }
}

// === impl WorkspaceState ===

impl WorkspaceState {
    /// Puts a workspace together.
    pub fn new(
        files: Workspace,
        kept: WorkspaceStores,
        policy: Policy,
        catalog: Catalog,
        config: &Config,
    ) -> Self {
        let WorkspaceStores { history, journal, answers, todos, plugin_stores } = kept;
        let files = Arc::new(files);
        let installed = Installed::new(Arc::clone(&files), catalog, plugin_stores);
        Self {
            name: files.root().display().to_string(),
            files,
            live: OnceLock::new(),
            history: Arc::new(history),
            journal,
            folding: RefusalFolding::new(folding::FoldingBounds {
                burst: config.journal.refusals_burst,
                per_second: config.journal.refusals_per_second,
                folded_for: Duration::from_millis(config.journal.refusals_folded_ms),
            }),
            policy: ArcSwap::from_pointee(policy),
            answers,
            installed: Arc::new(installed),
            editors: EditorRegistry::new(config.editors.clone()),
            sessions: Sessions::new(
                config.sessions.sessions_max,
                config.sessions.files_max,
                config.sessions.bytes_max,
            ),
            turns: Turns::default(),
            todos,
        }
    }

    /// Records how many refused calls were counted since, where it is time or the journal closes.
    pub async fn record_folded(&self, is_closing: bool) {
        for record in self.folding.take_due(Instant::now(), is_closing) {
            if let Err(error) = self.journal.record(record, Durability::Batched).await {
                tracing::error!(%error, "a count of refused calls is not recorded");
            }
        }
    }

    /// Lists a directory as [`Workspace::list`] does, without a walk where it can be.
    pub(crate) fn list(
        &self,
        directory: &RelPath,
        options: ListOptions,
        keep: &dyn Fn(&RelPath) -> bool,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Listing, moss_workspace::Error> {
        if let Some(kept) = self.live.get()
            && let Some(listing) = kept.list(directory, options, keep, cancelled)?
        {
            return Ok(listing);
        }
        self.files.list(directory, options, keep, cancelled)
    }

    /// As [`Workspace::visit_texts`], by what is known of texts where something is.
    pub(crate) fn visit_texts(
        &self,
        directory: &RelPath,
        options: VisitOptions,
        gate: VisitGate<'_>,
        visitor: &mut dyn TextVisitor,
        rules: &dyn IndexRules,
    ) -> Result<Visited, moss_workspace::Error> {
        if let Some(kept) = self.live.get()
            && let Some(visited) = kept.visit_texts(directory, options, gate, visitor, rules)?
        {
            return Ok(visited);
        }
        self.files.visit_texts(directory, options, gate, visitor)
    }

    /// Its root directory as text: its name on the wire and in questions.
    pub fn name(&self) -> &str {
        &self.name
    }
}
