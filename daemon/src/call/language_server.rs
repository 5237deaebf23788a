//! What a native tool learns from language servers: the one that knows a file is found, started if it may be, shown
//! the texts as they are now, asked, and what it says is held to what the caller may read.

mod watching;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use moss_language_servers::{ServerFault, ServerLocation, ServerSpec, WatchedFiles, WatchedLook};
use moss_sdk::context::{BoxFuture, Files as _};
use moss_sdk::editor::{Definitions, Location};
use moss_sdk::file::{Content, EntryKind, FileSnapshot};
use moss_sdk::language_server::{LanguageServers, ServerGoal, ServerQuestion, ServerReply};
use moss_sdk::{RelPath, ToolError};
use moss_workspace::{Buffers as _, MayRead, Workspace};
use tokio::sync::OwnedMutexGuard;

use super::effect::{PermittedServer, PriorDecisions, ServerRefusal};
use super::host::CallHost;
use crate::language_servers::{
    IsWanted, RunningServer, ServerKey, ServerSlot, ServerStart, SlotState, configured,
    installed_for,
};
use crate::state::WorkspaceState;

/// Most texts that a server is shown anew for one question.
const SHOWN_MAX: usize = 48;

/// The server for a file, and the root of its project.
struct FoundServer {
    spec: ServerSpec,
    project: RelPath,
}

/// Why a server does not say something, in words.
type Unsaid = String;

impl LanguageServers for CallHost {
    fn ask_server(&self, question: ServerQuestion) -> BoxFuture<'_, ServerReply> {
        Box::pin(async move {
            // What a plugin has done for it is not worth a process, and this process may end with the call.
            if self.scope.behalf.is_some() || !self.scope.daemon.jobs.is_open() {
                return ServerReply::NoServer;
            }
            let Some(found) = self.server_of(&question.path).await else {
                return ServerReply::NoServer;
            };
            let server = found.spec.name.clone();
            match self.learned(&found, &question).await {
                Ok(places) => ServerReply::Known { server, places },
                Err(why) => ServerReply::Unavailable { server, why },
            }
        })
    }
}

// === impl CallHost ===

impl CallHost {
    /// The server that knows a file, where it is installed and the file belongs to a project.
    async fn server_of(&self, path: &RelPath) -> Option<FoundServer> {
        let config = Arc::clone(&self.scope.daemon.config());
        let (workspace, path) = (Arc::clone(&self.scope.workspace), path.clone());
        let find = move || {
            let spec = installed_for(&config, path.file_name()?)?;
            let project = match project_of(&workspace.files, &path, &spec.manifests) {
                None if spec.needs_manifest => return None,
                found => found.unwrap_or_else(RelPath::root),
            };
            Some(FoundServer { spec, project })
        };
        self.scope.blocking(find).await.ok()?
    }

    /// What the server says, of files that the caller may read.
    async fn learned(
        &self,
        found: &FoundServer,
        question: &ServerQuestion,
    ) -> Result<Definitions, Unsaid> {
        let server = self.running(found).await?;
        let _use = server.in_use();
        let asked = self.shown_now(&server, found, &question.path).await?;
        let ready_ms = self.scope.daemon.config().language_servers.ready_ms;
        let left = Duration::from_millis(ready_ms).saturating_sub(server.started.elapsed());
        let worded = |fault: ServerFault| server.said(&fault.to_string());
        if !server.client.wait_ready(self.bounded(left)).await.map_err(worded)? {
            return Err("it is still loading the project; it goes on meanwhile".to_owned());
        }
        let mut locations = Vec::new();
        for position in &question.positions {
            let ask = async {
                match question.goal {
                    ServerGoal::Definitions => server.client.definitions(&asked, *position).await,
                    ServerGoal::References => server.client.references(&asked, *position).await,
                }
            };
            // A call that has less time than the server may take does without: that is no fault of the server.
            let said = tokio::time::timeout(self.bounded(Duration::MAX), ask).await;
            let said =
                said.map_err(|_| "it did not respond in the time of this call".to_owned())?;
            server.note_response(!matches!(said, Err(ServerFault::Timeout { .. })));
            locations.extend(said.map_err(worded)?);
        }
        Ok(self.readable(locations).await)
    }

    /// At most half of what is left of the call.
    fn bounded(&self, wait: Duration) -> Duration {
        let left = self
            .scope
            .call
            .deadline
            .map(|end| end.saturating_duration_since(std::time::Instant::now()));
        left.map_or(wait, |left| wait.min(left / 2))
    }

    /// The server, which is started if it does not run and may be.
    async fn running(&self, found: &FoundServer) -> Result<Arc<RunningServer>, Unsaid> {
        let key = ServerKey {
            workspace: self.scope.workspace.name().to_owned(),
            server: found.spec.name.clone(),
            project: match found.project.is_root() {
                true => String::new(),
                false => found.project.to_string(),
            },
            caller: self.scope.call.caller.name().to_owned(),
        };
        let slot = self.scope.daemon.language_servers.slot(&key);
        let policy = self.scope.workspace.policy.load_full();
        if let Some(server) = slot.running().filter(|server| Arc::ptr_eq(&server.policy, &policy)) {
            return Ok(server);
        }
        let Ok(mut state) = Arc::clone(&slot.state).try_lock_owned() else {
            return Err("it is being started".to_owned());
        };
        if let Some(server) = slot.current(&mut state, &policy) {
            return Ok(server);
        }
        if let Some(why) = state.down() {
            return Err(why);
        }
        self.started(found, slot, state).await
    }

    /// Starts it, for as long as that takes; the call waits for it as long as it can.
    async fn started(
        &self,
        found: &FoundServer,
        slot: Arc<ServerSlot>,
        mut state: OwnedMutexGuard<SlotState>,
    ) -> Result<Arc<RunningServer>, Unsaid> {
        let scope = &self.scope;
        let (spec, settings) = (&found.spec, scope.daemon.config().language_servers.clone());
        let policy = scope.workspace.policy.load_full();
        let before = PriorDecisions {
            refused: state.refusal(&policy).map(str::to_owned),
            approved: state.approved.clone(),
        };
        let permit =
            self.effects.permit_server(&spec.words, found.project.clone(), &policy, &before);
        let permitted = permit.await.map_err(|stop| self.effects.pass_on(stop).message)?;
        let command = match permitted {
            Ok(PermittedServer { command, approved }) => {
                state.approved = approved.or(state.approved.take());
                command
            }
            Err(ServerRefusal { why, is_answered }) => {
                if is_answered {
                    state.refuse(why.clone(), policy);
                }
                return Err(why);
            }
        };
        let room = scope.daemon.language_servers.make_room(settings.running_max);
        let room =
            room.ok_or_else(|| format!("{} language servers are busy", settings.running_max))?;
        // It reads files as it starts, which may take longer than this call has: of what changes from now on it is
        // notified with the first question.
        let look = self.looked(found, None).await.map_err(|error| error.message)?;
        let mut watched = None;
        WatchedFiles::follow(&mut watched, look);
        let root = absolute(&scope.workspace.files, &found.project);
        let (daemon, is_wanted) = (Arc::clone(&scope.daemon), self.is_wanted(spec));
        // Under the policy of before: where that was replaced meanwhile, the next question decides anew.
        let spec = spec.clone();
        let start = ServerStart { spec, command, root, watched, policy, settings, is_wanted };
        let starting = scope.daemon.tasks.spawn(async move {
            let _room = room;
            let started = match daemon.sandbox().await {
                Some(sandbox) => start.start(sandbox, &daemon.tasks, daemon.draining.clone()).await,
                None => Err("this daemon cannot run commands".to_owned()),
            };
            match &started {
                Ok(server) => slot.keep(server),
                Err(why) => state.die(why.clone()),
            }
            started
        });
        match tokio::time::timeout(self.bounded(Duration::MAX), starting).await {
            Ok(Ok(started)) => started,
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("it is still starting; it goes on meanwhile".to_owned()),
        }
    }

    /// Whether a server may run by what is in effect at a moment: the policy of its start, and a configuration that has
    /// it.
    fn is_wanted(&self, spec: &ServerSpec) -> IsWanted {
        let (daemon, workspace) =
            (Arc::clone(&self.scope.daemon), Arc::clone(&self.scope.workspace));
        let own = spec.clone();
        Box::new(move |policy| {
            Arc::ptr_eq(policy, &workspace.policy.load())
                && configured(&daemon.config()).contains(&own)
        })
    }

    /// Shows the server what it has to know: which files have changed on the disk, what editors have not saved, and
    /// the text of the file that it is asked about. Returns that file as the server knows it.
    async fn shown_now(
        &self,
        server: &RunningServer,
        found: &FoundServer,
        path: &RelPath,
    ) -> Result<PathBuf, Unsaid> {
        let spec = &found.spec;
        let files = &self.scope.workspace.files;
        let worded = |fault: ServerFault| server.said(&fault.to_string());
        let failed = |error: ToolError| error.message;
        let mut watched = server.watched.lock().await;
        let look = self.looked(found, watched.clone()).await.map_err(failed)?;
        let changed = WatchedFiles::follow(&mut watched, look);
        let paths =
            |all: &[RelPath]| all.iter().map(|path| absolute(files, path)).collect::<Vec<_>>();
        let (created, other, deleted) =
            (paths(&changed.created), paths(&changed.changed), paths(&changed.deleted));
        server.client.notice(&created, &other, &deleted).map_err(worded)?;
        let unsaved = self.scope.workspace.editors.unsaved_paths();
        let shown = server.client.shown().into_iter().filter_map(|path| relative(files, &path));
        let fresh = changed.created.into_iter().chain(changed.changed).take(SHOWN_MAX);
        let mut all: Vec<RelPath> = shown.chain(fresh).chain(unsaved).collect();
        all.sort();
        all.dedup();
        for other in all.iter().filter(|other| *other != path) {
            self.show(server, spec, other).await.map_err(worded)?;
        }
        let (workspace, asked) = (Arc::clone(&self.scope.workspace), path.clone());
        let resolve = move || workspace.files.resolve(&asked).map(|resolved| resolved.path);
        let real = self.scope.blocking(resolve).await.map_err(|broken| broken.to_string())?;
        let real = real.map_err(|error| error.to_string())?;
        self.show(server, spec, &real).await.map_err(worded)?;
        Ok(absolute(files, &real))
    }

    /// Shows a text as it is now; what is gone or may not be read is left to the disk, as the server sees it.
    async fn show(
        &self,
        server: &RunningServer,
        spec: &ServerSpec,
        path: &RelPath,
    ) -> Result<(), ServerFault> {
        let absolute = absolute(&self.scope.workspace.files, path);
        let language = path.file_name().and_then(|name| spec.language_of(name));
        let Some(language) = language else { return Ok(()) };
        match self.read_unasked(path).await {
            Ok(Some(FileSnapshot { content: Content::Text(text), .. })) => {
                server.client.show(&absolute, language, &text.text.into())
            }
            Ok(_) | Err(_) => server.client.close(&absolute),
        }
    }

    /// The files of the project in the server's language that may be others than before.
    async fn looked(
        &self,
        found: &FoundServer,
        before: Option<Arc<WatchedFiles>>,
    ) -> Result<WatchedLook, ToolError> {
        let reader = self.reader();
        let (spec, project) = (found.spec.clone(), found.project.clone());
        let look = move || watching::look(&reader, (&spec, &project), before.as_deref());
        Ok(self.scope.blocking(look).await??)
    }

    /// The locations in files that the caller may read; others are counted.
    async fn readable(&self, locations: Vec<ServerLocation>) -> Definitions {
        let reader = self.reader();
        let looked = self.scope.blocking(move || {
            let workspace: &WorkspaceState = reader.workspace();
            let mut definitions = Definitions::default();
            for ServerLocation { path, span } in locations {
                let path = relative(&workspace.files, &path);
                let real = |path: &RelPath| Some(workspace.files.resolve(path).ok()?.path);
                let path = path.filter(|path| {
                    real(path).is_some_and(|real| reader.reads(&real, path) == MayRead::Yes)
                });
                match path {
                    Some(path) => definitions.locations.push(Location { path, span }),
                    None => definitions.elsewhere += 1,
                }
            }
            definitions.locations.sort();
            definitions.locations.dedup();
            definitions
        });
        looked.await.unwrap_or_default()
    }
}

/// The outermost directory around a file that is the root of a project.
fn project_of(files: &Workspace, path: &RelPath, manifests: &[String]) -> Option<RelPath> {
    let has_manifest = |directory: &RelPath| {
        manifests.iter().any(|name| {
            let manifest = directory.join(name).ok();
            let resolved = manifest.and_then(|manifest| files.resolve(&manifest).ok());
            resolved.is_some_and(|resolved| resolved.kind == Some(EntryKind::File))
        })
    };
    let above = std::iter::successors(path.parent(), RelPath::parent);
    above.filter(has_manifest).last()
}

fn absolute(files: &Workspace, path: &RelPath) -> PathBuf {
    if path.is_root() { files.root().to_owned() } else { files.root().join(path.as_str()) }
}

fn relative(files: &Workspace, path: &Path) -> Option<RelPath> {
    RelPath::parse(path.strip_prefix(files.root()).ok()?.to_str()?).ok()
}
