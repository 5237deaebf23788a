//! Values that are passed on as they are written, and may be meant otherwise: a model that was taught
//! another form puts quotes around a text, or writes entities of XML for what means something there.

use serde_json::Value;

use super::super::super::repair::is_quote;
use super::{Argument, without_entities};
use crate::registry::RegisteredTool;

/// Says why a text may be meant otherwise; none where it may not. `keeps_entities` says that its form does
/// not decode them.
pub(super) fn of(
    tool: &RegisteredTool,
    argument: &Argument<'_>,
    text: &str,
    keeps_entities: bool,
) -> Option<&'static str> {
    if keeps_entities && is_written_for_xml(text) {
        return Some("has entities of XML, and nothing else that means something there");
    }
    if argument.is_string == Some(true) {
        return None;
    }
    let types = tool.parameter(argument.key).and_then(|parameter| tool.types_of(parameter));
    let Some(types) = types.filter(|types| !types.allow_all()) else {
        let is_json = serde_json::from_str::<Value>(text.trim()).is_ok();
        return is_json
            .then_some("has no type in the schema, and is JSON that may be meant as such");
    };
    // What must become another type is reported where it does.
    if !types.allows_string() {
        return None;
    }
    if !text.is_empty() && text.trim().is_empty() {
        return (!text.contains('\n')).then_some("is nothing but blanks");
    }
    if text == "null" {
        return Some("is the word null");
    }
    is_in_quotes(text).then_some("has quotes around it")
}

/// Whether a text has entities in every position where XML asks for one: whoever edits HTML has
/// tags in it, too.
fn is_written_for_xml(text: &str) -> bool {
    memchr::memchr(b'&', text.as_bytes()).is_some()
        && memchr::memchr2(b'<', b'>', text.as_bytes()).is_none()
        && without_entities(text).is_some_and(|decoded| decoded.contains(['<', '>', '&']))
}

/// Whether quotes begin and end a text, with none between them.
fn is_in_quotes(text: &str) -> bool {
    let inner = text.strip_prefix(is_quote).and_then(|rest| rest.strip_suffix(is_quote));
    inner.is_some_and(|inner| !inner.contains(is_quote))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    #[test]
    fn what_may_be_meant_otherwise_is_reported() {
        let schema = serde_json::json!([{ "name": "t", "parameters": { "properties": {
            "text": { "type": "string" }, "number": { "type": "integer" }, "any": {},
        } } }]);
        let registry = Registry::from_json(&schema.to_string()).unwrap();
        let tool = registry.tool("t").unwrap();
        for (key, text, is_string, expected) in [
            ("text", "\"Paris\"", None, true),
            ("text", "“巴黎”", None, true),
            ("text", "\"Paris\"", Some(true), false),
            ("text", "\"a\" + \"b\"", None, false),
            ("text", "say \"a\"", None, false),
            ("text", "  ", None, true),
            ("text", "", None, false),
            ("text", "\n", None, false),
            ("text", "null", None, true),
            ("text", "a &lt; b", None, true),
            ("text", "a &amp;&amp; b", Some(true), true),
            ("text", "<p>a &lt; b</p>", None, false),
            ("text", "it&#39;s", None, false),
            ("text", "a & b", None, false),
            ("number", "\"1\"", None, false),
            ("any", "20", None, true),
            ("other", "[1]", None, true),
            ("any", "Paris", None, false),
        ] {
            let argument = Argument { key, text, is_string };
            let doubt = of(tool, &argument, text, true);
            assert_eq!(doubt.is_some(), expected, "{key}: {text:?}: {doubt:?}");
        }
    }
}
