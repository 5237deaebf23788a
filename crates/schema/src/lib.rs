//! Arguments of calls: read strictly ([`arguments`]), then held to a tool's schema. Aliases become main
//! keys, then every violation is reported at once, each with a JSON pointer, what was expected, what came
//! and the nearest valid thing. What a schema costs to hold a value to is known beforehand ([`SchemaCost`]).

pub mod arguments;
mod cost;
mod quoted;
mod schema;
mod steps;

use std::collections::BTreeMap;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use moss_sdk::ToolSpec;
use serde::Serialize;
use serde_json::{Map, Number, Value};

pub use self::cost::SchemaCost;
pub use self::quoted::quoted;
pub use self::schema::{Held, Schema, SchemaError};

/// Most violations that are reported of one call.
const VIOLATIONS_MAX: usize = 50;
/// Most characters of a value that an error repeats.
const SHOWN_CHARS_MAX: usize = 60;
/// Most characters of a name or a pointer that an error repeats.
pub const SHOWN_KEY_CHARS_MAX: usize = 100;
/// Longest word that is compared with others, in characters.
const COMPARED_CHARS_MAX: usize = 64;
/// Largest integer that every reader of JSON keeps exact: 2^53 - 1.
const EXACT_INTEGER_MAX: i64 = 9_007_199_254_740_991;
/// One way in which arguments break the schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// JSON pointer to the offending or missing value; empty for the arguments as a whole.
    pub pointer: String,
    /// What the schema wants.
    pub expected: String,
    /// What came.
    pub got: String,
    /// The nearest valid key or value.
    pub suggestion: Option<String>,
}

/// A tool's compiled schema.
#[derive(Debug)]
pub struct ArgumentValidator {
    compiled: Schema,
    schema: Value,
    aliases: BTreeMap<String, Vec<String>>,
}

/// The first bytes of a text that is written; the writing fails when there is no more room.
struct Beginning(Vec<u8>);

/// Shows a value in an error: its type and the beginning of its text.
pub fn shown(value: &Value) -> String {
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let mut beginning = Beginning(Vec::new());
    // It fails where the value is longer than what is shown of it: the rest is not even written.
    let _ = serde_json::to_writer(&mut beginning, value);
    format!("{kind} {}", cut(&String::from_utf8_lossy(&beginning.0), SHOWN_CHARS_MAX))
}

/// Cuts a text for display.
pub fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the candidate that a writer most likely meant; none for a word that is longer than any
/// name.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Comparing costs the product of both lengths.
    let comparable = |text: &str| text.chars().nth(COMPARED_CHARS_MAX).is_none();
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    if !comparable(word) {
        return None;
    }
    let wanted = plain(word);
    candidates
        .into_iter()
        .filter(|candidate| comparable(candidate))
        .map(|candidate| {
            (strsim::normalized_damerau_levenshtein(&wanted, &plain(candidate)), candidate)
        })
        .filter(|(similarity, _)| *similarity >= 0.6)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

// === impl ArgumentValidator ===

impl ArgumentValidator {
    /// Compiles the strict schema of a tool.
    ///
    /// # Errors
    ///
    /// As [`Schema::new`].
    pub fn new(spec: &ToolSpec) -> Result<Self, SchemaError> {
        Ok(Self {
            compiled: Schema::new(&spec.name, &spec.parameters_strict)?,
            schema: spec.parameters_strict.clone(),
            aliases: spec.aliases.clone(),
        })
    }

    /// Whether it takes so little time to bind arguments that nobody waits for it.
    pub fn is_light(&self, arguments: &Map<String, Value>) -> bool {
        self.compiled.is_light(arguments)
    }

    /// Turns arguments as given into arguments that fit the schema.
    ///
    /// # Errors
    ///
    /// Every violation, in the order of the arguments.
    pub fn bind(&self, arguments: Map<String, Value>) -> Result<Value, Vec<Violation>> {
        let (arguments, mut violations) = self.normalize(arguments);
        let mut arguments = Value::Object(arguments);
        self.hold(&arguments, &mut violations);
        if violations.is_empty() {
            make_integers(&mut arguments, &self.schema, "", &mut violations);
        }
        if violations.is_empty() { Ok(arguments) } else { Err(violations) }
    }

    fn hold(&self, arguments: &Value, violations: &mut Vec<Violation>) {
        let mut on_the_whole = |expected: &str| {
            violations.push(Violation {
                pointer: String::new(),
                expected: expected.to_owned(),
                got: shown(arguments),
                suggestion: None,
            });
        };
        match self.compiled.hold(arguments) {
            Held::Fits => {}
            Held::BreaksSomewhere => {
                on_the_whole("arguments that fit the schema; these are too large to say where");
            }
            Held::TooManyParts => {
                on_the_whole("fewer or shorter values: these would take long to check");
            }
            Held::Breaks(problems) => {
                for error in problems {
                    self.describe(&error, violations);
                    if violations.len() >= VIOLATIONS_MAX {
                        break;
                    }
                }
            }
        }
    }

    /// Drops `null` of optional keys and moves aliases to their main keys.
    fn normalize(&self, mut arguments: Map<String, Value>) -> (Map<String, Value>, Vec<Violation>) {
        let required: Vec<&str> = self
            .schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        arguments.retain(|key, value| !value.is_null() || required.contains(&key.as_str()));
        let mut violations = Vec::new();
        for (main, aliases) in &self.aliases {
            for alias in aliases {
                let Some(value) = arguments.get(alias).cloned() else { continue };
                match arguments.get(main) {
                    Some(given) if *given != value => violations.push(Violation {
                        pointer: pointer(alias),
                        expected: format!("`{main}` alone: `{alias}` is another name of it"),
                        got: format!("{} beside {}", shown(&value), shown(given)),
                        suggestion: Some(format!("leave out `{alias}`")),
                    }),
                    Some(_) => {}
                    None => {
                        arguments.insert(main.clone(), value);
                    }
                }
                arguments.shift_remove(alias);
            }
        }
        (arguments, violations)
    }

    fn describe(&self, error: &ValidationError<'_>, violations: &mut Vec<Violation>) {
        let at = error.instance_path().as_str();
        let got = shown(error.instance());
        let room = VIOLATIONS_MAX.saturating_sub(violations.len());
        let mut add = |pointer: String, expected: String, got: String, suggestion| {
            let pointer = cut(&pointer, SHOWN_KEY_CHARS_MAX);
            violations.push(Violation { pointer, expected, got, suggestion });
        };
        match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                for key in unexpected.iter().take(room) {
                    let near = nearest(key, self.keys()).map(ToOwned::to_owned);
                    let value = error.instance().get(key).map_or_else(String::new, shown);
                    let expected = if at.is_empty() {
                        format!("one of the keys {}", listed(self.parameters()))
                    } else {
                        "no such key".to_owned()
                    };
                    add(format!("{at}{}", pointer(key)), expected, value, near);
                }
            }
            ValidationErrorKind::Required { property } => {
                let key = property.as_str().unwrap_or_default();
                let expected = self.expected_of(key);
                add(format!("{at}{}", pointer(key)), expected, "nothing".to_owned(), None);
            }
            ValidationErrorKind::Enum { options } => {
                let words: Vec<&str> =
                    options.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let near = error.instance().as_str().and_then(|word| nearest(word, words.clone()));
                let expected = format!("one of {}", listed(words.iter().copied()));
                add(at.to_owned(), expected, got, near.map(ToOwned::to_owned));
            }
            ValidationErrorKind::Type { kind } => {
                let suggestion = converted(error.instance(), kind).map(|value| value.to_string());
                add(at.to_owned(), type_name(kind), got, suggestion);
            }
            ValidationErrorKind::Minimum { limit } => {
                add(at.to_owned(), format!("at least {limit}"), got, Some(limit.to_string()));
            }
            ValidationErrorKind::Maximum { limit } => {
                add(at.to_owned(), format!("at most {limit}"), got, Some(limit.to_string()));
            }
            _ => add(at.to_owned(), error.masked().to_string(), got, None),
        }
    }

    /// Main keys in schema order.
    fn parameters(&self) -> impl Iterator<Item = &str> {
        self.schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::keys)
            .map(String::as_str)
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        self.parameters().chain(self.aliases.values().flatten().map(String::as_str))
    }

    fn expected_of(&self, key: &str) -> String {
        let property = self.schema.get("properties").and_then(|all| all.get(key));
        let text = |name| property.and_then(|property| property.get(name)).and_then(Value::as_str);
        match (text("type"), text("description")) {
            (Some(kind), Some(description)) => {
                format!("{kind} ({})", description.trim_end_matches('.'))
            }
            (Some(kind), None) => kind.to_owned(),
            _ => "a value".to_owned(),
        }
    }
}

// === impl Violation ===

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = if self.pointer.is_empty() { "the arguments" } else { &self.pointer };
        write!(f, "{at}: expected {}, got {}", self.expected, self.got)?;
        match &self.suggestion {
            Some(suggestion) => write!(f, " (did you mean {suggestion}?)"),
            None => Ok(()),
        }
    }
}

fn pointer(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn listed<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

fn type_name(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(kinds) => {
            kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>().join(" or ")
        }
    }
}

/// The same value in the expected type, where that is plain: `"3"` for 3, 3 for `"3"`.
fn converted(value: &Value, kind: &TypeKind) -> Option<Value> {
    let wanted = type_name(kind);
    match (value, wanted.as_str()) {
        (Value::String(text), "integer") => text.trim().parse::<i64>().ok().map(Value::from),
        (Value::String(text), "number") => {
            text.trim().parse().ok().and_then(Number::from_f64).map(Value::Number)
        }
        (Value::String(text), "boolean") => text.trim().parse::<bool>().ok().map(Value::from),
        (Value::Number(_) | Value::Bool(_), "string") => Some(Value::String(value.to_string())),
        (Value::Number(number), "integer") => {
            number.as_f64().map(|number| Value::from(number.round() as i64))
        }
        _ => None,
    }
}

/// Writes `3.0` as `3` wherever the schema says integer: the schema accepts both. What is too large
/// to be exact is a violation.
fn make_integers(
    value: &mut Value,
    schema: &Value,
    pointer: &str,
    violations: &mut Vec<Violation>,
) {
    let below = |key: &str| format!("{pointer}{}", self::pointer(key));
    match value {
        Value::Number(number) if schema.get("type").is_some_and(|kind| kind == "integer") => {
            let Some(float) = number.as_f64().filter(|_| number.is_f64()) else { return };
            if float.abs() <= EXACT_INTEGER_MAX as f64 {
                *value = Value::from(float as i64);
            } else if violations.len() < VIOLATIONS_MAX {
                let minimum = schema.get("minimum").and_then(Value::as_i64);
                let minimum = minimum.unwrap_or(-EXACT_INTEGER_MAX);
                violations.push(Violation {
                    pointer: cut(pointer, SHOWN_KEY_CHARS_MAX),
                    expected: format!("an integer from {minimum} to {EXACT_INTEGER_MAX}"),
                    got: shown(value),
                    suggestion: None,
                });
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else { return };
            for (index, item) in items.iter_mut().enumerate() {
                make_integers(item, schema, &below(&index.to_string()), violations);
            }
        }
        Value::Object(fields) => {
            let Some(properties) = schema.get("properties") else { return };
            for (key, field) in fields {
                if let Some(schema) = properties.get(key) {
                    make_integers(field, schema, &below(key), violations);
                }
            }
        }
        _ => {}
    }
}

// === impl Beginning ===

impl std::io::Write for Beginning {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let room = (SHOWN_CHARS_MAX + 1) * char::MAX_LEN_UTF8 - self.0.len();
        if room == 0 {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        let taken = bytes.len().min(room);
        self.0.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
