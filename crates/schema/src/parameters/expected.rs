//! What a schema wants of a value, in a few words that the value can be corrected from.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::{Map, Value};

use crate::violation::cut;

/// Most bytes of words in a list, but for the last one.
const LISTED_BYTES_MAX: usize = 400;
/// Most characters of one of them.
const WORD_CHARS_MAX: usize = 100;
/// Most values of an enumeration that are named for a missing property.
const OPTIONS_MAX: usize = 3;
/// Most alternatives of which one is wanted that are named.
const ALTERNATIVES_MAX: usize = 8;

/// Says what the keyword wants that a value breaks.
pub(super) fn expected(error: &ValidationError<'_>) -> String {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) =
        error.kind()
    else {
        return plainly(error).unwrap_or_else(|| by_message(error));
    };
    alternatives(error, context).unwrap_or_else(|| by_message(error))
}

/// Says what each of several schemas wants of which a value has to fit one, where that is plain.
fn alternatives(
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
) -> Option<String> {
    let mut wanted: Vec<String> = Vec::new();
    for errors in context.iter().take(ALTERNATIVES_MAX) {
        let first = errors.first()?;
        let below = first.instance_path().as_str().strip_prefix(error.instance_path().as_str())?;
        let one = match (plainly(first)?, below) {
            (one, "") => one,
            (one, below) => format!("{one} at `{}`", cut(below, WORD_CHARS_MAX)),
        };
        if !wanted.contains(&one) {
            wanted.push(one);
        }
    }
    (!wanted.is_empty() && context.len() <= ALTERNATIVES_MAX).then(|| wanted.join(", or "))
}

/// Says what a keyword wants that needs few words.
fn plainly(error: &ValidationError<'_>) -> Option<String> {
    Some(match error.kind() {
        ValidationErrorKind::Type { kind } => type_name(kind),
        ValidationErrorKind::Enum { options } => one_of(options),
        ValidationErrorKind::Constant { expected_value } => word(expected_value),
        ValidationErrorKind::Required { property } => {
            format!("an object with the key `{}`", property.as_str().unwrap_or_default())
        }
        ValidationErrorKind::Minimum { limit } => format!("at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("at most {limit}"),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        ValidationErrorKind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        ValidationErrorKind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        ValidationErrorKind::MinLength { limit } => format!("at least {limit} characters"),
        ValidationErrorKind::MaxLength { limit } => format!("at most {limit} characters"),
        ValidationErrorKind::MinItems { limit } => format!("at least {limit} items"),
        ValidationErrorKind::MaxItems { limit } => format!("at most {limit} items"),
        ValidationErrorKind::MinProperties { limit } => format!("at least {limit} keys"),
        ValidationErrorKind::MaxProperties { limit } => format!("at most {limit} keys"),
        ValidationErrorKind::UniqueItems => "items that all differ".to_owned(),
        ValidationErrorKind::Pattern { pattern } => format!("text that matches `{pattern}`"),
        ValidationErrorKind::FalseSchema => "no value here".to_owned(),
        _ => return None,
    })
}

/// What the validator says, without the value.
fn by_message(error: &ValidationError<'_>) -> String {
    format!("what the schema allows ({})", error.masked())
}

/// Names the type of a required property in a few words; `moss tools NAME` has its description.
pub(super) fn of_property(part: &Value, key: &str) -> String {
    let property = part.get("properties").and_then(|all| all.get(key));
    let of = |name| property.and_then(|property| property.get(name));
    match (of("enum"), of("type").and_then(Value::as_str)) {
        (Some(options), _) if options.as_array().is_some_and(|all| all.len() <= OPTIONS_MAX) => {
            one_of(options)
        }
        (_, Some(kind)) => kind.to_owned(),
        (Some(options), None) => {
            format!("one of {} values", options.as_array().map_or(0, Vec::len))
        }
        (None, None) => "a value".to_owned(),
    }
}

/// The keys that a part of a schema has, in its order.
pub(super) fn keys(part: &Value) -> impl Iterator<Item = &str> {
    let properties = part.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(Map::keys).map(String::as_str)
}

/// Lists words, as many as are read.
pub(super) fn listed(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut list = String::new();
    for word in words {
        if !list.is_empty() {
            list.push_str(", ");
        }
        if list.len() > LISTED_BYTES_MAX {
            list.push('…');
            break;
        }
        list.push('`');
        list.push_str(&cut(word.as_ref(), WORD_CHARS_MAX));
        list.push('`');
    }
    list
}

pub(super) fn type_name(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(kinds) => {
            kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn one_of(options: &Value) -> String {
    let options = options.as_array().into_iter().flatten();
    format!("one of {}", listed(options.map(text)))
}

fn word(value: &Value) -> String {
    format!("`{}`", cut(&text(value), WORD_CHARS_MAX))
}

/// A value as it is named: a string by itself, anything else as JSON.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}
