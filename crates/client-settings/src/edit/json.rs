//! JSON with comments.

use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::{Map, Value, json};

use super::{NAME, NotEdited};

/// What some client or other takes.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};
const EMPTY: &str = "{}\n";

pub(super) fn entry(text: &str, keys: &[&str]) -> Result<Option<Value>, NotEdited> {
    let mut all = value(text)?;
    for key in keys.iter().chain([&NAME]) {
        all = all.and_then(|mut all| Some(all.get_mut(*key)?.take()));
    }
    Ok(all)
}

/// Everything in a file but the entry, and but the keys that would hold that alone.
pub(super) fn others(text: &str, keys: &[&str]) -> Result<Value, NotEdited> {
    let mut all = value(text)?.unwrap_or_else(|| json!({}));
    for depth in (0..=keys.len()).rev() {
        let (outer, key) = (&keys[..depth], keys.get(depth).unwrap_or(&NAME));
        let held = outer.iter().try_fold(&mut all, |all, key| all.get_mut(*key));
        let Some(Value::Object(held)) = held else { continue };
        let is_empty = |one: &Value| one.as_object().is_some_and(Map::is_empty);
        if *key == NAME && depth == keys.len() || held.get(*key).is_some_and(is_empty) {
            held.remove(*key);
        }
    }
    Ok(all)
}

/// Reads a whole file; none where it has nothing but white space and comments.
pub(super) fn value(text: &str) -> Result<Option<Value>, NotEdited> {
    parse_to_serde_value(text, &OPTIONS).map_err(|error| broken(&error))
}

/// Where there is an entry, only those of its members are written that are others: comments beside them stay.
pub(super) fn with_entry(text: &str, keys: &[&str], new: &Value) -> Result<String, NotEdited> {
    let old = entry(text, keys)?;
    let (root, mut servers) = open(if text.trim().is_empty() { EMPTY } else { text })?;
    for key in keys {
        servers = servers.object_value_or_create(key).ok_or_else(|| other_than_object(key))?;
    }
    match servers.get(NAME) {
        Some(property) => match (property.object_value(), old, new) {
            (Some(object), Some(Value::Object(old)), Value::Object(new)) => {
                set_members(&object, &old, new);
            }
            _ => property.set_value(input(new)),
        },
        None => {
            servers.append(NAME, input(new));
        }
    }
    Ok(root.to_string())
}

fn set_members(object: &CstObject, old: &Map<String, Value>, new: &Map<String, Value>) {
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        if let Some(property) = object.get(key) {
            property.remove();
        }
    }
    for (key, value) in new.iter().filter(|(key, value)| old.get(*key) != Some(value)) {
        let Some(property) = object.get(key) else {
            object.append(key, input(value));
            continue;
        };
        match (property.object_value(), old.get(key), value) {
            (Some(inner), Some(Value::Object(old)), Value::Object(new)) => {
                set_members(&inner, old, new);
            }
            _ => property.set_value(input(value)),
        }
    }
}

pub(super) fn without_entry(text: &str, keys: &[&str]) -> Result<String, NotEdited> {
    let (root, object) = open(text)?;
    if let Some(property) = beneath(object, keys).and_then(|servers| servers.get(NAME)) {
        property.remove();
    }
    Ok(root.to_string())
}

/// Removes the last of the keys, where it has an object with nothing in it.
pub(super) fn without_empty_key(text: &str, keys: &[&str]) -> Result<String, NotEdited> {
    let (root, object) = open(text)?;
    let Some((key, outer)) = keys.split_last() else { return Ok(text.to_owned()) };
    let servers = beneath(object, outer).and_then(|outer| outer.get(key)).filter(|servers| {
        let held = servers.object_value();
        held.is_some_and(|held| {
            held.children()
                .iter()
                .all(|child| child.is_whitespace() || child.is_token() || child.is_newline())
        })
    });
    if let Some(property) = servers {
        property.remove();
    }
    Ok(root.to_string())
}

/// Whether the keys lead to something. What cannot be read may have it.
pub(super) fn has(text: &str, keys: &[&str]) -> bool {
    let Ok(all) = value(text) else { return true };
    let step = |all: Value, key: &&str| all.get(*key).cloned();
    all.is_some_and(|all| keys.iter().try_fold(all, step).is_some())
}

fn beneath(object: CstObject, keys: &[&str]) -> Option<CstObject> {
    keys.iter().try_fold(object, |object, key| object.object_value(key))
}

fn open(text: &str) -> Result<(CstRootNode, CstObject), NotEdited> {
    let root = CstRootNode::parse(text, &OPTIONS).map_err(|error| broken(&error))?;
    let object = root.object_value_or_create().ok_or_else(|| other_than_object("the file"))?;
    Ok((root, object))
}

fn broken(error: &dyn std::fmt::Display) -> NotEdited {
    NotEdited::new(format!("the file is not JSON: {error}"))
}

fn other_than_object(what: &str) -> NotEdited {
    NotEdited::new(format!("{what} is not an object"))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(switch) => CstInputValue::Bool(*switch),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => CstInputValue::Object(
            members.iter().map(|(key, value)| (key.clone(), input(value))).collect(),
        ),
    }
}
