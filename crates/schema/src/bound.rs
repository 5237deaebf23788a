//! What a schema may cost whose author does not pay: a value is held to it only where that ends soon.

use std::collections::BTreeMap;

use regex_syntax::hir::{Hir, HirKind};
use serde_json::Value;

use crate::cost::SchemaCost;

/// Most places of patterns times bytes of texts: some tenths of a second.
const WORK_MAX: u64 = 50_000_000;

/// Says which values a schema takes too long for.
#[derive(Debug, Clone)]
pub struct ValueBound {
    /// None where the cost of the schema cannot be counted.
    cost: Option<SchemaCost>,
    /// The places of the patterns of each property: at each byte of its texts, an engine may stand at all of them.
    places: BTreeMap<String, u64>,
    /// Those of patterns that may be meant for any text.
    places_of_any: u64,
}

/// Counts the places in patterns of a schema, wherever they are.
fn places_in(schema: &Value) -> u64 {
    let (mut places, mut open) = (0_u64, vec![schema]);
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => {
                for (key, field) in fields {
                    let more = match (key.as_str(), field) {
                        ("pattern", Value::String(pattern)) => places_of(pattern),
                        ("patternProperties", Value::Object(patterns)) => {
                            patterns.keys().map(|pattern| places_of(pattern)).sum()
                        }
                        _ => 0,
                    };
                    places = places.saturating_add(more);
                    open.push(field);
                }
            }
            _ => {}
        }
    }
    places
}

/// Whether a schema refers to more than definitions: then a text may be held to the patterns of any property.
fn refers_elsewhere(schema: &Value) -> bool {
    let is_elsewhere = |(key, field): (&String, &Value)| {
        let is_reference = matches!(key.as_str(), "$ref" | "$dynamicRef");
        let is_to_definition = field.as_str().is_some_and(|to| to.starts_with("#/$defs/"));
        (is_reference && !is_to_definition) || refers_elsewhere(field)
    };
    match schema {
        Value::Array(items) => items.iter().any(refers_elsewhere),
        Value::Object(fields) => fields.iter().any(is_elsewhere),
        _ => false,
    }
}

/// How many characters and classes a pattern has once its counts are written out.
fn places_of(pattern: &str) -> u64 {
    match regex_syntax::parse(pattern) {
        Ok(hir) => places(&hir).max(1),
        // It has other signs for some classes, and no fewer places than bytes.
        Err(_) => pattern.len() as u64,
    }
}

fn places(hir: &Hir) -> u64 {
    let sum = |parts: &[Hir]| parts.iter().map(places).fold(0, u64::saturating_add);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(_) => 1,
        HirKind::Capture(capture) => places(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(1);
            places(&repetition.sub).saturating_mul(times.into())
        }
    }
}

/// How long the texts of a value are, names of fields included.
fn text_bytes(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(key, field)| key.len() as u64 + text_bytes(field)).sum()
        }
        _ => 0,
    }
}

// === impl ValueBound ===

impl ValueBound {
    /// Counts what a schema may cost.
    pub fn of(schema: &Value) -> Self {
        let mut rest = schema.clone();
        let properties = rest.as_object_mut().and_then(|fields| fields.remove("properties"));
        let properties = properties.filter(|_| !refers_elsewhere(schema));
        let rest = if properties.is_some() { &rest } else { schema };
        let places = match properties {
            Some(Value::Object(properties)) => {
                properties.iter().map(|(name, schema)| (name.clone(), places_in(schema))).collect()
            }
            _ => BTreeMap::new(),
        };
        Self { cost: SchemaCost::of(schema).ok(), places, places_of_any: places_in(rest) }
    }

    /// Whether holding a value to the schema ends soon.
    pub fn allows(&self, value: &Value) -> bool {
        let of_property = |(name, places): (&String, &u64)| {
            places.saturating_mul(value.get(name).map_or(0, text_bytes))
        };
        let of_any = self.places_of_any.saturating_mul(text_bytes(value));
        let work = self.places.iter().map(of_property).fold(of_any, u64::saturating_add);
        work <= WORK_MAX && self.cost.as_ref().is_none_or(|cost| cost.work(value).is_allowed())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_are_those_of_counts_written_out() {
        for (pattern, expected) in [
            ("", 1),
            ("^abc$", 3),
            ("[a-z]+x?", 3),
            ("(a|bc){2,10}", 30),
            (r"^\w{1,64}$", 64),
            ("[a-h](?:[a-h ]{1,60}[a-d]){1,12}[k-z][k-z]", 735),
            (r"(?=x)", 5),
        ] {
            assert_eq!(places_of(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn large_values_are_not_held_to_large_patterns() {
        let with = |pattern: &str| {
            let body = json!({ "type": "string", "pattern": pattern });
            let text = json!({ "properties": { "body": body } });
            ValueBound::of(&text)
        };
        let text = |bytes: usize| json!({ "body": "a ".repeat(bytes / 2) });
        let costly = with("^[a-h](?:[a-h ]{1,60}[a-d]){1,12}[k-z]$");
        assert!(costly.allows(&text(60_000)) && !costly.allows(&text(1_500_000)));
        let plain = with(r"^\S(.|\n)*$");
        assert!(plain.allows(&text(1_500_000)));
        let none = ValueBound::of(&json!({ "properties": { "body": { "type": "string" } } }));
        assert!(none.allows(&text(16 << 20)));
        let beside = json!({ "properties": {
            "path": { "pattern": r"^[^\0]{1,4096}$" },
            "content": { "type": "string" },
        } });
        let written = json!({ "path": "a".repeat(200), "content": "a ".repeat(1 << 19) });
        assert!(ValueBound::of(&beside).allows(&written));
        let costly = r"^[a-h](?:[a-h ]{1,60}[a-d]){1,12}[k-z]$";
        let referring = json!({ "properties": {
            "a": { "type": "string", "pattern": costly },
            "b": { "$ref": "#/properties/a" },
        } });
        assert!(!ValueBound::of(&referring).allows(&json!({ "b": "a ".repeat(750_000) })));
        let nested = json!({ "definitions": { "a": { "patternProperties": { "a{1000}": {} } } } });
        assert!(!ValueBound::of(&nested).allows(&text(1 << 20)));
    }
}
