//! Which methods there are, and how a request for another one is refused: rmcp says no more than its name.

use std::borrow::Cow;

use moss_sdk::deceptive::quoted;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorCode, ErrorData, ProtocolVersion, ServerConfig,
    ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, Service};

use crate::revisions;

/// What clients of the newest revision ask first.
const DISCOVER: &str = "server/discover";
/// The requests that are more than a greeting.
const METHODS: [&str; 8] = [
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
];
/// What revisions with a session have beside them, and what the newest has.
const OF_SESSIONS: [&str; 2] = ["initialize", "ping"];
const OF_THE_NEWEST: [&str; 2] = [DISCOVER, "subscriptions/listen"];

/// A server of two streams that names the methods that there are where it has none of that name. What
/// rmcp has for HTTP takes no such thing.
pub(crate) struct NamedMethods<H>(pub(crate) H);

/// Says why a request that rmcp has no type for is not served.
pub(crate) fn refused(method: &str, revision: Option<&ProtocolVersion>) -> ErrorData {
    if METHODS.contains(&method) {
        let message = format!(
            "`params` of {method} are not as the protocol has them: it takes {}",
            members(method)
        );
        return ErrorData::new(ErrorCode::INVALID_PARAMS, message, None);
    }
    let is_newest = revision.is_some_and(revisions::has_hints);
    let message = match method {
        DISCOVER if !is_newest => format!(
            "{DISCOVER} is of revision 2026-07-28, and this session was initialized: what it has is in the \
             response to initialize"
        ),
        _ => unknown(method, is_newest),
    };
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

/// What a request takes, as far as a client leaves it out or gets it wrong.
fn members(method: &str) -> &'static str {
    match method {
        "tools/call" => "`name`, a text, and `arguments`, an object",
        "resources/read" => "`uri`, a text",
        "prompts/get" => "`name`, a text, and `arguments`, an object of texts",
        "completion/complete" => {
            "`ref`, an object with `type` and `name` or `uri`, and `argument`, an object with the texts `name` and \
             `value`"
        }
        _ => "`cursor`, a text, or nothing",
    }
}

fn unknown(method: &str, is_newest: bool) -> String {
    let of_revision = if is_newest { OF_THE_NEWEST } else { OF_SESSIONS };
    let there_are: Vec<&str> = of_revision.into_iter().chain(METHODS).collect();
    format!(
        "there is no method `{}` here: this server has {} in this revision",
        quoted(method),
        there_are.join(", ")
    )
}

impl<H: ServerHandler> Service<RoleServer> for NamedMethods<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let method = request.method().to_owned();
        let is_newest = context.protocol_version().as_ref().is_some_and(revisions::has_hints);
        let mut served = self.0.handle_request(request, context).await;
        if let Err(error) = &mut served
            && error.code == ErrorCode::METHOD_NOT_FOUND
            && error.message == method
        {
            error.message = unknown(&method, is_newest).into();
        }
        served
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&self.0)
    }
}
