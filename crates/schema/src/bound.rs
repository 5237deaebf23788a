//! What a schema may cost whose author does not pay: a value is held to it only where that ends soon.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cost::{self, SchemaCost};
use crate::places::places_in;
use crate::positions::{self, ReferenceFacts};
use crate::schema::SchemaError;

/// Most places of patterns times bytes of texts: some tenths of a second.
const WORK_MAX: u64 = 50_000_000;

/// Says which values a schema takes too long for.
#[derive(Debug, Clone)]
pub struct ValueBound(BoundBy);

/// What is known of a schema beforehand.
#[derive(Debug, Clone)]
enum BoundBy {
    /// What it costs for any value.
    Cost {
        cost: SchemaCost,
        /// The places of the patterns of each property: at each byte of its texts, an engine may stand at all of them.
        places: BTreeMap<String, u64>,
        /// Those of patterns that may be meant for any text.
        places_of_any: u64,
    },
    /// Nothing: the work is counted on each value.
    Value(Value),
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
    /// Counts what a schema of a tool may cost.
    ///
    /// # Errors
    ///
    /// Where a reference leads elsewhere than to a place in the schema, or to another one than its text says; where
    /// compiling it could take for ever.
    pub fn of(tool: &str, schema: &Value) -> Result<Self, SchemaError> {
        let refused = |why: String| SchemaError::new(tool, why);
        let ReferenceFacts { is_plain, is_tracked } =
            positions::check_references(schema).map_err(refused)?;
        let counted = match is_plain {
            true => SchemaCost::of(schema),
            false => Err("refers to more than its `$defs`".to_owned()),
        };
        let cost = match counted {
            Ok(cost) => cost,
            // Compiling it takes a step for each way that leads to a part of it.
            Err(why) if is_tracked => {
                let has = "has `unevaluatedProperties` or `unevaluatedItems`";
                return Err(refused(format!("{has}, and {why}: write `additionalProperties`")));
            }
            Err(_) => return Ok(Self(BoundBy::Value(schema.clone()))),
        };
        let mut rest = schema.clone();
        let properties = rest.as_object_mut().and_then(|fields| fields.remove("properties"));
        let properties = properties.as_ref().and_then(Value::as_object).into_iter().flatten();
        let places = properties.map(|(name, schema)| (name.clone(), places_in(schema))).collect();
        Ok(Self(BoundBy::Cost { cost, places, places_of_any: places_in(&rest) }))
    }

    /// Whether holding a value to the schema ends soon.
    pub fn allows(&self, value: &Value) -> bool {
        let (cost, places, places_of_any) = match &self.0 {
            BoundBy::Cost { cost, places, places_of_any } => (cost, places, places_of_any),
            BoundBy::Value(schema) => return cost::work(schema, value) <= WORK_MAX,
        };
        let of_property = |(name, places): (&String, &u64)| {
            places.saturating_mul(value.get(name).map_or(0, text_bytes))
        };
        let of_any = places_of_any.saturating_mul(text_bytes(value));
        let work = places.iter().map(of_property).fold(of_any, u64::saturating_add);
        work <= WORK_MAX && cost.work(value).is_allowed()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bound(schema: &Value) -> ValueBound {
        ValueBound::of("x", schema).unwrap()
    }

    #[test]
    fn large_values_are_not_held_to_large_patterns() {
        let with = |pattern: &str| {
            let body = json!({ "type": "string", "pattern": pattern });
            let text = json!({ "properties": { "body": body } });
            bound(&text)
        };
        let text = |bytes: usize| json!({ "body": "a ".repeat(bytes / 2) });
        let costly = with("^[a-h](?:[a-h ]{1,60}[a-d]){1,12}[k-z]$");
        assert!(costly.allows(&text(60_000)) && !costly.allows(&text(1_500_000)));
        let plain = with(r"^\S(.|\n)*$");
        assert!(plain.allows(&text(1_500_000)));
        let none = bound(&json!({ "properties": { "body": { "type": "string" } } }));
        assert!(none.allows(&text(16 << 20)));
        let beside = json!({ "properties": {
            "path": { "pattern": r"^[^\x00]{1,4096}$" },
            "content": { "type": "string" },
        } });
        let written = json!({ "path": "a".repeat(200), "content": "a ".repeat(1 << 19) });
        assert!(bound(&beside).allows(&written));
        let costly = r"^[a-h](?:[a-h ]{1,60}[a-d]){1,12}[k-z]$";
        let referring = json!({ "properties": {
            "a": { "type": "string", "pattern": costly },
            "b": { "$ref": "#/properties/a" },
        } });
        assert!(!bound(&referring).allows(&json!({ "b": "a ".repeat(750_000) })));
        let nested = json!({ "$defs": { "a": { "patternProperties": { "a{1000}": {} } } } });
        assert!(!bound(&nested).allows(&text(1 << 20)));
    }

    #[test]
    fn a_schema_whose_cost_is_not_known_is_bounded_on_each_value() {
        let referring = |to: &str| json!({ "properties": { "a": { "$ref": to } } });
        let deep = (0..40).fold(json!({}), |value, _| json!({ "a": value }));
        let mut doubled =
            json!({ "anyOf": [referring("#/definitions/b"), referring("#/definitions/b")] });
        let definition = doubled.clone();
        doubled["definitions"] = json!({ "b": definition });
        assert!(bound(&doubled).allows(&json!({ "a": { "a": {} } })));
        assert!(!bound(&doubled).allows(&deep));
        // By that name of a definition a validator knows another one.
        let costly = json!({ "pattern": "a{1000}" });
        let disguised = json!({
            "$defs": { "a~1b": {}, "a/b": costly }, "properties": { "a": { "$ref": "#/$defs/a~1b" } },
        });
        assert!(!bound(&disguised).allows(&json!({ "a": "a".repeat(1 << 20) })));
        let error = |schema: &Value| ValueBound::of("x", schema).unwrap_err().to_string();
        let elsewhere = error(&referring("other.json"));
        assert!(elsewhere.contains("`x`") && elsewhere.contains("`other.json`"), "{elsewhere}");
        let way = json!({ "unevaluatedProperties": false, "$ref": "#/definitions/b" });
        doubled["definitions"]["b"]["allOf"] = json!([way]);
        let tracked = error(&doubled);
        assert!(tracked.contains("more than its `$defs`: write `additional"), "{tracked}");
    }
}
