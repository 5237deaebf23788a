//! What JSON types a schema lets a value have.

use serde_json::Value;

/// How many references and alternatives are followed.
const DEPTH_MAX: usize = 8;
/// How many schemas are looked at: references to each other can make them many times as many as are written.
const LOOKS_MAX: usize = 200;

/// The JSON types that a value may have. One that the schema does not type may have all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Types(u8);

const STRING: u8 = 1;
const INTEGER: u8 = 2;
const NUMBER: u8 = 4;
const BOOLEAN: u8 = 8;
const ARRAY: u8 = 16;
const OBJECT: u8 = 32;
const NULL: u8 = 64;
const ALL: u8 = 127;

// === impl Types ===

impl Types {
    /// Reads the types from a schema; `root` is what its references refer to.
    pub(crate) fn of(schema: &Value, root: &Value) -> Self {
        let mut left = LOOKS_MAX;
        Self(bits(schema, root, DEPTH_MAX, &mut left))
    }

    /// Whether nothing is said of it.
    pub(crate) fn allow_all(self) -> bool {
        self.0 == ALL
    }

    pub(crate) fn allows_string(self) -> bool {
        self.0 & STRING != 0
    }

    /// Whether strings are all that it may be, so that one can be passed on while it is read.
    pub(crate) fn is_string_only(self) -> bool {
        self.0 == STRING
    }

    pub(crate) fn allows_integer(self) -> bool {
        self.0 & INTEGER != 0
    }

    pub(crate) fn allows_number(self) -> bool {
        self.0 & NUMBER != 0
    }

    pub(crate) fn allows_boolean(self) -> bool {
        self.0 & BOOLEAN != 0
    }

    pub(crate) fn allows_array(self) -> bool {
        self.0 & ARRAY != 0
    }

    pub(crate) fn allows_object(self) -> bool {
        self.0 & OBJECT != 0
    }

    pub(crate) fn allows_null(self) -> bool {
        self.0 & NULL != 0
    }

    /// Whether a value has one of the types.
    pub(crate) fn allow(self, value: &Value) -> bool {
        match value {
            Value::String(_) => self.allows_string(),
            Value::Number(number) => {
                let whole = !number.is_f64() || is_whole(number.as_f64());
                self.allows_number() || (self.allows_integer() && whole)
            }
            Value::Bool(_) => self.allows_boolean(),
            Value::Array(_) => self.allows_array(),
            Value::Object(_) => self.allows_object(),
            Value::Null => self.allows_null(),
        }
    }
}

fn is_whole(number: Option<f64>) -> bool {
    number.is_some_and(|number| number.fract() == 0.0)
}

fn bits(schema: &Value, root: &Value, depth: usize, left: &mut usize) -> u8 {
    if depth == 0 || *left == 0 {
        return ALL;
    }
    *left -= 1;
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        return match target.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) {
            Some(schema) => bits(schema, root, depth - 1, left),
            None => ALL,
        };
    }
    let own = match schema.get("type") {
        Some(Value::String(name)) => named(name),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(named).fold(0, |all, one| all | one)
        }
        _ => of_values(schema),
    };
    let mut all = own;
    for key in ["anyOf", "oneOf"] {
        if let Some(branches) = schema.get(key).and_then(Value::as_array) {
            all &= branches.iter().fold(0, |sum, branch| sum | bits(branch, root, depth - 1, left));
        }
    }
    if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
        all &= parts.iter().fold(ALL, |sum, part| sum & bits(part, root, depth - 1, left));
    }
    all
}

/// The types of the values that `enum` and `const` list.
fn of_values(schema: &Value) -> u8 {
    let of = |value: &Value| match value {
        Value::String(_) => STRING,
        Value::Number(number) if number.is_f64() => NUMBER,
        Value::Number(_) => INTEGER,
        Value::Bool(_) => BOOLEAN,
        Value::Array(_) => ARRAY,
        Value::Object(_) => OBJECT,
        Value::Null => NULL,
    };
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().map(of).fold(0, |all, one| all | one);
    }
    schema.get("const").map_or(ALL, of)
}

fn named(name: &str) -> u8 {
    match name {
        "string" => STRING,
        "integer" => INTEGER,
        "number" => NUMBER | INTEGER,
        "boolean" => BOOLEAN,
        "array" => ARRAY,
        "object" => OBJECT,
        "null" => NULL,
        _ => ALL,
    }
}
