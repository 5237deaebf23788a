//! JSON that a guest wrote, as values of the host: a few bytes of it become a hundred, which no limit of the
//! guest counts.

use serde_json::Value;

/// Most objects and lists of one text.
const CONTAINERS_MAX: usize = 1 << 16;

/// Reads a text whose length was compared with its limit.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    if containers_in(text) > CONTAINERS_MAX {
        return Err(format!("has more than {CONTAINERS_MAX} objects and lists"));
    }
    serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"))
}

/// Counts what opens an object or a list, outside of strings.
fn containers_in(text: &str) -> usize {
    let (mut is_string, mut is_escaped, mut count) = (false, false, 0);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            b'{' | b'[' if !is_string => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_without_number_are_refused_and_braces_in_texts_are_not() {
        let many = |of: &str| format!("[0{}]", format!(",{of}").repeat(CONTAINERS_MAX));
        for of in [r#"{"":0}"#, "[]", "[0,1]"] {
            let error = read(&many(of)).unwrap_err();
            assert!(error.contains("objects and lists"), "{error}");
        }
        for of in [r#""{[""#, r#""\"{[""#, r#""\\""#, "0"] {
            assert!(read(&many(of)).is_ok(), "{of}");
        }
        let error = read("[").unwrap_err();
        assert!(error.contains("is not JSON"), "{error}");
    }
}
