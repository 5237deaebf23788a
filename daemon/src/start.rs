//! From settings to a daemon that is ready to serve: configuration, credentials, workspaces,
//! recovery, policy, the native tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use moss_sdk::file::Content;
use moss_sdk::tool::AnyTool;
use moss_sdk::{RelPath, ToolSpec};
use moss_workspace::own::{self, OwnDir};
use moss_workspace::{History, HistoryLimits, Limits, Options, Workspace};

use crate::answers::Answers;
use crate::caller::tokens::Tokens;
use crate::caller::{Credentials, Role};
use crate::catalog::{Catalog, CatalogError};
use crate::config::{Config, ConfigError, Source as ConfigSource};
use crate::dirs::Dirs;
use crate::plugin_store::PluginStores;
use crate::plugins::compiling::Compilations;
use crate::state::{Daemon, Kept, WorkspaceState};
use crate::todos::Todos;
use crate::traces::{Traces, TracesError};
use moss_journal::audit::pruning;
use moss_journal::{Journal, JournalError};
use moss_policy::{Policy, PolicyError, Source, Sources};

/// Largest configuration or policy file, in bytes.
const OWN_FILE_BYTES_MAX: u64 = 1 << 20;
/// The policy that a workspace brings along.
pub const WORKSPACE_POLICY: &str = ".moss/policy.toml";

/// What a daemon is told at start.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Where moss keeps its own files.
    pub dirs: Dirs,
    /// Root directories of the workspaces.
    pub workspaces: Vec<PathBuf>,
    /// A plugin list that comes before the user's own: of what is being developed.
    pub trial_list: Option<PathBuf>,
    /// Plugin lists beside the user's own.
    pub plugin_lists: Vec<PathBuf>,
    /// The user's configuration; `config.toml` in the configuration directory where none.
    pub config_file: Option<PathBuf>,
    /// Admin policies beside `/etc/moss/policy.toml`.
    pub admin_policies: Vec<PathBuf>,
    /// Files with secrets that it was given.
    pub secrets: Vec<PathBuf>,
    /// The collector that spans of calls are sent to.
    pub collector: Option<String>,
    /// This very program, which compiles plugins in a process of its own. Where none is named they
    /// are compiled in this process, without a bound on time and memory.
    pub program: Option<PathBuf>,
    /// What it compiles, for whoever follows that.
    pub compilations: Compilations,
}

/// A daemon that is ready to serve.
#[derive(Debug)]
pub struct Started {
    /// The daemon.
    pub daemon: Arc<Daemon>,
    /// Its two secrets.
    pub credentials: Credentials,
    /// Its named tokens.
    pub tokens: Arc<Tokens>,
}

/// Why a daemon cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An admin policy: the daemon does not run under half of an admin's rules.
    #[error("{0}")]
    AdminPolicy(Box<PolicyError>),
    /// moss's own files, a workspace, its history or its recovery.
    #[error(transparent)]
    Workspace(#[from] moss_workspace::Error),
    /// The audit journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The collector of traces.
    #[error(transparent)]
    Traces(#[from] TracesError),
    /// A plugin list that was named and is not there.
    #[error("there is no plugin list {}", .0.display())]
    NoPluginList(PathBuf),
    /// The native tools: a defect.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

/// Opens everything. Plugins are not loaded yet: see [`crate::plugins::Plugins`].
///
/// # Errors
///
/// Where something that must not be ignored is broken; see [`StartError`].
pub fn start(setup: &Setup) -> Result<Started, StartError> {
    let config = configuration(setup)?;
    if let Some(list) = setup.plugin_lists.iter().find(|list| !list.exists()) {
        return Err(StartError::NoPluginList(list.clone()));
    }
    let traces = setup.collector.as_deref().map(Traces::new).transpose()?;
    let state = OwnDir::create(&setup.dirs.state)?;
    let credentials = Credentials::load_or_create(&state)?;
    let workspaces = setup
        .workspaces
        .iter()
        .map(|directory| open_workspace(setup, &config, directory))
        .collect::<Result<_, _>>()?;
    let daemon = Daemon::new(config, workspaces, traces, setup.clone());
    Ok(Started { daemon, credentials, tokens: Arc::new(Tokens::open(state)) })
}

/// Resolves the limits out of the user's and the admin's file.
///
/// # Errors
///
/// Where a file cannot be read or says something that there is not.
pub fn configuration(setup: &Setup) -> Result<Config, ConfigError> {
    let read = |file: &Path, must_exist: bool| {
        read_own(file, must_exist)
            .map_err(|message| ConfigError::Invalid { file: file.to_owned(), message })
    };
    let [user_file, admin_file] = config_files(setup);
    let user = read(&user_file, setup.config_file.is_some())?;
    let admin = read(&admin_file, false)?;
    Config::resolve(
        user.as_deref().map(|text| ConfigSource { file: &user_file, text }),
        admin.as_deref().map(|text| ConfigSource { file: &admin_file, text }),
    )
}

/// Returns where the configuration of the user and of the admin is, or would be.
pub fn config_files(setup: &Setup) -> [PathBuf; 2] {
    let named = setup.config_file.clone();
    let user = named.unwrap_or_else(|| setup.dirs.config.join("config.toml"));
    [user, setup.dirs.admin.join("config.toml")]
}

fn open_workspace(
    setup: &Setup,
    config: &Config,
    directory: &Path,
) -> Result<WorkspaceState, StartError> {
    let limits = Limits {
        edit_bytes_max: config.files.edit_bytes_max,
        read_bytes_max: config.files.read_bytes_max,
        ..Limits::default()
    };
    let (own, secrets) = (own_paths(setup), secrets(setup));
    let options = Options { limits, own, secrets, ..Options::default() };
    let files = Workspace::open(directory, options)?;
    let state = setup.dirs.workspace_state(files.root());
    OwnDir::create(&state)?;
    let limits = HistoryLimits {
        bytes_max: config.history.bytes_max,
        age_max: Duration::from_hours(24 * config.history.days_max),
        ..HistoryLimits::default()
    };
    let history = History::open(&state, limits)?;
    let recovered = moss_workspace::recover(&files, &history)?;
    let root = files.root().display();
    tracing::info!(workspace = %root, "opened");
    if recovered.taken_back > 0 {
        let changes = recovered.taken_back;
        tracing::warn!(workspace = %root, changes, "took back what a crash had left half done");
    }
    let bounds =
        pruning::Bounds { bytes_max: config.journal.bytes_max, days_max: config.journal.days_max };
    let journal = Journal::open_bounded(&state, bounds)?;
    let policy = load_policy(setup, &files)?;
    for problem in policy.problems() {
        tracing::warn!(problem = problem.one_line(), "a policy file is broken");
    }
    let answers = Answers::open(&state, config.answers.clone())?;
    if let Some(problem) = answers.problem() {
        tracing::warn!(problem, "the stored answers are broken");
    }
    let (todos, plugin_stores) = (Todos::open(&state)?, PluginStores::open(&state)?);
    let kept = Kept { history, journal, answers, todos, plugin_stores };
    let catalog = Catalog::native(native_tools())?;
    Ok(WorkspaceState::new(files, kept, policy, catalog, config))
}

/// What moss obeys and remembers: out of reach of tools, wherever a workspace begins.
fn own_paths(setup: &Setup) -> Vec<PathBuf> {
    let Dirs { config, state, code, runtime, admin } = setup.dirs.clone();
    let mut paths = vec![config, state, code, runtime, admin];
    paths.extend(setup.config_file.iter().cloned());
    paths.extend(setup.admin_policies.iter().cloned());
    paths.extend(setup.trial_list.iter().chain(&setup.plugin_lists).cloned());
    paths.extend(setup.secrets.iter().cloned());
    paths
}

/// What opens a port or a socket: known by which file it is, too.
fn secrets(setup: &Setup) -> Vec<PathBuf> {
    let own = [Role::Caller, Role::Approver];
    let own = own.map(|role| setup.dirs.state.join(format!("{}.token", role.as_str())));
    own.into_iter().chain(setup.secrets.iter().cloned()).collect()
}

/// The native tools with their texts in every language.
fn native_tools() -> Vec<(ToolSpec, Box<dyn AnyTool>)> {
    moss_builtin_tools::specs().into_iter().zip(moss_builtin_tools::all()).collect()
}

/// Reads the policy of a workspace out of its three layers.
///
/// # Errors
///
/// Where an admin file is broken.
pub fn load_policy(setup: &Setup, files: &Workspace) -> Result<Policy, StartError> {
    Policy::load(policy_sources(setup, files)).map_err(StartError::AdminPolicy)
}

/// Reads the policy files of a workspace.
pub fn policy_sources(setup: &Setup, files: &Workspace) -> Sources {
    let mut admin = vec![own_source(&admin_policy(setup), false)];
    admin.extend(setup.admin_policies.iter().map(|file| own_source(file, true)));
    Sources {
        admin,
        user: Some(own_source(&user_policy(setup), false)),
        workspace: Some(workspace_source(files)),
    }
}

/// Returns where the policy files of a workspace are, or would be.
pub fn policy_files(setup: &Setup, files: &Workspace) -> Vec<PathBuf> {
    let mut all = vec![admin_policy(setup), user_policy(setup)];
    all.extend(setup.admin_policies.iter().cloned());
    all.push(files.root().join(WORKSPACE_POLICY));
    all
}

fn admin_policy(setup: &Setup) -> PathBuf {
    setup.dirs.admin.join("policy.toml")
}

fn user_policy(setup: &Setup) -> PathBuf {
    setup.dirs.config.join("policy.toml")
}

fn own_source(file: &Path, must_exist: bool) -> Source {
    Source { file: file.display().to_string(), text: read_own(file, must_exist) }
}

/// Reads a file of the user's or the admin's that nobody else may write.
fn read_own(file: &Path, must_exist: bool) -> Result<Option<String>, String> {
    match own::read_trusted(file, OWN_FILE_BYTES_MAX).map_err(|error| error.to_string())? {
        Some(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| "not UTF-8 text".to_owned()),
        None if must_exist => Err("there is no such file".to_owned()),
        None => Ok(None),
    }
}

/// The file that a workspace brings along is read like any of its files.
fn workspace_source(files: &Workspace) -> Source {
    let path = RelPath::parse(WORKSPACE_POLICY).expect("a plain path");
    let text = match files.read(&path) {
        Ok(snapshot) => match snapshot.content {
            Content::Text(text) => Ok(Some(text.text)),
            Content::Binary => Err("the file is not text".to_owned()),
        },
        Err(moss_workspace::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.to_string()),
    };
    Source { file: path.to_string(), text }
}

/// Returns the plugin lists that there are: the user's own, then those that were named.
pub fn plugin_lists(setup: &Setup) -> Vec<PathBuf> {
    let users = user_plugin_list(setup);
    let mut lists = setup.plugin_lists.clone();
    if users.exists() {
        lists.insert(0, users);
    }
    lists
}

/// Returns where the user's own plugin list is, or would be.
pub fn user_plugin_list(setup: &Setup) -> PathBuf {
    setup.dirs.config.join("moss-tools.json")
}
