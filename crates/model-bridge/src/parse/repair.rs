//! JSON as models write it, made JSON: strictly first, then by a lexical reader that knows strings.
//!
//! What already parses is never touched. What is repaired is reported by [`RepairKind`]s. A string that
//! does not end is never ended here: half a file would be written.

mod escapes;
mod keys;
mod reader;
mod signs;
mod strings;

use std::collections::BTreeSet;

use moss_schema::json::{self, JsonFault};
use serde_json::Value;

use crate::diagnostic::RepairKind;
pub(super) use keys::KnownKeys;
use reader::Repairer;
pub(super) use signs::is_quote;

/// How deep JSON may nest.
pub(super) const DEPTH_MAX: usize = 64;
/// Digits from which an integer may not fit 64 bits.
const DIGITS_EXACT_MAX: usize = 18;
/// How much of a key is shown, in characters.
const KEY_CHARS_MAX: usize = 80;

/// The values of a text, and what was changed to read them.
#[derive(Debug, PartialEq)]
pub(super) struct Repaired {
    pub(super) values: Vec<Value>,
    pub(super) changes: Vec<RepairKind>,
}

/// Reads JSON values that follow each other, with or without commas between them. `closed` says
/// whether whoever wrote them marked their end, so that brackets that are missing may be put in;
/// `keys` what is known of the keys. What has a key twice is not repaired: which value is meant,
/// nobody knows.
pub(super) fn values(text: &str, closed: bool, keys: KnownKeys<'_>) -> Result<Repaired, JsonFault> {
    let mut changes = BTreeSet::new();
    let repaired;
    let (values, written) = match strict(text) {
        Ok(values) => (values, text),
        Err(JsonFault::Malformed) => {
            repaired = Repairer::new(text, closed, keys, &mut changes).read()?;
            (strict(&repaired)?, repaired.as_str())
        }
        Err(twice) => return Err(twice),
    };
    if !exact(written) {
        return Err(JsonFault::Malformed);
    }
    Ok(Repaired { values, changes: changes.into_iter().collect() })
}

/// Says that a key is there twice.
pub(super) fn said_twice(key: &str) -> String {
    let shown: String = key.chars().take(KEY_CHARS_MAX).collect();
    format!("`{shown}` is there twice; write it once")
}

/// Reads JSON as [`values`], where integers beyond 64 bits are all that speaks against it: each becomes
/// the nearest number.
pub(super) fn rounded(text: &str) -> Option<Repaired> {
    let values = strict(text).ok()?;
    (!exact(text)).then(|| Repaired { values, changes: vec![RepairKind::Rounded] })
}

fn strict(text: &str) -> Result<Vec<Value>, JsonFault> {
    let mut values = Vec::new();
    let mut rest = text;
    let may_be_deep = text.bytes().filter(|byte| matches!(byte, b'{' | b'[')).count() > DEPTH_MAX;
    loop {
        rest = rest.trim_ascii_start();
        if !values.is_empty() {
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_ascii_start();
        }
        if rest.is_empty() {
            let is_over = !text.trim_ascii_end().ends_with(',');
            return if is_over { Ok(values) } else { Err(JsonFault::Malformed) };
        }
        if !rest.starts_with(['{', '[']) || (may_be_deep && deeper_than_allowed(rest)) {
            return Err(JsonFault::Malformed);
        }
        let (value, length) = json::read_first(rest)?;
        values.push(value);
        rest = &rest[length..];
    }
}

/// Whether the first value nests too deep.
fn deeper_than_allowed(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if in_string => drop(bytes.next()),
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return true;
                }
            }
            b'}' | b']' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return false;
                }
            }
            _ => {}
        }
    }
    false
}

/// Whether no integer would lose digits: such a call might do something else than what was written.
fn exact(text: &str) -> bool {
    let bytes = text.as_bytes();
    // So many digits in a row hold one of these positions.
    let mut probes = bytes.iter().skip(DIGITS_EXACT_MAX).step_by(DIGITS_EXACT_MAX + 1);
    if !probes.any(u8::is_ascii_digit) {
        return true;
    }
    let mut at = 0;
    let mut in_string = false;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'-' | b'0'..=b'9' if !in_string => {
                let end = bytes[at..]
                    .iter()
                    .position(|byte| {
                        !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
                    })
                    .map_or(bytes.len(), |length| at + length);
                let number = &text[at..end];
                let whole = number.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
                if whole
                    && number.len() > DIGITS_EXACT_MAX
                    && number.parse::<i64>().is_err()
                    && number.parse::<u64>().is_err()
                {
                    return false;
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests;
