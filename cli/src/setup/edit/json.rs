//! JSON with comments.

use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::Value;

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

pub(super) fn entry(text: &str, key: &str) -> Result<Option<Value>, NotEdited> {
    let read: Option<Value> = parse_to_serde_value(text, &OPTIONS).map_err(|e| broken(&e))?;
    Ok(read.and_then(|mut all| Some(all.get_mut(key)?.get_mut(NAME)?.take())))
}

pub(super) fn with_entry(text: &str, key: &str, new: &Value) -> Result<String, NotEdited> {
    let (root, object) = open(if text.trim().is_empty() { EMPTY } else { text })?;
    let servers = object.object_value_or_create(key).ok_or_else(|| other_than_object(key))?;
    match servers.get(NAME) {
        Some(property) => property.set_value(input(new)),
        None => {
            servers.append(NAME, input(new));
        }
    }
    Ok(root.to_string())
}

pub(super) fn without_entry(text: &str, key: &str) -> Result<String, NotEdited> {
    let (root, object) = open(text)?;
    if let Some(property) = object.object_value(key).and_then(|servers| servers.get(NAME)) {
        property.remove();
    }
    Ok(root.to_string())
}

pub(super) fn without_empty_key(text: &str, key: &str) -> Result<String, NotEdited> {
    let (root, object) = open(text)?;
    let servers = object.get(key).filter(|servers| {
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

pub(super) fn has_key(text: &str, key: &str) -> bool {
    open(text).map_or(true, |(_, object)| object.get(key).is_some())
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
