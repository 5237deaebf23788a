//! One line of a connection: a message of the protocol, or why it is not one.
//!
//! rmcp drops what it cannot read, takes the last of two equal keys and ends the connection where the
//! first message is not the expected one. Here each such line gets an error that says what is wrong,
//! and the arguments of a call stay the text that came: the daemon alone reads them, strictly.

use std::borrow::Cow;

use rmcp::model::{
    CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, Extensions,
    InitializeRequestParams, JsonRpcMessage, ProtocolVersion, RequestId, RequestMetaObject,
};
use serde::de::{Deserialize, Deserializer};
use serde_json::json;
use serde_json::value::RawValue;

use moss_sdk::deceptive::quoted;

use crate::in_flight::InFlight;
use crate::param_members::ParamMembers;
use crate::revisions::REVISIONS;

/// Longest id that is a text, in bytes.
pub(crate) const ID_BYTES_MAX: usize = 256;
/// Longest message without the arguments of its call, in bytes. What rmcp makes of one takes many times its length, and
/// nothing of the protocol is nearly as long.
const MESSAGE_BYTES_MAX: usize = 256 * 1024;
/// What names the revision of a request that belongs to no session.
const REVISION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// Requests that may come before anything is agreed on.
const PROBES: [&str; 2] = ["ping", "server/discover"];

/// The arguments of a call as they came, handed past rmcp.
#[derive(Debug, Clone)]
pub(crate) struct ArgumentsText(pub(crate) String);

/// What a line is.
#[derive(Debug)]
pub(crate) enum ReadLine {
    /// A message for rmcp.
    Message(Box<ClientJsonRpcMessage>),
    /// No message: the response to write.
    Refused(String),
    /// Nothing that needs a response.
    Nothing,
}

/// What a connection has agreed on so far.
#[derive(Debug, Default)]
pub(crate) struct Lifecycle {
    in_flight: InFlight,
    is_initialized: bool,
    /// Whether a request was taken that is more than a probe: before it rmcp takes no notifications.
    has_begun: bool,
    /// Whether somebody else knows which session a message belongs to.
    is_known_elsewhere: bool,
}

/// Which revision a request names for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Revision {
    /// None: it belongs to a session.
    Unnamed,
    /// One that is not spoken here, or without all that goes with it.
    Incomplete,
    /// One that is spoken here: the request stands by itself.
    Complete,
}

/// Why a line is refused.
struct Refusal {
    id: Option<RequestId>,
    code: ErrorCode,
    message: String,
}

/// The members of a message, each as its text.
#[derive(serde::Deserialize)]
#[serde(expecting = "an object")]
struct MessageParts<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Takes `null` for a value that is there.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Decides what becomes of a line of a client, without the byte-order mark before it.
pub(crate) fn read(line: &[u8], lifecycle: &mut Lifecycle) -> ReadLine {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return ReadLine::Nothing;
    }
    message(line, lifecycle).unwrap_or_else(|refusal| ReadLine::Refused(refusal.response()))
}

fn message(line: &[u8], lifecycle: &mut Lifecycle) -> Result<ReadLine, Refusal> {
    let text = std::str::from_utf8(line).map_err(|error| {
        let message = format!(
            "the message is not UTF-8 at byte {}: write it in UTF-8, or with escapes (`\\u00e4`)",
            error.valid_up_to()
        );
        Refusal::new(ErrorCode::PARSE_ERROR, message)
    })?;
    if text.starts_with('[') {
        let place = if lifecycle.is_known_elsewhere { "in a request" } else { "on a line" };
        let message = format!(
            "batches are no part of the protocol since 2025-06-18: send each message by itself, \
             {place} of its own"
        );
        return Err(Refusal::new(ErrorCode::INVALID_REQUEST, message));
    }
    let parts: MessageParts<'_> = serde_json::from_str(text).map_err(|error| no_message(&error))?;
    let params = parts.params.map(|raw| serde_json::from_str::<ParamMembers<'_>>(raw.get()));
    if let Some(message) = too_long(text, parts.method.as_deref(), params.as_ref()) {
        return unread(&parts, message);
    }
    let id = parts.id.map(id).transpose()?;
    let refuse = |code, message: String| Refusal { id: id.clone(), code, message };
    if parts.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
        let message = "`jsonrpc` must be \"2.0\"".to_owned();
        return Err(refuse(ErrorCode::INVALID_REQUEST, message));
    }
    let Some(method) = parts.method.as_deref() else {
        if parts.result.is_none() && parts.error.is_none() {
            let message = "a message needs a `method`, a `result` or an `error`".to_owned();
            return Err(refuse(ErrorCode::INVALID_REQUEST, message));
        }
        if !lifecycle.has_begun {
            return Ok(ReadLine::Nothing);
        }
        // A response that nobody can read is one that never came: its request runs out of time.
        return Ok(serde_json::from_str(text).map_or(ReadLine::Nothing, ReadLine::message));
    };
    let params = params
        .transpose()
        .map_err(|error| refuse(ErrorCode::INVALID_PARAMS, unreadable(method, &error)))?
        .unwrap_or_default();
    let Some(id) = &id else { return Ok(notification(text, method, &params, lifecycle)) };
    let revision = Revision::of(&params);
    if let Err(message) = lifecycle.admit(method, revision) {
        return Err(refuse(ErrorCode::INVALID_REQUEST, message));
    }
    let read = match method {
        "initialize" => initialize(text, parts.params).inspect(|_| lifecycle.is_initialized = true),
        "tools/call" => tools_call(id, &params),
        // To rmcp a cursor that is no text is absent.
        list if list.ends_with("/list") && !params.has_text_or_nothing("cursor") => Err(format!(
            "`params` of {}: `cursor` must be a text, the `nextCursor` of the page before",
            quoted(list)
        )),
        _ => serde_json::from_str(text).map_err(|error| unreadable(method, &error)),
    };
    let read = read.map_err(|message| refuse(ErrorCode::INVALID_PARAMS, message))?;
    let taken = lifecycle.in_flight.take(id);
    taken.map_err(|why| refuse(ErrorCode::INVALID_REQUEST, why.message(id)))?;
    let begins = method == "initialize" || revision == Revision::Complete;
    lifecycle.has_begun |= begins && !PROBES.contains(&method);
    Ok(ReadLine::message(read))
}

/// Says why a text is no message.
fn no_message(error: &serde_json::Error) -> Refusal {
    if !error.is_data() {
        let message = format!("the message is not JSON: {error}; send one whole message");
        return Refusal::new(ErrorCode::PARSE_ERROR, message);
    }
    // It may repeat what came, which may be long.
    let message = format!(
        "not a JSON-RPC message: {}; a request is an object with `jsonrpc`, `id`, `method` and `params`",
        quoted(&error.to_string())
    );
    Refusal::new(ErrorCode::INVALID_REQUEST, message)
}

/// What becomes of a message that is not read: a response is one that never came.
fn unread(parts: &MessageParts<'_>, message: String) -> Result<ReadLine, Refusal> {
    if parts.method.is_none() {
        return Ok(ReadLine::Nothing);
    }
    let short = parts.id.filter(|raw| raw.get().len() <= 2 * ID_BYTES_MAX);
    let id = short.and_then(|raw| id(raw).ok());
    Err(Refusal { id, code: ErrorCode::INVALID_REQUEST, message })
}

/// Says so where a message is too long without the arguments of its call, before more of it is read.
fn too_long(
    text: &str,
    method: Option<&str>,
    params: Option<&serde_json::Result<ParamMembers<'_>>>,
) -> Option<String> {
    let arguments = match params {
        Some(Ok(params)) if method == Some("tools/call") => params.get("arguments"),
        _ => None,
    };
    let bytes = text.len() - arguments.map_or(0, |raw| raw.get().len());
    (bytes > MESSAGE_BYTES_MAX).then(|| {
        format!(
            "the message has {bytes} bytes beside the `arguments` of a call: {MESSAGE_BYTES_MAX} \
             are the most, so send less in its other members"
        )
    })
}

fn id(raw: &RawValue) -> Result<RequestId, Refusal> {
    let id = serde_json::from_str::<RequestId>(raw.get()).ok();
    id.filter(|id| !matches!(id, RequestId::String(text) if text.len() > ID_BYTES_MAX)).ok_or_else(
        || {
            let message =
                format!(
                "`id` must be a whole number of at most {}, or a text of at most {ID_BYTES_MAX} bytes",
                i64::MAX
            );
            Refusal::new(ErrorCode::INVALID_REQUEST, message)
        },
    )
}

fn notification(
    text: &str,
    method: &str,
    params: &ParamMembers<'_>,
    lifecycle: &Lifecycle,
) -> ReadLine {
    if method == "notifications/cancelled"
        && let Some(Ok(id)) = params.get("requestId").map(|raw| serde_json::from_str(raw.get()))
    {
        lifecycle.in_flight.forget(&id);
    }
    // The first thing that rmcp hears of must be a request.
    if !lifecycle.has_begun {
        return ReadLine::Nothing;
    }
    serde_json::from_str(text).map_or(ReadLine::Nothing, ReadLine::message)
}

/// Reads what begins a session. A request that rmcp cannot read would be none of its own to it.
fn initialize(text: &str, params: Option<&RawValue>) -> Result<ClientJsonRpcMessage, String> {
    let raw = params.map_or("{}", RawValue::get);
    serde_json::from_str::<InitializeRequestParams>(raw)
        .and_then(|_| serde_json::from_str(text))
        .map_err(|error| unreadable("initialize", &error))
}

/// Reads a call; its arguments stay text.
fn tools_call(id: &RequestId, params: &ParamMembers<'_>) -> Result<ClientJsonRpcMessage, String> {
    let is_text = |raw: &RawValue| raw.get().starts_with('"');
    if !params.get("name").is_some_and(is_text) {
        return Err(
            "`params` of tools/call: `name` must be the name of a tool, as tools/list has it"
                .to_owned(),
        );
    }
    let arguments = match params.get("arguments").map(RawValue::get) {
        None | Some("null") => "{}",
        Some(text) => text,
    };
    let others = params.iter().filter(|(key, _)| *key != "arguments");
    let others: Vec<String> =
        others.map(|(key, raw)| format!("{}:{}", json!(key), raw.get())).collect();
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{{}}}}}"#,
        json!(id),
        others.join(",")
    );
    let mut message = serde_json::from_str(&text).map_err(|e| unreadable("tools/call", &e))?;
    if let JsonRpcMessage::Request(request) = &mut message
        && let ClientRequest::CallToolRequest(call) = &mut request.request
    {
        call.extensions.insert(ArgumentsText(arguments.to_owned()));
        return Ok(message);
    }
    Err("`params` of tools/call: `_meta`, `inputResponses` and `requestState` must be as the \
         protocol has them"
        .to_owned())
}

fn unreadable(method: &str, error: &serde_json::Error) -> String {
    // Texts of a client may look like others, and be long.
    format!("`params` of {}: {}", quoted(method), quoted(&error.to_string()))
}

/// The arguments of a call as they came.
///
/// # Errors
///
/// Where they cannot be written, which is a defect.
pub(crate) fn arguments_json(
    request: &CallToolRequestParams,
    extensions: &Extensions,
) -> Result<String, ErrorData> {
    // Over HTTP they come with the head of the request.
    let of_head = || extensions.get::<http::request::Parts>()?.extensions.get::<ArgumentsText>();
    match extensions.get::<ArgumentsText>().or_else(of_head) {
        Some(text) => Ok(text.0.clone()),
        None => serde_json::to_string(&request.arguments.clone().unwrap_or_default())
            .map_err(|error| ErrorData::internal_error(error.to_string(), None)),
    }
}

// === impl ReadLine ===

impl ReadLine {
    fn message(message: ClientJsonRpcMessage) -> Self {
        Self::Message(Box::new(message))
    }
}

// === impl Revision ===

impl Revision {
    fn of(params: &ParamMembers<'_>) -> Self {
        let meta = params.get("_meta").map(|raw| serde_json::from_str(raw.get()));
        let Some(Ok(meta)) = meta else { return Self::Unnamed };
        let meta: RequestMetaObject = meta;
        match meta.protocol_version() {
            None => Self::Unnamed,
            Some(version) if !REVISIONS.contains(&version) => Self::Incomplete,
            Some(_) if meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty() => {
                Self::Complete
            }
            Some(_) => Self::Incomplete,
        }
    }
}

// === impl Lifecycle ===

impl Lifecycle {
    /// What a message over HTTP comes with: its headers say what it belongs to.
    pub(crate) fn over_http() -> Self {
        Self { has_begun: true, is_known_elsewhere: true, ..Self::default() }
    }

    /// The requests that wait for a response.
    pub(crate) fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    /// Says why a request comes at the wrong time, if it does.
    fn admit(&self, method: &str, revision: Revision) -> Result<(), String> {
        match method {
            _ if self.is_known_elsewhere => Ok(()),
            "initialize" if self.is_initialized => {
                Err("this connection is initialized already, and is one session: use it, or start another \
                     `moss mcp`"
                    .to_owned())
            }
            "initialize" if self.has_begun => Err(format!(
                "this connection has begun without a session, with {REVISION_KEY}: start another \
                 one to initialize it"
            )),
            "initialize" => Ok(()),
            _ if PROBES.contains(&method) => Ok(()),
            _ if self.is_initialized || revision != Revision::Unnamed => Ok(()),
            _ => Err(format!(
                "{} comes before `initialize`: send that first, or name the revision in \
                 _meta[\"{REVISION_KEY}\"] of each request",
                quoted(method)
            )),
        }
    }
}

// === impl Refusal ===

impl Refusal {
    fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { id: None, code, message: message.into() }
    }

    fn response(&self) -> String {
        let error = json!({ "code": self.code, "message": self.message });
        json!({ "jsonrpc": "2.0", "id": self.id, "error": error }).to_string()
    }
}
