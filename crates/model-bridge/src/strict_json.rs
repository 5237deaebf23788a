//! JSON whose objects have every key once. `serde_json` takes the last of two values without a word: which
//! one is meant, nobody knows.

use std::cell::RefCell;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Why a text is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JsonFault {
    /// It is no JSON.
    Malformed,
    /// An object has this key twice.
    Twice(String),
}

/// Reads the value that a text begins with. Returns how long it is, too, in bytes.
pub(crate) fn first(text: &str) -> Result<(Value, usize), JsonFault> {
    let twice = RefCell::new(None);
    let mut reader = serde_json::Deserializer::from_str(text);
    match (SingleKeys { twice: &twice }).deserialize(&mut reader) {
        Ok(value) => Ok((value, reader.into_iter::<IgnoredAny>().byte_offset())),
        Err(_) => Err(twice.into_inner().map_or(JsonFault::Malformed, JsonFault::Twice)),
    }
}

/// Reads a text that is one value.
pub(crate) fn whole(text: &str) -> Result<Value, JsonFault> {
    let (value, length) = first(text)?;
    let is_all = text[length..].trim_ascii().is_empty();
    if is_all { Ok(value) } else { Err(JsonFault::Malformed) }
}

/// Reads a value, and keeps the key at which it fails.
#[derive(Clone, Copy)]
struct SingleKeys<'t> {
    twice: &'t RefCell<Option<String>>,
}

// === impl SingleKeys ===

impl<'de> DeserializeSeed<'de> for SingleKeys<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for SingleKeys<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
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

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            array.push(item);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                *self.twice.borrow_mut() = Some(key);
                return Err(de::Error::custom("a key is there twice"));
            }
            let value = entries.next_value_seed(self)?;
            object.insert(key, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_serde_json() {
        for text in [
            r#" {"a":[1,-2,2.5,-0,18446744073709551615,null,true,"x\u00e9"],"b":{"a":{}}} "#,
            "[99999999999999999999,1e300]",
            "\"a\"",
            "",
            "{",
            "{} {}",
            "{} x",
            "{\"a\":\"\\ud800\"}",
            "1e999",
            &"[".repeat(1_000_000),
        ] {
            assert_eq!(whole(text).ok(), serde_json::from_str(text).ok(), "{text:.99}");
        }
    }

    #[test]
    fn a_key_that_an_object_has_twice_is_told() {
        for (text, key) in [
            (r#"{"a":1,"a":1}"#, "a"),
            (r#"{"a":1,"\u0061":2}"#, "a"),
            (r#"[{"a":{"b":1,"c":2,"b":3}}]"#, "b"),
            (r#"{"a":1,"a":2 and more"#, "a"),
        ] {
            assert_eq!(whole(text), Err(JsonFault::Twice(key.to_owned())), "{text}");
        }
        assert!(whole(r#"[{"a":1},{"a":{"a":2}}]"#).is_ok());
    }

    #[test]
    fn the_first_value_ends_where_it_does() {
        for (text, length) in [("{\"a\":1} {\"a\":2}", 7), (" [1],", 4), ("{}", 2)] {
            assert_eq!(first(text).map(|(_, length)| length), Ok(length), "{text}");
        }
    }
}
