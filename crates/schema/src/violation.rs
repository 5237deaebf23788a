//! One way in which arguments break a schema, and how an error shows what came.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::quoted;

/// Most characters of a value that an error repeats.
const SHOWN_CHARS_MAX: usize = 60;
/// Most characters of a name or a pointer that an error repeats.
pub const SHOWN_KEY_CHARS_MAX: usize = 100;
/// Longest word that is compared with others, in characters.
const COMPARED_CHARS_MAX: usize = 64;

/// One way in which arguments break the schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// JSON pointer to the offending or missing value; empty for the arguments as a whole. Exact: what is not
    /// drawn is escaped where a violation is shown.
    pub pointer: String,
    /// What the schema wants.
    pub expected: String,
    /// The type and the beginning of the value; `missing` if absent.
    pub got: String,
    /// The nearest valid key or value.
    pub suggestion: Option<String>,
}

/// What came where a required value is absent.
pub(crate) const MISSING: &str = "missing";

/// The first bytes of a text that is written; the writing fails when there is no more room.
struct Beginning(Vec<u8>);

/// The type of a value, as schemas name it.
pub fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Shows a value in an error: its type and the beginning of its text.
pub fn shown(value: &Value) -> String {
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let mut beginning = Beginning(Vec::with_capacity(SHOWN_CHARS_MAX));
    // It fails where the value is longer than what is shown of it: the rest is not even written.
    let _ = serde_json::to_writer(&mut beginning, value);
    let mut text = format!("{kind} {}", String::from_utf8_lossy(&beginning.0));
    bound(&mut text, kind.len() + 1 + SHOWN_CHARS_MAX);
    text
}

/// Cuts a text for display.
pub fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Cuts a text for display, in its place.
pub(crate) fn bound(text: &mut String, chars_max: usize) {
    if text.len() > chars_max
        && let Some((end, _)) = text.char_indices().nth(chars_max)
    {
        text.truncate(end);
        text.push('…');
    }
}

/// Returns the candidate that a writer most likely meant; none for a word that is longer than any
/// name.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Comparing costs the product of both lengths.
    let comparable = |text: &str| text.chars().nth(COMPARED_CHARS_MAX).is_none();
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    if !comparable(word) {
        return None;
    }
    let wanted = plain(word);
    candidates
        .into_iter()
        .filter(|candidate| comparable(candidate))
        .map(|candidate| {
            (strsim::normalized_damerau_levenshtein(&wanted, &plain(candidate)), candidate)
        })
        .filter(|(similarity, _)| *similarity >= 0.6)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

/// Points at a key of an object.
pub(crate) fn pointer(key: &str) -> String {
    if !key.contains(['~', '/']) {
        return format!("/{key}");
    }
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}

// === impl Violation ===

impl Violation {
    /// What there is to say of a value that is not held to a schema: it would take too long.
    pub fn too_long(value: &Value) -> Self {
        let expected = "fewer or shorter values: these would take long to check".to_owned();
        Self { pointer: String::new(), expected, got: shown(value), suggestion: None }
    }

    /// Says what is wrong in a line, but not where.
    pub fn message(&self) -> String {
        let mut message = String::new();
        self.write(&mut message).expect("a text takes what is written");
        message
    }

    fn write(&self, to: &mut impl fmt::Write) -> fmt::Result {
        if self.got == MISSING {
            write!(to, "{MISSING}, expected {}", self.expected)?;
        } else {
            write!(to, "expected {}, got {}", self.expected, quoted(&self.got))?;
        }
        match &self.suggestion {
            Some(suggestion) => write!(to, " (did you mean {}?)", quoted(suggestion)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.as_str() {
            "" => f.write_str("the arguments: ")?,
            pointer => write!(f, "{}: ", quoted(pointer))?,
        }
        self.write(f)
    }
}

// === impl Beginning ===

impl std::io::Write for Beginning {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let room = (SHOWN_CHARS_MAX + 1) * char::MAX_LEN_UTF8 - self.0.len();
        if room == 0 {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        let taken = bytes.len().min(room);
        self.0.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_drawn_is_escaped_where_a_violation_is_shown() {
        let violation = Violation {
            pointer: pointer("a\u{1b}[2J\u{202e}"),
            expected: "no such key".to_owned(),
            got: shown(&"b\u{202e}c".into()),
            suggestion: Some("d\u{9b}".to_owned()),
        };
        assert_eq!(
            violation.to_string(),
            "/a\\u{1b}[2J\\u{202e}: expected no such key, got string \"b\\u{202e}c\" \
             (did you mean d\\u{9b}?)"
        );
        assert_eq!(violation.pointer, "/a\u{1b}[2J\u{202e}");
    }

    #[test]
    fn words_longer_than_names_have_no_neighbours() {
        let (near, far) = ("k".repeat(COMPARED_CHARS_MAX), "k".repeat(COMPARED_CHARS_MAX + 1));
        assert_eq!(nearest(&near, [near.as_str()]), Some(near.as_str()));
        assert_eq!(nearest(&far, [far.as_str()]), None);
        assert_eq!(nearest(&near, [far.as_str()]), None);
    }
}
