//! What it takes to read the patterns of a schema, before any of them is read: their translation from
//! ECMAScript begins anew behind each escape, so that its time grows with the square of what is written,
//! whatever a pattern compiles to.

use serde_json::Value;

/// Most bytes that may be read for the patterns of one schema, each pattern as often as it has escapes:
/// some hundredths of a second.
const READ_BYTES_MAX: usize = 1 << 16;

/// Refuses a schema whose patterns would take long to read.
pub(crate) fn check_spelling(schema: &Value) -> Result<(), String> {
    if read_bytes(schema) <= READ_BYTES_MAX {
        return Ok(());
    }
    Err("has patterns that take long to read: they are too long, or have too many escapes such as \
         `\\w`; write classes such as `[0-9A-Za-z_]` in their place"
        .to_owned())
}

fn read_bytes(schema: &Value) -> usize {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| {
                let here = match (key.as_str(), value) {
                    ("pattern", Value::String(pattern)) => of_pattern(pattern),
                    ("patternProperties", Value::Object(named)) => named
                        .keys()
                        .map(|pattern| of_pattern(pattern))
                        .fold(0, usize::saturating_add),
                    _ => 0,
                };
                here.saturating_add(read_bytes(value))
            })
            .fold(0, usize::saturating_add),
        Value::Array(items) => items.iter().map(read_bytes).fold(0, usize::saturating_add),
        _ => 0,
    }
}

fn of_pattern(pattern: &str) -> usize {
    let escapes = pattern.bytes().filter(|byte| *byte == b'\\').count();
    pattern.len().saturating_mul(escapes + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patterns_that_compile_to_nothing_are_measured_as_they_are_written() {
        let long = format!("({}){{0}}", r"\w".repeat(1000));
        for schema in [
            json!({ "pattern": long }),
            json!({ "properties": { "a": { "items": [{ "pattern": long }] } } }),
            json!({ "patternProperties": { long.clone(): {} } }),
            json!({ "anyOf": vec![json!({ "pattern": r"\w".repeat(100) }); 20] }),
        ] {
            assert!(check_spelling(&schema).is_err(), "{schema}");
        }
        for schema in [
            json!({ "pattern": r"^[\w.+-]+@[\w-]+\.[\w.-]{2,}$" }),
            json!({ "pattern": format!("^({})$", vec![r"\d{4}-\d{2}"; 50].join("|")) }),
            json!({ "pattern": "a".repeat(60_000) }),
            json!({ "properties": { "pattern": { "type": "string", "description": long } } }),
        ] {
            assert_eq!(check_spelling(&schema), Ok(()), "{schema}");
        }
    }
}
