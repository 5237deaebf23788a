//! How large a request may be, and the check of it before anything else looks inside.

use serde_json::Value;

use super::error::{RequestCode, RequestError};
use super::path::Path;

/// How deep the arrays and objects of a body may be nested: what readers of JSON allow by default.
pub(super) const DEPTH_MAX: usize = 128;
/// How many values a body may have, those inside of others counted too.
pub(super) const VALUES_MAX: usize = 2_000_000;
/// How many bytes all strings and keys of a body may have together.
pub(super) const TEXT_BYTES_MAX: usize = 64 << 20;
/// How many messages, or items of `input`, a request may have.
pub(super) const MESSAGES_MAX: usize = 10_000;
/// How many tools a request may have.
pub(super) const TOOLS_MAX: usize = 512;
/// How many bytes the name of a tool may have.
pub(super) const NAME_BYTES_MAX: usize = 256;
/// How many bytes the id of a call may have.
pub(super) const ID_BYTES_MAX: usize = 512;
/// How many texts may end a reply.
pub(super) const STOPS_MAX: usize = 64;

/// Refuses a body that is too large, without recursion.
pub(super) fn check(body: &Value) -> Result<(), RequestError> {
    let too_large = |what: String| {
        let rest = format!("{what}: shorten the conversation, or split it");
        Err(RequestError::at(RequestCode::TooLarge, &Path::Root, rest))
    };
    let (mut values, mut bytes) = (1, 0);
    let mut open = vec![(body, 0)];
    while let Some((value, depth)) = open.pop() {
        if depth > DEPTH_MAX {
            return too_large(format!("is nested deeper than {DEPTH_MAX}"));
        }
        let (inside, text) = match value {
            Value::String(text) => (0, text.len()),
            Value::Array(items) => (items.len(), 0),
            Value::Object(fields) => (fields.len(), fields.keys().map(String::len).sum()),
            _ => (0, 0),
        };
        values += inside;
        bytes += text;
        if values > VALUES_MAX {
            return too_large(format!("has more than {VALUES_MAX} values"));
        }
        if bytes > TEXT_BYTES_MAX {
            return too_large(format!("has more than {TEXT_BYTES_MAX} bytes of text"));
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => {
                open.extend(fields.values().map(|field| (field, depth + 1)));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Refuses a list that is too long.
pub(super) fn check_count(
    count: usize,
    max: usize,
    path: &Path<'_>,
    what: &str,
) -> Result<(), RequestError> {
    if count <= max {
        return Ok(());
    }
    let rest = format!("has {count} {what}; {max} are allowed");
    Err(RequestError::at(RequestCode::TooLarge, path, rest))
}
