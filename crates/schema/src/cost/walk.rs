//! How much work a schema makes of one value, counted on both: where what it makes of any value cannot be known.

use std::collections::HashMap;
use std::ptr;

use serde_json::{Map, Value};

use super::WORK_MAX;
use super::body::{EACH, listed, values_in};
use crate::{places, positions};

/// Most keywords that stand in each other or are referred to, and levels of the value: validators recurse over them.
const DEPTH_MAX: usize = 500;
/// Most pairs of a schema and a value that are known at once: each takes memory.
const PAIRS_MAX: usize = 500_000;
/// Bytes of a text that count as a step.
const STEP_BYTES: usize = 64;

/// What a validator does with one value, without doing it. A pair of a schema and a value is looked at once, however
/// many ways lead to it.
struct WorkWalk<'a> {
    root: &'a Value,
    /// A text as long as the longest name of a field.
    name: &'a Value,
    known: HashMap<(*const Value, *const Value), u64>,
    /// The places in the patterns of a schema, for texts and for names.
    places: HashMap<*const Value, [u64; 2]>,
    /// The steps of the pairs that were looked at, and how often one was.
    spent: u64,
}

/// Counts the steps that it takes at most to hold a value to a schema, where nothing depends on what was evaluated; more
/// than anybody waits for where that is not known.
pub(crate) fn work(schema: &Value, value: &Value) -> u64 {
    let name = Value::String("n".repeat(longest_name(value)));
    let (known, places) = (HashMap::new(), HashMap::new());
    let mut walk = WorkWalk { root: schema, name: &name, known, places, spent: 0 };
    walk.steps(schema, value, 0)
}

fn longest_name(value: &Value) -> usize {
    let of_field = |(name, field): (&String, &Value)| name.len().max(longest_name(field));
    let longest = match value {
        Value::Array(items) => items.iter().map(longest_name).max(),
        Value::Object(fields) => fields.iter().map(of_field).max(),
        _ => None,
    };
    longest.unwrap_or_default()
}

/// The steps of the keywords of one schema by themselves, with places in its patterns.
fn own_steps(keywords: &Map<String, Value>, [of_text, of_names]: [u64; 2], value: &Value) -> u64 {
    let looking = EACH.iter().filter(|key| keywords.contains_key(**key)).count();
    let steps = (1 + listed(keywords)) as u64;
    let more = match value {
        Value::String(text) => {
            let of_pattern = of_text.saturating_mul(text.len() as u64);
            of_pattern.saturating_add((looking * (text.len() / STEP_BYTES)) as u64)
        }
        Value::Object(fields) => {
            let names: usize = fields.keys().map(String::len).sum();
            let of_names = of_names.saturating_mul(names as u64);
            of_names.saturating_add((looking * values_in(value)) as u64)
        }
        Value::Array(_) if looking > 0 => (looking * values_in(value)) as u64,
        _ => 0,
    };
    steps.saturating_add(more)
}

// === impl WorkWalk ===

impl<'a> WorkWalk<'a> {
    fn steps(&mut self, schema: &'a Value, value: &'a Value, depth: usize) -> u64 {
        self.spent = self.spent.saturating_add(1);
        let Value::Object(keywords) = schema else { return 1 };
        let pair = (ptr::from_ref(schema), ptr::from_ref(value));
        if let Some(known) = self.known.get(&pair) {
            return *known;
        }
        if depth > DEPTH_MAX || self.spent > WORK_MAX || self.known.len() > PAIRS_MAX {
            return u64::MAX;
        }
        let places = self.places.entry(ptr::from_ref(schema));
        let places =
            *places.or_insert_with(|| [places::of_text(keywords), places::of_names(keywords)]);
        let own = own_steps(keywords, places, value);
        self.spent = self.spent.saturating_add(own);
        let mut below = None;
        for (key, part) in keywords {
            if let Some(steps) = self.keyword((key, part), value, depth + 1) {
                below = Some(steps.saturating_add(below.unwrap_or_default()));
            }
        }
        let Some(below) = below else { return own };
        let steps = own.saturating_add(below);
        self.known.insert(pair, steps);
        steps
    }

    /// The steps of what a keyword applies; none where it applies no schema.
    fn keyword(
        &mut self,
        (key, part): (&str, &'a Value),
        value: &'a Value,
        depth: usize,
    ) -> Option<u64> {
        let mut sum = 0_u64;
        let root = self.root;
        let mut add = |schema: &'a Value, value: &'a Value| {
            sum = sum.saturating_add(self.steps(schema, value, depth));
        };
        match (key, part, value) {
            ("$ref", Value::String(to), _) => match positions::target(root, to) {
                Some(target) => add(target, value),
                None => return Some(u64::MAX),
            },
            ("allOf" | "anyOf" | "oneOf", Value::Array(parts), _) => {
                parts.iter().for_each(|part| add(part, value));
            }
            ("dependentSchemas" | "dependencies", Value::Object(parts), _) => {
                parts.values().for_each(|part| add(part, value));
            }
            ("not" | "if" | "then" | "else", part, _) => add(part, value),
            ("properties", Value::Object(parts), Value::Object(fields)) => {
                let named = parts.iter().filter_map(|(name, part)| Some((part, fields.get(name)?)));
                named.for_each(|(part, field)| add(part, field));
                sum = sum.saturating_add(parts.len() as u64);
                self.spent = self.spent.saturating_add(parts.len() as u64);
            }
            ("patternProperties", Value::Object(parts), Value::Object(fields)) => {
                parts.values().for_each(|part| fields.values().for_each(|field| add(part, field)));
            }
            ("additionalProperties", part, Value::Object(fields)) => {
                fields.values().for_each(|field| add(part, field));
            }
            ("propertyNames", part, Value::Object(fields)) => {
                let of_name = self.steps(part, self.name, depth);
                sum = of_name.saturating_mul(fields.len() as u64);
            }
            ("prefixItems", Value::Array(parts), Value::Array(items)) => {
                parts.iter().zip(items).for_each(|(part, item)| add(part, item));
            }
            ("items" | "contains", part, Value::Array(items)) => {
                items.iter().for_each(|item| add(part, item));
            }
            _ => return None,
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn is_allowed(schema: &Value, value: &Value) -> bool {
        work(schema, value) <= WORK_MAX
    }

    fn nested(levels: usize, mut value: Value, around: impl Fn(Value) -> Value) -> Value {
        for _ in 0..levels {
            value = around(value);
        }
        value
    }

    #[test]
    fn ways_that_double_are_counted_on_the_value() {
        // Two ways at each level of the value.
        let node = json!({ "$ref": "#" });
        for tree in [
            json!({ "anyOf": [{ "properties": { "a": node } }, { "properties": { "a": node } }] }),
            json!({ "properties": { "a": node }, "patternProperties": { "b": node } }),
        ] {
            let deep = |levels| nested(levels, json!({}), |value| json!({ "a": value }));
            assert!(is_allowed(&tree, &deep(8)), "{tree}");
            assert!(!is_allowed(&tree, &deep(40)), "{tree}");
        }
        // Two ways at one place, and what leads to itself there.
        let mut defined = serde_json::Map::new();
        for number in 0..40 {
            let next = json!({ "$ref": format!("#/definitions/a{}", number + 1) });
            defined.insert(format!("a{number}"), json!({ "allOf": [next, next] }));
        }
        defined.insert("a40".to_owned(), json!({}));
        let doubled = json!({ "$ref": "#/definitions/a0", "definitions": defined });
        assert!(!is_allowed(&doubled, &json!(1)));
        assert!(!is_allowed(&json!({ "not": node }), &json!(1)));
        assert!(!is_allowed(&json!({ "items": { "$ref": "#/none" } }), &json!([1])));
    }

    #[test]
    fn what_an_honest_schema_takes_is_little() {
        let node = json!({ "$ref": "#/definitions/node" });
        let kinds = ["paragraph", "list", "item", "quote", "panel"].map(|kind| {
            json!({ "type": "object", "required": ["type"], "properties": {
                "type": { "const": kind }, "content": { "type": "array", "items": node },
                "text": { "type": "string", "pattern": r"^\S" },
            } })
        });
        let document =
            json!({ "$ref": "#/definitions/node", "definitions": { "node": { "anyOf": kinds } } });
        let text = json!({ "type": "paragraph", "text": "some words ".repeat(20) });
        let list = |value| json!({ "type": "list", "content": [value, text] });
        assert!(is_allowed(&document, &nested(5, text.clone(), list)));
        let many = json!({ "type": "list", "content": vec![text.clone(); 1_000] });
        assert!(is_allowed(&document, &many));
    }

    #[test]
    fn texts_count_by_the_patterns_that_they_are_held_to() {
        let named = json!({ "patternProperties": { "^[a-z]{100}$": {} } });
        let schema =
            json!({ "properties": { "a": { "pattern": "^[a-z]{100}$" }, "b": named, "c": {} } });
        let long = "n".repeat(1 << 20);
        for (value, expected) in [
            (json!({ "a": long }), false),
            (json!({ "b": { long.as_str(): 1 } }), false),
            (json!({ "c": long }), true),
            (json!({ "a": "n".repeat(100) }), true),
        ] {
            assert_eq!(is_allowed(&schema, &value), expected);
        }
        let names = json!({ "propertyNames": { "pattern": "^[a-z]{100}$" } });
        assert!(!is_allowed(&names, &json!({ long.as_str(): 1 })));
        let unique = json!({ "allOf": vec![json!({ "uniqueItems": true }); 3000] });
        assert!(!is_allowed(&unique, &json!(vec![0; 90_000])));
    }
}
