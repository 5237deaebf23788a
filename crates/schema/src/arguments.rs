//! Arguments as they arrive: one JSON object, read once, with duplicate keys refused, so that
//! policy and tool can never see different values under one name.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::violation::{SHOWN_KEY_CHARS_MAX, Violation, cut, shown};

/// Deepest accepted nesting of arguments.
pub const DEPTH_MAX: usize = 64;
/// Most values in arguments, counting lists and objects and what is in them.
pub const VALUES_MAX: usize = 100_000;

/// Arguments that are not a JSON object.
#[derive(Debug, Clone)]
pub struct UnreadableArguments {
    /// The text as it came.
    pub text: String,
    /// What is wrong with it.
    pub violation: Violation,
}

/// Reads arguments; empty text is an empty object.
///
/// # Errors
///
/// One violation where the text is not JSON, not an object, nests too deeply, holds too
/// many values or repeats a key.
pub fn parse(text: &str) -> Result<Map<String, Value>, Violation> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let values = Cell::new(0);
    let value = Strict { depth: 0, values: &values }
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| Violation {
            pointer: String::new(),
            expected: "a JSON object".to_owned(),
            got: error.to_string(),
            suggestion: None,
        })?;
    match value {
        Value::Object(arguments) => Ok(arguments),
        other => Err(Violation {
            pointer: String::new(),
            expected: "a JSON object".to_owned(),
            got: shown(&other),
            suggestion: None,
        }),
    }
}

#[derive(Clone, Copy)]
struct Strict<'a> {
    depth: usize,
    /// Values that were read so far.
    values: &'a Cell<usize>,
}

// === impl Strict ===

impl Strict<'_> {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth == DEPTH_MAX {
            return Err(E::custom(format!("nesting deeper than {DEPTH_MAX} levels")));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.values.get() == VALUES_MAX {
            return Err(D::Error::custom(format!("more than {VALUES_MAX} values")));
        }
        self.values.set(self.values.get() + 1);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number too large"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let seed = self.deeper()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(seed)? {
            array.push(item);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let seed = self.deeper()?;
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(seed)?;
            if object.contains_key(&key) {
                let key = cut(&key, SHOWN_KEY_CHARS_MAX);
                return Err(A::Error::custom(format!("the key `{key}` twice")));
            }
            object.insert(key, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_read_and_empty_text_is_an_empty_object() {
        assert_eq!(parse("").unwrap(), Map::new());
        assert_eq!(
            Value::Object(parse(r#"{"a":[1,2.5,null]}"#).unwrap()),
            json!({"a": [1, 2.5, null]})
        );
    }

    #[test]
    fn anything_else_says_what_came() {
        let long = "k".repeat(1000);
        let twice = format!("{{\"{long}\":1,\"{long}\":2}}");
        let shown = format!("the key `{}…` twice at line 1 column ", &long[..100]);
        let many = format!("{{\"a\":[{}1]}}", "1,".repeat(VALUES_MAX));
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100), "]".repeat(100));
        for (text, got) in [
            ("[1]", "array [1]"),
            ("{\"a\":1,\"a\":2}", "the key `a` twice at line 1 column 13"),
            ("{\"a\":{\"b\":1,\"b\":1}}", "the key `b` twice at line 1 column 18"),
            ("{\"a\":1} x", "trailing characters at line 1 column 9"),
            ("{\"a\":", "EOF while parsing a value at line 1 column 5"),
            (&twice, &shown),
            (&many, "more than 100000 values at line 1 column "),
            (&deep, "nesting deeper than 64 levels at line 1 column 69"),
        ] {
            let seen = parse(text).unwrap_err().got;
            assert!(seen.starts_with(got), "{seen}");
        }
    }
}
