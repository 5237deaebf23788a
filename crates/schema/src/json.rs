//! The one strict reader of JSON: a key that an object has twice is refused, or reported. `serde_json` takes
//! the last of two values without a word, other readers the first: which one is meant, nobody knows.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::violation::{SHOWN_KEY_CHARS_MAX, cut};

/// Why a text does not begin with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonFault {
    /// It is not JSON.
    Malformed,
    /// An object has this key twice.
    Twice(String),
}

/// How much is read of a text. What nests deeper than 128 levels is never read: that is a bound of `serde_json`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JsonLimits {
    /// Deepest accepted nesting of the value.
    pub(crate) depth_max: usize,
    /// Most values, counting lists and objects and what is in them.
    pub(crate) values_max: usize,
}

/// What is asked of a text, and what was seen of it so far.
struct JsonReading {
    limits: JsonLimits,
    /// Whether a key that comes twice is only reported.
    takes_twice: bool,
    values: Cell<usize>,
    /// The first key that came twice.
    twice: RefCell<Option<String>>,
}

/// Reads a value at a depth.
#[derive(Clone, Copy)]
struct JsonSeed<'r> {
    reading: &'r JsonReading,
    depth: usize,
}

/// Reads a text that is one value, whose objects have every key once.
///
/// # Errors
///
/// Where the text is not JSON, nests too deeply or repeats a key.
pub fn read(text: &str) -> Result<Value, serde_json::Error> {
    read_within(text, JsonLimits::NONE)
}

/// Reads a text as [`read`] does, within limits.
pub(crate) fn read_within(text: &str, limits: JsonLimits) -> Result<Value, serde_json::Error> {
    JsonReading::new(limits, false).whole(text)
}

/// Reads the value that a text begins with, whose objects have every key once. Returns where it ends, too,
/// in bytes.
///
/// # Errors
///
/// Where the text does not begin with JSON or the value nests too deeply; with the key where it repeats one.
pub fn read_first(text: &str) -> Result<(Value, usize), JsonFault> {
    let reading = JsonReading::new(JsonLimits::NONE, false);
    let mut reader = serde_json::Deserializer::from_str(text);
    match reading.seed().deserialize(&mut reader) {
        Ok(value) => Ok((value, reader.into_iter::<IgnoredAny>().byte_offset())),
        Err(_) => Err(reading.twice.into_inner().map_or(JsonFault::Malformed, JsonFault::Twice)),
    }
}

/// Reads a text that is one value, as `serde_json` does: of a key that comes twice it takes the last value.
/// Returns the first such key.
///
/// # Errors
///
/// Where the text is not JSON or nests too deeply.
pub fn read_lenient(text: &str) -> Result<(Value, Option<String>), serde_json::Error> {
    let reading = JsonReading::new(JsonLimits::NONE, true);
    let value = reading.whole(text)?;
    Ok((value, reading.twice.into_inner()))
}

// === impl JsonLimits ===

impl JsonLimits {
    /// Those of `serde_json` alone.
    const NONE: Self = Self { depth_max: usize::MAX, values_max: usize::MAX };
}

// === impl JsonReading ===

impl JsonReading {
    fn new(limits: JsonLimits, takes_twice: bool) -> Self {
        Self { limits, takes_twice, values: Cell::new(0), twice: RefCell::new(None) }
    }

    fn seed(&self) -> JsonSeed<'_> {
        JsonSeed { reading: self, depth: 0 }
    }

    fn whole(&self, text: &str) -> Result<Value, serde_json::Error> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let value = self.seed().deserialize(&mut reader)?;
        reader.end()?;
        Ok(value)
    }

    fn note(&self, key: &str) {
        self.twice.borrow_mut().get_or_insert_with(|| key.to_owned());
    }
}

// === impl JsonSeed ===

impl JsonSeed<'_> {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        let depth_max = self.reading.limits.depth_max;
        if self.depth == depth_max {
            return Err(E::custom(format!("nesting deeper than {depth_max} levels")));
        }
        Ok(Self { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for JsonSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let (values, values_max) = (&self.reading.values, self.reading.limits.values_max);
        if values.get() == values_max {
            return Err(de::Error::custom(format!("more than {values_max} values")));
        }
        values.set(values.get() + 1);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonSeed<'_> {
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

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
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
        let reading = self.reading;
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let is_twice = object.contains_key(&key);
            // Before its value is read: which one is meant is open whether that is JSON or not.
            if is_twice && !reading.takes_twice {
                reading.note(&key);
            }
            let value = entries.next_value_seed(seed)?;
            if is_twice {
                reading.note(&key);
                if !reading.takes_twice {
                    let key = cut(&key, SHOWN_KEY_CHARS_MAX);
                    return Err(de::Error::custom(format!("the key `{key}` twice")));
                }
            }
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
            "nan",
            "{\"a\":\"\\ud800\"}",
            "1e999",
            &"[".repeat(1_000_000),
        ] {
            let expected: Option<Value> = serde_json::from_str(text).ok();
            assert_eq!(read(text).ok(), expected, "{text:.99}");
            let lenient = read_lenient(text).ok();
            assert_eq!(lenient, expected.map(|value| (value, None)), "{text:.99}");
        }
    }

    #[test]
    fn a_key_that_an_object_has_twice_is_refused_and_named() {
        for (text, key) in [
            (r#"{"a":1,"a":1}"#, "a"),
            (r#"{"a":1,"\u0061":2}"#, "a"),
            (r#"[{"a":{"b":1,"c":2,"b":3}}]"#, "b"),
            (r#"{"a":1,"a":{"b":1,"b":2}}"#, "a"),
            (r#"{"a":1,"a":2 and more"#, "a"),
            (r#"{"a":1,"a":and more"#, "a"),
        ] {
            assert_eq!(read_first(text), Err(JsonFault::Twice(key.to_owned())), "{text}");
            assert!(read(text).is_err(), "{text}");
        }
        let error = read(r#"{"a":1,"a":1}"#).unwrap_err();
        assert_eq!(error.to_string(), "the key `a` twice at line 1 column 13");
        assert!(read(r#"[{"a":1},{"a":{"a":2}}]"#).is_ok());
    }

    #[test]
    fn a_key_that_comes_twice_has_its_last_value_where_it_is_only_reported() {
        for (text, twice) in [
            (r#"{"a":1,"b":{"c":1,"c":2},"a":3}"#, "c"),
            (r#"{"a":1,"a":{"b":1,"b":2}}"#, "b"),
            (r#"[{"a":1,"b":2,"\u0061":{}}]"#, "a"),
        ] {
            let expected: Value = serde_json::from_str(text).unwrap();
            assert_eq!(read_lenient(text).unwrap(), (expected, Some(twice.to_owned())), "{text}");
        }
    }

    #[test]
    fn the_first_value_ends_where_it_does() {
        for (text, end) in [("{\"a\":1} {\"a\":2}", 7), (" [1],", 4), ("{}", 2)] {
            assert_eq!(read_first(text).map(|(_, end)| end), Ok(end), "{text}");
        }
        assert_eq!(read_first("{"), Err(JsonFault::Malformed));
    }
}
