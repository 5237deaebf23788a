//! JSON whose objects have every key once. `serde_json` takes the last of two values without a word,
//! other readers the first: who trains with such a line does not know on what.

use std::cell::RefCell;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads a value, and the first key that an object has twice.
///
/// Its depth is bounded by the reader of JSON: 128 levels.
pub(crate) fn read(text: &str) -> Result<(Value, Option<String>), serde_json::Error> {
    let twice = RefCell::new(None);
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = DuplicateKeyFinder(&twice).deserialize(&mut reader)?;
    reader.end()?;
    Ok((value, twice.into_inner()))
}

#[derive(Clone, Copy)]
struct DuplicateKeyFinder<'t>(&'t RefCell<Option<String>>);

// === impl DuplicateKeyFinder ===

impl<'de> DeserializeSeed<'de> for DuplicateKeyFinder<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for DuplicateKeyFinder<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let value = members.next_value_seed(self)?;
            // The position is kept for the rare case only: most keys are new.
            if all.contains_key(&key) {
                self.0.borrow_mut().get_or_insert_with(|| key.clone());
            }
            all.insert(key, value);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn values_are_those_of_serde_json_and_doubled_keys_are_reported() {
        for (text, twice) in [
            (r#"{"a":[1,-2,2.5,18446744073709551615,null,true,"x\u00e9"],"b":{"a":{}}}"#, None),
            (r#"{"a":1,"b":{"c":1,"c":2},"a":3}"#, Some("c")),
            ("[]", None),
        ] {
            let (value, found) = read(text).unwrap();
            assert_eq!(value, serde_json::from_str::<serde_json::Value>(text).unwrap(), "{text}");
            assert_eq!(found.as_deref(), twice, "{text}");
        }
        for text in ["", "{", "{} {}", "{\"a\":\"\\ud800\"}", "nan", &"[".repeat(1_000_000)] {
            assert!(read(text).is_err());
        }
    }
}
