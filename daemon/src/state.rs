//! What a running daemon holds: its workspaces, its slots for calls, its open questions.

mod workspace;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use jiff::Timestamp;
use tokio::sync::{OnceCell, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use self::workspace::{WorkspaceState, WorkspaceStores};
use crate::confirm::{self, Confirmations};
use crate::jobs::Jobs;
use crate::language_servers::ServerPool;
use crate::metrics::{IndexMoment, Metrics, Moment, Syncs};
use crate::permits::Permits;
use crate::setup::{self, Setup};
use crate::traces::Traces;
use moss_config::Config;
use moss_dispatch::budget::Budgets;
use moss_dispatch::places::RolePlaces;
use moss_dispatch::{Role, UnknownTool, UnknownWorkspace, Unready};
use moss_plugins::{Environment, PluginState, PluginStatus};
use moss_sandbox::{LauncherKind, Sandbox, SandboxOptions, Tier};

/// Most large values that are held to schemas at once; fewer where there are fewer processors.
const CPU_PERMITS_MAX: usize = 4;
/// Longest wait of a call for plugins that are being loaded.
const PLUGINS_WAIT: Duration = Duration::from_secs(10);

/// All that the calls of a daemon share.
#[derive(Debug)]
pub struct Daemon {
    config: ArcSwap<Config>,
    /// Reports when there are other limits.
    pub config_replaced: watch::Sender<()>,
    /// What is wrong with the configuration files, or waits for a start; empty where nothing does.
    pub config_problem: ArcSwap<String>,
    /// The questions that wait, of every workspace.
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
    /// Replies that wait to be read.
    pub replies: Budgets,
    /// Slots for blocking work of calls.
    pub workers: RolePlaces,
    /// As many for what requests beside calls look up.
    pub lookups: RolePlaces,
    /// Long work of the daemon itself: holding large values to schemas.
    pub cpu_permits: RolePlaces,
    /// Commands in the background.
    pub jobs: Arc<Jobs>,
    /// Language servers that run, and what became of others.
    pub language_servers: ServerPool,
    /// What its plugins need, wherever they are used.
    pub plugins: Arc<Environment>,
    /// Numbers for whoever scrapes them.
    pub metrics: Metrics,
    /// Where spans of calls go, if somebody wants them.
    pub traces: Option<Traces>,
    /// Everything that runs and must end before the daemon does.
    pub tasks: TaskTracker,
    /// The daemon is about to stop: nobody will decide questions any more.
    pub draining: CancellationToken,
    /// Cancels every call, after the grace time of the end.
    pub stopping: CancellationToken,
    /// Whether the plugins are being loaded for the first time.
    pub plugins_loading: watch::Sender<bool>,
    is_following_plugins: AtomicBool,
    /// How commands are isolated, found out at the first one.
    sandbox: OnceCell<Sandbox>,
    /// When this daemon was made.
    pub started_at: Timestamp,
    /// Its start options; what it names is read again when it changes.
    pub setup: Setup,
    workspaces: BTreeMap<PathBuf, Arc<WorkspaceState>>,
}

fn cpu_permits_max() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(CPU_PERMITS_MAX)
}

// === impl Daemon ===

impl Daemon {
    /// The slots for calls of a role.
    pub fn permits_of(&self, role: Role) -> &Permits {
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

    /// Values of the metrics that are not counters. May wait while what is known of files is brought up
    /// to date.
    pub fn moment(&self) -> Moment {
        let (running, queued) = self.calls();
        let pending = self.confirmations.pending().len();
        let mut plugins = Vec::new();
        let mut indexes = Vec::new();
        let mut tree_nodes = 0;
        let of_files = moss_workspace::sync_count();
        let mut syncs = Syncs { files: of_files.files, history: of_files.history, audit: 0 };
        let is_indexed = self.config().index.enabled;
        for workspace in self.workspaces() {
            indexes.push(IndexMoment::of(workspace, is_indexed));
            tree_nodes += workspace.recent_trees.nodes();
            syncs.audit += workspace.journal.syncs();
            plugins.extend(
                workspace.installed.statuses.load().iter().map(|plugin| plugin.state.as_str()),
            );
        }
        Moment { running, queued, pending, plugins, tree_nodes, indexes, syncs }
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
            .map(|workspace| (PathBuf::from(workspace.name()), Arc::new(workspace)))
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
            replies: Budgets::default(),
            workers: RolePlaces::new(config.calls.running_max),
            lookups: RolePlaces::new(config.calls.running_max),
            cpu_permits: RolePlaces::new(cpu_permits_max()),
            jobs: Arc::default(),
            language_servers: ServerPool::default(),
            metrics: Metrics::default(),
            traces,
            tasks: TaskTracker::new(),
            draining: CancellationToken::new(),
            stopping: CancellationToken::new(),
            plugins_loading: watch::Sender::new(false),
            is_following_plugins: AtomicBool::new(false),
            sandbox: OnceCell::new(),
            started_at: Timestamp::now(),
            setup,
            workspaces,
            config: ArcSwap::from_pointee(config),
            config_problem: ArcSwap::default(),
            config_replaced: watch::Sender::new(()),
        })
    }

    /// Finds a workspace by its name, which is its root directory; the only one where none is named.
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

    /// What isolates commands, tried out at the first call; none where this program is not known, which
    /// has to keep them.
    pub async fn sandbox(&self) -> Option<&Sandbox> {
        let program = self.setup.program.clone()?;
        let options =
            SandboxOptions { program, tier_max: Tier::Full, launchers: LauncherKind::ALL };
        Some(self.sandbox.get_or_init(|| Sandbox::detect(options)).await)
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
