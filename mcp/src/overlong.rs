//! A message that is longer than one may be: which request it was, and the response to it. Of its bytes
//! the first and the last ones are left.

use std::fmt;

use rmcp::model::{ErrorCode, RequestId};
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::json;

use crate::line::ID_BYTES_MAX;

/// How many of the first bytes are kept.
pub(crate) const HEAD_BYTES: usize = 4 * 1024;
/// How many of the last bytes are kept: clients that write the id last write little behind it.
pub(crate) const TAIL_BYTES: usize = 2 * ID_BYTES_MAX;

/// What the first bytes of a message show of it.
#[derive(Debug, Default)]
struct SeenMembers {
    id: Option<RequestId>,
    has_method: bool,
}

/// Writes the response, with the id of the request where its first or its last bytes have it.
pub(crate) fn response(bytes_max: usize, head: &[u8], tail: &[u8]) -> String {
    let message = format!(
        "the message is longer than {bytes_max} bytes and was dropped: send less at once, for \
         example a part of the text"
    );
    let error = json!({ "code": ErrorCode::INVALID_REQUEST, "message": message });
    json!({ "jsonrpc": "2.0", "id": request_id(head, tail), "error": error }).to_string()
}

fn request_id(head: &[u8], tail: &[u8]) -> Option<RequestId> {
    let head = &head[..head.len().min(HEAD_BYTES)];
    let mut seen = SeenMembers::default();
    // That it ends too early is no news.
    let _ = serde_json::Deserializer::from_slice(head).deserialize_map(&mut seen);
    // Clients count their requests by themselves: the id of a response is not one of theirs.
    let id = seen.id.or_else(|| last_id(tail)).filter(|_| seen.has_method);
    id.filter(|id| !matches!(id, RequestId::String(text) if text.len() > ID_BYTES_MAX))
}

/// The id that is the last member of a message. Within a text its quotes would have a backslash before them,
/// and the object that ends last is the message itself.
fn last_id(tail: &[u8]) -> Option<RequestId> {
    let end = tail.trim_ascii().strip_suffix(b"}")?;
    let key = b"\"id\"";
    let at = end.windows(key.len()).rposition(|part| part == key)?;
    let is_key = end[..at].trim_ascii_end().ends_with(b",");
    let value = end[at + key.len()..].trim_ascii_start().strip_prefix(b":")?;
    serde_json::from_slice(value).ok().filter(|_| is_key)
}

// === impl SeenMembers ===

impl<'de> Visitor<'de> for &mut SeenMembers {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "id" => self.id = Some(map.next_value()?),
                name => {
                    self.has_method |= name == "method";
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(message: &str) -> Option<RequestId> {
        let bytes = message.as_bytes();
        request_id(bytes, &bytes[bytes.len().saturating_sub(TAIL_BYTES)..])
    }

    #[test]
    fn the_id_is_found_where_clients_write_it() {
        let long = "x\\\",\\\"id\\\":9}".repeat(HEAD_BYTES);
        let params = format!(r#""method":"tools/call","params":{{"id":8,"a":"{long}"}}"#);
        let text = || Some(RequestId::String("a".into()));
        for (message, expected) in [
            (format!(r#"{{"jsonrpc":"2.0","id":7,{params}}}"#), Some(RequestId::Number(7))),
            (format!(r#"{{"id":"a",{params},"jsonrpc":"2.0"}}"#), text()),
            (format!(r#"{{{params},"jsonrpc":"2.0","id":7}}"#), Some(RequestId::Number(7))),
            (format!("{{{params}, \"id\" : \"a\" }}\r\n"), text()),
            // Somewhere in between, of something else, or of no request.
            (format!(r#"{{{params},"id":7,"jsonrpc":"2.0"}}"#), None),
            (format!(r#"{{{params},"_meta":{{"a":1,"id":7}}}}"#), None),
            (format!(r#"{{"id":7,"result":"{long}"}}"#), None),
            (format!(r#"{{"result":"{long}","id":7}}"#), None),
            (format!(r#"{{"id":{{}},{params}}}"#), None),
            (format!(r#"{{"id":"{}",{params}}}"#, "x".repeat(ID_BYTES_MAX + 1)), None),
            (format!("[{long}"), None),
            (long.clone(), None),
            (String::new(), None),
        ] {
            assert_eq!(id(&message), expected, "{message:.80}");
        }
    }
}
