//! From settings to a daemon that is ready to serve: configuration, credentials, workspaces,
//! recovery, policy, the native tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use moss_sdk::ToolSpec;
use moss_sdk::tool::AnyTool;
use moss_workspace::{
    Error, FileLimits, History, HistoryLimits, Recovered, Workspace, WorkspaceOptions, dirs::Dirs,
    own::OwnDir,
};

use crate::approvals::StandingApprovals;
use crate::artifacts::Artifacts;
use crate::caller::Credentials;
use crate::caller::tokens::Tokens;
use crate::left_commands::LeftCommands;
use crate::setup::{Setup, configuration, policy_sources};
use crate::state::{Daemon, WorkspaceState, WorkspaceStores};
use crate::todos::Todos;
use crate::traces::{Traces, TracesError};
use crate::user_prompt::UserPrompt;
use moss_catalog::{Catalog, CatalogError};
use moss_config::{Config, ConfigError};
use moss_dispatch::Role;
use moss_journal::audit::pruning;
use moss_journal::{Journal, JournalError};
use moss_plugins::store::PluginStores;
use moss_policy::{Policy, PolicyError};

/// A file that nobody has finished for so long, nobody finishes.
const LEFT_OVER_AFTER: Duration = Duration::from_hours(1);

/// A daemon that is ready to serve.
#[derive(Debug)]
pub struct Started {
    /// The daemon: its plugins are not loaded yet.
    pub daemon: Arc<Daemon>,
    /// The secrets of `caller.token` and `approver.token`.
    pub credentials: Credentials,
    /// The named tokens, for which every listener looks.
    pub tokens: Arc<Tokens>,
}

/// Why a daemon cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A configuration file cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An admin policy: the daemon does not run under half of an admin's rules.
    #[error("{0}")]
    AdminPolicy(Box<PolicyError>),
    /// moss's own files, a workspace, its history or its recovery.
    #[error(transparent)]
    Workspace(#[from] moss_workspace::Error),
    /// The audit journal cannot be opened: nothing runs that is not recorded.
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

/// Opens everything. Plugins are not loaded yet: see [`moss_plugins::Plugins`].
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
    UserPrompt::recover(&setup.dirs, &config);
    let daemon = Daemon::new(config, workspaces, traces, setup.clone());
    Ok(Started { daemon, credentials, tokens: Arc::new(Tokens::open(state)) })
}

fn open_workspace(
    setup: &Setup,
    config: &Config,
    directory: &Path,
) -> Result<WorkspaceState, StartError> {
    let limits = file_limits(config);
    let (own, secrets) = (own_paths(setup), secrets(setup));
    let options = WorkspaceOptions { limits, own, secrets, ..WorkspaceOptions::default() };
    let files = Workspace::open(directory, options)?;
    let state = setup.dirs.workspace_state(files.root());
    let own_state = OwnDir::create(&state)?;
    let history = History::open(&state, history_limits(config))?;
    let root = files.root().display();
    if let Err(error) = own_state.remove_left_over(LEFT_OVER_AFTER) {
        tracing::warn!(workspace = %root, %error, "what a killed moss was writing of its own stays");
    }
    let recovered = match moss_workspace::recover(&files, &history) {
        // Reading goes on; each change tries it again first, and is refused where it fails.
        // A file of another program that is too large to be kept waits for whoever moves it away, and so does what a
        // mount covers.
        Err(
            error @ (Error::Io { .. }
            | Error::ReadOnly { .. }
            | Error::TooLarge { .. }
            | Error::OtherFilesystem { .. }),
        ) => {
            tracing::warn!(workspace = %root, %error, "commits that a crash interrupted wait to be rolled back");
            Recovered::default()
        }
        recovered => recovered?,
    };
    tracing::info!(workspace = %root, "opened");
    if recovered.rolled_back > 0 {
        let changes = recovered.rolled_back;
        tracing::warn!(workspace = %root, changes, "rolled back incomplete commits after a crash");
    }
    let journal = Journal::open_bounded(&state, pruning_bounds(config))?;
    let policy = load_policy(setup, &files)?;
    for problem in policy.problems() {
        tracing::warn!(problem = problem.one_line(), "a policy file is invalid");
    }
    let answers = StandingApprovals::open(&state, config.approvals.clone())?;
    if let Some(problem) = answers.problem() {
        tracing::warn!(problem, "the file of standing approvals is invalid");
    }
    let (todos, plugin_stores) = (Todos::open(&state)?, PluginStores::open(&state)?);
    let artifacts = Artifacts::open(&state)?;
    let left_commands = LeftCommands::open(&state)?;
    let kept = WorkspaceStores {
        history,
        journal,
        answers,
        todos,
        artifacts,
        left_commands,
        plugin_stores,
    };
    let catalog = Catalog::native(native_tools())?;
    let workspace = WorkspaceState::new(files, kept, policy, catalog, config);
    workspace.settle_left_commands();
    Ok(workspace)
}

fn file_limits(config: &Config) -> FileLimits {
    FileLimits {
        edit_bytes_max: config.files.edit_bytes_max,
        read_bytes_max: config.files.read_bytes_max,
        search_bytes_max: config.files.search_bytes_max,
        ..FileLimits::default()
    }
}

fn history_limits(config: &Config) -> HistoryLimits {
    HistoryLimits {
        bytes_max: config.history.bytes_max,
        age_max: Duration::from_hours(24 * config.history.days_max),
        ..HistoryLimits::default()
    }
}

fn pruning_bounds(config: &Config) -> pruning::PruningBounds {
    pruning::PruningBounds {
        bytes_max: config.journal.bytes_max,
        days_max: config.journal.days_max,
        ..pruning::PruningBounds::default()
    }
}

/// What moss obeys and remembers: out of reach of tools, wherever a workspace begins.
fn own_paths(setup: &Setup) -> Vec<PathBuf> {
    let Dirs { config, state, code, cache, runtime, admin } = setup.dirs.clone();
    let mut paths = vec![config, state, code, cache, runtime, admin];
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

#[cfg(test)]
mod tests {
    use moss_catalog::{Language, SchemaForm, registered};

    use super::*;

    #[test]
    fn limits_have_the_same_defaults_everywhere() {
        let config = Config::default();
        assert_eq!(file_limits(&config), FileLimits::default());
        assert_eq!(history_limits(&config), HistoryLimits::default());
        assert_eq!(pruning_bounds(&config), pruning::PruningBounds::default());
    }

    #[test]
    fn the_schema_that_arguments_are_held_to_is_compiled_once_for_all() {
        let catalog = Catalog::native(native_tools()).unwrap();
        for entry in catalog.entries() {
            let tool = || registered(entry, SchemaForm::Strict, Language::En).unwrap();
            assert!(Arc::ptr_eq(&tool(), &tool()), "{}", entry.spec.name);
            let shared = entry.arguments.compiled();
            assert!(Arc::ptr_eq(tool().compiled(), shared), "{}", entry.spec.name);
        }
    }
}
