//! Where schemas stand in a schema, and what its references lead to.

use std::collections::HashSet;
use std::ptr;

use serde_json::{Map, Value};

use crate::quoted;

/// Keywords whose values are schemas by name.
const NAMED: &[&str] =
    &["properties", "patternProperties", "$defs", "dependentSchemas", "dependencies"];
/// Keywords whose values are lists of schemas.
const LISTED: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose values are schemas.
const SINGLE: &[&str] = &[
    "not",
    "if",
    "then",
    "else",
    "items",
    "contains",
    "unevaluatedItems",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
];

/// Keywords for which is followed what others evaluated.
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// What is known of the references of a schema, which all lead to a place in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReferenceFacts {
    /// Whether all name one of its `$defs`, by a name that stands for itself.
    pub(crate) is_plain: bool,
    /// Whether it, or what they lead to, depends on what was evaluated.
    pub(crate) is_tracked: bool,
}

/// The keywords of a schema.
type Keywords = Map<String, Value>;

/// The schemas that stand in one, without what its references lead to.
fn parts(keywords: &Keywords) -> impl Iterator<Item = &Value> {
    let of = |keys: &'static [&str]| keys.iter().filter_map(|key| keywords.get(*key));
    let named = of(NAMED).filter_map(Value::as_object).flat_map(Map::values);
    let listed = of(LISTED).filter_map(Value::as_array).flatten();
    named.chain(listed).chain(of(SINGLE))
}

/// A schema and all that stand in it, at any depth.
pub(crate) fn within(schema: &Value) -> Vec<&Keywords> {
    let (mut all, mut open) = (Vec::new(), vec![schema]);
    while let Some(schema) = open.pop() {
        if let Value::Object(keywords) = schema {
            open.extend(parts(keywords));
            all.push(keywords);
        }
    }
    all
}

/// Checks that all references lead to a place in the schema itself, which only their text names.
pub(crate) fn check_references(schema: &Value) -> Result<ReferenceFacts, String> {
    let mut facts = ReferenceFacts { is_plain: true, is_tracked: false };
    let (mut seen, mut open) = (HashSet::new(), vec![schema]);
    while let Some(part) = open.pop() {
        let Value::Object(keywords) = part else { continue };
        if !seen.insert(ptr::from_ref(part)) {
            continue;
        }
        let has = |key: &str| keywords.get(key).is_some_and(Value::is_string);
        if has("$id") && !ptr::eq(part, schema) {
            return Err(
                "has an `$id` below its top, from where references count: leave it out".to_owned()
            );
        }
        if has("$dynamicRef") {
            return Err("has a `$dynamicRef`: write `$ref`".to_owned());
        }
        facts.is_tracked |= UNEVALUATED.iter().any(|key| keywords.contains_key(*key));
        if let Some(Value::String(to)) = keywords.get("$ref") {
            let target = target(schema, to).ok_or_else(|| {
                let to = quoted(to);
                format!("refers to `{to}`, which is not found in it: write `#/$defs/NAME`")
            })?;
            let name = to.strip_prefix("#/$defs/").unwrap_or_default();
            facts.is_plain &= !name.is_empty() && !name.contains(['/', '~', '%']);
            open.push(target);
        }
        open.extend(parts(keywords));
    }
    Ok(facts)
}

/// What a reference leads to; none where that is not in the schema, or not by its text alone.
pub(crate) fn target<'s>(schema: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer = decoded(reference.strip_prefix('#')?)?;
    let mut found = schema;
    for segment in pointer.split('/').skip(1) {
        let name = segment.replace("~1", "/").replace("~0", "~");
        found = match found {
            Value::Object(fields) => fields.get(&name)?,
            Value::Array(items) => items.get(name.parse::<usize>().ok()?)?,
            _ => return None,
        };
        if found.get("$id").is_some_and(Value::is_string) {
            return None;
        }
    }
    (pointer.is_empty() || pointer.starts_with('/')).then_some(found)
}

/// A text without the escapes of URIs.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_lead_where_their_text_says() {
        let schema =
            json!({ "$defs": { "a/b": 1, "c~<d>": 2 }, "anyOf": [3], "x": { "$id": "y", "z": 4 } });
        for (reference, expected) in [
            ("#", Some(&schema)),
            ("#/$defs/a~1b", Some(&json!(1))),
            ("#/%24defs/c~0%3Cd%3E", Some(&json!(2))),
            ("#/anyOf/0", Some(&json!(3))),
            ("#/anyOf/1", None),
            ("#/$defs/none", None),
            ("#/x/z", None),
            ("#anchor", None),
            ("#/%2", None),
            ("", None),
            ("other.json#/$defs", None),
        ] {
            assert_eq!(target(&schema, reference), expected, "{reference}");
        }
    }

    #[test]
    fn references_that_others_would_read_otherwise_are_refused() {
        let to = |reference: &str| json!({ "$ref": reference });
        let defined =
            |schema: Value| json!({ "$defs": { "a": schema }, "x": { "b": to("#/$defs/a") } });
        for (schema, expected) in [
            (defined(json!({})), Ok(true)),
            (json!({ "$id": "top", "items": to("#") }), Ok(false)),
            (json!({ "items": to("#/x/b"), "x": { "b": true } }), Ok(false)),
            // Values are no schemas, and neither are properties with these names.
            (json!({ "default": to("none"), "const": { "$id": "a" } }), Ok(true)),
            (json!({ "properties": { "$id": {}, "$ref": {}, "default": {} } }), Ok(true)),
            (json!({ "items": { "$id": "a" } }), Err("`$id`")),
            (
                json!({ "items": to("#/x/b"), "x": { "b": { "not": { "$id": "a" } } } }),
                Err("`$id`"),
            ),
            (json!({ "not": { "$dynamicRef": "#a" } }), Err("`$dynamicRef`")),
            (json!({ "properties": { "default": to("#/none") } }), Err("`#/none`")),
        ] {
            let found = check_references(&schema);
            match expected {
                Ok(is_plain) => {
                    assert_eq!(found.map(|facts| facts.is_plain), Ok(is_plain), "{schema}");
                }
                Err(part) => assert!(found.unwrap_err().contains(part), "{schema}"),
            }
        }
    }
}
