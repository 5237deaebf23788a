//! The protocol over HTTP: who may come in, which tools they see, what they send.
//!
//! Sessions, streams of events and requests that stand by themselves are rmcp's. In front of it each
//! request must name this server as its host, come from no foreign page, show a credential, and have a
//! body that [`mod@line`] can read. A session belongs to who opened it.

mod body;
mod caller_share;
mod names;
mod newest;
mod refusal;
mod response_guard;
mod response_room;
mod seals;
mod sessions;
mod stalling;

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderMap};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use http_body_util::combinators::BoxBody;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use self::body::BodyRooms;
pub use self::names::ReachableNames;
use self::refusal::HttpRefusal;
use self::response_guard::ResponseGuard;
use self::response_room::ResponseRooms;
use self::seals::CallerSeals;
use self::sessions::{HttpSessions, SessionOwner};
use self::stalling::WatchedStream;
use crate::backend::BackendOpener;
use crate::line::{self, ArgumentsText, Lifecycle, ReadLine};
use crate::lines::LINE_BYTES_MAX;
use crate::server::{McpOptions, McpServer};
use crate::set::ToolSet;

/// The header that names one of several workspaces.
const WORKSPACE_HEADER: &str = "Moss-Workspace";
/// The path of the default set; other sets are beneath it.
const PATH: &str = "/mcp";
/// How long a connection may rest between two requests, and a request take to send its head.
const HEAD_WAIT_MAX: Duration = Duration::from_secs(300);
/// Largest head of a request, in bytes.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// The name under which requests without a session remember what they have read.
const SESSIONLESS: &str = "mcp";
/// How long responses that are being written may take once the server stops.
const CLOSE_WAIT_MAX: Duration = Duration::from_secs(5);

/// A response of this front.
type FrontResponse = Response<BoxBody<Bytes, Infallible>>;

/// Who lets clients in, for one connection.
pub trait HttpDoor: fmt::Debug + Send + Sync {
    /// Finds who shows a credential, for the workspace that the request names, if it names one.
    ///
    /// # Errors
    ///
    /// Why nobody comes in with them, and what to do instead.
    fn admit(
        &self,
        credential: Option<&str>,
        workspace: Option<&str>,
    ) -> Result<HttpCaller, NotAdmitted>;

    /// Finds a set of tools by its name.
    fn tool_set(&self, name: &str) -> Option<ToolSet>;

    /// What responds to requests in place of the server.
    #[cfg(feature = "fixtures")]
    fn fixtures(&self) -> Option<Arc<crate::fixtures::ProtocolFixtures>> {
        None
    }
}

/// A client whose credential was accepted.
#[derive(Debug, Clone)]
pub struct HttpCaller {
    /// Distinguishes one from another: sessions belong to it.
    pub name: String,
    /// The workspace that it works in: a session stays in one.
    pub workspace: String,
    /// Opens the workspace on behalf of the caller.
    pub opener: Arc<dyn BackendOpener>,
}

/// Why nobody comes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotAdmitted {
    /// The credential is missing, or not known.
    Unknown(String),
    /// There is no room for the caller.
    Full(String),
    /// The workspace that the request names is not served.
    UnknownWorkspace(String),
}

/// The server behind a port.
#[derive(Clone)]
pub struct HttpFront {
    shared: Arc<FrontState>,
}

struct FrontState {
    names: ReachableNames,
    bodies: BodyRooms,
    responses: ResponseRooms,
    sessions: HttpSessions,
    seals: CallerSeals,
    config: StreamableHttpServerConfig,
    stop: CancellationToken,
}

/// A request with its body, read and let in.
struct AdmittedRequest {
    request: Request<Full<Bytes>>,
    guard: ResponseGuard,
    /// Whether it opens a session.
    opens: bool,
}

// === impl HttpFront ===

impl HttpFront {
    /// Makes a server that is reached under these names, until `stop` is cancelled.
    pub fn new(names: ReachableNames, stop: CancellationToken) -> Self {
        // Both are looked at here, where errors say more.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(LINE_BYTES_MAX)
            .with_cancellation_token(stop.clone());
        let (bodies, responses) = (BodyRooms::default(), ResponseRooms::default());
        let (sessions, seals) = (HttpSessions::default(), CallerSeals::default());
        let shared = FrontState { names, bodies, responses, sessions, seals, config, stop };
        Self { shared: Arc::new(shared) }
    }

    /// Serves one connection to its end. Where the client goes, what runs for it without a session is
    /// cancelled.
    pub async fn serve(
        &self,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        door: Arc<dyn HttpDoor>,
    ) {
        let service = service_fn(|request| {
            let (shared, door) = (Arc::clone(&self.shared), Arc::clone(&door));
            async move { Ok::<_, Infallible>(shared.respond(request, &*door).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_WAIT_MAX)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(WatchedStream::new(stream)), service);
        tokio::pin!(connection);
        let ended = tokio::select! {
            ended = &mut connection => ended,
            () = self.shared.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                match tokio::time::timeout(CLOSE_WAIT_MAX, connection).await {
                    Ok(ended) => ended,
                    Err(_) => return,
                }
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "an MCP connection ended");
        }
    }
}

impl fmt::Debug for HttpFront {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpFront").field("names", &self.shared.names).finish_non_exhaustive()
    }
}

// === impl FrontState ===

impl FrontState {
    async fn respond(&self, request: Request<Incoming>, door: &dyn HttpDoor) -> FrontResponse {
        match self.attempt(request, door).await {
            Ok(response) => response,
            Err(refusal) => refusal.response(),
        }
    }

    async fn attempt(
        &self,
        request: Request<Incoming>,
        door: &dyn HttpDoor,
    ) -> Result<FrontResponse, HttpRefusal> {
        self.names.check(request.uri(), request.headers())?;
        // Who shows no credential does not learn what there is.
        let (credential, workspace) = (bearer(request.headers()), workspace(request.headers())?);
        let caller = door.admit(credential, workspace).map_err(HttpRefusal::not_admitted)?;
        let set = tool_set(request.uri().path(), door)?;
        let (caller, workspace, opener) = (caller.name, caller.workspace, caller.opener);
        let owner = SessionOwner { caller, workspace, set: set.name().to_owned() };
        let responses = self.responses.of(&owner.caller);
        let AdmittedRequest { request, mut guard, opens } = self.admit(request, &owner).await?;
        let options = match opens {
            true => McpOptions::new(set),
            false => {
                let seal = self.seals.of(&owner.caller);
                seal.map(|seal| McpOptions::named(set, SESSIONLESS.to_owned(), seal))
            }
        };
        let options = options.map_err(HttpRefusal::broken)?;
        let server = McpServer::new(opener, options);
        #[cfg(feature = "fixtures")]
        let server = crate::fixtures::ScriptedServer::new(server, door.fixtures());
        let service = StreamableHttpService::new(
            move || Ok::<_, io::Error>(server.clone()),
            self.sessions.manager(),
            self.config.clone(),
        );
        let is_delete = request.method() == Method::DELETE;
        let mut response = service.handle(request).await;
        if is_delete && response.status() == StatusCode::ACCEPTED {
            // To some clients a session has not ended that is only about to.
            *response.status_mut() = StatusCode::NO_CONTENT;
        }
        if opens {
            self.sessions.opened(response.headers(), owner);
            guard.has_opened();
        }
        Ok(guard.around(response, responses))
    }

    /// Reads the body of a request and holds it to what rmcp leaves open.
    async fn admit(
        &self,
        request: Request<Incoming>,
        owner: &SessionOwner,
    ) -> Result<AdmittedRequest, HttpRefusal> {
        let (mut parts, body) = request.into_parts();
        let session = self.sessions.of(&parts.headers, owner)?;
        if parts.method != Method::POST {
            let request = Request::from_parts(parts, Full::default());
            return Ok(AdmittedRequest { request, guard: ResponseGuard::default(), opens: false });
        }
        let (bytes, room) = self.bodies.of(&owner.caller).read(body).await?;
        let mut guard = ResponseGuard::holding(room);
        if let Some(id) = newest::initialize(&parts.headers, &bytes) {
            return Err(HttpRefusal::initialize_is_gone(&id));
        }
        let mut message = match line::read(&bytes, &mut Lifecycle::over_http()) {
            ReadLine::Message(message) => message,
            ReadLine::Refused(response) => return Err(HttpRefusal::of_message(response)),
            ReadLine::Nothing => return Err(HttpRefusal::no_message()),
        };
        drop(bytes);
        let opens = is_initialize(&message);
        if let Some(id) = request_id(&message) {
            guard.is_for(id);
        }
        match (&session, request_id(&message)) {
            (Some(_), Some(_)) if opens => return Err(HttpRefusal::second_initialize()),
            (Some(session), Some(id)) => guard.answers(session, id)?,
            (None, Some(_)) if opens => guard.opens(self.sessions.reserve(owner).await?),
            _ => {}
        }
        // What opens a session is kept as long as that.
        if request_id(&message).is_some() && !opens {
            parts.extensions.insert(guard.hold());
        }
        // rmcp reads the message once more: the arguments of a call go past it.
        parts.extensions.extend(taken_arguments(&mut message));
        let text = serde_json::to_vec(&*message).map_err(HttpRefusal::broken)?;
        parts.headers.remove(http::header::CONTENT_LENGTH);
        let request = Request::from_parts(parts, Full::from(text));
        Ok(AdmittedRequest { request, guard, opens })
    }
}

/// The credential that a request shows.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The workspace that a request names.
fn workspace(headers: &HeaderMap) -> Result<Option<&str>, HttpRefusal> {
    let named = headers.get(WORKSPACE_HEADER).map(|root| std::str::from_utf8(root.as_bytes()));
    let not_a_path = |error: std::str::Utf8Error| {
        let message = format!(
            "{WORKSPACE_HEADER} is not UTF-8: {error}; name the workspace as `moss status` shows it, or send no such \
             header for the first one"
        );
        HttpRefusal::new(StatusCode::BAD_REQUEST, message)
    };
    named.transpose().map_err(not_a_path)
}

/// Which set a path means.
fn tool_set(path: &str, door: &dyn HttpDoor) -> Result<ToolSet, HttpRefusal> {
    let trimmed = path.strip_suffix('/').unwrap_or(path);
    let name = match trimmed.strip_prefix(PATH) {
        Some("") => return Ok(ToolSet::default()),
        Some(rest) => rest.strip_prefix('/'),
        None => None,
    };
    let set = name.and_then(|name| door.tool_set(name));
    set.ok_or_else(|| HttpRefusal::unknown_path(path))
}

fn request_id(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(&request.id),
        _ => None,
    }
}

fn is_initialize(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    matches!(request.request, ClientRequest::InitializeRequest(_))
}

fn taken_arguments(message: &mut ClientJsonRpcMessage) -> http::Extensions {
    let mut extensions = http::Extensions::new();
    if let JsonRpcMessage::Request(request) = message
        && let ClientRequest::CallToolRequest(call) = &mut request.request
        && let Some(arguments) = call.extensions.remove::<ArgumentsText>()
    {
        extensions.insert(arguments);
    }
    extensions
}

#[cfg(test)]
mod tests;
