//! The JSON text of a result, byte for byte as `serde_json` writes it.
//!
//! Nearly all of a result is the text of files, and `serde_json` looks at each byte of it alone: that was a
//! quarter of the instructions of a read. Here a block of bytes is looked at at once.

use serde_json::Value;

/// How many bytes are looked at at once: as many as a word has bits.
const BLOCK_BYTES: usize = 64;

/// Writes a value into room that mostly is enough: growing by doubling copies a large text several times.
pub(super) fn of(value: &Value) -> String {
    let mut text = String::with_capacity(expected_bytes(value));
    put(&mut text, value);
    text
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

fn put(out: &mut String, value: &Value) {
    match value {
        Value::String(text) => put_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                put(out, item);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (at, (name, value)) in fields.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                put_string(out, name);
                out.push(':');
                put(out, value);
            }
            out.push('}');
        }
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(&number.to_string()),
    }
}

fn put_string(out: &mut String, text: &str) {
    out.push('"');
    let (blocks, rest) = text.as_bytes().as_chunks();
    let mut copied = 0;
    for (number, block) in blocks.iter().enumerate() {
        let mut found = escaped_in(block);
        while found != 0 {
            let at = number * BLOCK_BYTES + found.trailing_zeros() as usize;
            out.push_str(&text[copied..at]);
            put_escaped(out, text.as_bytes()[at]);
            copied = at + 1;
            found &= found - 1;
        }
    }
    for (at, byte) in (text.len() - rest.len()..).zip(rest) {
        if is_escaped(*byte) {
            out.push_str(&text[copied..at]);
            put_escaped(out, *byte);
            copied = at + 1;
        }
    }
    out.push_str(&text[copied..]);
    out.push('"');
}

/// Whether a byte does not stand for itself in a JSON string.
fn is_escaped(byte: u8) -> bool {
    // All of it each time: the compiler makes this a comparison of many bytes at once.
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// Finds the bytes that do not stand for themselves: a bit for each, the lowest for the first one.
fn escaped_in(block: &[u8; BLOCK_BYTES]) -> u64 {
    let mut flags = [0_u8; BLOCK_BYTES];
    // A loop, whatever is inlined: `map` over so many may become a call for each.
    for (flag, byte) in flags.iter_mut().zip(block) {
        *flag = u8::from(is_escaped(*byte));
    }
    let (words, _) = flags.as_chunks();
    let mut found = [0; size_of::<u64>()];
    for (found, word) in found.iter_mut().zip(words) {
        // Moves the lowest bit of each byte into the highest byte, that of the first one lowest.
        *found = (u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    }
    u64::from_le_bytes(found)
}

fn put_escaped(out: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble & 0xf)]);
    out.push_str(match byte {
        b'\n' => "\\n",
        b'\t' => "\\t",
        b'"' => "\\\"",
        b'\\' => "\\\\",
        b'\r' => "\\r",
        0x08 => "\\b",
        0x0c => "\\f",
        _ => {
            out.push_str("\\u00");
            out.push(digit(byte >> 4));
            return out.push(digit(byte));
        }
    });
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
            for before in (0..9).chain(BLOCK_BYTES - 3..BLOCK_BYTES + 3) {
                for after in ["", "\u{1f}", "!", "\"", "]", "\\", &"0".repeat(BLOCK_BYTES)] {
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
