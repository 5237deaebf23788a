//! JSON schemas out of types.
//!
//! A parameter struct is the only source. Its *strict* schema is closed and says integer, minimum
//! and enumeration: arguments are checked against it. Its *published* schema is the projection
//! that the ASI specification prints: numbers, plain strings, no bounds. Parameters that the
//! specification does not have are *extras*: the strict schema has them, the published one does not.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// Keywords that only the strict schema has.
const STRICT_ONLY: &[&str] = &[
    "additionalProperties",
    "enum",
    "exclusiveMinimum",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
];

/// Marks a parameter as one beyond the specification: `#[schemars(extend("x-extra" = true))]`.
const EXTRA_MARK: &str = "x-extra";

/// What follows from a parameter struct.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterSchemas {
    /// What arguments are checked against.
    pub strict: Value,
    /// What is published, without extras.
    pub published: Value,
    /// The published schemas of the extras, by name.
    pub extras: Map<String, Value>,
}

// === impl ParameterSchemas ===

impl ParameterSchemas {
    /// Derives the schemas of a parameter struct.
    pub fn of<T: JsonSchema>() -> Self {
        let mut strict = strict::<T>();
        let extras = unmark_extras(&mut strict);
        let mut published = published(&strict);
        let properties = published.get_mut("properties").and_then(Value::as_object_mut);
        let mut taken = Map::new();
        if let Some(properties) = properties {
            for name in extras {
                taken.extend(properties.shift_remove_entry(&name));
            }
        }
        close_if_empty(&mut published);
        Self { strict, published, extras: taken }
    }
}

/// Removes the marks of extras; returns their names in the order of the schema.
fn unmark_extras(strict: &mut Value) -> Vec<String> {
    let properties = strict.get_mut("properties").and_then(Value::as_object_mut);
    let marked = |(name, schema): (&String, &mut Value)| {
        schema.as_object_mut()?.shift_remove(EXTRA_MARK).map(|_| name.clone())
    };
    properties.into_iter().flatten().filter_map(marked).collect()
}

/// Derives the strict schema of a parameter struct: closed objects, no `null`, everything inline.
///
/// A default is in the schema only where the field's type is `Serialize`.
pub fn strict<T: JsonSchema>() -> Value {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12().for_deserialize());
    visit(&mut schema, &mut |object| {
        drop_null(object);
        flatten_enumeration(object);
        if object.get("type").is_some_and(|kind| kind == "object")
            && object.contains_key("properties")
        {
            object.entry("additionalProperties").or_insert(json!(false));
        }
    });
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("description");
        object.entry("properties").or_insert_with(|| json!({}));
        object.entry("additionalProperties").or_insert(json!(false));
    }
    schema
}

/// Projects a strict schema to the published one.
///
/// Parameters whose name is not in the strict schema do not appear, nor those that the specification does
/// not have; `required` is always present, but for a tool without parameters, whose schema is a closed empty
/// object.
pub fn published(strict: &Value) -> Value {
    let mut schema = strict.clone();
    visit(&mut schema, &mut |object| {
        object.retain(|key, _| !STRICT_ONLY.contains(&key.as_str()));
        if object.get("type").is_some_and(|kind| kind == "integer") {
            object.insert("type".into(), json!("number"));
        }
    });
    close_if_empty(&mut schema);
    schema
}

/// Closes the published schema of a tool without parameters; any other says what is required.
fn close_if_empty(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    let empty = object.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty);
    if empty {
        object.insert("additionalProperties".into(), json!(false));
        object.shift_remove("required");
    } else {
        object.entry("required").or_insert_with(|| json!([]));
    }
}

/// Derives the schema of a result.
pub fn output<T: JsonSchema>() -> Value {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12().for_serialize());
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
    }
    schema
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema: Value = SchemaGenerator::new(settings).into_root_schema_for::<T>().into();
    visit(&mut schema, &mut |object| {
        object.remove("format");
        if let Some(Value::String(description)) = object.get_mut("description") {
            *description = unwrapped(description);
        }
    });
    schema
}

/// Joins the wrapped lines of a documentation comment; paragraphs and list items stay apart.
pub(crate) fn unwrapped(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.trim().lines() {
        let starts_block = line.is_empty() || line.starts_with("- ") || line.starts_with("* ");
        if !joined.is_empty() {
            joined.push(if starts_block || joined.ends_with('\n') { '\n' } else { ' ' });
        }
        joined.push_str(line);
    }
    joined
}

/// Calls `change` on every schema object within a schema, innermost first.
fn visit(schema: &mut Value, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    let Some(object) = schema.as_object_mut() else { return };
    for (key, value) in object.iter_mut() {
        match key.as_str() {
            "properties" | "$defs" => {
                for nested in value.as_object_mut().into_iter().flat_map(Map::values_mut) {
                    visit(nested, change);
                }
            }
            "items" | "additionalProperties" => visit(value, change),
            "oneOf" | "anyOf" | "allOf" => {
                for nested in value.as_array_mut().into_iter().flatten() {
                    visit(nested, change);
                }
            }
            _ => {}
        }
    }
    change(object);
}

/// An optional parameter may be left out or be `null`; `null` is dropped before the check, so the
/// schema does not name it.
fn drop_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(kinds)) = object.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            object.insert("type".into(), kind);
        }
    }
    if let Some(Value::Array(options)) = object.get_mut("anyOf") {
        options.retain(|option| option != &json!({ "type": "null" }));
        if let [Value::Object(only)] = options.as_slice() {
            let only = only.clone();
            object.shift_remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.shift_remove("default");
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
}

/// Turns `oneOf` of documented constants into a plain `enum`.
fn flatten_enumeration(object: &mut Map<String, Value>) {
    let Some(Value::Array(options)) = object.get("oneOf") else { return };
    let constants: Option<Vec<Value>> =
        options.iter().map(|option| option.get("const").cloned()).collect();
    let Some(constants) = constants else { return };
    object.shift_remove("oneOf");
    object.insert("type".into(), json!("string"));
    object.insert("enum".into(), constants.into());
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;

    fn ten() -> u64 {
        10
    }

    #[derive(Serialize, Deserialize, JsonSchema, Default)]
    #[serde(rename_all = "snake_case")]
    enum Order {
        /// Upwards.
        #[default]
        Asc,
        /// Downwards.
        Desc,
    }

    /// Does a thing.
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Params {
        /// Where.
        path: String,
        /// First line.
        #[schemars(range(min = 1))]
        start_line: Option<u64>,
        /// Bound.
        #[serde(default = "ten")]
        limit: u64,
        /// Direction.
        #[serde(default)]
        order: Order,
    }

    #[test]
    fn strict_schema_is_closed_and_says_integer_and_enumeration() {
        assert_eq!(
            strict::<Params>(),
            json!({
                "type": "object",
                "properties": {
                    "path": { "description": "Where.", "type": "string" },
                    "startLine": { "description": "First line.", "type": "integer", "minimum": 1 },
                    "limit": { "description": "Bound.", "type": "integer", "minimum": 0, "default": 10 },
                    "order": {
                        "description": "Direction.", "type": "string", "enum": ["asc", "desc"],
                        "default": "asc"
                    }
                },
                "required": ["path"],
                "additionalProperties": false
            })
        );
    }

    #[test]
    fn published_schema_has_numbers_and_no_bounds() {
        assert_eq!(
            published(&strict::<Params>()),
            json!({
                "type": "object",
                "properties": {
                    "path": { "description": "Where.", "type": "string" },
                    "startLine": { "description": "First line.", "type": "number" },
                    "limit": { "description": "Bound.", "type": "number", "default": 10 },
                    "order": { "description": "Direction.", "type": "string", "default": "asc" }
                },
                "required": ["path"]
            })
        );
    }

    #[test]
    fn extras_are_strict_and_not_published() {
        /// Looks.
        #[derive(Deserialize, JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Look {
            /// Where.
            #[schemars(extend("x-extra" = true), range(min = 1))]
            limit: Option<u64>,
            /// How.
            #[serde(default)]
            #[schemars(extend("x-extra" = true))]
            order: Order,
        }
        let ParameterSchemas { strict, published, extras } = ParameterSchemas::of::<Look>();
        let limit = json!({ "description": "Where.", "type": "integer", "minimum": 1 });
        assert_eq!(strict["properties"]["limit"], limit);
        assert_eq!(strict["properties"]["order"]["enum"], json!(["asc", "desc"]));
        assert!(!strict.to_string().contains(EXTRA_MARK), "{strict}");
        assert_eq!(
            published,
            json!({ "type": "object", "properties": {}, "additionalProperties": false })
        );
        let order = json!({ "description": "How.", "type": "string", "default": "asc" });
        let limit = json!({ "description": "Where.", "type": "number" });
        assert_eq!(Value::Object(extras), json!({ "limit": limit, "order": order }));
    }

    #[test]
    fn wrapped_lines_are_joined_and_blocks_kept() {
        let cases = [
            ("a\nb", "a b"),
            ("a\nb\n\nc\nd", "a b\n\nc d"),
            ("a:\n- b\n- c", "a:\n- b\n- c"),
            (" a ", "a"),
            ("", ""),
        ];
        for (text, joined) in cases {
            assert_eq!(unwrapped(text), joined, "{text:?}");
        }
    }

    #[test]
    fn published_schema_without_parameters_is_a_closed_empty_object() {
        #[derive(Deserialize, JsonSchema)]
        struct Nothing {}
        assert_eq!(
            published(&strict::<Nothing>()),
            json!({ "type": "object", "properties": {}, "additionalProperties": false })
        );
    }
}
