//! Why a request is not taken, as a client of the protocol and a person read it.

use std::fmt::Display;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use moss_sdk::deceptive::is_deceptive;
use rmcp::model::ErrorCode;
use serde_json::{Value, json};

use super::{FrontResponse, NotAdmitted};

/// Longest part of what a client sent that a message repeats, in characters.
const SHOWN_CHARS_MAX: usize = 100;

/// Why a request is not taken.
#[derive(Debug)]
pub(super) struct HttpRefusal {
    status: StatusCode,
    /// The response as the protocol has it.
    body: String,
}

// === impl HttpRefusal ===

impl HttpRefusal {
    pub(super) fn new(status: StatusCode, message: impl Display) -> Self {
        let code = match status {
            StatusCode::INTERNAL_SERVER_ERROR => ErrorCode::INTERNAL_ERROR,
            _ => ErrorCode::INVALID_REQUEST,
        };
        let error = json!({ "code": code, "message": message.to_string() });
        let body = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
        Self { status, body }
    }

    /// Something of ours did not work.
    pub(super) fn broken(error: impl Display) -> Self {
        tracing::error!(%error, "an MCP request broke");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error: the log of moss says more")
    }

    pub(super) fn not_admitted(why: NotAdmitted) -> Self {
        match why {
            NotAdmitted::Unknown(message) => Self::new(StatusCode::UNAUTHORIZED, message),
            NotAdmitted::Full(message) => Self::new(StatusCode::SERVICE_UNAVAILABLE, message),
            // Not 404, which clients take for a session that has ended.
            NotAdmitted::UnknownWorkspace(message) => Self::new(StatusCode::BAD_REQUEST, message),
        }
    }

    /// The host is none of ours: a page may have had its own name lead here.
    pub(super) fn foreign_host(host: &str) -> Self {
        let host = shown(host);
        let message = format!(
            "this server is not `{host}`: use the address that it listens on, or name `{host}` with \
             --mcp-host where it starts"
        );
        Self::new(StatusCode::FORBIDDEN, message)
    }

    pub(super) fn foreign_origin(origin: &str) -> Self {
        let origin = shown(origin);
        let message = format!(
            "`{origin}` may not use this server, which serves no pages of browsers: of a program that sends \
             an origin, name its host with --mcp-host where moss starts"
        );
        Self::new(StatusCode::FORBIDDEN, message)
    }

    pub(super) fn unknown_path(path: &str) -> Self {
        let path = shown(path);
        let message = format!(
            "there is nothing at `{path}`: tools are at /mcp, those of a set at /mcp/SET with the name \
             of a set (default, read-only, all, or one of [tool_sets] in config.toml)"
        );
        Self::new(StatusCode::NOT_FOUND, message)
    }

    pub(super) fn unknown_session() -> Self {
        let message = "there is no such session, or not any more: send `initialize` without \
                       Mcp-Session-Id to begin one";
        Self::new(StatusCode::NOT_FOUND, message)
    }

    pub(super) fn second_initialize() -> Self {
        let message = "the session is initialized already: send `initialize` without Mcp-Session-Id \
                       to begin another one";
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// The newest revision has no sessions to begin.
    pub(super) fn initialize_is_gone(id: &Value) -> Self {
        let message = "initialize is no part of revision 2026-07-28: send server/discover, or name an \
                       older revision in MCP-Protocol-Version";
        let error = json!({ "code": ErrorCode::METHOD_NOT_FOUND, "message": message });
        let body = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
        Self { status: StatusCode::NOT_FOUND, body }
    }

    pub(super) fn no_message() -> Self {
        let message =
            "the body is empty, or no message that is responded to: send one message of JSON-RPC";
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// A message that is refused with an error of the protocol.
    pub(super) fn of_message(body: String) -> Self {
        Self { status: StatusCode::BAD_REQUEST, body }
    }

    /// A message that is too long, with its error of the protocol.
    pub(super) fn too_large(body: String) -> Self {
        Self { status: StatusCode::PAYLOAD_TOO_LARGE, body }
    }

    /// Makes the response; one of 401 says in `WWW-Authenticate` what is missing.
    pub(super) fn response(self) -> FrontResponse {
        let mut response = Response::new(Full::new(Bytes::from(self.body)).boxed());
        *response.status_mut() = self.status;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        if self.status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer realm=\"moss\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, bearer);
        }
        response
    }
}

/// What a client sent, short and without what a terminal would obey.
fn shown(text: &str) -> String {
    let plain = text.chars().map(|c| if is_deceptive(c) { '\u{fffd}' } else { c });
    plain.take(SHOWN_CHARS_MAX).collect()
}
