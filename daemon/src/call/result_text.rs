//! The JSON text of a result, byte for byte as `serde_json` writes it.
//!
//! Nearly all of a result is the text of files, and `serde_json` looks at each byte of it alone: that was a
//! quarter of the instructions of a read. Here eight bytes are looked at at once.

use serde_json::Value;

/// The lowest bit of each byte.
const ONES: u64 = u64::MAX / 255;
/// The highest bit of each byte.
const HIGHS: u64 = ONES << 7;

/// Writes a value into room that mostly is enough: growing by doubling copies a large text several times.
pub(super) fn of(value: &Value) -> String {
    let mut text = Vec::with_capacity(expected_bytes(value));
    put(&mut text, value);
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// About how long a value is as JSON: an eighth of each text, for what is escaped in it.
fn expected_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + text.len() / 8 + 4,
        Value::Array(items) => items.iter().map(expected_bytes).sum::<usize>() + 2,
        Value::Object(fields) => {
            let of_field =
                |(name, value): (&String, &Value)| name.len() + 4 + expected_bytes(value);
            fields.iter().map(of_field).sum::<usize>() + 2
        }
    }
}

fn put(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::String(text) => put_string(out, text),
        Value::Array(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                put(out, item);
            }
            out.push(b']');
        }
        Value::Object(fields) => {
            out.push(b'{');
            for (at, (name, value)) in fields.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                put_string(out, name);
                out.push(b':');
                put(out, value);
            }
            out.push(b'}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            serde_json::to_writer(out, value).expect("memory takes it");
        }
    }
}

fn put_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = first_escaped(rest) {
        out.extend_from_slice(&rest[..at]);
        put_escaped(out, rest[at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Finds the first byte that does not stand for itself in a JSON string.
fn first_escaped(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = zeroes(word ^ (ONES * u64::from(b'"')))
            | zeroes(word ^ (ONES * u64::from(b'\\')))
            // A byte below 0x20 borrows from its highest bit, which it does not have itself.
            | (word.wrapping_sub(ONES * 0x20) & !word & HIGHS);
        if found != 0 {
            // Borrows only go upwards: the lowest one that is found is one.
            return Some(at * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let is_escaped = |byte: &u8| matches!(byte, b'"' | b'\\' | ..0x20);
    rest.iter().position(is_escaped).map(|at| words.len() * 8 + at)
}

/// Marks the bytes that are zero; of those above the first one, perhaps others, too.
fn zeroes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

fn put_escaped(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\t' => b't',
        b'\r' => b'r',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            let digit = |nibble: u8| DIGITS[usize::from(nibble & 0xf)];
            return out.extend_from_slice(&[
                b'\\',
                b'u',
                b'0',
                b'0',
                digit(byte >> 4),
                digit(byte),
            ]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn every_byte_and_its_neighbours_are_written_as_by_serde_json() {
        for byte in 0..0x250_u32 {
            let Some(found) = char::from_u32(byte) else { continue };
            for before in 0..9 {
                for after in ["", "\u{1f}", "!", "\"", "]", "\\", "0123456789"] {
                    let text = format!("{}{found}{after}", "x".repeat(before));
                    let value = json!({ text.clone(): [text, null, true, -1.5e300, u64::MAX] });
                    assert_eq!(of(&value), value.to_string(), "{byte:#x} after {before}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_written_as_by_serde_json(texts in prop::collection::vec(any::<String>(), 0..6)) {
            let value = json!({ "texts": texts, "lines": texts.join("\n") });
            prop_assert_eq!(of(&value), value.to_string());
        }
    }
}
