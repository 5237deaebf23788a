//! JSON that is the whole reply and no strict JSON: whether it is meant as a call is decided by how
//! it begins, so that text which happens to begin with a bracket is not held back.

use super::call_keys::NAME_KEYS;
use super::repair::is_quote;
use crate::registry::Registry;

/// How far the name of a tool is looked for, in bytes.
const HEAD_BYTES_MAX: usize = 256;

/// Whether a text begins as an object, or a list of them, whose first key names a tool of the
/// registry; none where more must come to know.
pub(super) fn names_tool(registry: &Registry, text: &str) -> Option<bool> {
    let near = &text[..text.floor_char_boundary(HEAD_BYTES_MAX)];
    match head(near).names_tool(registry) {
        None if near.len() < text.len() => Some(false),
        known => known,
    }
}

/// The same for a text that begins with the key.
pub(super) fn names_tool_at_key(registry: &Registry, text: &str) -> Option<bool> {
    entry(text).names_tool(registry)
}

enum CallHead<'t> {
    Named(&'t str),
    /// The text ends before the name does.
    Open,
    Other,
}

// === impl CallHead ===

impl CallHead<'_> {
    /// Whether it names a tool of the registry; none where more must come to know.
    fn names_tool(&self, registry: &Registry) -> Option<bool> {
        match self {
            Self::Named(name) => Some(registry.resolve(name).is_some()),
            Self::Open => None,
            Self::Other => Some(false),
        }
    }
}

fn head(text: &str) -> CallHead<'_> {
    let rest = text.trim_start();
    let rest = rest.strip_prefix('[').unwrap_or(rest).trim_start();
    let Some(rest) = rest.strip_prefix(['{', '｛']) else { return open_or_other(rest) };
    entry(rest.trim_start())
}

/// What a key and the name behind it say.
fn entry(rest: &str) -> CallHead<'_> {
    let rest = rest.strip_prefix(is_quote).unwrap_or(rest);
    let length = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '_').unwrap_or(rest.len());
    let (key, rest) = rest.split_at(length);
    if rest.is_empty() {
        return CallHead::Open;
    }
    if !NAME_KEYS.contains(&key) {
        return CallHead::Other;
    }
    let rest = rest.strip_prefix(is_quote).unwrap_or(rest).trim_start();
    let Some(rest) = rest.strip_prefix([':', '：']) else { return open_or_other(rest) };
    let rest = rest.trim_start();
    let Some(rest) = rest.strip_prefix(is_quote) else { return open_or_other(rest) };
    match rest.find(|c| c == '\n' || is_quote(c)) {
        None => CallHead::Open,
        Some(end) if rest.as_bytes()[end] == b'\n' => CallHead::Other,
        Some(end) => CallHead::Named(&rest[..end]),
    }
}

fn open_or_other(rest: &str) -> CallHead<'_> {
    if rest.is_empty() { CallHead::Open } else { CallHead::Other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_key_decides_whether_it_is_a_call() {
        let registry = Registry::from_json(r#"[{"name":"read_file"}]"#).unwrap();
        for (text, expected) in [
            ("{'tool':'read_file'", Some(true)),
            ("[ {“name”： “ReadFile”", Some(true)),
            ("{tool: \"read_file\",", Some(true)),
            ("{'tool':'read_fil", None),
            ("{'to", None),
            ("{'tool'", None),
            ("{", None),
            ("{'tool':'bash'", Some(false)),
            ("{tool: read_file}", Some(false)),
            ("{'tool':'read\n", Some(false)),
            ("{a} and {b}", Some(false)),
            ("[x] done", Some(false)),
        ] {
            assert_eq!(names_tool(&registry, text), expected, "{text}");
        }
        let far = format!("{{{}'tool':'read_file'", " ".repeat(HEAD_BYTES_MAX));
        assert_eq!(names_tool(&registry, &far), Some(false));
    }
}
