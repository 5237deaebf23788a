//! What moss serves: a server of the protocol, for one connection.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext};
use tokio::sync::{OnceCell, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::backend::{BackendOpener, ToolBackend};
use crate::fault::CallFault;
use crate::following::FormLife;
use crate::listeners::ListListener;
use crate::revisions::{self, REVISIONS};
use crate::seal::StateSeal;
use crate::set::ToolSet;
use crate::{icons, listing, methods, roots};

const INSTRUCTIONS: &str = "Tools for the files of one project. Paths are relative to its root. Changes \
                            are shown to a person before they happen where the rules of moss say so; a \
                            result that says `confirmation_required` says what to do. Every change is \
                            kept in the history and can be undone there.";

/// How long a form stays open: longer than a question of moss waits by default.
const FORM_WAIT_MAX: Duration = Duration::from_secs(900);

/// What a connection is served with.
#[derive(Debug, Clone)]
pub struct McpOptions {
    pub(crate) set: ToolSet,
    /// Joins the calls of the connection.
    pub(crate) session_id: String,
    /// Whether a form of the client decides about effects.
    pub(crate) decides_by_form: bool,
    /// How long a form stays open.
    pub(crate) form_wait: Duration,
    /// Seals what the client carries between the rounds of a call.
    pub(crate) seal: Arc<StateSeal>,
}

/// The server of one connection.
#[derive(Debug, Clone)]
pub struct McpServer {
    shared: Arc<McpConnection>,
    /// What it does by itself ends with it.
    _stops: Arc<DropGuard>,
}

#[derive(Debug)]
pub(crate) struct McpConnection {
    opener: Arc<dyn BackendOpener>,
    backend: OnceCell<Arc<dyn ToolBackend>>,
    /// Whether there is one.
    is_open: watch::Sender<bool>,
    pub(crate) options: McpOptions,
    stop: CancellationToken,
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
        Ok(Self::named(set, session_id, Arc::new(StateSeal::new()?)))
    }

    /// Makes the options of requests whose calls are joined under a name.
    pub(crate) fn named(set: ToolSet, session_id: String, seal: Arc<StateSeal>) -> Self {
        Self { set, session_id, decides_by_form: false, form_wait: FORM_WAIT_MAX, seal }
    }

    /// What names a call exactly, as far as a state is for it alone.
    pub(crate) fn call_name<'a>(&'a self, tool: &'a str, arguments_json: &'a str) -> [&'a str; 4] {
        [self.set.name(), &self.session_id, tool, arguments_json]
    }

    /// Lets forms of the client decide about effects, because the person wants that of this client.
    #[must_use]
    pub fn deciding_by_form(self, decides_by_form: bool) -> Self {
        Self { decides_by_form, ..self }
    }

    /// Sets how long a form of the client stays open.
    #[must_use]
    pub fn waiting_for_forms(self, form_wait: Duration) -> Self {
        Self { form_wait, ..self }
    }
}

// === impl McpServer ===

impl McpServer {
    /// Makes a server whose workspace is opened once it is needed.
    pub fn new(opener: Arc<dyn BackendOpener>, options: McpOptions) -> Self {
        let stop = CancellationToken::new();
        let stops = Arc::new(stop.clone().drop_guard());
        let (backend, is_open) = (OnceCell::new(), watch::Sender::new(false));
        let connection = McpConnection { opener, backend, is_open, options, stop };
        Self { shared: Arc::new(connection), _stops: stops }
    }

    /// What the connection is served with.
    #[cfg(feature = "fixtures")]
    pub(crate) fn options(&self) -> &McpOptions {
        &self.shared.options
    }

    /// Ends what the server does by itself, once it is cancelled.
    pub(crate) fn stop(&self) -> CancellationToken {
        self.shared.stop.clone()
    }
}

// === impl McpConnection ===

impl McpConnection {
    pub(crate) async fn backend(
        &self,
        peer: &Peer<RoleServer>,
    ) -> Result<&Arc<dyn ToolBackend>, CallFault> {
        let open = async || {
            let roots = match self.opener.wants_roots() {
                true => roots::of(peer).await?,
                false => Vec::new(),
            };
            let opened = self.opener.open(roots).await?;
            self.is_open.send_replace(true);
            Ok(opened)
        };
        self.backend.get_or_try_init(open).await
    }

    /// How long forms of the connection stay open.
    pub(crate) fn form_life(&self) -> FormLife<'_> {
        FormLife { wait: self.options.form_wait, gone: &self.stop }
    }

    /// Returns all tools, those of every workspace where none can be opened: a call says why.
    pub(crate) async fn tools(&self, peer: &Peer<RoleServer>) -> Result<Vec<Tool>, CallFault> {
        match self.backend(peer).await {
            Ok(backend) => listing::all(backend).await,
            Err(_) => Ok(listing::native(&*self.opener)),
        }
    }

    async fn list(
        &self,
        cursor: Option<&str>,
        context: &RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools(&context.peer).await;
        let tools = tools.map_err(|fault| ErrorData::internal_error(fault.to_string(), None))?;
        let mut tools = listing::visible(tools, &self.options.set);
        let has = |since: fn(&ProtocolVersion) -> bool| {
            context.protocol_version().is_some_and(|revision| since(&revision))
        };
        if has(revisions::has_icons) {
            tools.iter_mut().for_each(icons::give);
        }
        let has_hints = has(revisions::has_hints);
        listing::page(tools, cursor, has_hints)
    }

    /// Announces every change of the visible tools, until nobody listens. Of what is known no more is kept than its
    /// digest: each session follows its own list, which is as large as all schemas.
    async fn follow(&self, peer: &Peer<RoleServer>, listener: ListListener) {
        let visible = |tools| listing::digest(&listing::visible(tools, &self.options.set));
        let mut known = None;
        if self.backend(peer).await.is_err() {
            known = Some(visible(listing::native(&*self.opener)));
            // A later call may find one.
            if self.is_open.subscribe().wait_for(|is_open| *is_open).await.is_err() {
                return;
            }
        }
        let Ok(backend) = self.backend(peer).await else { return };
        let mut changes = backend.changes();
        match &known {
            Some(_) => changes.mark_changed(),
            None => known = listing::all(backend).await.ok().map(visible),
        }
        while changes.changed().await.is_ok() {
            // A daemon that is gone is no change: whoever calls next finds another one.
            let Ok(now) = listing::all(backend).await.map(visible) else { continue };
            let is_new = known.as_ref() != Some(&now);
            known = Some(now);
            if is_new && !listener.announce().await {
                return;
            }
        }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        let us = Implementation::new("moss", env!("CARGO_PKG_VERSION"))
            .with_title("moss")
            .with_icons(vec![icons::of_moss()]);
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

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.shared.resources(request.and_then(|request| request.cursor), &context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        listing::first_page(request)?;
        Ok(self.shared.resource_templates(&context))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.shared.resource(&request.uri, &context).await.map(Into::into)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        listing::first_page(request)?;
        Ok(self.shared.prompts(&context))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.shared.prompt(&request, &context).await.map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.shared.complete(&request, &context).await
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
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(methods::refused(&request.method, context.protocol_version().as_ref()))
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
