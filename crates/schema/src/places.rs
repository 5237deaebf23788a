//! How much a pattern has that an engine may stand at, at each byte of a text.

use jsonschema_regex::to_rust_regex;
use regex_syntax::hir::{Hir, HirKind};
use serde_json::{Map, Value};

use crate::positions;

/// Counts the places in the patterns of a schema, without those that it refers to.
pub(crate) fn places_in(schema: &Value) -> u64 {
    let each = positions::within(schema).into_iter();
    each.map(|keywords| of_text(keywords).saturating_add(of_names(keywords)))
        .fold(0, u64::saturating_add)
}

/// Those of the pattern that a text itself is held to.
pub(crate) fn of_text(keywords: &Map<String, Value>) -> u64 {
    keywords.get("pattern").and_then(Value::as_str).map_or(0, places_of)
}

/// Those of the patterns that the names of fields are held to.
pub(crate) fn of_names(keywords: &Map<String, Value>) -> u64 {
    let named = keywords.get("patternProperties").and_then(Value::as_object);
    named
        .into_iter()
        .flat_map(Map::keys)
        .map(|pattern| places_of(pattern))
        .fold(0, u64::saturating_add)
}

/// How many characters and classes a pattern has once its counts are written out; one that no engine can read costs
/// the most.
fn places_of(pattern: &str) -> u64 {
    // As validators read it.
    let read = to_rust_regex(pattern).ok().and_then(|read| regex_syntax::parse(&read).ok());
    read.map_or(u64::MAX, |hir| places(&hir).max(1))
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
            // What is written otherwise for validators.
            (r"[[\]]{90}", 90),
            (r"\cA", 1),
            // What none reads.
            (r"(?=x)", u64::MAX),
            ("(", u64::MAX),
        ] {
            assert_eq!(places_of(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn patterns_count_where_values_are_held_to_them() {
        let pattern = json!({ "pattern": "ab" });
        for (schema, expected) in [
            (pattern.clone(), 2),
            (json!({ "properties": { "pattern": pattern, "default": pattern } }), 4),
            (json!({ "patternProperties": { "abc": { "anyOf": [pattern, true] } } }), 5),
            (json!({ "default": pattern, "examples": [{ "pattern": "(" }] }), 0),
        ] {
            assert_eq!(places_in(&schema), expected, "{schema}");
        }
    }
}
