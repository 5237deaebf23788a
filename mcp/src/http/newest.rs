//! What the newest revision has no more, which rmcp takes for a request of an older one.

use std::borrow::Cow;

use http::HeaderMap;
use rmcp::model::ProtocolVersion;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::line::ID_BYTES_MAX;

/// The header that names the revision of a request.
const REVISION_HEADER: &str = "MCP-Protocol-Version";

/// The parts of a message that say what it is.
#[derive(serde::Deserialize)]
struct MessageHead<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
    /// As it came: it may be anything, and long.
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
}

/// The id of a request that begins a session in the revision without sessions.
pub(super) fn initialize(headers: &HeaderMap, body: &[u8]) -> Option<Value> {
    let revision = headers.get(REVISION_HEADER)?.to_str().ok()?;
    if revision != ProtocolVersion::V_2026_07_28.as_str() {
        return None;
    }
    let head: MessageHead<'_> = serde_json::from_slice(body).ok()?;
    let id =
        head.id.filter(|id| head.method == "initialize" && id.get().len() <= 2 * ID_BYTES_MAX)?;
    serde_json::from_str(id.get()).ok().filter(|id: &Value| id.is_string() || id.is_number())
}
