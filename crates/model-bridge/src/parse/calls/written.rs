//! Calls as they were written: which key of an object names the tool, which holds the arguments.

use serde_json::{Map, Value};

use super::super::call_keys::{ARGUMENT_KEYS, LIST_KEY, NAME_KEYS};
use super::is_id;
use crate::registry::Registry;

/// A call as it was written.
pub(super) struct WrittenCall {
    pub(super) name: Option<String>,
    pub(super) arguments: Option<Value>,
    pub(super) id: Option<String>,
    /// What else stands beside the name.
    pub(super) beside: Map<String, Value>,
    /// Other names of tools, and the two keys that hold different arguments.
    pub(super) other_names: Vec<String>,
    pub(super) clash: Option<[&'static str; 2]>,
}

/// Adds the calls that a value of a frame holds: one, a list, or an object with a list. Lists in
/// lists are none. Returns how many values can be no call.
pub(super) fn gather(value: Value, written: &mut Vec<WrittenCall>) -> usize {
    let listed = match value {
        Value::Object(mut fields) => match fields.get_mut(LIST_KEY) {
            Some(Value::Array(values)) => std::mem::take(values),
            _ => vec![Value::Object(fields)],
        },
        Value::Array(values) => values,
        _ => return 1,
    };
    // An empty list is not a list of calls.
    let values = listed.len().max(1);
    let before = written.len();
    for value in listed {
        if let Value::Object(fields) = value {
            written.extend(read(fields));
        }
    }
    values - (written.len() - before)
}

fn read(mut fields: Map<String, Value>) -> Option<WrittenCall> {
    if fields.is_empty() {
        return None;
    }
    let id = ["id", "call_id"].iter().find_map(|key| fields.get(*key)?.as_str());
    let id = id.filter(|id| is_id(id)).map(str::to_owned);
    let mut written = match fields.get_mut("function") {
        Some(Value::Object(function)) => {
            let mut said = said_in(function);
            fields.shift_remove("function");
            // What stands around it may say something else.
            let names = NAME_KEYS.iter().filter_map(|key| fields.get(*key)?.as_str());
            said.other_names.extend(names.map(str::to_owned));
            let differs = |key: &&&str| {
                let other = fields.get(**key);
                other.is_some_and(says_something) && other != said.arguments.as_ref()
            };
            let other = ARGUMENT_KEYS.iter().find(differs).filter(|_| said.arguments.is_some());
            said.clash = said.clash.or(other.map(|key| ["function", *key]));
            said
        }
        _ => said_in(&mut fields),
    };
    written.id = id;
    written.beside = fields;
    Some(written)
}

/// Takes the name of the tool and its arguments out of an object.
fn said_in(fields: &mut Map<String, Value>) -> WrittenCall {
    let mut names = NAME_KEYS.iter().filter_map(|key| fields.get(*key)?.as_str());
    let name = names.next().map(str::to_owned);
    let other_names = names.map(str::to_owned).collect();
    let mut given = ARGUMENT_KEYS.iter().filter(|key| fields.contains_key(**key));
    let mut key = given.next().copied();
    let mut clash = None;
    for other in given.copied() {
        let (first, second) = (key.and_then(|key| fields.get(key)), fields.get(other));
        if first == second || !second.is_some_and(says_something) {
            continue;
        }
        match key.filter(|_| first.is_some_and(says_something)) {
            Some(first) => clash = clash.or(Some([first, other])),
            None => key = Some(other),
        }
    }
    let arguments = key.and_then(|key| fields.get_mut(key)).map(Value::take);
    WrittenCall { name, arguments, id: None, beside: Map::new(), other_names, clash }
}

/// Whether a value of a key for arguments has any.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}

/// Says what two keys of a call say differently: which of them is meant, nobody knows.
pub(super) fn contradiction(
    registry: &Registry,
    name: &str,
    other_names: &[String],
    clash: Option<[&str; 2]>,
) -> Option<String> {
    if let Some([first, other]) = clash {
        return Some(format!("`{first}` and `{other}` hold different arguments; write one"));
    }
    if other_names.is_empty() {
        return None;
    }
    let first = registry.resolve(name)?.name();
    let mut others = other_names.iter().filter_map(|other| registry.resolve(other));
    let other = others.find(|other| other.name() != first)?.name();
    Some(format!("both `{first}` and `{other}` are named; write one call for each"))
}
