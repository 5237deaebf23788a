//! Arguments as models write them, made to fit a schema where nothing is lost by it.

use moss_schema::json;
use serde_json::{Map, Number, Value};

use super::names::fold;
use super::{ToolDefinition, Types};
use crate::diagnostic::RepairKind;

/// How deep values are made to fit.
const DEPTH_MAX: usize = 16;
/// How many levels of JSON inside of strings are taken out.
const NESTED_JSON_MAX: usize = 2;

/// What was done to arguments that may not be what was meant.
#[derive(Debug, Default)]
pub(super) struct FitNotes {
    /// Keys that were left out.
    pub(super) dropped: Vec<String>,
    pub(super) changes: Vec<RepairKind>,
    /// Parameters in whose values something became one of another type.
    pub(super) coerced: Vec<String>,
    /// Whether that happened since the last look.
    is_coerced: bool,
}

/// Where a value stands.
#[derive(Clone, Copy)]
struct SchemaPosition<'s> {
    /// What it must fit.
    schema: &'s Value,
    /// What references of that refer to.
    root: &'s Value,
    /// How many levels below are made to fit.
    depth: usize,
}

/// Makes arguments fit. Returns them and what was done to them.
pub(super) fn fit(
    definition: &ToolDefinition,
    arguments: Map<String, Value>,
) -> (Map<String, Value>, FitNotes) {
    let root = &definition.parameters;
    let closed = root.get("additionalProperties") == Some(&Value::Bool(false));
    let mut fitted = Map::new();
    let (mut dropped, mut notes) = (Vec::new(), FitNotes::default());
    // A key by its own name goes before others that mean it.
    let own = |key: &str| property(root, key).is_some();
    let has_own: Vec<String> = arguments.keys().filter(|key| own(key)).cloned().collect();
    for (key, value) in arguments {
        let Some(name) = parameter(definition, &key).map(str::to_owned) else {
            if closed {
                dropped.push(key);
            } else {
                fitted.insert(key, value);
            }
            continue;
        };
        if name != key && has_own.contains(&name) {
            dropped.push(key);
            continue;
        }
        let Some(schema) = property(root, &name) else { continue };
        if is_left_out(&value, &name, schema, root, root) {
            continue;
        }
        let value = coerced(value, SchemaPosition { schema, root, depth: DEPTH_MAX }, &mut notes);
        if std::mem::take(&mut notes.is_coerced) {
            notes.coerced.push(name.clone());
        }
        fitted.insert(name, value);
    }
    dropped.append(&mut notes.dropped);
    (fitted, FitNotes { dropped, ..notes })
}

/// Whether arguments that satisfy the schema are fit as they are: [`fit`] would change nothing. So it
/// is where each key is a parameter by its own name, and no number has a fraction, which an integer
/// loses.
pub(super) fn may_stay(definition: &ToolDefinition, arguments: &Map<String, Value>) -> bool {
    let properties = definition.parameters.get("properties").and_then(Value::as_object);
    arguments.iter().all(|(key, value)| {
        properties.is_some_and(|properties| properties.contains_key(key))
            && has_no_fraction(value, DEPTH_MAX)
    })
}

fn has_no_fraction(value: &Value, depth: usize) -> bool {
    match value {
        Value::Number(number) => !number.is_f64(),
        Value::Array(_) | Value::Object(_) if depth == 0 => false,
        Value::Array(values) => values.iter().all(|value| has_no_fraction(value, depth - 1)),
        Value::Object(fields) => fields.values().all(|value| has_no_fraction(value, depth - 1)),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

/// The parameter that a key means: its name, another name of it, or one that differs in case, `-`
/// and `_` only.
pub(super) fn parameter<'d>(definition: &'d ToolDefinition, key: &str) -> Option<&'d str> {
    let properties = definition.parameters.get("properties")?.as_object()?;
    if let Some((name, _)) = properties.get_key_value(key) {
        return Some(name);
    }
    let by_alias = definition.aliases.iter().find(|(name, aliases)| {
        properties.contains_key(*name) && aliases.iter().any(|alias| alias == key)
    });
    if let Some((name, _)) = by_alias {
        return Some(name);
    }
    let folded = fold(key);
    let mut alike = properties.keys().filter(|name| fold(name) == folded);
    alike.next().filter(|_| alike.next().is_none()).map(String::as_str)
}

fn property<'s>(root: &'s Value, name: &str) -> Option<&'s Value> {
    root.get("properties")?.get(name)
}

/// Makes a value fit its schema where nothing is lost by it; otherwise returns it as it is.
fn coerced(value: Value, place: SchemaPosition<'_>, notes: &mut FitNotes) -> Value {
    if place.depth == 0 {
        return value;
    }
    let types = Types::of(place.schema, place.root);
    if types.allow(&value) {
        return inside(whole(value, types), place, notes);
    }
    let before = std::mem::discriminant(&value);
    let value = retyped(value, types, place, notes);
    notes.is_coerced |= std::mem::discriminant(&value) != before;
    value
}

/// A value of another type than the schema asks for, as one of that, where it has a meaning.
fn retyped(value: Value, types: Types, place: SchemaPosition<'_>, notes: &mut FitNotes) -> Value {
    match value {
        Value::String(text) => from_text(text, types, place, notes),
        Value::Number(number) if types.allows_string() => Value::String(number.to_string()),
        value if types.allows_array() && !value.is_null() => {
            Value::Array(vec![coerced(value, place.item(), notes)])
        }
        value => value,
    }
}

/// A whole number that is written with a fraction, as an integer.
fn whole(value: Value, types: Types) -> Value {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    match value.as_f64() {
        Some(number)
            if value.is_f64()
                && !types.allows_number()
                && number.fract() == 0.0
                && number.abs() <= EXACT_MAX =>
        {
            #[allow(clippy::cast_possible_truncation, reason = "whole, and bounded above")]
            let number = number as i64;
            Value::Number(number.into())
        }
        _ => value,
    }
}

/// Makes what stands inside of a value fit.
fn inside(value: Value, place: SchemaPosition<'_>, notes: &mut FitNotes) -> Value {
    let place = place.referred();
    let SchemaPosition { schema, root, .. } = place;
    match value {
        Value::Array(values) if schema.get("items").is_some() => {
            values.into_iter().map(|value| coerced(value, place.item(), notes)).collect()
        }
        Value::Object(fields) if schema.get("properties").is_some() => {
            let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
            let mut fitted = Map::new();
            for (key, value) in fields {
                match schema["properties"].get(&key) {
                    Some(property) if is_left_out(&value, &key, property, schema, root) => {}
                    Some(property) => {
                        fitted.insert(key, coerced(value, place.inner(property), notes));
                    }
                    None if closed => notes.dropped.push(key),
                    None => {
                        fitted.insert(key, value);
                    }
                }
            }
            Value::Object(fitted)
        }
        value => value,
    }
}

/// Whether a value says that an optional key has none.
fn is_left_out(value: &Value, key: &str, property: &Value, schema: &Value, root: &Value) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = || required.is_some_and(|keys| keys.iter().any(|one| one == key));
    value.is_null() && !is_required() && !Types::of(property, root).allows_null()
}

/// What a string means where no string may stand.
fn from_text(text: String, types: Types, place: SchemaPosition<'_>, notes: &mut FitNotes) -> Value {
    let plain = text.trim();
    if types.allows_integer() {
        if let Ok(number) = plain.parse::<i64>() {
            return Value::Number(number.into());
        }
        if let Ok(number) = plain.parse::<u64>() {
            return Value::Number(number.into());
        }
    }
    if types.allows_number() {
        let number = plain.parse::<f64>().ok().and_then(Number::from_f64);
        if let Some(number) = number {
            return Value::Number(number);
        }
    }
    if types.allows_boolean() {
        match plain.to_ascii_lowercase().as_str() {
            "true" => return Value::Bool(true),
            "false" => return Value::Bool(false),
            _ => {}
        }
    }
    if types.allows_array() || types.allows_object() {
        if let Some(value) = unwrapped(plain, types) {
            return inside(value, place, notes);
        }
        if types.allows_array() {
            if text.contains(',') {
                // One item with commas, or several: of words alone they are several.
                let Some(words) = listed(&text) else { return Value::String(text) };
                notes.changes.push(RepairKind::CommaList);
                let words = words.into_iter();
                return words.map(|word| coerced(word, place.item(), notes)).collect();
            }
            return Value::Array(vec![coerced(Value::String(text), place.item(), notes)]);
        }
    }
    Value::String(text)
}

/// The words of a text that is nothing but words with commas between them. One in quotes is a part
/// of JSON, which is not read where it is malformed.
fn listed(text: &str) -> Option<Vec<Value>> {
    let of_none = |c: char| c.is_whitespace() || c == '"';
    let is_word = |word: &&str| !word.is_empty() && !word.contains(of_none);
    let words = text.split(',').map(str::trim);
    words.map(|word| Some(word).filter(is_word).map(Value::from)).collect()
}

/// Whether a value has a number beyond 64 bits that is whole.
pub(super) fn is_rounded(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64() && number.as_f64().is_some_and(is_beyond_64_bits),
        Value::Array(values) => values.iter().any(is_rounded),
        Value::Object(fields) => fields.values().any(is_rounded),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fn is_beyond_64_bits(number: f64) -> bool {
    const INTEGER_MAX: f64 = 9_223_372_036_854_775_808.0;
    number.abs() >= INTEGER_MAX && number.fract() == 0.0
}

/// Takes a value out of a string that holds its JSON.
fn unwrapped(text: &str, types: Types) -> Option<Value> {
    let mut text = text.to_owned();
    for _ in 0..NESTED_JSON_MAX {
        match json::read(text.trim_ascii_end()).ok()? {
            Value::String(inner) => text = inner,
            value @ (Value::Array(_) | Value::Object(_)) if types.allow(&value) => {
                return Some(value);
            }
            _ => return None,
        }
    }
    None
}

// === impl SchemaPosition ===

impl<'s> SchemaPosition<'s> {
    /// The position of a value inside of this one.
    fn inner(self, schema: &'s Value) -> Self {
        Self { schema, depth: self.depth - 1, ..self }
    }

    /// The position of an item of a list that stands here.
    fn item(self) -> Self {
        self.inner(self.schema.get("items").unwrap_or(&Value::Null))
    }

    /// The same position with the schema that its own refers to, where it does.
    fn referred(self) -> Self {
        let target = self.schema.get("$ref").and_then(Value::as_str);
        let referred = target.and_then(|target| self.root.pointer(target.strip_prefix('#')?));
        Self { schema: referred.unwrap_or(self.schema), ..self }
    }
}
