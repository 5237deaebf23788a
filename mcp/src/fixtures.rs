//! What tests of the protocol put beside the tools of moss: requests that a script serves, in the JSON of
//! the protocol. Sessions, streams, bodies, revisions and the requests of everybody else are the server's own.
//! A cargo feature of tests; no build of the product has it.

#![expect(deprecated, reason = "the suite asks for what older revisions have")]

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use moss_sdk::context::BoxFuture;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
    CompleteResult, CreateMessageRequestParams, CustomRequest, CustomResult, DiscoverResult,
    ElicitRequestParams, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, InputRequiredResult, InputResponses, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    LoggingMessageNotificationParam, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerConfig,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext};
use serde_json::{Value, json};

use crate::rounds::InputBrought;
use crate::scripted_rounds::{ScriptedError, ScriptedRounds, read};
use crate::server::McpServer;
use crate::{line, revisions};

/// Responds to requests in place of the server.
pub trait ProtocolScript: fmt::Debug + Send + Sync {
    /// Responds to a request; none where it is the server's to do so.
    fn answer<'a>(
        &'a self,
        request: ScriptedRequest<'a>,
    ) -> BoxFuture<'a, Option<Result<Value, ScriptedError>>>;
}

/// A script that responds in place of the server.
#[derive(Debug)]
pub struct ProtocolFixtures(Box<dyn ProtocolScript>);

/// A request that a script may respond to.
#[derive(Debug)]
pub struct ScriptedRequest<'a> {
    /// The method, such as `tools/call`.
    pub method: &'static str,
    /// Its parameters, as the client sent them.
    pub params: Value,
    /// What it says in `_meta`.
    pub meta: Value,
    /// The client that sent it, for questions back and notifications.
    pub client: ScriptedClient<'a>,
    /// How far it has come, where its response asks for something first.
    pub rounds: ScriptedRounds<'a>,
}

/// Who sent a request, to be asked and notified.
#[derive(Debug, Clone, Copy)]
pub struct ScriptedClient<'a> {
    peer: &'a Peer<RoleServer>,
}

/// The server with a script before it.
#[derive(Clone)]
pub(crate) struct ScriptedServer {
    server: McpServer,
    fixtures: Option<Arc<ProtocolFixtures>>,
}

/// Says of a response that it is whole, unless it asks for something: older revisions leave that out.
fn complete(mut answer: Value) -> Value {
    if let Some(fields) = answer.as_object_mut() {
        fields.entry("resultType").or_insert_with(|| "complete".into());
    }
    answer
}

fn asks(answer: &Value) -> bool {
    answer["resultType"] == "input_required"
}

/// The requests that the newest revision has no more.
fn check_is_legacy(method: &str, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    let newest = ProtocolVersion::V_2026_07_28;
    match context.protocol_version().is_some_and(|one| one.as_str() >= newest.as_str()) {
        true => {
            let message = format!("there is no method `{method}` in this revision");
            Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
        }
        false => Ok(()),
    }
}

// === impl ProtocolFixtures ===

impl ProtocolFixtures {
    /// Makes fixtures of a script.
    pub fn new(script: impl ProtocolScript + 'static) -> Self {
        Self(Box::new(script))
    }
}

// === impl ScriptedClient ===

impl ScriptedClient<'_> {
    /// Sends `elicitation/create` or `sampling/createMessage` and returns the result, as clients of
    /// revisions with sessions respond to it.
    ///
    /// # Errors
    ///
    /// Why it is refused.
    #[allow(deprecated, reason = "older revisions have sampling")]
    pub async fn ask(self, method: &str, params: Value) -> Result<Value, String> {
        let result = match method {
            "elicitation/create" => {
                let mut params = params;
                params["mode"] = "form".into();
                let params: ElicitRequestParams =
                    serde_json::from_value(params).map_err(|error| error.to_string())?;
                self.peer.create_elicitation(params).await.map(|result| json!(result))
            }
            _ => {
                let params: CreateMessageRequestParams =
                    serde_json::from_value(params).map_err(|error| error.to_string())?;
                self.peer.create_message(params).await.map(|result| json!(result))
            }
        };
        result.map_err(|error| error.to_string())
    }

    /// Sends a message of the log.
    #[allow(deprecated, reason = "older revisions have logs")]
    pub async fn log(self, text: &str) {
        let level = rmcp::model::LoggingLevel::Info;
        let params = LoggingMessageNotificationParam::new(level, text.into());
        // A client that is gone is noticed by its transport.
        let _ = self.peer.notify_logging_message(params).await;
    }
}

// === impl ScriptedServer ===

impl ScriptedServer {
    pub(crate) fn new(server: McpServer, fixtures: Option<Arc<ProtocolFixtures>>) -> Self {
        Self { server, fixtures }
    }

    async fn scripted(
        &self,
        method: &'static str,
        params: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<Value>, ErrorData> {
        let Some(fixtures) = &self.fixtures else { return Ok(None) };
        let options = self.server.options();
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let arguments = params["arguments"].to_string();
        let named = [&[method][..], &options.call_name(&name, &arguments)[..]].concat();
        let state = params["requestState"].as_str().map(ToOwned::to_owned);
        let responses = read::<Option<InputResponses>>(params["inputResponses"].clone())?;
        let brought = InputBrought { state: state.as_deref(), responses: responses.as_ref() };
        let rounds = ScriptedRounds::new(brought, &options.seal, &named);
        let client = ScriptedClient { peer: &context.peer };
        let request = ScriptedRequest { method, params, meta: json!(context.meta), client, rounds };
        let answer = fixtures.0.answer(request).await.transpose();
        answer
            .map(|answer| answer.map(complete))
            .map_err(|error| ErrorData::new(ErrorCode(error.code), error.message, error.data))
    }

    /// The response to a request that older revisions have.
    async fn legacy(
        &self,
        method: &'static str,
        params: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        check_is_legacy(method, context)?;
        match self.scripted(method, params, context).await? {
            Some(_) => Ok(()),
            None => {
                let message = format!("there is no method `{method}` here");
                Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
            }
        }
    }
}

impl ServerHandler for ScriptedServer {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.server.get_info();
        if self.fixtures.is_some() {
            #[allow(deprecated, reason = "older revisions have logs")]
            {
                info.capabilities.logging = Some(serde_json::Map::new());
            }
            if let Some(resources) = &mut info.capabilities.resources {
                resources.subscribe = Some(true);
            }
        }
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(revisions::REVISIONS)
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        self.server.discover(context).await
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.server.list_tools(request, context).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut params = json!(request);
        let arguments = line::arguments_json(&request, &context.extensions)?;
        params["arguments"] = serde_json::from_str(&arguments).unwrap_or_default();
        match self.scripted("tools/call", params, &context).await? {
            Some(answer) if asks(&answer) => Ok(read::<InputRequiredResult>(answer)?.into()),
            Some(answer) => Ok(read::<CallToolResult>(answer)?.into()),
            None => self.server.call_tool(request, context).await,
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.server.list_resources(request, context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.server.list_resource_templates(request, context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match self.scripted("resources/read", json!(request), &context).await? {
            Some(answer) => {
                let mut result = read::<ReadResourceResult>(answer)?;
                if context.protocol_version().is_some_and(|one| revisions::has_hints(&one)) {
                    result.ttl_ms = Some(0);
                    result.cache_scope = Some(CacheScope::Private);
                }
                Ok(result.into())
            }
            None => self.server.read_resource(request, context).await,
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.server.list_prompts(request, context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match self.scripted("prompts/get", json!(request), &context).await? {
            Some(answer) if asks(&answer) => Ok(read::<InputRequiredResult>(answer)?.into()),
            Some(answer) => Ok(read::<GetPromptResult>(answer)?.into()),
            None => self.server.get_prompt(request, context).await,
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        match self.scripted("completion/complete", json!(request), &context).await? {
            Some(answer) => read(answer),
            None => self.server.complete(request, context).await,
        }
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.legacy("logging/setLevel", json!(request), &context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.legacy("resources/subscribe", json!(request), &context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.legacy("resources/unsubscribe", json!(request), &context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.server.on_initialized(context).await;
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.server.on_custom_request(request, context).await
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.server.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.server.listen(context).await
    }
}
