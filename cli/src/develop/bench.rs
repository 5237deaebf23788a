//! A daemon of this process with one plugin and a workspace of its own, in which the examples of the
//! plugin's tools run: the same checks, limits and policy as elsewhere, nothing of the user's.

mod listed;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use moss_plugin_host::{Example, LoadError, Plugin};
use moss_plugin_list::{Capability, RequestedCapability};
use moss_sdk::{RelPath, ToolError};
use moss_workspace::{
    dirs::Dirs,
    project::{self, Scratch},
};
use serde_json::{Map, Value, json};

pub(crate) use self::listed::{BenchComponent, Given, LIST, entry, write_list};
use moss_daemon::setup::{self, Setup};
use moss_daemon::start::{self, StartError};
use moss_daemon::state::{Daemon, WorkspaceState};
use moss_dispatch::{
    ApprovedDigests, Call, ConfirmMode, Dispatcher as _, Event, Events, Role, Work,
};
use moss_plugins::{Changes, PluginState, Plugins, inspect};

/// Most bytes of a file that is compared.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Most files that an example may leave behind.
const FILES_MAX: usize = 10_000;
/// Most log messages of one run that are kept.
const LOG_MAX: usize = 200;
/// Everything is allowed that the administrator does not forbid: it happens in a directory of its
/// own.
const POLICY: &str = "version = 1\n\n[[rule]]\nname = \"examples\"\n\
                      effects = [\"write\", \"delete\", \"network\"]\ndecision = \"allow\"\n";

/// A daemon with one plugin.
pub(crate) struct Bench {
    place: BenchDaemon,
    workspace: Arc<WorkspaceState>,
    plugin: Arc<Plugin>,
    /// Whether the plugin requests hosts and has none of them.
    lacks_hosts: bool,
}

/// A daemon and where all is that it writes, which goes with it.
struct BenchDaemon {
    daemon: Arc<Daemon>,
    scratch: Scratch,
}

/// What came of an example.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tried {
    /// Name of the tool that the example calls.
    pub(crate) tool: String,
    /// What the example shows.
    pub(crate) title: String,
    /// What is not as the example says; empty where it matches.
    pub(crate) differences: Vec<Difference>,
    /// What the plugin logged.
    pub(crate) log: Vec<String>,
    /// How long it took, in milliseconds.
    pub(crate) duration_ms: u64,
    /// Whether it failed without the hosts that the plugin requests, which is inconclusive.
    pub(crate) lacks_hosts: bool,
}

/// Something that is not as an example says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Difference {
    /// The call failed, for this reason.
    Failed(String),
    Output {
        /// What the example says.
        expected: String,
        /// What the call returned.
        actual: String,
    },
    /// A file; none where it is not there.
    File {
        path: String,
        /// What the example says.
        expected: Option<String>,
        /// What the file holds after the call.
        actual: Option<String>,
    },
}

/// Why a plugin cannot be tried.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// The directory could not be created.
    #[error(transparent)]
    Workspace(#[from] moss_workspace::Error),
    /// The daemon could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The component is no plugin, and why.
    #[error("{0}")]
    Refused(String),
    /// The component is no plugin, or does not take its settings.
    #[error(transparent)]
    Load(#[from] LoadError),
}

// === impl Bench ===

impl Bench {
    /// Loads a component, with what it requests. Of what the person at the terminal has, the limits, the
    /// program and the compiled code count: what was tried here need not be compiled again where it serves.
    ///
    /// # Errors
    ///
    /// Where it is no plugin, and where its directory cannot be created.
    pub(crate) async fn open(
        own: &Setup,
        candidate: BenchComponent<'_>,
        bytes: &[u8],
        given: &Given,
    ) -> Result<Self, BenchError> {
        let scratch = Scratch::new("moss-plugin-")?;
        let root = scratch.path().join("workspace");
        project::replace(scratch.path(), "workspace", &[])?;
        let policy = [("policy.toml".to_owned(), POLICY.to_owned())];
        project::replace(scratch.path(), "config", &policy)?;
        let list = scratch.path().join(LIST);
        write_list(&list, &[])?;
        let setup = setup(own, &scratch, root, list.clone());
        let daemon = tokio::task::spawn_blocking(move || start::start(&setup));
        let daemon = daemon.await.map_err(|error| BenchError::Refused(error.to_string()))??.daemon;
        let place = BenchDaemon { daemon, scratch };
        // What it requests decides what it is granted.
        let bare = listed::parsed(&candidate.entry(json!({}), given))?;
        let plugin = inspect::load(&place.daemon.plugins, &bare, bytes.to_vec(), None).await?;
        write_list(&list, &[entry(candidate, &plugin, given)])?;
        let mut plugins = Plugins::new(Arc::clone(&place.daemon.plugins));
        let plugin = refreshed(&place.daemon, &mut plugins).await?;
        let workspace = Arc::clone(only_workspace(&place.daemon));
        let asks =
            |request: &RequestedCapability| matches!(request.capability, Capability::Http(_));
        let lacks_hosts = !given.http && plugin.requests().iter().any(asks);
        Ok(Self { place, workspace, plugin, lacks_hosts })
    }

    pub(crate) fn plugin(&self) -> &Arc<Plugin> {
        &self.plugin
    }

    /// Runs an example of a tool in a workspace that holds its files and nothing else, with an empty
    /// store.
    ///
    /// # Errors
    ///
    /// Where the workspace cannot be laid out or looked at.
    pub(crate) async fn try_example(
        &self,
        tool: &str,
        example: &Example,
    ) -> Result<Tried, BenchError> {
        let root = self.place.scratch.path().join("workspace");
        let texts = |files: &[(RelPath, String)]| -> BTreeMap<String, String> {
            files.iter().map(|(path, text)| (path.to_string(), text.clone())).collect()
        };
        let mut expected = texts(&example.files);
        let laid_out: Vec<_> = expected.clone().into_iter().collect();
        project::replace(self.place.scratch.path(), "workspace", &laid_out)?;
        self.empty_store().await?;
        let (result, log, duration_ms) = self.call(tool, &example.arguments).await;
        let (mut differences, lacks_hosts) = (Vec::new(), self.lacks_hosts && result.is_err());
        match result {
            Err(why) => differences.push(Difference::Failed(why)),
            Ok(output) => differences.extend(
                example.output.as_ref().and_then(|expected| output_differs(expected, &output)),
            ),
        }
        expected.extend(texts(&example.changed));
        differences.extend(files_differ(&root, &expected)?);
        let (tool, title) = (tool.to_owned(), example.title.clone());
        Ok(Tried { tool, title, differences, log, duration_ms, lacks_hosts })
    }

    async fn empty_store(&self) -> Result<(), BenchError> {
        let (workspace, name) = (Arc::clone(&self.workspace), self.plugin.name().to_owned());
        let emptied = tokio::task::spawn_blocking(move || workspace.installed.stores.forget(&name));
        let emptied = emptied.await.map_err(|error| BenchError::Refused(error.to_string()))?;
        emptied.map(drop).map_err(|error| BenchError::Refused(error.to_string()))
    }

    /// Ends the daemon, once what it is writing is written.
    pub(crate) async fn close(self) {
        moss_daemon::drain(&self.place.daemon).await;
    }

    async fn call(
        &self,
        tool: &str,
        arguments: &Value,
    ) -> (Result<Value, String>, Vec<String>, u64) {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let (events, mut received) = Events::channel(LOG_MAX);
        let running = Arc::clone(&self.place.daemon).start(self.as_call(tool, arguments), events);
        let outcome = running.await;
        let mut log = Vec::new();
        while let Ok(event) = received.try_recv() {
            if let Event::Output { text, .. } = event {
                log.push(text);
            }
        }
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => return (Err(error.to_string()), log, 0),
        };
        let duration_ms = u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX);
        let result = match outcome.result {
            Ok(text) => serde_json::from_str(&text).map_err(|error| error.to_string()),
            Err(error) => Err(failed(&error)),
        };
        (result, log, duration_ms)
    }

    fn as_call(&self, tool: &str, arguments: Map<String, Value>) -> Call {
        Call {
            caller: Role::Approver.into(),
            workspace: self.workspace.name().to_owned(),
            work: Work::Tool { name: tool.to_owned(), arguments: Ok(arguments) },
            confirm: ConfirmMode::Refuse,
            approved_digests: ApprovedDigests::default(),
            denial: None,
            dry_run: false,
            is_attended: true,
            session_id: None,
            further_workspaces: Vec::new(),
            expected_hashes: BTreeMap::new(),
            deadline: None,
            parent: None,
        }
    }
}

// === impl BenchDaemon ===

impl Drop for BenchDaemon {
    fn drop(&mut self) {
        // What was interrupted may still be on its way out: nothing is written while all is
        // removed.
        self.daemon.workspaces().for_each(|workspace| workspace.journal.close());
    }
}

impl std::fmt::Debug for Bench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").field("plugin", &self.plugin).finish_non_exhaustive()
    }
}

fn setup(own: &Setup, scratch: &Scratch, root: PathBuf, list: PathBuf) -> Setup {
    let at = |name: &str| scratch.path().join(name);
    let [limits, _] = setup::config_files(own);
    Setup {
        dirs: Dirs {
            config: at("config"),
            state: at("state"),
            code: own.dirs.code.clone(),
            cache: at("cache"),
            runtime: at("run"),
            admin: own.dirs.admin.clone(),
        },
        workspaces: vec![root],
        trial_list: None,
        plugin_lists: vec![list],
        config_file: Some(limits).filter(|file| project::changed(file).is_some()),
        admin_policies: Vec::new(),
        secrets: Vec::new(),
        collector: None,
        program: own.program.clone(),
        compilations: own.compilations.clone(),
    }
}

async fn refreshed(daemon: &Arc<Daemon>, plugins: &mut Plugins) -> Result<Arc<Plugin>, BenchError> {
    plugins.read_lists().await;
    plugins.refresh(&mut Changes::default()).await;
    let statuses = only_workspace(daemon).installed.statuses.load();
    match statuses.first().map(|status| &status.state) {
        Some(PluginState::Ready(plugin)) => Ok(Arc::clone(plugin)),
        Some(PluginState::Failed(why)) => Err(BenchError::Refused(why.clone())),
        _ => Err(BenchError::Refused("the plugin was not loaded".to_owned())),
    }
}

fn only_workspace(daemon: &Daemon) -> &Arc<WorkspaceState> {
    daemon.workspaces().next().expect("it was started with one")
}

fn failed(error: &ToolError) -> String {
    match &error.hint {
        Some(hint) => format!("{} ({hint})", error.message),
        None => error.message.clone(),
    }
}

/// An output that is no object is handed on as `result` of one.
fn output_differs(expected: &Value, actual: &Value) -> Option<Difference> {
    if expected == actual || *actual == json!({ "result": expected }) {
        return None;
    }
    // Show what the author wrote, not the object that moss makes of it.
    let actual = match actual.as_object() {
        Some(wrapper) if !expected.is_object() && wrapper.len() == 1 => {
            wrapper.get("result").unwrap_or(actual)
        }
        _ => actual,
    };
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
    Some(Difference::Output { expected: pretty(expected), actual: pretty(actual) })
}

fn files_differ(
    root: &Path,
    expected: &BTreeMap<String, String>,
) -> Result<Vec<Difference>, BenchError> {
    let mut differences = Vec::new();
    let mut actual = BTreeMap::new();
    for (file, _) in project::files(root, &[], FILES_MAX)? {
        let path = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        actual.insert(path, project::read(&file, FILE_BYTES_MAX)?.unwrap_or_default());
    }
    for path in expected.keys().chain(actual.keys().filter(|path| !expected.contains_key(*path))) {
        let (expected, actual) = (expected.get(path), actual.get(path));
        if expected != actual {
            differences.push(Difference::File {
                path: path.clone(),
                expected: expected.cloned(),
                actual: actual.cloned(),
            });
        }
    }
    Ok(differences)
}
