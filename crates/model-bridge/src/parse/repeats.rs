//! The calls of a reply that were made, and which of them another one repeats.
//!
//! Each is kept with numbers that are the same where it is: long arguments are not compared with
//! those of every call before.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Map, Value};

use super::calls::ReadyCall;

/// The calls that were made.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    made: Vec<(ReadyCall, Vec<u64>)>,
    /// Places in the list, by a number of the whole call.
    alike: HashMap<u64, Vec<usize>>,
}

// === impl Repeats ===

impl Repeats {
    pub(super) fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    /// Whether a call was made already.
    pub(super) fn has(&self, call: &ReadyCall) -> bool {
        let is_same = |place: &usize| {
            let (one, _) = &self.made[*place];
            one.name == call.name && one.arguments == call.arguments
        };
        let alike = self.alike.get(&of_call(call, &of_arguments(&call.arguments)));
        alike.is_some_and(|places| places.iter().any(is_same))
    }

    pub(super) fn add(&mut self, call: ReadyCall) {
        let numbers = of_arguments(&call.arguments);
        self.alike.entry(of_call(&call, &numbers)).or_default().push(self.made.len());
        self.made.push((call, numbers));
    }

    /// The arguments of the calls of a tool, each with the numbers of its entries in order.
    pub(super) fn of_tool(
        &self,
        name: &str,
    ) -> impl Iterator<Item = (&Map<String, Value>, &[u64])> {
        let made = self.made.iter().filter(move |(call, _)| call.name == name);
        made.map(|(call, numbers)| (&call.arguments, numbers.as_slice()))
    }
}

/// A number of an entry of arguments.
pub(super) fn of_entry(key: &str, value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    match value {
        Value::String(text) => text.hash(&mut hasher),
        Value::Number(number) => number.as_i64().hash(&mut hasher),
        Value::Bool(value) => value.hash(&mut hasher),
        // What is in an object may be in another order.
        Value::Array(_) | Value::Object(_) | Value::Null => {}
    }
    hasher.finish()
}

fn of_arguments(arguments: &Map<String, Value>) -> Vec<u64> {
    let mut numbers: Vec<u64> = arguments.iter().map(|(key, value)| of_entry(key, value)).collect();
    numbers.sort_unstable();
    numbers
}

fn of_call(call: &ReadyCall, numbers: &[u64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&call.name, numbers).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(name: &str, arguments: Value) -> ReadyCall {
        let Value::Object(arguments) = arguments else { panic!("no object: {arguments}") };
        ReadyCall { name: name.to_owned(), arguments, id: None }
    }

    #[test]
    fn calls_that_are_equal_in_another_order_are_repeats() {
        let mut repeats = Repeats::default();
        repeats.add(call("a", json!({ "x": 1, "y": { "p": [1], "q": null }, "z": 1.5 })));
        assert!(repeats.has(&call("a", json!({ "z": 1.5, "y": { "q": null, "p": [1] }, "x": 1 }))));
        for other in [
            call("b", json!({ "x": 1, "y": { "p": [1], "q": null }, "z": 1.5 })),
            call("a", json!({ "x": 1, "y": { "p": [2], "q": null }, "z": 1.5 })),
            call("a", json!({ "x": 1, "y": { "p": [1], "q": null }, "z": 2.5 })),
            call("a", json!({ "x": 1, "y": { "p": [1], "q": null } })),
        ] {
            assert!(!repeats.has(&other), "{other:?}");
        }
    }
}
