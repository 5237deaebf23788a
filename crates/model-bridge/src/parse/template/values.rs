//! Values of arguments that are written as they are: what each is, the schema of the tool says.

mod doubt;

use moss_schema::json;
use serde_json::{Map, Value};

use super::super::calls::Inside;
use super::super::repair::{self, KnownKeys};
use super::ParameterForm;
use crate::diagnostic::{DiagnosticCode, RepairKind, ReplyDiagnostic};
use crate::registry::RegisteredTool;

/// Words for no value.
const NULLS: &[(&str, bool)] = &[("null", true), ("None", false)];

/// Entities of XML, and what they mean.
const ENTITIES: &[(&str, char)] =
    &[("lt", '<'), ("gt", '>'), ("amp", '&'), ("quot", '"'), ("apos", '\'')];
/// The most bytes between the signs of an entity.
const ENTITY_BYTES_MAX: usize = 8;

/// An argument as it was written.
pub(super) struct Argument<'t> {
    pub(super) key: &'t str,
    pub(super) text: &'t str,
    /// Whether its tag says that it is text, or that it is JSON.
    pub(super) is_string: Option<bool>,
}

/// How a form writes values.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Manner {
    /// Whether what means something to XML is written as an entity.
    pub(super) has_entities: bool,
    /// Whether a line end before the end tag belongs to it, whatever begins the value.
    pub(super) has_own_lines: bool,
}

/// Arguments, and how they were read.
#[derive(Debug, Default)]
pub(super) struct TemplateArguments {
    pub(super) map: Map<String, Value>,
    /// What was changed to read them.
    pub(super) changes: Vec<RepairKind>,
    /// Which of them may be meant otherwise.
    pub(super) doubts: Vec<ReplyDiagnostic>,
}

/// Makes arguments of keys and values. Fails where a key is there twice, or JSON is not valid.
pub(super) fn arguments<'t>(
    tool: &RegisteredTool,
    written: impl Iterator<Item = Argument<'t>>,
    manner: Manner,
) -> Result<TemplateArguments, String> {
    let TemplateArguments { mut map, mut changes, mut doubts } = TemplateArguments::default();
    for mut argument in written {
        let key = argument.key;
        if manner.has_own_lines {
            argument.text = without_last_line_end(argument.text);
        }
        let section = manner.has_entities.then(|| section(argument.text)).flatten();
        let is_plain = !manner.has_entities || section.is_some();
        argument.text = section.unwrap_or(argument.text);
        let decoded = if is_plain { None } else { without_entities(argument.text) };
        if let Some(decoded) = &decoded {
            changes.push(RepairKind::Entities);
            argument.text = decoded;
        }
        if argument.is_string == Some(true) && !may_be_text(tool, key) {
            changes.push(RepairKind::Coerced);
        }
        let Some(value) = value(tool, &argument, &mut changes) else {
            return Err(format!("{}: the value of `{key}` is no JSON", tool.name()));
        };
        if let Value::String(text) = &value
            && let Some(why) = doubt::of(tool, &argument, text, !manner.has_entities)
        {
            let message =
                format!("{}: `{key}` {why}; it is passed on as it is written", tool.name());
            doubts.push(ReplyDiagnostic::new(DiagnosticCode::AmbiguousValue, message));
        }
        if map.insert(key.to_owned(), value).is_some() {
            return Err(format!("{}: `{key}` is there twice", tool.name()));
        }
    }
    changes.sort_unstable();
    changes.dedup();
    Ok(TemplateArguments { map, changes, doubts })
}

// === impl TemplateArguments ===

impl TemplateArguments {
    /// Adds the call of a tool with these arguments to what stands inside of its frame.
    pub(super) fn into_call(self, tool: &RegisteredTool, mut inside: Inside) -> Inside {
        inside.note_changes(self.changes);
        inside.diagnostics.extend(self.doubts);
        inside.fit(tool, self.map, None);
        inside
    }
}

// === impl Manner ===

impl Manner {
    /// That of a form with such parameters.
    pub(super) fn of(parameters: &ParameterForm) -> Self {
        let ParameterForm { has_entities, has_own_lines, .. } = *parameters;
        Self { has_entities, has_own_lines }
    }
}

/// Whether the schema of a parameter takes text.
fn may_be_text(tool: &RegisteredTool, key: &str) -> bool {
    let types = tool.parameter(key).and_then(|parameter| tool.types_of(parameter));
    types.is_none_or(|types| types.allows_string())
}

fn value(
    tool: &RegisteredTool,
    argument: &Argument<'_>,
    changes: &mut Vec<RepairKind>,
) -> Option<Value> {
    let text = own_lines(argument.text);
    let types = tool.parameter(argument.key).and_then(|parameter| tool.types_of(parameter));
    // What may be anything is the text that it is, unless its tag says otherwise.
    let Some(types) = types.filter(|types| !types.allow_all()) else {
        let read = || json::read(text.trim()).ok();
        let value = (argument.is_string == Some(false)).then(read).flatten();
        return value.or_else(|| Some(Value::from(text)));
    };
    if argument.is_string == Some(true) && types.allows_string() {
        return Some(Value::from(text));
    }
    let plain = text.trim();
    let is_string_only = types.allows_string() && !types.allows_null();
    let null = NULLS.iter().find(|(word, _)| *word == plain);
    if let Some((_, is_json)) = null.filter(|_| !is_string_only) {
        if !is_json {
            changes.push(RepairKind::Literal);
        }
        return Some(Value::Null);
    }
    if !plain.starts_with(['{', '[']) || !(types.allows_array() || types.allows_object()) {
        return Some(Value::from(text));
    }
    if types.allows_string() {
        // A text that happens to be JSON of another type that is allowed.
        let value = json::read(plain).ok();
        return value.filter(|value| types.allow(value)).or_else(|| Some(Value::from(text)));
    }
    let mut repaired = repair::values(plain, false, KnownKeys::default()).ok()?;
    let is_whole =
        repaired.values.len() == 1 && !repaired.changes.contains(&RepairKind::SurroundingText);
    changes.append(&mut repaired.changes);
    is_whole.then(|| repaired.values.remove(0))
}

/// What stands in the section of XML that a value is, where it is one: nothing in it is an entity.
fn section(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("<![CDATA[")?.strip_suffix("]]>")?;
    (!inner.contains("]]>")).then_some(inner)
}

/// The text with its entities decoded, where it has any.
fn without_entities(text: &str) -> Option<String> {
    let mut decoded = String::new();
    let mut rest = text;
    let mut has_any = false;
    while let Some(begin) = memchr::memchr(b'&', rest.as_bytes()) {
        let (before, entity) = rest.split_at(begin);
        decoded.push_str(before);
        let near = &entity.as_bytes()[..entity.len().min(ENTITY_BYTES_MAX + 2)];
        let end = memchr::memchr(b';', near);
        match end.and_then(|end| Some((end, meaning(entity.get(1..end)?)?))) {
            Some((end, c)) => {
                decoded.push(c);
                has_any = true;
                rest = &entity[end + 1..];
            }
            None => {
                decoded.push('&');
                rest = &entity[1..];
            }
        }
    }
    decoded.push_str(rest);
    has_any.then_some(decoded)
}

fn meaning(name: &str) -> Option<char> {
    let Some(number) = name.strip_prefix('#') else {
        return ENTITIES.iter().find(|(entity, _)| *entity == name).map(|(_, c)| *c);
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    code.ok().and_then(char::from_u32)
}

/// Leaves out the line ends that belong to the tags: a value that begins on a line of its own ends on
/// one.
fn own_lines(text: &str) -> &str {
    let inner = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n'));
    let Some(inner) = inner else { return text };
    inner.strip_suffix("\r\n").or_else(|| inner.strip_suffix('\n')).unwrap_or(inner)
}

/// Leaves out the line end that stands before the end tag of a value whose first line has its own tag
/// before it.
fn without_last_line_end(text: &str) -> &str {
    if text.starts_with(['\n', '\r']) {
        return text;
    }
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
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
            let argument = Argument { key, text, is_string: None };
            let read = value(tool, &argument, &mut Vec::new());
            assert_eq!(read, Some(expected), "{key}: {text}");
        }
    }

    #[test]
    fn tags_say_whether_a_value_without_a_type_is_text() {
        let schema = serde_json::json!([{ "name": "t", "parameters": { "properties": {
            "either": { "type": ["object", "string"] }, "any": {},
        } } }]);
        let registry = crate::registry::Registry::from_json(&schema.to_string()).unwrap();
        let tool = registry.tool("t").unwrap();
        for (key, text, is_string, expected) in [
            ("any", "42", Some(true), "42".into()),
            ("any", "42", Some(false), 42.into()),
            ("any", "not JSON", Some(false), "not JSON".into()),
            ("unlisted", "[1]", Some(false), serde_json::json!([1])),
            ("either", "{\"a\":1}", Some(true), "{\"a\":1}".into()),
            ("either", "{\"a\":1}", Some(false), serde_json::json!({ "a": 1 })),
        ] {
            let argument = Argument { key, text, is_string };
            let read = value(tool, &argument, &mut Vec::new());
            assert_eq!(read, Some(expected), "{key}: {text}");
        }
    }

    #[test]
    fn entities_are_decoded_once() {
        for (text, expected) in [
            ("a &lt; b &amp;&amp; c", Some("a < b && c")),
            ("&amp;lt;", Some("&lt;")),
            ("&#39;&#x4e2d;&quot;", Some("'中\"")),
            ("&nbsp; &x; & &;", None),
            ("a &", None),
            ("&#xffffffff;&lt", None),
            ("é&中;", None),
        ] {
            assert_eq!(without_entities(text).as_deref(), expected, "{text}");
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
