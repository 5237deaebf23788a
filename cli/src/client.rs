//! The gRPC client of the commands.
//!
//! With a daemon that serves the workspace on the default socket a command talks to it. Otherwise
//! the same daemon runs in this process, behind the same gRPC services, which are called without a
//! connection: there is one code path, and one set of checks on it.

mod approvals;
mod confirmations;
mod editor;
mod failure;
mod host;
mod index;
mod jobs;
mod plugins;
mod remote;
mod streams;
mod tools;
mod transport;
mod user_prompt;

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use moss_dispatch::{Reason, Role};
use moss_proto::v1;
use moss_proto::v1::history_service_client::HistoryServiceClient;
use moss_proto::v1::policy_service_client::PolicyServiceClient;
use moss_proto::v1::status_service_client::StatusServiceClient;
use moss_proto::v1::tool_service_client::ToolServiceClient;
use moss_workspace::{dirs::Dirs, name_of_root, own::OwnDir};
use tonic::metadata::MetadataValue;
use tonic::{Request, Response, Status};

pub(crate) use self::confirmations::OneTimeDecision;
pub(crate) use self::editor::AttachedTerminal;
pub(crate) use self::failure::RequestFailure;
pub(crate) use self::host::Entrance;
use self::host::{HostLifetime, InProcessDaemon};
pub(crate) use self::remote::NamedDaemon;
pub(crate) use self::streams::{Calling, Watching, WatchingTools};
use self::transport::Route;
pub(crate) use self::transport::SocketIdentity;
use moss_daemon::caller::Credentials;
use moss_daemon::setup::Setup;
use moss_daemon::start::StartError;
use moss_grpc::APPROVER_HEADER;

/// Largest message that is accepted, in bytes: above what a daemon sends unless its limits are
/// raised.
const RESPONSE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Longest wait for a daemon that has accepted a connection to say what it serves.
const GREETING_MAX: Duration = Duration::from_secs(5);

/// A daemon, in another process or in this one.
#[derive(Debug)]
pub(crate) struct Client {
    channel: Route,
    credentials: Credentials,
    workspace: String,
    host: Option<InProcessDaemon>,
}

/// Which tools a command needs, where it runs the daemon itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NeededTools<'a> {
    /// Only what is there at once.
    Native,
    /// Every tool: the plugins of all lists are loaded first.
    Plugins,
    /// One tool: plugins are loaded if no native tool has the name.
    Tool(&'a str),
}

/// Why there is no daemon to talk to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    /// A daemon listens and does not serve.
    #[error(transparent)]
    Failure(#[from] RequestFailure),
    /// The daemon of this process cannot start.
    #[error(transparent)]
    Start(#[from] StartError),
}

macro_rules! service {
    ($client:ident, $self:expr) => {
        $client::new($self.channel.clone()).max_decoding_message_size(RESPONSE_BYTES_MAX)
    };
}

/// Whether a daemon may listen on the default socket: it is there.
pub(crate) fn has_socket(dirs: &Dirs) -> bool {
    transport::identity(&dirs.socket()).is_ok()
}

// === impl Client ===

impl Client {
    /// Gets at a daemon for the one workspace of `setup`: the one that listens, if it serves that
    /// workspace, otherwise one in this process. Close it at the end: see [`Client::close`].
    ///
    /// # Errors
    ///
    /// Where a daemon listens and does not respond, or none can be started here.
    pub(crate) async fn open(setup: Setup) -> Result<Self, OpenError> {
        Self::open_for(setup, HostLifetime::Command).await
    }

    /// As [`Client::open`], for a connection that lasts: a daemon of this process follows its files.
    ///
    /// # Errors
    ///
    /// As [`Client::open`].
    pub(crate) async fn open_to_stay(setup: Setup) -> Result<Self, OpenError> {
        Self::open_for(setup, HostLifetime::Connection).await
    }

    async fn open_for(setup: Setup, lifetime: HostLifetime) -> Result<Self, OpenError> {
        if let Some(client) = Self::serving(&setup).await? {
            return Ok(client);
        }
        let (host, door, credentials) = InProcessDaemon::start(setup, lifetime).await?;
        let channel = Route::Door(door);
        Ok(Self { channel, credentials, workspace: String::new(), host: Some(host) })
    }

    /// Connects to the daemon on the default socket; none where none listens, or it does not serve the
    /// workspace of `setup`.
    ///
    /// # Errors
    ///
    /// Where a daemon listens and does not respond.
    pub(crate) async fn serving(setup: &Setup) -> Result<Option<Self>, RequestFailure> {
        Self::newly_serving(setup, &mut None).await
    }

    /// As [`Client::serving`]; `passed` is the socket of a daemon that does not serve the workspace. It is
    /// not asked again: it serves the same ones as long as it runs.
    ///
    /// # Errors
    ///
    /// As [`Client::serving`].
    pub(crate) async fn newly_serving(
        setup: &Setup,
        passed: &mut Option<SocketIdentity>,
    ) -> Result<Option<Self>, RequestFailure> {
        let socket = match transport::identity(&setup.dirs.socket()) {
            Ok(socket) if *passed == Some(socket) => return Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            found => found.ok(),
        };
        let root = setup.workspaces.first().map(|root| name_of_root(root));
        let Some(mut client) = Self::connect(&setup.dirs).await? else { return Ok(None) };
        let status = client.status().await?;
        let served = root.filter(|root| status.workspaces.iter().any(|one| one.root == *root));
        let Some(root) = served else {
            *passed = socket;
            return Ok(None);
        };
        client.workspace = root;
        Ok(Some(client))
    }

    /// Connects to the daemon on the default socket; none where no daemon listens. Requests go to
    /// its only workspace, or say which one they mean.
    ///
    /// # Errors
    ///
    /// Where something else listens there, or the credentials cannot be read.
    pub(crate) async fn connect(dirs: &Dirs) -> Result<Option<Self>, RequestFailure> {
        let Some(stream) = transport::connect(&dirs.socket()).await? else { return Ok(None) };
        let credentials = OwnDir::open(&dirs.state)
            .and_then(|state| Credentials::load_or_create(&state))
            .map_err(|error| RequestFailure::new(Reason::CredentialInvalid, error.to_string()))?;
        let channel = transport::channel(stream).await?;
        Ok(Some(Self { channel, credentials, workspace: String::new(), host: None }))
    }

    /// As [`Client::connect`]; a daemon that does not respond is an error, too.
    pub(crate) async fn greet(dirs: &Dirs) -> Result<Option<Self>, RequestFailure> {
        let Some(client) = Self::connect(dirs).await? else { return Ok(None) };
        // Who shows the approver's credential first has one of the connections that are reserved for approvers.
        let role = if client.has_approver() { Role::Approver } else { Role::Caller };
        client.status_as(role).await?;
        Ok(Some(client))
    }

    /// Goes to a daemon of this process that serves others as well, as who shows a credential there.
    /// Requests go to the workspace that the entrance names.
    pub(crate) fn within(entrance: &Entrance) -> Self {
        let channel = Route::Door(entrance.enter());
        let workspace = entrance.workspace.clone();
        Self { channel, credentials: entrance.credentials(), workspace, host: None }
    }

    /// Whether the daemon runs in this process, where nobody else can reach it.
    pub(crate) fn is_alone(&self) -> bool {
        self.host.is_some()
    }

    /// Whether there is a credential to resolve confirmations with.
    pub(crate) fn has_approver(&self) -> bool {
        !self.credentials.approver.is_empty()
    }

    /// Makes sure that what a command needs is there. A daemon of its own looks after itself.
    pub(crate) async fn prepare(&self, need: NeededTools<'_>) {
        if let Some(host) = &self.host {
            host.prepare(need).await;
        }
    }

    /// Ends the daemon of this process, once what it is writing is written.
    pub(crate) async fn close(self) {
        let Self { channel, host, .. } = self;
        drop(channel);
        if let Some(host) = host {
            host.stop().await;
        }
    }

    /// Returns version, workspaces and load.
    ///
    /// # Errors
    ///
    /// As every request: [`RequestFailure`].
    pub(crate) async fn status(&self) -> Result<v1::GetStatusResponse, RequestFailure> {
        self.status_as(Role::Caller).await
    }

    async fn status_as(&self, role: Role) -> Result<v1::GetStatusResponse, RequestFailure> {
        let mut request = self.request(role, v1::GetStatusRequest {});
        request.set_timeout(GREETING_MAX);
        body(service!(StatusServiceClient, self).get_status(request).await).map_err(|failure| {
            if !failure.is(Reason::CallTimeout) {
                return failure;
            }
            let message = format!("the daemon did not respond within {GREETING_MAX:?}");
            RequestFailure::new(Reason::DaemonUnreachable, message)
        })
    }

    /// Calls a tool, in the role that the call needs. The daemon ends it at the timeout. Questions of
    /// a call that `is_attended` are decided here, and never too many.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn call(
        &self,
        call: v1::Call,
        timeout: Option<Duration>,
        is_attended: bool,
    ) -> Result<Calling, RequestFailure> {
        self.call_of(call, timeout, is_attended, None).await
    }

    /// As [`Client::call`], for a call that is a part of a span of somebody else.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn call_of(
        &self,
        mut call: v1::Call,
        timeout: Option<Duration>,
        is_attended: bool,
        trace_parent: Option<&str>,
    ) -> Result<Calling, RequestFailure> {
        call.workspace.clone_from(&self.workspace);
        let role = role_for(&call.approved_digests);
        let is_attended = is_attended && !self.credentials.approver.is_empty();
        let mut request = self.request(role, v1::StreamCallToolRequest { call: Some(call) });
        if is_attended
            && let Ok(value) =
                MetadataValue::try_from(format!("Bearer {}", self.credentials.approver))
        {
            request.metadata_mut().insert(APPROVER_HEADER, value);
        }
        if let Some(Ok(parent)) = trace_parent.map(MetadataValue::try_from) {
            request.metadata_mut().insert(moss_daemon::traces::PARENT, parent);
        }
        if let Some(timeout) = timeout {
            request.set_timeout(timeout);
        }
        body(service!(ToolServiceClient, self).stream_call_tool(request).await).map(Calling)
    }

    /// Lists history entries, newest first, one page of them.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn history(
        &self,
        mut request: v1::ListHistoryRequest,
    ) -> Result<v1::ListHistoryResponse, RequestFailure> {
        request.workspace.clone_from(&self.workspace);
        let request = self.request(Role::Caller, request);
        body(service!(HistoryServiceClient, self).list_history(request).await)
    }

    /// Returns one history entry with its diffs.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn history_entry(
        &self,
        number: u64,
    ) -> Result<v1::HistoryEntry, RequestFailure> {
        let request = v1::GetHistoryEntryRequest { workspace: self.workspace.clone(), number };
        let request = self.request(Role::Caller, request);
        let response = body(service!(HistoryServiceClient, self).get_history_entry(request).await)?;
        response.entry.ok_or_else(|| RequestFailure::incomplete("entry"))
    }

    /// Undoes a history entry, in the role that the request needs.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn undo(
        &self,
        mut request: v1::UndoHistoryEntryRequest,
        timeout: Option<Duration>,
    ) -> Result<v1::CallResult, RequestFailure> {
        request.workspace.clone_from(&self.workspace);
        let mut request = self.request(role_for(&request.approved_digests), request);
        if let Some(timeout) = timeout {
            request.set_timeout(timeout);
        }
        let response =
            body(service!(HistoryServiceClient, self).undo_history_entry(request).await)?;
        response.result.ok_or_else(|| RequestFailure::incomplete("result"))
    }

    /// Lists the rules in effect.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn policy_rules(&self) -> Result<v1::ListPolicyRulesResponse, RequestFailure> {
        let request = v1::ListPolicyRulesRequest { workspace: self.workspace.clone() };
        let request = self.request(Role::Caller, request);
        body(service!(PolicyServiceClient, self).list_policy_rules(request).await)
    }

    /// Explains what the policy says of a call.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn explain(
        &self,
        tool: &str,
        arguments_json: String,
        session_id: String,
        caller: String,
    ) -> Result<v1::ExplainPolicyResponse, RequestFailure> {
        let request = v1::ExplainPolicyRequest {
            workspace: self.workspace.clone(),
            tool: tool.to_owned(),
            arguments_json,
            session_id,
            caller,
        };
        let request = self.request(Role::Caller, request);
        body(service!(PolicyServiceClient, self).explain_policy(request).await)
    }

    fn request<T>(&self, role: Role, message: T) -> Request<T> {
        let mut request = Request::new(message);
        let token = match role {
            Role::Caller => &self.credentials.caller,
            // The daemon reports a missing one.
            Role::Approver if self.credentials.approver.is_empty() => &self.credentials.caller,
            Role::Approver => &self.credentials.approver,
        };
        if let Ok(value) = MetadataValue::try_from(format!("Bearer {token}")) {
            request.metadata_mut().insert("authorization", value);
        }
        request
    }
}

/// A digest is an approval: only an approver may send one.
fn role_for(approved_digests: &[String]) -> Role {
    if approved_digests.is_empty() { Role::Caller } else { Role::Approver }
}

fn scope(workspace: Option<&Path>) -> String {
    workspace.map(name_of_root).unwrap_or_default()
}

fn body<T>(result: Result<Response<T>, Status>) -> Result<T, RequestFailure> {
    Ok(result.map_err(|status| RequestFailure::from(&status))?.into_inner())
}
