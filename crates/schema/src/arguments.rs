//! Arguments as they arrive: one JSON object, read once, with duplicate keys refused, so that
//! policy and tool can never see different values under one name.

use serde_json::{Map, Value};

use crate::json::{self, JsonLimits};
use crate::violation::{Violation, shown};

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
    let limits = JsonLimits { depth_max: DEPTH_MAX, values_max: VALUES_MAX };
    let value = json::read_within(text, limits).map_err(|error| Violation {
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
