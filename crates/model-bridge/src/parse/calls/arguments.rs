//! Arguments out of what stands where they belong: models also write their JSON as text, or one bare value.

use moss_schema::json::JsonFault;
use serde_json::{Map, Value};

use super::super::repair::{self, KnownKeys};
use crate::diagnostic::RepairKind;
use crate::registry::RegisteredTool;

/// How many levels of JSON inside of strings are taken out where an object belongs.
const NESTED_JSON_MAX: usize = 2;

/// Why what stands where arguments belong is none of them.
pub(in super::super) enum NotArguments {
    /// It is a bare value.
    Bare(Value),
    /// It is the JSON text of an object that has this key twice.
    Twice(String),
}

/// Takes arguments out of what stands where they belong: an object, nothing, or JSON in strings.
pub(in super::super) fn arguments(
    value: Option<Value>,
    keys: KnownKeys<'_>,
) -> Result<Map<String, Value>, NotArguments> {
    let bare = match value {
        None => return Ok(Map::new()),
        Some(Value::Object(fields)) => return Ok(fields),
        Some(bare) => bare,
    };
    let mut inner = None;
    for level in 0..=NESTED_JSON_MAX {
        inner = match inner.as_ref().unwrap_or(&bare) {
            Value::Null => return Ok(Map::new()),
            Value::String(text) if matches!(text.trim(), "" | "null") => return Ok(Map::new()),
            Value::String(text) if level < NESTED_JSON_MAX => nested(text, keys)?,
            _ => None,
        };
        match inner {
            Some(Value::Object(fields)) => return Ok(fields),
            Some(_) => {}
            None => break,
        }
    }
    Err(NotArguments::Bare(bare))
}

fn nested(text: &str, keys: KnownKeys<'_>) -> Result<Option<Value>, NotArguments> {
    let text = text.trim();
    if text.starts_with('"') {
        return Ok(serde_json::from_str(text).ok());
    }
    if !text.starts_with('{') {
        return Ok(None);
    }
    let mut repaired = match repair::values(text, false, keys) {
        Ok(repaired) => repaired,
        Err(JsonFault::Malformed) => return Ok(None),
        Err(JsonFault::Twice(key)) => return Err(NotArguments::Twice(key)),
    };
    // Words of a shell may begin with a brace.
    let is_whole =
        !repaired.changes.contains(&RepairKind::SurroundingText) && repaired.values.len() == 1;
    Ok(is_whole.then(|| repaired.values.remove(0)))
}

/// Makes arguments of a bare value where only one can be meant.
pub(in super::super) fn scalar(
    tool: &RegisteredTool,
    value: Value,
) -> Result<(&str, Map<String, Value>), String> {
    match tool.only_required_string() {
        Some(parameter) if !value.is_array() && !is_broken_json(&value) => {
            Ok((parameter, Map::from_iter([(parameter.to_owned(), value)])))
        }
        _ => Err(format!("{}: the arguments are not an object", tool.name())),
    }
}

/// Whether a string is JSON that does not parse: it was meant as the arguments themselves.
fn is_broken_json(value: &Value) -> bool {
    let Some(text) = value.as_str() else { return false };
    let inner = text.trim_start().strip_prefix(['{', '[']).map(str::trim_start);
    inner.is_some_and(|inner| inner.starts_with(|c| repair::is_quote(c) || "{[]}".contains(c)))
}
