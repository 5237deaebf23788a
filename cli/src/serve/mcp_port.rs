//! The port of `moss serve --mcp`: connections as they come, who shows which credential, and the tools
//! of the daemon on behalf of each.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moss_daemon::caller::Access;
use moss_daemon::start::Started;
use moss_daemon::state::Daemon;
use moss_dispatch::{Caller, Role};
use moss_grpc::address::{Address, HostPort};
use moss_grpc::listener::{self, BindError, Connection, Guard, Peer, Socket};
use moss_mcp::{
    BackendOpener, CallFault, HttpCaller, HttpDoor, HttpFront, NotAdmitted, ReachableNames,
    ToolBackend, ToolSet,
};
use moss_sdk::context::BoxFuture;
use moss_workspace::name_of_root;
use tokio::task::{JoinHandle, JoinSet};
use tokio_stream::StreamExt as _;
use tokio_util::sync::CancellationToken;

use crate::client::Entrance;
use crate::mcp::DaemonTools;

/// The label under which its connections are counted.
const TRANSPORT: &str = "mcp";
/// How often it is looked whether the token of a connection was revoked.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long connections may take to pass the last responses on.
const CLOSE_WAIT_MAX: Duration = Duration::from_secs(2);
/// What a client sends to come in.
const CREDENTIAL_HINT: &str = "send the header `Authorization: Bearer TOKEN`; `moss token create NAME` \
                               makes a token";

/// The port of MCP over HTTP, bound before the daemon serves it.
#[derive(Debug)]
pub(super) struct McpPort {
    socket: Socket,
    names: ReachableNames,
}

/// A port that is served.
#[derive(Debug)]
pub(super) struct OpenMcpPort {
    /// Ends what is still under way.
    stop: CancellationToken,
    task: JoinHandle<()>,
}

/// Who may come in, and the tools that each got.
struct McpCallers {
    daemon: Arc<Daemon>,
    access: Access,
    /// By what distinguishes the caller, and the name of the workspace.
    known: Mutex<HashMap<(String, String), KnownCaller>>,
}

/// Somebody who came in before.
struct KnownCaller {
    caller: Caller,
    credential: String,
    tools: Arc<DaemonTools>,
}

/// Lets in who comes over one connection.
#[derive(Debug)]
struct ConnectionDoor {
    callers: Arc<McpCallers>,
    peer: Peer,
}

/// Opens the daemon of this process.
#[derive(Debug)]
struct ServedOpener(Arc<DaemonTools>);

// === impl McpPort ===

impl McpPort {
    /// Binds the port, under the rules of every port.
    ///
    /// # Errors
    ///
    /// See [`BindError`].
    pub(super) async fn bind(
        host: &HostPort,
        names: Vec<String>,
        guard: Option<&Guard>,
    ) -> Result<Self, BindError> {
        let guard = guard.map(Guard::for_http);
        let socket = listener::bind(&Address::Tcp(host.clone()), guard.as_ref()).await?;
        let names = ReachableNames::new(names.into_iter().chain([host.name.clone()]));
        Ok(Self { socket, names })
    }

    /// Begins to serve clients.
    pub(super) fn open(self, started: &Started) -> OpenMcpPort {
        let stop = CancellationToken::new();
        let callers = Arc::new(McpCallers {
            daemon: Arc::clone(&started.daemon),
            access: self.socket.access(&started.credentials, &started.tokens),
            known: Mutex::default(),
        });
        let task = tokio::spawn(serve(self, callers, stop.clone()));
        OpenMcpPort { stop, task }
    }
}

impl fmt::Display for McpPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MCP on {}/mcp", self.socket.url().unwrap_or_default())
    }
}

/// Takes connections until the daemon drains, then waits for those that are open.
async fn serve(port: McpPort, callers: Arc<McpCallers>, stop: CancellationToken) {
    let daemon = Arc::clone(&callers.daemon);
    let front = HttpFront::new(port.names, stop);
    let count = daemon.metrics.connections(TRANSPORT);
    let connections_max = daemon.config().grpc.connections_max;
    let mut coming = listener::accept(port.socket, connections_max, count);
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            () = daemon.draining.cancelled() => break,
            Some(_) = open.join_next() => {}
            came = coming.next() => match came {
                Some(Ok(connection)) => {
                    open.spawn(serve_one(front.clone(), connection, Arc::clone(&callers)));
                }
                Some(Err(error)) => tracing::warn!(%error, "an MCP connection broke"),
                None => break,
            },
        }
    }
    drop(coming);
    while open.join_next().await.is_some() {}
}

async fn serve_one(front: HttpFront, connection: Connection, callers: Arc<McpCallers>) {
    let peer = connection.peer();
    let door = Arc::new(ConnectionDoor { callers, peer: peer.clone() });
    tokio::select! {
        () = front.serve(connection, door) => {}
        () = revoked(&peer) => {}
    }
}

/// Waits until the token that vouched for a connection was revoked.
async fn revoked(peer: &Peer) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        if peer.is_revoked() {
            return;
        }
    }
}

// === impl OpenMcpPort ===

impl OpenMcpPort {
    /// Ends it, once the last responses are out. The daemon has drained.
    pub(super) async fn close(mut self) {
        self.stop.cancel();
        if tokio::time::timeout(CLOSE_WAIT_MAX, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

/// Distinguishes a caller from others, also from a token that is called like a role.
fn key(caller: &Caller) -> String {
    let kind = if caller.is_revocable() { "token" } else { "role" };
    format!("{kind} {}", caller.name())
}

// === impl McpCallers ===

impl McpCallers {
    /// Finds the name of a workspace that is served; the first one where none is named.
    fn workspace(&self, named: Option<&str>) -> Result<String, NotAdmitted> {
        let first = || self.daemon.setup.workspaces.first().map(|root| name_of_root(root));
        let name = named.map(ToOwned::to_owned).or_else(first).unwrap_or_default();
        match self.daemon.workspace(&name) {
            Ok(workspace) => Ok(workspace.name().to_owned()),
            Err(unknown) => Err(NotAdmitted::UnknownWorkspace(unknown.to_string())),
        }
    }

    /// Returns the tools of a caller: one connection to the daemon for all of its clients in a workspace.
    fn tools(&self, caller: &Caller, credential: &str, workspace: &str) -> Arc<DaemonTools> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_gone = |_: &(String, String), one: &mut KnownCaller| one.caller.is_revoked();
        let gone: Vec<_> = known.extract_if(is_gone).map(|(_, one)| one.tools).collect();
        if !gone.is_empty() {
            tokio::spawn(async move {
                for tools in gone {
                    tools.close().await;
                }
            });
        }
        let name = (key(caller), workspace.to_owned());
        if let Some(one) = known.get(&name).filter(|one| one.credential == credential) {
            return Arc::clone(&one.tools);
        }
        let (daemon, access) = (Arc::clone(&self.daemon), self.access.clone());
        let (credential, workspace) = (credential.to_owned(), workspace.to_owned());
        let entrance = Entrance { daemon, access, credential: credential.clone(), workspace };
        let tools = DaemonTools::within(entrance);
        let caller = caller.clone();
        known.insert(name, KnownCaller { caller, credential, tools: Arc::clone(&tools) });
        tools
    }
}

impl fmt::Debug for McpCallers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("McpCallers")
    }
}

// === impl ConnectionDoor ===

impl HttpDoor for ConnectionDoor {
    fn admit(
        &self,
        credential: Option<&str>,
        workspace: Option<&str>,
    ) -> Result<HttpCaller, NotAdmitted> {
        let McpCallers { daemon, access, .. } = &*self.callers;
        let unknown = |message: String| {
            daemon.metrics.unauthenticated();
            NotAdmitted::Unknown(message)
        };
        let Some(credential) = credential else {
            return Err(unknown(format!("no credential: {CREDENTIAL_HINT}")));
        };
        let Some(caller) = access.caller_of(credential) else {
            let message = format!("the credential is not known, or revoked: {CREDENTIAL_HINT}");
            return Err(unknown(message));
        };
        if caller.role() == Role::Approver {
            let message = "this is the approver's credential, which decides about confirmations: \
                           clients of MCP use a caller's";
            return Err(unknown(format!("{message}. {CREDENTIAL_HINT}")));
        }
        self.peer.vouch(Some(&caller), false).map_err(|full| {
            self.peer.dismiss();
            NotAdmitted::Full(full.to_string())
        })?;
        let workspace = self.callers.workspace(workspace)?;
        let tools = self.callers.tools(&caller, credential, &workspace);
        Ok(HttpCaller { name: key(&caller), workspace, opener: Arc::new(ServedOpener(tools)) })
    }

    fn tool_set(&self, name: &str) -> Option<ToolSet> {
        ToolSet::built_in(name).or_else(|| {
            let tools = self.callers.daemon.config().tool_sets.get(name)?.clone();
            Some(ToolSet::Named { name: name.to_owned(), tools })
        })
    }
}

// === impl ServedOpener ===

impl BackendOpener for ServedOpener {
    fn wants_roots(&self) -> bool {
        false
    }

    fn open(&self, _: Vec<String>) -> BoxFuture<'_, Result<Arc<dyn ToolBackend>, CallFault>> {
        let tools = Arc::clone(&self.0) as Arc<dyn ToolBackend>;
        Box::pin(async move { Ok(tools) })
    }
}
