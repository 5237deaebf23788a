//! The keys that the JSON of a call has, as models write them.

/// Keys that name the tool, the likeliest first.
pub(super) const NAME_KEYS: &[&str] = &["tool", "name", "tool_name", "function"];
/// Keys that hold the arguments, the likeliest first.
pub(super) const ARGUMENT_KEYS: &[&str] = &["parameters", "arguments", "input", "args", "params"];
/// Keys that may stand beside them.
pub(super) const OTHER_KEYS: &[&str] = &["id", "call_id", "type", "index"];
/// The key of the id of a call, as Cohere has it in calls and others in their results.
pub(super) const RESULT_KEY: &str = "tool_call_id";
/// The key of a list of calls.
pub(super) const LIST_KEY: &str = "tool_calls";

/// The keys that may begin a call.
fn keys() -> impl Iterator<Item = &'static &'static str> {
    NAME_KEYS.iter().chain(ARGUMENT_KEYS).chain(OTHER_KEYS).chain([&RESULT_KEY])
}

/// The first bytes of these.
const FIRSTS: &[u8] = b"acfinpt";

/// The most bytes of a text behind a key that stands beside a call.
const SCALAR_BYTES_MAX: usize = 64;

/// Whether no key of a call begins a text that follows `{`, nor follows keys that stand beside one: most
/// objects are seen at once.
pub(super) fn begins_no_key(mut text: &[u8]) -> bool {
    loop {
        match key(text) {
            Key::None => return true,
            Key::OfCall => return false,
            Key::Other(end) => match behind_scalar(&text[end..]) {
                Some([b',', next @ ..]) => text = next,
                Some([b'}', ..]) => return true,
                _ => return false,
            },
        }
    }
}

/// What key begins a text.
enum Key {
    /// None of a call.
    None,
    /// One that stands beside a call; where it ends.
    Other(usize),
    /// Another one, or one that has not come.
    OfCall,
}

fn key(text: &[u8]) -> Key {
    let blank = text.iter().take_while(|byte| matches!(byte, b' ' | b'\n')).count();
    let begin = match text[blank..] {
        [b'"' | b'\'', ..] => blank + 1,
        _ => blank,
    };
    let text = &text[begin..];
    match text.first() {
        None | Some(b'"' | b'\'' | b'`' | b'\t' | b'\r') => Key::OfCall,
        Some(first) if FIRSTS.contains(first) => {
            let mut bytes = text.iter();
            let end = bytes.position(|byte| !(byte.is_ascii_alphabetic() || *byte == b'_'));
            let Some(end) = end else { return Key::OfCall };
            match &text[..end] {
                word if OTHER_KEYS.iter().any(|key| key.as_bytes() == word) => {
                    Key::Other(begin + end)
                }
                word if keys().any(|key| key.as_bytes() == word) => Key::OfCall,
                _ => Key::None,
            }
        }
        Some(first) if first.is_ascii() => Key::None,
        Some(_) => Key::OfCall,
    }
}

/// What follows the number or the short string behind a key.
fn behind_scalar(text: &[u8]) -> Option<&[u8]> {
    let mut rest = without_blanks(text.strip_prefix(b"\":")?);
    if let Some(inner) = rest.strip_prefix(b"\"") {
        let near = &inner[..inner.len().min(SCALAR_BYTES_MAX)];
        let end = memchr::memchr2(b'"', b'\\', near)?;
        rest = inner[end..].strip_prefix(b"\"")?;
    } else {
        let digits = rest.iter().position(|byte| !byte.is_ascii_digit())?;
        rest = &rest[digits..];
    }
    Some(without_blanks(rest))
}

fn without_blanks(text: &[u8]) -> &[u8] {
    let blank = text.iter().take_while(|byte| matches!(byte, b' ' | b'\n')).count();
    &text[blank..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_are_those_of_the_keys() {
        let mut firsts: Vec<u8> = keys().map(|key| key.as_bytes()[0]).collect();
        firsts.sort_unstable();
        firsts.dedup();
        assert_eq!(firsts, FIRSTS);
    }
}
