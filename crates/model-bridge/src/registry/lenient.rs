//! Schemas as other languages and APIs write them, read as what they mean: `str` is a string, and a
//! keyword that is `null` is not there. What is a schema already is never touched.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// How deep schemas nest.
const DEPTH_MAX: usize = 32;
/// How many changes of one schema are reported.
const CHANGES_MAX: usize = 8;

/// Names of types, in lower case, and the JSON type that each means.
const TYPES: &[(&str, &str)] = &[
    ("string", "string"),
    ("str", "string"),
    ("text", "string"),
    ("char", "string"),
    ("varchar", "string"),
    ("integer", "integer"),
    ("int", "integer"),
    ("int32", "integer"),
    ("int64", "integer"),
    ("long", "integer"),
    ("short", "integer"),
    ("number", "number"),
    ("float", "number"),
    ("float32", "number"),
    ("float64", "number"),
    ("double", "number"),
    ("decimal", "number"),
    ("boolean", "boolean"),
    ("bool", "boolean"),
    ("array", "array"),
    ("arr", "array"),
    ("list", "array"),
    ("tuple", "array"),
    ("set", "array"),
    ("sequence", "array"),
    ("object", "object"),
    ("dict", "object"),
    ("dictionary", "object"),
    ("map", "object"),
    ("mapping", "object"),
    ("struct", "object"),
    ("null", "null"),
    ("none", "null"),
    ("nonetype", "null"),
    ("nil", "null"),
];
/// Names of types without a meaning.
const ANY: &[&str] = &["any", "object | any", "mixed", "unknown"];
/// Keywords that hold one schema, a list of them, or some by name.
const ONE: &[&str] = &["items", "additionalProperties", "contains", "not", "if", "then", "else"];
const LISTS: &[&str] = &["anyOf", "oneOf", "allOf", "prefixItems"];
const NAMED: &[&str] = &["properties", "$defs", "definitions", "patternProperties"];
/// Keywords whose value may be `null`.
const NULLABLE: &[&str] = &["default", "const", "example"];

/// Repairs a schema. Returns what was changed.
pub(super) fn repair(schema: &mut Value) -> Vec<String> {
    let mut repair = Repair { changes: Vec::new() };
    repair.schema(schema, "", DEPTH_MAX);
    repair.changes
}

struct Repair {
    changes: Vec<String>,
}

// === impl Repair ===

impl Repair {
    fn note(&mut self, pointer: &str, change: &str) {
        if self.changes.len() < CHANGES_MAX {
            self.changes.push(format!("{pointer}: {change}"));
        }
    }

    fn schema(&mut self, schema: &mut Value, pointer: &str, depth: usize) {
        let Some(fields) = schema.as_object_mut().filter(|_| depth > 0) else { return };
        fields.retain(|key, value| {
            let is_missing = value.is_null() && !NULLABLE.contains(&key.as_str());
            if is_missing {
                self.note(&format!("{pointer}/{key}"), "`null` is read as missing");
            }
            !is_missing
        });
        self.types(fields, pointer);
        self.required(fields, pointer);
        for (key, value) in fields.iter_mut() {
            let pointer = format!("{pointer}/{key}");
            match (key.as_str(), value) {
                (key, value) if ONE.contains(&key) => self.schema(value, &pointer, depth - 1),
                (key, Value::Array(parts)) if LISTS.contains(&key) => {
                    for part in parts {
                        self.schema(part, &pointer, depth - 1);
                    }
                }
                (key, Value::Object(named)) if NAMED.contains(&key) => {
                    for (name, part) in named {
                        self.property(part, &format!("{pointer}/{name}"), depth - 1);
                    }
                }
                _ => {}
            }
        }
    }

    /// A schema by its name: that may be the bare name of a type.
    fn property(&mut self, part: &mut Value, pointer: &str, depth: usize) {
        if let Value::String(name) = part {
            *part = Value::Object(Map::from_iter([("type".to_owned(), name.as_str().into())]));
        } else if part.is_null() {
            *part = Value::Object(Map::new());
            self.note(pointer, "`null` is read as anything");
        }
        self.schema(part, pointer, depth);
    }

    fn types(&mut self, fields: &mut Map<String, Value>, pointer: &str) {
        let Some(types) = fields.get_mut("type") else { return };
        let names = match types {
            Value::Array(names) => names.iter_mut().collect(),
            name => vec![name],
        };
        let mut takes_any = false;
        for name in names {
            let Some(written) = name.as_str() else { continue };
            let plain = written.trim().to_lowercase();
            if ANY.contains(&plain.as_str()) {
                takes_any = true;
                continue;
            }
            // `list[str]`, `Optional` and the like are recognized by the word before the bracket.
            let word = plain.split(['[', '<', '(']).next().unwrap_or_default().trim();
            let found = TYPES.iter().find(|(foreign, _)| *foreign == word);
            if let Some((_, meant)) = found.filter(|(_, meant)| *meant != written) {
                self.note(&format!("{pointer}/type"), &format!("`{written}` is read as `{meant}`"));
                *name = Value::from(*meant);
            }
        }
        if takes_any {
            fields.shift_remove("type");
            self.note(&format!("{pointer}/type"), "a word for any type is left out");
        }
    }

    /// `required: true` at a parameter, as old schemas have it.
    fn required(&mut self, fields: &mut Map<String, Value>, pointer: &str) {
        if matches!(fields.get("required"), Some(Value::Bool(_))) {
            fields.shift_remove("required");
            self.note(&format!("{pointer}/required"), "a word that is no list is left out");
        }
        let Some(Value::Object(properties)) = fields.get("properties") else { return };
        let is_required = |part: &Value| part.get("required") == Some(&Value::Bool(true));
        let names = properties.iter().filter(|(_, part)| is_required(part));
        let names: Vec<Value> = names.map(|(name, _)| name.as_str().into()).collect();
        if names.is_empty() {
            return;
        }
        match fields.get_mut("required") {
            Some(Value::Array(listed)) => {
                listed.extend(names);
                let mut seen = HashSet::new();
                listed.retain(|name| seen.insert(name.to_string()));
            }
            _ => drop(fields.insert("required".to_owned(), Value::Array(names))),
        }
    }
}
