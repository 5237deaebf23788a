//! What moss answers: a server of the protocol, for one connection.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, ErrorData,
    Implementation, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
    ServerConfig, SubscriptionFilter,
};
use rmcp::service::{
    NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext, SubscriptionSink,
};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::backend::{BackendOpener, ToolBackend, ToolUse};
use crate::fault::CallFault;
use crate::line::ArgumentsText;
use crate::revisions::{self, REVISIONS};
use crate::set::ToolSet;
use crate::{find_tools, following, listing, reply};

/// How long a client may take to name its roots.
const ROOTS_WAIT_MAX: Duration = Duration::from_secs(2);
/// Most roots of a client that are looked at.
const ROOTS_MAX: usize = 64;
const INSTRUCTIONS: &str = "Tools for the files of one project. Paths are relative to its root. Changes \
                            are shown to a person before they happen where the rules of moss say so; a \
                            result that says `confirmation_required` says what to do. Every change is \
                            kept in the history and can be undone there.";

/// What a connection is served with.
#[derive(Debug, Clone)]
pub struct McpOptions {
    set: ToolSet,
    /// Joins the calls of the connection.
    session_id: String,
    /// Whether a form of the client decides about effects.
    decides_by_form: bool,
}

/// The server of one connection.
#[derive(Debug, Clone)]
pub struct McpServer {
    shared: Arc<McpConnection>,
}

#[derive(Debug)]
struct McpConnection {
    opener: Arc<dyn BackendOpener>,
    backend: OnceCell<Arc<dyn ToolBackend>>,
    options: McpOptions,
    stop: CancellationToken,
}

/// Who hears that the visible tools changed.
enum ListListener {
    /// The client of a session.
    Session(Peer<RoleServer>),
    /// Who asked for it in a request.
    Subscription(SubscriptionSink),
}

// === impl ListListener ===

impl ListListener {
    /// Says so; `false` where nobody listens any more.
    async fn announce(&self) -> bool {
        match self {
            Self::Session(peer) => peer.notify_tool_list_changed().await.is_ok(),
            Self::Subscription(sink) => sink.notify_tool_list_changed().await.is_ok(),
        }
    }
}

// === impl McpOptions ===

impl McpOptions {
    /// Makes the options of a connection that sees a set of tools.
    ///
    /// # Errors
    ///
    /// Where the system has no random bytes for the name of its session.
    pub fn new(set: ToolSet) -> io::Result<Self> {
        let mut name = [0; 8];
        getrandom::fill(&mut name)?;
        let session_id = format!("mcp-{:016x}", u64::from_le_bytes(name));
        Ok(Self { set, session_id, decides_by_form: false })
    }

    /// Lets forms of the client decide about effects, because the person wants that of this client.
    #[must_use]
    pub fn deciding_by_form(self, decides_by_form: bool) -> Self {
        Self { decides_by_form, ..self }
    }
}

// === impl McpServer ===

impl McpServer {
    /// Makes a server whose workspace is opened once it is needed.
    pub fn new(opener: Arc<dyn BackendOpener>, options: McpOptions) -> Self {
        let (backend, stop) = (OnceCell::new(), CancellationToken::new());
        Self { shared: Arc::new(McpConnection { opener, backend, options, stop }) }
    }

    /// Ends what the server does by itself, once it is cancelled.
    pub(crate) fn stop(&self) -> CancellationToken {
        self.shared.stop.clone()
    }
}

// === impl McpConnection ===

impl McpConnection {
    async fn backend(&self, peer: &Peer<RoleServer>) -> Result<&Arc<dyn ToolBackend>, CallFault> {
        let open = async || {
            let roots = match self.opener.wants_roots() {
                true => roots(peer).await,
                false => Vec::new(),
            };
            self.opener.open(roots).await
        };
        self.backend.get_or_try_init(open).await
    }

    async fn list(
        &self,
        cursor: Option<&str>,
        context: &RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = async {
            let backend = self.backend(&context.peer).await?;
            listing::visible(backend, &self.options.set).await
        };
        let tools =
            listed.await.map_err(|fault| ErrorData::internal_error(fault.to_string(), None))?;
        let has_hints = context.protocol_version().is_some_and(|one| revisions::has_hints(&one));
        listing::page(tools, cursor, has_hints)
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments_json = match context.extensions.get::<ArgumentsText>() {
            Some(text) => text.0.clone(),
            None => serde_json::to_string(&request.arguments.unwrap_or_default())
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?,
        };
        let ended = self.attempt(&request.name, arguments_json, context).await;
        match ended {
            Ok(result) => Ok(result),
            Err(fault) if fault.is_unknown_tool() => {
                Err(ErrorData::invalid_params(fault.to_string(), None))
            }
            Err(fault) => Ok(reply::of_fault(&fault).into()),
        }
    }

    async fn attempt(
        &self,
        name: &str,
        arguments_json: String,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, CallFault> {
        let backend = self.backend(&context.peer).await?;
        let set = &self.options.set;
        if set.has_more() && name == find_tools::NAME {
            let tools = listing::all(backend).await?;
            return Ok(find_tools::call(&arguments_json, &tools, set).into());
        }
        if !matches!(set, ToolSet::Default | ToolSet::All) {
            let tools = listing::all(backend).await?;
            // A name that no tool has is answered by who knows the nearest ones.
            if tools.iter().any(|tool| tool.name == name && !set.allows(tool)) {
                let message = format!("the tool set `{}` has no tool `{name}`", set.name());
                return Err(CallFault::unknown_tool(message));
            }
        }
        let has_forms = following::has_forms(context);
        let request = ToolUse {
            name: name.to_owned(),
            arguments_json,
            session_id: self.options.session_id.clone(),
            has_forms,
            decides_by_form: has_forms && self.options.decides_by_form,
        };
        let reply = following::follow(&**backend, request, context).await?;
        Ok(reply::of_reply(reply).into())
    }

    /// Announces every change of the visible tools, until nobody listens.
    async fn follow(&self, peer: &Peer<RoleServer>, listener: ListListener) {
        // A workspace that cannot be opened is reported to who asks for its tools.
        let Ok(backend) = self.backend(peer).await else { return };
        let mut changes = backend.changes();
        let mut known = listing::visible(backend, &self.options.set).await.ok();
        while changes.changed().await.is_ok() {
            // A daemon that is gone is no change: whoever calls next finds another one.
            let Ok(now) = listing::visible(backend, &self.options.set).await else { continue };
            let is_new = known.as_ref() != Some(&now);
            known = Some(now);
            if is_new && !listener.announce().await {
                return;
            }
        }
    }
}

/// Asks a client for its roots, where it has some. One that takes too long has none.
#[expect(
    deprecated,
    reason = "revisions before 2026-07-28 have roots, and their clients send them"
)]
async fn roots(peer: &Peer<RoleServer>) -> Vec<String> {
    let has_roots = peer.peer_info().is_some_and(|info| info.capabilities.roots.is_some());
    if !has_roots {
        return Vec::new();
    }
    match tokio::time::timeout(ROOTS_WAIT_MAX, peer.list_roots()).await {
        Ok(Ok(listed)) => listed.roots.into_iter().take(ROOTS_MAX).map(|root| root.uri).collect(),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the client did not name its roots");
            Vec::new()
        }
        Err(_) => {
            tracing::warn!("the client did not name its roots in time");
            Vec::new()
        }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        let us = Implementation::new("moss", env!("CARGO_PKG_VERSION")).with_title("moss");
        ServerConfig::new(capabilities).with_server_info(us).with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(REVISIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.shared.list(cursor.as_deref(), &context).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.shared.call(request, &context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        // The first request finds the workspace open.
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move {
            let listener = ListListener::Session(context.peer.clone());
            tokio::select! {
                () = shared.follow(&context.peer, listener) => {}
                () = shared.stop.cancelled() => {}
            }
        });
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let known = ["tools/list", "tools/call"].contains(&request.method.as_str());
        let message = match known {
            true => format!("`params` of {} are not as the protocol has them", request.method),
            false => format!(
                "there is no method `{}` here: this server has initialize, server/discover, ping, \
                 tools/list and tools/call",
                request.method
            ),
        };
        let code = if known { ErrorCode::INVALID_PARAMS } else { ErrorCode::METHOD_NOT_FOUND };
        Err(ErrorData::new(code, message, None))
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let peer = context.request_context().peer.clone();
        let listener = ListListener::Subscription(context.sink().clone());
        tokio::select! {
            () = self.shared.follow(&peer, listener) => {}
            () = context.cancelled() => {}
            () = self.shared.stop.cancelled() => {}
        }
        Ok(())
    }
}
