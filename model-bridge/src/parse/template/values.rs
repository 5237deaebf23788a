//! Values of arguments that are written as they are: what each is, the schema of the tool says.

use serde_json::{Map, Value};

use super::super::mend::{self, Keys};
use crate::event::Change;
use crate::registry::Tool;

/// Words for no value.
const NULLS: &[(&str, bool)] = &[("null", true), ("None", false)];

/// Makes arguments of keys and values. Returns what was changed to read them, too; fails where a key
/// is there twice, or JSON is none.
pub(super) fn arguments<'t>(
    tool: &Tool,
    entries: impl Iterator<Item = (&'t str, &'t str)>,
) -> Result<(Map<String, Value>, Vec<Change>), String> {
    let mut arguments = Map::new();
    let mut changes = Vec::new();
    for (key, text) in entries {
        let Some(value) = value(tool, key, text, &mut changes) else {
            return Err(format!("{}: the value of `{key}` is no JSON", tool.name()));
        };
        if arguments.insert(key.to_owned(), value).is_some() {
            return Err(format!("{}: `{key}` is there twice", tool.name()));
        }
    }
    changes.sort_unstable();
    changes.dedup();
    Ok((arguments, changes))
}

fn value(tool: &Tool, key: &str, text: &str, changes: &mut Vec<Change>) -> Option<Value> {
    let text = own_lines(text);
    let types = tool.parameter(key).and_then(|parameter| tool.types_of(parameter));
    // What may be anything is the text that it is.
    let Some(types) = types.filter(|types| !types.allow_all()) else {
        return Some(Value::from(text));
    };
    let plain = text.trim();
    let is_string_only = types.allows_string() && !types.allows_null();
    let null = NULLS.iter().find(|(word, _)| *word == plain);
    if let Some((_, is_json)) = null.filter(|_| !is_string_only) {
        if !is_json {
            changes.push(Change::Literal);
        }
        return Some(Value::Null);
    }
    if !plain.starts_with(['{', '[']) || !(types.allows_array() || types.allows_object()) {
        return Some(Value::from(text));
    }
    if types.allows_string() {
        // A text that happens to be JSON of another type that is allowed.
        let value: Option<Value> = serde_json::from_str(plain).ok();
        return value.filter(|value| types.allow(value)).or_else(|| Some(Value::from(text)));
    }
    let mut mended = mend::values(plain, false, Keys::default())?;
    let is_whole = mended.values.len() == 1 && !mended.changes.contains(&Change::SurroundingText);
    changes.append(&mut mended.changes);
    is_whole.then(|| mended.values.remove(0))
}

/// Leaves out the line ends that belong to the tags: a value that begins on a line of its own ends on
/// one.
fn own_lines(text: &str) -> &str {
    let inner = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n'));
    let Some(inner) = inner else { return text };
    inner.strip_suffix("\r\n").or_else(|| inner.strip_suffix('\n')).unwrap_or(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_may_be_text_and_more_are_what_they_say() {
        let schema = serde_json::json!([{ "name": "t", "parameters": { "properties": {
            "maybe": { "type": ["string", "null"] },
            "either": { "anyOf": [{ "type": "object" }, { "type": "string" }] },
            "text": { "type": "string" },
            "any": {},
        } } }]);
        let registry = crate::registry::Registry::from_json(&schema.to_string()).unwrap();
        let tool = registry.tool("t").unwrap();
        for (key, text, expected) in [
            ("maybe", "None", Value::Null),
            ("maybe", "null", Value::Null),
            ("maybe", "nothing", "nothing".into()),
            ("either", "{\"a\":1}", serde_json::json!({ "a": 1 })),
            ("either", "{a", "{a".into()),
            ("either", "null", "null".into()),
            ("text", "null", "null".into()),
            ("text", "{\"a\":1}", "{\"a\":1}".into()),
            ("any", "{\"a\":1}", "{\"a\":1}".into()),
            ("any", "null", "null".into()),
        ] {
            let read = value(tool, key, text, &mut Vec::new());
            assert_eq!(read, Some(expected), "{key}: {text}");
        }
    }

    #[test]
    fn lines_of_tags_are_no_part_of_a_value() {
        for (text, expected) in [
            ("\na\n", "a"),
            ("\r\na\r\n", "a"),
            ("\n\na\n\n", "\na\n"),
            ("a\n", "a\n"),
            (" a ", " a "),
            ("\n", ""),
            ("", ""),
        ] {
            assert_eq!(own_lines(text), expected, "{text:?}");
        }
    }
}
