//! `moss plugin dev`: builds, checks and tests a plugin after every change of its files, and serves
//! the newest version that works to the workspace around.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::develop::bench::{self, BenchComponent, Given};
use moss_daemon::setup::Setup;
use moss_grpc::address::Address;
use moss_grpc::listener::{self, BindError};
use moss_plugin_host::Plugin;
use moss_plugin_list::PluginList;
use moss_workspace::name_of_root;
use moss_workspace::project::{self, Scratch};
use serde_json::json;
use std::sync::Arc;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio_util::sync::CancellationToken;

use super::super::super::error::{self, CliError};
use super::super::super::ui::{bold, dim};
use super::super::super::{Session, interruptible, text};
use super::super::renaming::renamed;
use super::{
    BuiltComponent, DevArgs, FILES_MAX, LEFT_OUT, Project, build, built, check, test, unusable,
};
use moss_dispatch::Outcome;

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// Files that building writes beside those of the author.
const WRITTEN: &[&str] = &["Cargo.lock", "package-lock.json"];

/// Largest list of plugins that is looked at for names.
const LIST_BYTES_MAX: u64 = 1 << 20;

/// What the copy of a component that serves ends with.
const SERVED: &str = "dev.wasm";

/// The files of a project and when each was changed last.
type ProjectSnapshot = Vec<(PathBuf, Option<SystemTime>)>;

/// A daemon for the workspace, with the plugin in a list of its own.
struct DevDaemon {
    list: PathBuf,
    /// The names that tools are served under, by those that the plugin gives them.
    names: HashMap<String, String>,
    stop: CancellationToken,
    daemon: JoinHandle<()>,
    // The list is in there.
    _scratch: Scratch,
}

pub(super) async fn run(args: &DevArgs, session: &Session) -> Result<Outcome, CliError> {
    let project = Project::open(&args.project.dir)?;
    let given = args.given.read(args.allow_http)?;
    let names = match args.rename.is_empty() {
        true => listed_names(&project, session)?,
        false => renamed(&args.rename)?,
    };
    let serving = DevDaemon::start(names, session).await?;
    let rounds = interruptible(follow(&project, &given, session, serving.as_ref())).await;
    if let Some(serving) = serving {
        serving.end().await;
    }
    match rounds {
        // Ctrl-C is how it ends.
        Err(error) if error.outcome == Outcome::Cancelled => Ok(Outcome::Ok),
        ended => ended,
    }
}

/// The names that the user's list gives to the plugin's tools. A list that is missing or malformed gives
/// none: the daemon reports it.
fn listed_names(project: &Project, session: &Session) -> Result<HashMap<String, String>, CliError> {
    let list = session.setup()?.dirs.config.join(bench::LIST);
    let text = project::read(&list, LIST_BYTES_MAX).ok().flatten().unwrap_or_default();
    let plugins = PluginList::parse(bench::LIST, &text).unwrap_or_default().plugins;
    let listed = plugins.into_iter().find(|entry| entry.name == project.name);
    Ok(listed.map(|entry| entry.tools.into_iter().collect()).unwrap_or_default())
}

/// Works on the project each time its files have changed and rest.
async fn follow(
    project: &Project,
    given: &Given,
    session: &Session,
    serving: Option<&DevDaemon>,
) -> Result<Outcome, CliError> {
    let mut newest: Option<Arc<Plugin>> = None;
    loop {
        let seen = look(project).await?;
        match round(project, given, session, newest.as_deref()).await {
            Ok((component, plugin)) => {
                if let Some(serving) = serving {
                    serving.offer(&component, &plugin, given)?;
                }
                newest = Some(plugin);
            }
            Err(error) if error.outcome == Outcome::Cancelled => return Err(error),
            Err(error) => error::print(&session.ui, &error.error),
        }
        session.ui.note(&dim("waiting for changes; Ctrl-C ends"));
        changed(project, seen).await?;
    }
}

/// Builds, checks and tests once. Changes for models and people are reported.
async fn round(
    project: &Project,
    given: &Given,
    session: &Session,
    before: Option<&Plugin>,
) -> Result<(BuiltComponent, Arc<Plugin>), CliError> {
    let component = build::newest(project, session).await?;
    let bench = check::open(&component, given, session).await?;
    let findings = check::findings(&bench, &component);
    let tried = test::examples(&bench).await;
    let plugin = Arc::clone(bench.plugin());
    bench.close().await;
    let tried = tried?;
    let changes = before.map(|before| plugin.differences(before)).unwrap_or_default();
    session.ui.print_line_either(
        || {
            let mut shown = built(&component);
            shown["changes"] = json!(changes);
            shown["findings"] = findings.iter().map(check::json_of).collect();
            shown["examples"] = tried.iter().map(test::json_of).collect();
            shown
        },
        || {
            let mut lines = vec![component.line()];
            lines.extend(
                changes.iter().map(|change| format!("{} {}", bold("changed:"), text::line(change))),
            );
            lines.extend(findings.iter().map(check::line));
            lines.push(test::report(&tried));
            lines.join("\n")
        },
    )?;
    Ok((component, plugin))
}

async fn look(project: &Project) -> Result<ProjectSnapshot, CliError> {
    let directory = project.directory.clone();
    let looked = spawn_blocking(move || project::files(&directory, LEFT_OUT, FILES_MAX));
    let looked = looked
        .await
        .map_err(|error| CliError::new(Outcome::Failed, "internal", error.to_string()))?;
    let mut seen = looked.map_err(unusable)?;
    seen.retain(|(file, _)| !WRITTEN.iter().any(|name| file.ends_with(name)));
    Ok(seen)
}

/// Waits until the files are not as they were, and have been left alone for a moment.
async fn changed(project: &Project, mut seen: ProjectSnapshot) -> Result<(), CliError> {
    let mut has_changed = false;
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let now = look(project).await?;
        match (now == seen, has_changed) {
            (true, true) => return Ok(()),
            (true, false) => {}
            (false, _) => (seen, has_changed) = (now, true),
        }
    }
}

// === impl DevDaemon ===

impl DevDaemon {
    /// Serves the workspace on the default socket, unless a daemon does already.
    async fn start(
        names: HashMap<String, String>,
        session: &Session,
    ) -> Result<Option<Self>, CliError> {
        let scratch = Scratch::new("moss-dev-").map_err(unusable)?;
        let list = scratch.path().join(bench::LIST);
        bench::write_list(&list, &[]).map_err(|error| refused(&error))?;
        let setup = Setup { trial_list: Some(list.clone()), ..session.setup()? };
        let socket = Address::Unix(setup.dirs.socket());
        let socket = match listener::bind(&socket, None).await {
            Ok(socket) => socket,
            Err(BindError::Taken(_)) => {
                session.ui.note(
                    "a daemon listens already: the build is only tested here; it serves the \
                     plugin once `moss plugin add` has put it into your list",
                );
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let workspace = name_of_root(&setup.workspaces[0]);
        let started = spawn_blocking(move || moss_daemon::start(&setup)).await;
        let started = started
            .map_err(|error| CliError::new(Outcome::Failed, "internal", error.to_string()))??;
        session.ui.note(&format!("moss listens on {socket}, workspace {workspace}"));
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let daemon = tokio::spawn(async move {
            let ended = moss_grpc::serve(started, vec![socket], None, stopped.cancelled()).await;
            if let Err(error) = ended {
                tracing::error!(%error, "the daemon broke");
            }
        });
        Ok(Some(Self { list, names, stop, daemon, _scratch: scratch }))
    }

    /// Lets a version serve, with what it requests: a copy, which no build changes.
    fn offer(
        &self,
        component: &BuiltComponent,
        plugin: &Plugin,
        given: &Given,
    ) -> Result<(), CliError> {
        let sha256 = component.digest();
        let file = component.file.with_extension(SERVED);
        project::write(&file, &component.bytes).map_err(unusable)?;
        let served = BenchComponent { file: &file, ..component.candidate(&sha256) };
        let mut entry = bench::entry(served, plugin, given);
        entry["tools"] = json!(self.names);
        bench::write_list(&self.list, &[entry]).map_err(|error| refused(&error))
    }

    async fn end(self) {
        self.stop.cancel();
        // Whether it broke was logged.
        let _ = self.daemon.await;
    }
}

fn refused(error: &bench::BenchError) -> CliError {
    CliError::new(Outcome::Failed, "plugin_refused", error.to_string())
}
