//! gRPC clients with a credential, and short ways to say what tests say often.

use std::path::Path;

use moss_proto::v1;
use moss_proto::v1::bridge_service_client::BridgeServiceClient;
use moss_proto::v1::confirmation_service_client::ConfirmationServiceClient;
use moss_proto::v1::editor_service_client::EditorServiceClient;
use moss_proto::v1::history_service_client::HistoryServiceClient;
use moss_proto::v1::job_service_client::JobServiceClient;
use moss_proto::v1::plugin_service_client::PluginServiceClient;
use moss_proto::v1::policy_service_client::PolicyServiceClient;
use moss_proto::v1::status_service_client::StatusServiceClient;
use moss_proto::v1::stream_call_tool_response::Event;
use moss_proto::v1::tool_service_client::ToolServiceClient;
use moss_proto::v1::undo_history_entry_request::Target;
use serde_json::Value;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status, Streaming};
use tonic_types::{ErrorDetails, StatusExt as _};

use super::{BOUND, within};

/// Largest message that a test wants to see.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// A connection with a credential.
#[derive(Clone)]
pub(crate) struct Client {
    channel: Channel,
    bearer: Bearer,
}

/// Puts the credential into every request.
#[derive(Clone)]
pub(crate) struct Bearer(Option<MetadataValue<Ascii>>);

pub(super) type Authorized = InterceptedService<Channel, Bearer>;

/// The events of a streamed call.
pub(crate) struct Events(Streaming<v1::StreamCallToolResponse>);

/// The catalog as it changes.
pub(crate) struct Catalogs(Streaming<v1::WatchToolsResponse>);

/// Confirmations as an approver sees them come and go.
pub(crate) struct Watcher(Streaming<v1::WatchConfirmationsResponse>);

/// Makes a call of a tool with `confirm` unset.
pub(crate) fn call(tool: &str, arguments: Value) -> v1::Call {
    v1::Call { tool: tool.to_owned(), arguments_json: arguments.to_string(), ..v1::Call::default() }
}

/// Makes a call that waits for a decision.
pub(crate) fn waiting(tool: &str, arguments: Value) -> v1::Call {
    v1::Call { confirm: v1::ConfirmMode::Wait.into(), ..call(tool, arguments) }
}

/// Makes a call that fails where an answer is needed.
pub(crate) fn refusing(tool: &str, arguments: Value) -> v1::Call {
    v1::Call { confirm: v1::ConfirmMode::Refuse.into(), ..call(tool, arguments) }
}

/// Returns the output of a call that must have succeeded.
pub(crate) fn output(result: &v1::CallResult) -> Value {
    assert_eq!(result.outcome(), v1::Outcome::Ok, "{:?}", result.error);
    serde_json::from_str(&result.output_json).unwrap()
}

/// Returns why a tool failed that must have failed.
pub(crate) fn failure(result: &v1::CallResult) -> &v1::ToolError {
    assert_eq!(result.outcome(), v1::Outcome::Failed, "{}", result.output_json);
    assert_eq!(result.output_json, "");
    result.error.as_ref().expect("a failure has an error")
}

/// Returns the stable reason of a status.
pub(crate) fn reason(status: &Status) -> String {
    let details = status.get_error_details();
    let info = details.error_info().unwrap_or_else(|| panic!("no reason: {status:?}"));
    assert_eq!(info.domain, "moss.v1");
    info.reason.clone()
}

/// Returns the details of a status.
pub(crate) fn details(status: &Status) -> ErrorDetails {
    status.get_error_details()
}

// === impl Client ===

impl Client {
    /// Connects to a socket with a credential, or none.
    pub(crate) async fn connect(socket: &Path, token: Option<&str>) -> Self {
        Self::at(format!("unix:{}", socket.display()), token).await
    }

    /// Connects to a port of this machine with a credential, or none.
    pub(crate) async fn dial(port: u16, token: Option<&str>) -> Self {
        Self::at(format!("http://127.0.0.1:{port}"), token).await
    }

    async fn at(address: String, token: Option<&str>) -> Self {
        let bearer = token.map(|token| format!("Bearer {token}").try_into().unwrap());
        let channel = Endpoint::try_from(address.clone())
            .unwrap()
            .timeout(BOUND)
            .http2_max_header_list_size(64 << 10)
            .connect()
            .await
            .unwrap_or_else(|error| panic!("cannot connect to {address}: {error:?}"));
        Self { channel, bearer: Bearer(bearer) }
    }

    /// The channel without a credential.
    pub(crate) fn channel(&self) -> Channel {
        self.channel.clone()
    }

    pub(crate) fn tools(&self) -> ToolServiceClient<Authorized> {
        ToolServiceClient::with_interceptor(self.channel.clone(), self.bearer.clone())
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX)
    }

    pub(crate) fn bridge(&self) -> BridgeServiceClient<Authorized> {
        BridgeServiceClient::with_interceptor(self.channel.clone(), self.bearer.clone())
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX)
    }

    pub(crate) fn confirmations(&self) -> ConfirmationServiceClient<Authorized> {
        ConfirmationServiceClient::with_interceptor(self.channel.clone(), self.bearer.clone())
    }

    pub(crate) fn jobs(&self) -> JobServiceClient<Authorized> {
        JobServiceClient::with_interceptor(self.channel.clone(), self.bearer.clone())
    }

    pub(crate) fn history(&self) -> HistoryServiceClient<Authorized> {
        HistoryServiceClient::with_interceptor(self.channel.clone(), self.bearer.clone())
    }

    pub(crate) fn policy(&self) -> PolicyServiceClient<Authorized> {
        PolicyServiceClient::with_interceptor(self.channel.clone(), self.bearer.clone())
    }

    pub(crate) fn plugins(&self) -> PluginServiceClient<Authorized> {
        PluginServiceClient::with_interceptor(self.channel.clone(), self.bearer.clone())
    }

    pub(crate) fn editor(&self) -> EditorServiceClient<Authorized> {
        EditorServiceClient::with_interceptor(self.channel.clone(), self.bearer.clone())
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX)
    }

    pub(crate) fn status(&self) -> StatusServiceClient<Authorized> {
        StatusServiceClient::with_interceptor(self.channel.clone(), self.bearer.clone())
    }

    /// Calls a tool and waits for its end.
    pub(crate) async fn call(&self, call: v1::Call) -> Result<v1::CallResult, Status> {
        let request = v1::CallToolRequest { call: Some(call) };
        let response = within("a call", self.tools().call_tool(request)).await?.into_inner();
        Ok(response.result.expect("a response has a result"))
    }

    /// Calls a tool that must run.
    pub(crate) async fn ran(&self, tool: &str, arguments: Value) -> v1::CallResult {
        self.call(call(tool, arguments)).await.unwrap()
    }

    /// Calls a tool that must succeed, and returns its output.
    pub(crate) async fn done(&self, tool: &str, arguments: Value) -> Value {
        output(&self.ran(tool, arguments).await)
    }

    /// Calls a tool and follows it.
    pub(crate) async fn stream(&self, call: v1::Call) -> Result<Events, Status> {
        let request = v1::StreamCallToolRequest { call: Some(call) };
        let response = within("a stream", self.tools().stream_call_tool(request)).await?;
        Ok(Events(response.into_inner()))
    }

    pub(crate) async fn watch(&self) -> Watcher {
        let request = v1::WatchConfirmationsRequest::default();
        let response = self.confirmations().watch_confirmations(request).await.unwrap();
        Watcher(response.into_inner())
    }

    /// Follows the catalog. The first message says how it is.
    pub(crate) async fn watch_tools(&self) -> Catalogs {
        let request = v1::WatchToolsRequest::default();
        let response = within("a watch", self.tools().watch_tools(request)).await;
        Catalogs(response.unwrap().into_inner())
    }

    pub(crate) async fn plugin_list(&self) -> Vec<v1::Plugin> {
        let response = self.plugins().list_plugins(v1::ListPluginsRequest::default()).await;
        response.unwrap().into_inner().plugins
    }

    /// Lists the confirmations that wait.
    pub(crate) async fn pending(&self) -> Vec<v1::Confirmation> {
        let request = v1::ListConfirmationsRequest::default();
        let response = self.confirmations().list_confirmations(request).await.unwrap();
        response.into_inner().confirmations
    }

    /// Says yes to a confirmation.
    pub(crate) async fn approve(
        &self,
        confirmation: &v1::Confirmation,
    ) -> Result<v1::Confirmation, Status> {
        self.resolve(confirmation, v1::Verdict::Approve, "").await
    }

    /// Says yes to a confirmation that is known by its digest.
    pub(crate) async fn approve_by_digest(
        &self,
        confirmation: &v1::Confirmation,
    ) -> Result<v1::ConfirmationState, Status> {
        let request = v1::ResolveConfirmationRequest {
            id: confirmation.id.clone(),
            verdict: v1::Verdict::Approve.into(),
            digest: confirmation.digest.clone(),
            by_digest: true,
            ..Default::default()
        };
        let response = self.confirmations().resolve_confirmation(request).await?.into_inner();
        Ok(response.confirmation.expect("a response has a confirmation").state())
    }

    /// Says no to a confirmation.
    pub(crate) async fn deny(
        &self,
        confirmation: &v1::Confirmation,
        reason: &str,
    ) -> Result<v1::Confirmation, Status> {
        self.resolve(confirmation, v1::Verdict::Deny, reason).await
    }

    async fn resolve(
        &self,
        confirmation: &v1::Confirmation,
        verdict: v1::Verdict,
        reason: &str,
    ) -> Result<v1::Confirmation, Status> {
        let request = v1::ResolveConfirmationRequest {
            id: confirmation.id.clone(),
            verdict: verdict.into(),
            digest: confirmation.digest.clone(),
            reason: reason.to_owned(),
            ..Default::default()
        };
        let response = self.confirmations().resolve_confirmation(request).await?.into_inner();
        Ok(response.confirmation.expect("a response has a confirmation"))
    }

    /// Undoes a history entry.
    pub(crate) async fn undo(&self, number: u64) -> Result<v1::CallResult, Status> {
        self.undo_target(Target::Number(number)).await
    }

    pub(crate) async fn undo_target(&self, target: Target) -> Result<v1::CallResult, Status> {
        let target = Some(target);
        let request = v1::UndoHistoryEntryRequest { target, ..Default::default() };
        let response = self.history().undo_history_entry(request).await?.into_inner();
        Ok(response.result.expect("a response has a result"))
    }

    /// Returns the numbers in the history, newest first.
    pub(crate) async fn numbers(&self) -> Vec<u64> {
        let response = self.history().list_history(v1::ListHistoryRequest::default()).await;
        response.unwrap().into_inner().entries.iter().map(|entry| entry.number).collect()
    }

    /// Reports what the daemon is doing.
    pub(crate) async fn load(&self) -> v1::GetStatusResponse {
        self.status().get_status(v1::GetStatusRequest {}).await.unwrap().into_inner()
    }
}

// === impl Bearer ===

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(bearer) = &self.0 {
            request.metadata_mut().insert("authorization", bearer.clone());
        }
        Ok(request)
    }
}

// === impl Events ===

impl Events {
    /// Returns the next event; none at the end of the stream.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, Status> {
        let message = within("an event", self.0.message()).await?;
        Ok(message.map(|message| message.event.expect("a message has an event")))
    }

    /// Returns the next event, which must be the question.
    pub(crate) async fn question(&mut self) -> v1::Confirmation {
        loop {
            match self.next().await.unwrap() {
                Some(Event::ConfirmationNeeded(confirmation)) => return confirmation,
                Some(Event::Started(_) | Event::Progress(_) | Event::Output(_)) => {}
                other => panic!("expected a question, got {other:?}"),
            }
        }
    }

    /// Reads on to the result or the status.
    pub(crate) async fn end(mut self) -> Result<v1::CallResult, Status> {
        loop {
            match self.next().await? {
                Some(Event::Result(result)) => {
                    assert!(self.next().await?.is_none(), "something follows the result");
                    return Ok(result);
                }
                Some(_) => {}
                None => panic!("the stream ends without a result"),
            }
        }
    }
}

// === impl Catalogs ===

impl Catalogs {
    /// Returns the next message; none at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<v1::WatchToolsResponse> {
        within("a change of the catalog", self.0.message()).await.unwrap()
    }

    /// Returns with which status the stream ends.
    pub(crate) async fn end(&mut self) -> Status {
        within("the end of the stream", self.0.message()).await.unwrap_err()
    }
}

// === impl Watcher ===

impl Watcher {
    /// Returns the next confirmation that came or changed; none at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<v1::Confirmation> {
        let message = within("a confirmation", self.0.message()).await.unwrap()?;
        Some(message.confirmation.expect("a message has a confirmation"))
    }

    /// The same, where the daemon may be gone any time.
    pub(crate) async fn next_or_gone(&mut self) -> Option<v1::Confirmation> {
        within("a confirmation", self.0.message()).await.ok()??.confirmation
    }

    /// Returns the next confirmation that reaches a state.
    pub(crate) async fn reached(&mut self, state: v1::ConfirmationState) -> v1::Confirmation {
        loop {
            let confirmation = self.next().await.expect("the watch continues");
            if confirmation.state() == state {
                return confirmation;
            }
        }
    }

    /// Returns the next question.
    pub(crate) async fn question(&mut self) -> v1::Confirmation {
        self.reached(v1::ConfirmationState::Pending).await
    }
}
