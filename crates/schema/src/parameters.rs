//! The parameters of a tool, and in what ways arguments do not fit them.

mod expected;

use std::collections::BTreeMap;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::{Number, Value};

use self::expected::{expected, keys, listed, of_property, type_name};
use crate::violation::{MISSING, SHOWN_KEY_CHARS_MAX, Violation, bound, nearest, pointer, shown};

/// Most characters of what a violation says that the schema wants.
const EXPECTED_CHARS_MAX: usize = 600;
/// Most words that a wrong one is compared with.
const COMPARED_MAX: usize = 1000;

/// The parameters of a tool: their schema, and the other names that they have.
///
/// Whoever holds arguments to a schema says in these words what is wrong.
#[derive(Debug, Clone, Copy)]
pub struct Parameters<'a> {
    /// The JSON schema that arguments are held to.
    pub schema: &'a Value,
    /// Other accepted keys of a parameter, by its name.
    pub aliases: &'a BTreeMap<String, Vec<String>>,
}

// === impl Parameters ===

impl<'a> Parameters<'a> {
    /// Adds what validation found until there are `count_max` violations.
    pub(crate) fn describe<'v>(
        self,
        errors: impl Iterator<Item = ValidationError<'v>>,
        count_max: usize,
        violations: &mut Vec<Violation>,
    ) {
        for error in errors {
            self.describe_one(&error, count_max.saturating_sub(violations.len()), violations);
            if violations.len() >= count_max {
                break;
            }
        }
    }

    fn describe_one(
        self,
        error: &ValidationError<'_>,
        room: usize,
        violations: &mut Vec<Violation>,
    ) {
        let at = error.instance_path().as_str();
        let got = shown(error.instance());
        let mut add = |mut pointer: String, mut expected: String, got: String, suggestion| {
            bound(&mut pointer, SHOWN_KEY_CHARS_MAX);
            bound(&mut expected, EXPECTED_CHARS_MAX);
            violations.push(Violation { pointer, expected, got, suggestion });
        };
        match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected }
                if !unexpected.is_empty() =>
            {
                let part = self.part(error);
                let expected = match (error.kind(), listed(keys(part))) {
                    (ValidationErrorKind::AdditionalProperties { .. }, known)
                        if !known.is_empty() =>
                    {
                        format!("one of the keys {known}")
                    }
                    // Other parts of the schema have keys, too.
                    _ => "no such key".to_owned(),
                };
                for key in unexpected.iter().take(room) {
                    let near = nearest(key, self.names(part, at).take(COMPARED_MAX));
                    let value = error.instance().get(key).map_or_else(String::new, shown);
                    let at = format!("{at}{}", pointer(key));
                    add(at, expected.clone(), value, near.map(ToOwned::to_owned));
                }
            }
            ValidationErrorKind::Required { property } => {
                let key = property.as_str().unwrap_or_default();
                let expected = of_property(self.part(error), key);
                let at = format!("{at}{}", pointer(key));
                add(at, expected, MISSING.to_owned(), None);
            }
            ValidationErrorKind::Enum { options } => {
                let words = options.as_array().into_iter().flatten().filter_map(Value::as_str);
                let word = error.instance().as_str();
                let near = word.and_then(|word| nearest(word, words.take(COMPARED_MAX)));
                add(at.to_owned(), expected(error), got, near.map(ToOwned::to_owned));
            }
            ValidationErrorKind::Type { kind } => {
                let suggestion = converted(error.instance(), kind).map(|value| value.to_string());
                let suggestion = suggestion.or_else(|| {
                    let is_switch = type_name(kind) == "boolean" && error.instance().is_string();
                    is_switch.then(|| self.text_like(at)).flatten().map(ToOwned::to_owned)
                });
                add(at.to_owned(), expected(error), got, suggestion);
            }
            ValidationErrorKind::Minimum { limit } | ValidationErrorKind::Maximum { limit } => {
                add(at.to_owned(), expected(error), got, Some(limit.to_string()));
            }
            _ => add(at.to_owned(), expected(error), got, None),
        }
    }

    /// The part of the schema that has the keyword which a value breaks.
    fn part(self, error: &ValidationError<'_>) -> &'a Value {
        let keyword = error.schema_path().as_str();
        let part = keyword.rsplit_once('/').map_or("", |(part, _)| part);
        self.schema.pointer(part).unwrap_or(&Value::Null)
    }

    /// The parameter that takes the text which was given to a switch whose name ends with its own: of `searchPath`
    /// it is `path`.
    fn text_like(self, at: &str) -> Option<&'a str> {
        let switch = at.strip_prefix('/')?.to_lowercase();
        let properties = self.schema.get("properties")?.as_object()?;
        let takes_text = |part: &Value| match part.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
            kind => kind.is_some_and(|kind| kind == "string"),
        };
        let mut texts = properties.iter().filter(|(_, part)| takes_text(part));
        let found = texts.find(|(name, _)| switch.ends_with(&name.to_lowercase()));
        found.map(|(name, _)| name.as_str())
    }

    /// The names that a key may have been meant as, at one location of the arguments.
    fn names(self, part: &'a Value, at: &str) -> impl Iterator<Item = &'a str> {
        let aliases = at.is_empty().then(|| self.aliases.values().flatten().map(String::as_str));
        keys(part).chain(aliases.into_iter().flatten())
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

#[cfg(test)]
mod tests;
