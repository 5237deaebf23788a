//! Settings, held to the schema that a plugin has for them.

use std::fmt;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value};

use super::cost::SchemaCost;
use super::schema::schema_options;
use crate::error::quoted;
use crate::list::nearest;

/// Most problems that are told at once.
const PROBLEMS_MAX: usize = 5;

/// What is wrong with settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsProblem {
    /// The key of the settings where the first of it is; none where that is the whole.
    pub key: Option<String>,
    message: String,
}

// === impl SettingsProblem ===

impl fmt::Display for SettingsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Holds settings to a schema.
pub(super) fn check(schema: &Value, settings: &Map<String, Value>) -> Result<(), SettingsProblem> {
    let whole = |message: String| SettingsProblem { key: None, message };
    let validator = schema_options().build(schema).map_err(|error| whole(error.to_string()))?;
    let settings = Value::Object(settings.clone());
    if !SchemaCost::of(schema).map_err(whole)?.work(&settings).is_light() {
        let message = "they have too many parts to be held to the plugin's schema";
        return Err(whole(message.to_owned()));
    }
    let mut key = None;
    let mut problems = Vec::new();
    for error in validator.iter_errors(&settings).take(PROBLEMS_MAX) {
        let (of, message) = told(schema, &error);
        key = key.or(of);
        problems.push(quoted(&message));
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(SettingsProblem { key, message: problems.join("; ") })
}

/// The key that a problem is about, and what it is.
fn told(schema: &Value, error: &ValidationError<'_>) -> (Option<String>, String) {
    let at = error.instance_path().to_string();
    if let (true, ValidationErrorKind::AdditionalProperties { unexpected }) =
        (at.is_empty(), error.kind())
    {
        let known: Vec<&str> = match schema["properties"].as_object() {
            Some(properties) => properties.keys().map(String::as_str).collect(),
            None => Vec::new(),
        };
        let unknown = |key: &String| match nearest(key, &known) {
            Some(meant) => format!("no key `{key}`, did you mean `{meant}`?"),
            None => format!("no key `{key}`, known keys: {}", known.join(", ")),
        };
        let all: Vec<_> = unexpected.iter().map(unknown).collect();
        return (unexpected.first().cloned(), all.join("; "));
    }
    let key = at.split('/').nth(1).map(|key| key.replace("~1", "/").replace("~0", "~"));
    let message = match at.as_str() {
        "" => error.to_string(),
        at => format!("at `{at}`: {error}"),
    };
    (key, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_problem_says_which_key_it_is_about() {
        let schema = json!({
            "type": "object", "required": ["header"], "additionalProperties": false,
            "properties": { "header": { "type": "string" }, "tags": { "type": "array" } },
        });
        let problem = |settings: Value| {
            let problem = check(&schema, settings.as_object().unwrap()).unwrap_err();
            (problem.key.clone(), problem.to_string())
        };
        assert!(check(&schema, json!({ "header": "x" }).as_object().unwrap()).is_ok());
        let (key, told) = problem(json!({ "header": "x", "tag": [] }));
        assert_eq!(key.as_deref(), Some("tag"));
        assert_eq!(told, "no key `tag`, did you mean `tags`?");
        let (key, told) = problem(json!({ "header": 1 }));
        assert_eq!(key.as_deref(), Some("header"));
        assert!(told.starts_with("at `/header`: "), "{told}");
        let (key, told) = problem(json!({}));
        assert_eq!(key, None);
        assert!(told.contains("header"), "{told}");
    }
}
