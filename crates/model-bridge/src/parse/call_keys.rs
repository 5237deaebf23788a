//! The keys that the JSON of a call has, as models write them.

/// Keys that name the tool, the likeliest first.
pub(super) const NAME_KEYS: &[&str] = &["tool", "name", "tool_name", "function"];
/// Keys that hold the arguments, the likeliest first.
pub(super) const ARGUMENT_KEYS: &[&str] = &["parameters", "arguments", "input", "args", "params"];
/// Keys that may stand beside them.
pub(super) const OTHER_KEYS: &[&str] = &["id", "call_id", "type", "index"];
/// The key of a list of calls.
pub(super) const LIST_KEY: &str = "tool_calls";

/// Whether no key of a call begins a text that follows `{`: most objects are seen at once.
pub(super) fn begins_no_key(text: &[u8]) -> bool {
    let blank = text.iter().take_while(|byte| matches!(byte, b' ' | b'\n')).count();
    let text = match text[blank..] {
        [b'"' | b'\'', ..] => &text[blank + 1..],
        _ => &text[blank..],
    };
    match text.first() {
        None | Some(b'"' | b'\'' | b'`' | b'\t' | b'\r') => false,
        Some(first) if NAME_KEYS.iter().any(|key| key.as_bytes()[0] == *first) => {
            let mut bytes = text.iter();
            let end = bytes.position(|byte| !(byte.is_ascii_alphabetic() || *byte == b'_'));
            end.is_some_and(|end| !NAME_KEYS.iter().any(|key| key.as_bytes() == &text[..end]))
        }
        Some(first) => first.is_ascii(),
    }
}
