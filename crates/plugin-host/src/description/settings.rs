//! Settings, held to the schema that a plugin has for them.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value, json};

use super::schema::schema_options;
use crate::error::SettingsProblem;
use moss_schema::SchemaCost;
use moss_schema::nearest;
use moss_sdk::deceptive::quoted;

/// Most problems that are reported at once.
const PROBLEMS_MAX: usize = 5;
/// How deep the example goes that is made of a schema.
const SCHEMA_DEPTH_MAX: usize = 4;

/// Holds settings to a schema.
pub(super) fn check(schema: &Value, settings: &Map<String, Value>) -> Result<(), SettingsProblem> {
    let example = |key: Option<&str>| example(schema, settings, key);
    let whole = |message| SettingsProblem { key: None, message, example: example(None) };
    let validator = schema_options().build(schema).map_err(|error| whole(error.to_string()))?;
    let whole_settings = Value::Object(settings.clone());
    if !SchemaCost::of(schema).map_err(whole)?.work(&whole_settings).is_light() {
        let message = "they have too many parts to be held to the plugin's schema";
        return Err(whole(message.to_owned()));
    }
    let mut key = None;
    let mut problems = Vec::new();
    for error in validator.iter_errors(&whole_settings).take(PROBLEMS_MAX) {
        let (of, message) = problem_of(schema, &error);
        key = key.or(of);
        problems.push(quoted(&message));
    }
    if problems.is_empty() {
        return Ok(());
    }
    let example = example(key.as_deref());
    Err(SettingsProblem { key, message: problems.join("; "), example })
}

/// What is given, but for a key that is wrong or unknown, and what is missing beside it.
fn example(schema: &Value, given: &Map<String, Value>, wrong: Option<&str>) -> Value {
    let mut example = invented(schema, SCHEMA_DEPTH_MAX);
    if let (Some(all), Some(known)) = (example.as_object_mut(), schema["properties"].as_object()) {
        let good = |key: &&String| known.contains_key(*key) && wrong != Some(key.as_str());
        for key in given.keys().filter(good) {
            all.insert(key.clone(), given[key].clone());
        }
    }
    example
}

/// A value that a schema may take.
fn invented(schema: &Value, depth: usize) -> Value {
    let said = [&schema["default"], &schema["examples"][0], &schema["const"], &schema["enum"][0]];
    if let Some(said) = said.into_iter().find(|said| !said.is_null()) {
        return said.clone();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().unwrap_or(&Value::Null),
        kind => kind,
    };
    match kind.as_str() {
        Some("string") => json!("TEXT"),
        Some("integer" | "number") => match &schema["minimum"] {
            Value::Null => json!(1),
            least => least.clone(),
        },
        Some("boolean") => json!(true),
        Some("array") if schema["minItems"].as_u64() > Some(0) && depth > 0 => {
            json!([invented(&schema["items"], depth - 1)])
        }
        Some("array") => json!([]),
        Some("object") if depth > 0 => {
            let known = schema["properties"].as_object();
            let required = schema["required"].as_array().filter(|required| !required.is_empty());
            let is_shown = |key: &String| {
                required.is_none_or(|required| required.iter().any(|name| name == key))
            };
            let shown = known.into_iter().flatten().filter(|(key, _)| is_shown(key));
            shown.map(|(key, schema)| (key.clone(), invented(schema, depth - 1))).collect()
        }
        Some("object") => json!({}),
        _ => Value::Null,
    }
}

/// The key that a problem is about, and what it is.
fn problem_of(schema: &Value, error: &ValidationError<'_>) -> (Option<String>, String) {
    let at = error.instance_path().to_string();
    if let (true, ValidationErrorKind::AdditionalProperties { unexpected }) =
        (at.is_empty(), error.kind())
    {
        let known: Vec<&str> = match schema["properties"].as_object() {
            Some(properties) => properties.keys().map(String::as_str).collect(),
            None => Vec::new(),
        };
        let unknown = |key: &String| match nearest(key, known.iter().copied()) {
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

    #[test]
    fn a_problem_comes_with_settings_that_fit() {
        let schema = json!({
            "type": "object", "required": ["header", "level", "tags"],
            "properties": {
                "header": { "type": "string" },
                "level": { "enum": ["it's", "other"] },
                "tags": { "type": "array", "minItems": 1, "items": { "type": "integer" } },
                "more": { "type": "boolean" },
            },
        });
        let problem = |settings: Value| check(&schema, settings.as_object().unwrap()).unwrap_err();
        let missing = problem(json!({}));
        let option = r#"--config '{"header":"TEXT","level":"it'\''s","tags":[1]}'"#;
        assert_eq!(missing.option(), option);
        let wrong = problem(json!({ "header": 1, "tags": [7], "more": true, "other": 1 }));
        let example = json!({ "header": "TEXT", "level": "it's", "tags": [7], "more": true });
        assert_eq!(wrong.example, example);
        assert!(check(&schema, example.as_object().unwrap()).is_ok());
    }
}
