//! Schemas of plugins: what they may look like.

use jsonschema::{PatternOptions, ValidationOptions};
use serde_json::{Map, Value};

use super::check_visible;
use moss_schema::SchemaCost;
use moss_sdk::deceptive::quoted;

/// Largest schema, in bytes.
pub(crate) const SCHEMA_BYTES_MAX: usize = 64 << 10;
/// Most levels of a schema.
pub(crate) const SCHEMA_DEPTH_MAX: usize = 32;
/// Largest compiled pattern of a schema, in bytes.
pub(crate) const PATTERN_BYTES_MAX: usize = 32 << 10;

/// Reads a schema that can be compiled without looking anything up.
pub(super) fn read_schema(what: &str, text: &str) -> Result<Map<String, Value>, String> {
    let refused = |why: String| format!("{what} {why}");
    if text.len() > SCHEMA_BYTES_MAX {
        return Err(refused(format!("is larger than {SCHEMA_BYTES_MAX} bytes")));
    }
    let schema: Value =
        serde_json::from_str(text).map_err(|error| refused(format!("is not JSON: {error}")))?;
    check_shape(&schema, 0).map_err(refused)?;
    SchemaCost::of(&schema).map_err(refused)?;
    schema_options()
        .build(&schema)
        .map_err(|error| refused(format!("is not a schema: {}", quoted(&error.to_string()))))?;
    match schema {
        Value::Object(schema) => Ok(schema),
        _ => Err(refused("is not an object".to_owned())),
    }
}

/// Holds a schema that is no text yet to what a schema may be.
pub(crate) fn check_schema(what: &str, schema: &Value) -> Result<(), String> {
    read_schema(what, &schema.to_string()).map(drop)
}

/// Patterns take linear time and bounded memory.
pub(super) fn schema_options() -> ValidationOptions<'static> {
    jsonschema::draft202012::options().with_pattern_options(
        PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX),
    )
}

/// Whether the name of a definition stands for itself in a reference.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '~', '%'])
}

fn check_shape(schema: &Value, depth: usize) -> Result<(), String> {
    if depth > SCHEMA_DEPTH_MAX {
        return Err(format!("is nested deeper than {SCHEMA_DEPTH_MAX} levels"));
    }
    match schema {
        Value::Object(object) => {
            if let Some(Value::String(to)) = object.get("$ref")
                && !to.strip_prefix("#/$defs/").is_some_and(is_plain)
            {
                return Err(format!("refers to `{}`, not to its own `$defs`", quoted(to)));
            }
            for key in ["$id", "$dynamicRef"] {
                if object.get(key).is_some_and(Value::is_string) {
                    return Err(format!("has `{key}`, which plugins do not need"));
                }
            }
            for (key, value) in object {
                check_visible("has a key that", key)?;
                if let ("title" | "description", Value::String(text)) = (key.as_str(), value) {
                    check_visible(&format!("has a {key} that"), text)?;
                } else if let Value::String(text) = value {
                    check_value(key, text)?;
                }
                check_shape(value, depth + 1)?;
            }
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| match item {
            Value::String(text) => check_value("list", text),
            item => check_shape(item, depth + 1),
        }),
        _ => Ok(()),
    }
}

/// Checks what a model reads of values (`enum`, `default`, `examples`) against the words of the
/// description; white space may be a value.
fn check_value(key: &str, text: &str) -> Result<(), String> {
    text.split(['\t', '\r']).try_for_each(|part| check_visible(&format!("has a {key} that"), part))
}
