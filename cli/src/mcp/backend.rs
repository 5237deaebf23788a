//! Calls of a client of another protocol, made through the daemon that serves its workspace, or through
//! one in this process.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moss_catalog::{Format, Language, ListedSchema};
use moss_dispatch::Reason;
use moss_mcp::{
    BackendOpener, CallFault, CallNote, CommandArtifact, DeniedEffect, ReplyChange, ToolBackend,
    ToolUse, UseReply,
};
use moss_model_bridge::{Registry, behaviour_notes};
use moss_proto::v1;
use moss_sdk::context::BoxFuture;
use moss_workspace::name_of_root;
use serde_json::Value;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::AbortHandle;

use super::calling::{Denial, FailedCall};
use super::fault::{of_cli, of_denial, of_failure};
use super::workspace::WorkspaceHints;
use super::{calling, native, secrets};
use crate::client::{Client, Entrance, NamedDaemon, NeededTools, RequestFailure, SocketIdentity};
use crate::error::CliError;
use crate::views::content;
use crate::{Session, bridge, tools, views};
use moss_daemon::setup::Setup;

/// How long calls may take to end that the end of a connection cancelled.
const CLOSE_WAIT_MAX: Duration = Duration::from_secs(5);
/// How often it is looked whether they have.
const CLOSE_LOOK_EVERY: Duration = Duration::from_millis(5);
/// How long to wait before a daemon that went away is looked for again.
const REOPEN_WAIT: Duration = Duration::from_secs(1);

/// Opens the workspace of a connection.
#[derive(Debug)]
pub(super) struct WorkspaceOpener {
    hints: WorkspaceHints,
    /// The start options of a daemon in this process, but for the workspace.
    setup: Setup,
    /// The daemon that somebody named, and which of its workspaces.
    server: Option<(NamedDaemon, String)>,
    opened: Mutex<Option<Arc<DaemonTools>>>,
}

/// Where the daemon of a client is.
#[derive(Debug)]
enum DaemonSource {
    /// The one that serves the workspace, or else one in this process.
    Workspace(Box<Setup>),
    /// One that somebody named, and which of its workspaces.
    Named(NamedDaemon, String),
    /// The one of this process, which serves others as well.
    Within(Entrance),
}

/// Who serves a workspace now.
#[derive(Debug, Default)]
struct CurrentDaemon {
    client: Option<Arc<Client>>,
    /// The socket of a daemon that serves other workspaces.
    passed: Option<SocketIdentity>,
}

/// The tools of one workspace, by whoever serves it at the moment.
#[derive(Debug)]
pub(crate) struct DaemonTools {
    source: DaemonSource,
    current: tokio::sync::Mutex<CurrentDaemon>,
    /// Clients that another one replaced, to be closed at the end.
    replaced: Mutex<Vec<Arc<Client>>>,
    changes: watch::Sender<u64>,
    /// Another client is the current one.
    moved: Notify,
    watcher: Mutex<Option<AbortHandle>>,
}

// === impl WorkspaceOpener ===

impl WorkspaceOpener {
    /// Takes what the command line says. Nothing is opened yet.
    pub(super) fn new(session: &Session) -> Result<Self, CliError> {
        let dirs = session.dirs()?;
        let server = match session.global.remote.server(&dirs)? {
            Some(server) => {
                let root = session.named_root()?.map(|root| name_of_root(&root));
                Some((server, root.unwrap_or_default()))
            }
            None => None,
        };
        let setup = session.setup_for(Vec::new())?;
        Ok(Self { hints: session.hints(), setup, server, opened: Mutex::default() })
    }

    /// Ends what was opened, once its calls have ended.
    pub(super) async fn close(&self) {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(tools) = opened {
            tools.close().await;
        }
    }
}

impl BackendOpener for WorkspaceOpener {
    fn wants_roots(&self) -> bool {
        self.server.is_none() && self.hints.named.is_none()
    }

    fn native_tools(&self) -> Vec<Value> {
        native::tools()
    }

    fn open(&self, roots: Vec<String>) -> BoxFuture<'_, Result<Arc<dyn ToolBackend>, CallFault>> {
        Box::pin(async move {
            let source = match &self.server {
                Some((server, workspace)) => DaemonSource::Named(server.clone(), workspace.clone()),
                None => {
                    let root = self.hints.choose(&roots).map_err(|why| {
                        CallFault::new("workspace_unusable", why).hint(self.hints.next_step())
                    })?;
                    let setup = Setup { workspaces: vec![root], ..self.setup.clone() };
                    DaemonSource::Workspace(Box::new(setup))
                }
            };
            let tools = Arc::new(DaemonTools::new(source));
            tools.client().await.map_err(|error| of_cli(&error))?;
            tools.watch();
            *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&tools));
            Ok(tools as Arc<dyn ToolBackend>)
        })
    }
}

// === impl DaemonTools ===

impl DaemonTools {
    /// The tools of a daemon of this process, for one of those who may come in.
    pub(crate) fn within(entrance: Entrance) -> Arc<Self> {
        let tools = Arc::new(Self::new(DaemonSource::Within(entrance)));
        tools.watch();
        tools
    }

    fn new(source: DaemonSource) -> Self {
        Self {
            source,
            current: tokio::sync::Mutex::default(),
            replaced: Mutex::default(),
            changes: watch::Sender::new(0),
            moved: Notify::new(),
            watcher: Mutex::default(),
        }
    }

    /// Returns who serves the workspace now. A daemon that was started meanwhile replaces the one in
    /// this process.
    async fn client(&self) -> Result<Arc<Client>, CliError> {
        let mut current = self.current.lock().await;
        let CurrentDaemon { client, passed } = &mut *current;
        if let Some(client) = client {
            let DaemonSource::Workspace(setup) = &self.source else {
                return Ok(Arc::clone(client));
            };
            if !client.is_alone() {
                return Ok(Arc::clone(client));
            }
            // One that is about to start, or about to end, does not matter yet.
            let Ok(Some(daemon)) = Client::newly_serving(setup, passed).await else {
                return Ok(Arc::clone(client));
            };
            let daemon = Arc::new(daemon);
            self.replaced().push(std::mem::replace(client, Arc::clone(&daemon)));
            self.moved.notify_one();
            return Ok(daemon);
        }
        let client = match &self.source {
            DaemonSource::Workspace(setup) => Client::open_to_stay((**setup).clone()).await?,
            DaemonSource::Named(server, workspace) => {
                Client::reach(server.clone(), workspace.clone()).await?
            }
            DaemonSource::Within(entrance) => Client::within(entrance),
        };
        let client = Arc::new(client);
        current.client = Some(Arc::clone(&client));
        Ok(client)
    }

    /// Forgets a daemon that is gone.
    async fn lost(&self, gone: &Arc<Client>) {
        let mut current = self.current.lock().await;
        if current.client.as_ref().is_some_and(|client| Arc::ptr_eq(client, gone)) {
            current.client = None;
        }
    }

    /// Makes a fault of a request that failed; where the daemon is gone, the next one looks for another.
    async fn fault(&self, client: &Arc<Client>, failure: RequestFailure) -> CallFault {
        let is_gone = failure.is(Reason::DaemonUnreachable);
        let mut fault = of_failure(failure, client.is_alone());
        // What a form would say could not be done.
        if let Some(question) = fault.question.as_mut().filter(|_| !client.has_approver()) {
            question.is_for_forms = false;
        }
        if is_gone {
            self.lost(client).await;
        }
        fault
    }

    /// Begins to follow the catalog.
    fn watch(self: &Arc<Self>) {
        let tools = Arc::clone(self);
        let task = tokio::spawn(async move {
            loop {
                if let Ok(client) = tools.client().await
                    && let Ok(mut watching) = client.watch_tools().await
                {
                    drop(client);
                    let followed = async {
                        while watching.next().await {
                            tools.changes.send_modify(|count| *count += 1);
                        }
                    };
                    tokio::select! {
                        () = followed => {}
                        () = tools.moved.notified() => {}
                    }
                }
                tokio::time::sleep(REOPEN_WAIT).await;
            }
        });
        *self.watcher.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.abort_handle());
    }

    /// Ends what was opened, once its calls have ended.
    pub(crate) async fn close(&self) {
        if let Some(watcher) = self.watcher.lock().unwrap_or_else(PoisonError::into_inner).take() {
            watcher.abort();
        }
        let current = self.current.lock().await.client.take();
        let clients: Vec<_> = self.replaced().drain(..).chain(current).collect();
        for mut client in clients {
            let closed = async {
                loop {
                    match Arc::try_unwrap(client) {
                        Ok(client) => return client.close().await,
                        Err(shared) => client = shared,
                    }
                    tokio::time::sleep(CLOSE_LOOK_EVERY).await;
                }
            };
            if tokio::time::timeout(CLOSE_WAIT_MAX, closed).await.is_err() {
                tracing::warn!("calls still ran at the end; no file is partly written");
            }
        }
    }

    fn replaced(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Client>>> {
        self.replaced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn list(&self) -> Result<Vec<Value>, CallFault> {
        let client = self.client().await.map_err(|error| of_cli(&error))?;
        match client.tools(None, ListedSchema::Brief, Language::En).await {
            Ok(listed) => {
                Ok(listed.tools.iter().map(|tool| tools::render(tool, Format::Mcp)).collect())
            }
            Err(failure) => Err(self.fault(&client, failure).await),
        }
    }

    async fn written(&self) -> Result<Vec<CommandArtifact>, CallFault> {
        let client = self.client().await.map_err(|error| of_cli(&error))?;
        match client.artifacts().await {
            Ok(listed) => {
                let artifact = |one: v1::Artifact| CommandArtifact {
                    path: one.path,
                    size_bytes: one.size_bytes,
                };
                Ok(listed.into_iter().map(artifact).collect())
            }
            Err(failure) => Err(self.fault(&client, failure).await),
        }
    }

    async fn unreadable(&self, paths: Vec<String>) -> Result<Vec<String>, CallFault> {
        let client = self.client().await.map_err(|error| of_cli(&error))?;
        Ok(secrets::refused(&client, paths).await)
    }

    /// The notes on those of the tools that have these names.
    async fn behaviour(&self, names: &[String]) -> Result<String, CallFault> {
        let client = self.client().await.map_err(|error| of_cli(&error))?;
        match client.tools(None, ListedSchema::Asi, Language::En).await {
            Ok(listed) => {
                let wanted = listed.tools.iter().filter(|tool| names.contains(&tool.name));
                let registry = Registry::new(wanted.map(bridge::definition))
                    .map_err(|error| CallFault::new("internal", error.to_string()))?;
                Ok(behaviour_notes(&registry, moss_model_bridge::Language::En))
            }
            Err(failure) => Err(self.fault(&client, failure).await),
        }
    }

    async fn record_denial(&self, request: ToolUse, denied: DeniedEffect) -> CallFault {
        let client = match self.client().await {
            Ok(client) => client,
            Err(error) => return of_denial(of_cli(&error), Denial::Unrecorded),
        };
        let failure = calling::deny(&client, &request, denied).await;
        let denial = Denial::after(&failure);
        of_denial(self.fault(&client, failure).await, denial)
    }

    async fn call_tool(
        &self,
        request: ToolUse,
        notes: mpsc::Sender<CallNote>,
    ) -> Result<UseReply, CallFault> {
        let client = self.client().await.map_err(|error| of_cli(&error))?;
        client.prepare(NeededTools::Tool(&request.name)).await;
        match calling::follow(&client, request, &notes).await {
            Ok(result) => Ok(reply(result)),
            Err(FailedCall { failure, denial }) => {
                let fault = self.fault(&client, failure).await;
                Err(match denial {
                    Some(denial) => of_denial(fault, denial),
                    None => fault,
                })
            }
        }
    }
}

impl ToolBackend for DaemonTools {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Value>, CallFault>> {
        Box::pin(self.list())
    }

    fn call(
        &self,
        request: ToolUse,
        notes: mpsc::Sender<CallNote>,
    ) -> BoxFuture<'_, Result<UseReply, CallFault>> {
        Box::pin(self.call_tool(request, notes))
    }

    fn deny(&self, request: ToolUse, denied: DeniedEffect) -> BoxFuture<'_, CallFault> {
        Box::pin(self.record_denial(request, denied))
    }

    fn artifacts(&self) -> BoxFuture<'_, Result<Vec<CommandArtifact>, CallFault>> {
        Box::pin(self.written())
    }

    fn refused(&self, paths: Vec<String>) -> BoxFuture<'_, Result<Vec<String>, CallFault>> {
        Box::pin(self.unreadable(paths))
    }

    fn notes(&self, tools: Vec<String>) -> BoxFuture<'_, Result<String, CallFault>> {
        Box::pin(async move { self.behaviour(&tools).await })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

fn reply(result: v1::CallResult) -> UseReply {
    let failed =
        result.error.map(|error| CallFault::new(error.code, error.message).hint(error.hint));
    let changes = result.changes.iter().map(|change| ReplyChange {
        path: change.path.clone(),
        status: views::change_status(change.status()),
        diff: change.diff.clone(),
    });
    UseReply {
        changes: changes.collect(),
        call_id: result.call_id,
        content: result.content.into_iter().map(content::of_proto).collect(),
        result: match failed {
            Some(fault) => Err(fault),
            None => Ok(result.output_json),
        },
        digest: result.digest,
        history: result.history,
    }
}
