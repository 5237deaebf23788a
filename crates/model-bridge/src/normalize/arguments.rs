//! The arguments of earlier calls, in whatever way a history has them.
//!
//! Clients repeat what a model once wrote, so broken text is no fault of theirs: it is kept as far
//! as it goes.

use serde_json::{Map, Value};

use crate::call_form::FREE_FORM_KEY;
use crate::parse::repaired_object;

/// How many positions near the one where text breaks are tried.
const NEAREST_MAX: usize = 3;

/// Arguments as they were read.
#[derive(Debug, PartialEq)]
pub(super) struct NormalizedArguments {
    pub(super) map: Map<String, Value>,
    /// What was done so that they are an object.
    pub(super) repaired: Option<ArgumentRepair>,
}

/// How arguments became an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentRepair {
    /// The text was the JSON text of a JSON text.
    TwiceWritten,
    /// The text is JSON but for small mistakes.
    Repaired,
    /// The text ends early or is malformed; the members before are kept.
    Cut,
    /// They are no object; they are kept whole as [`FREE_FORM_KEY`].
    Wrapped,
}

/// Reads arguments: an object, its JSON text, an empty text or nothing.
pub(super) fn read(value: Option<Value>) -> NormalizedArguments {
    match value {
        None | Some(Value::Null) => NormalizedArguments { map: Map::new(), repaired: None },
        Some(Value::Object(map)) => NormalizedArguments { map, repaired: None },
        Some(Value::String(text)) => of_text(text),
        Some(other) => wrapped(other),
    }
}

/// Reads the text that a call of a free-form tool is made with.
pub(super) fn free_form(text: String) -> NormalizedArguments {
    NormalizedArguments { repaired: None, ..wrapped(Value::String(text)) }
}

fn of_text(text: String) -> NormalizedArguments {
    if text.trim().is_empty() {
        return NormalizedArguments { map: Map::new(), repaired: None };
    }
    match serde_json::from_str(&text) {
        Ok(Value::Object(map)) => NormalizedArguments { map, repaired: None },
        Ok(Value::Null) => NormalizedArguments { map: Map::new(), repaired: None },
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(map)) => {
                NormalizedArguments { map, repaired: Some(ArgumentRepair::TwiceWritten) }
            }
            _ => wrapped(Value::String(inner)),
        },
        Ok(other) => wrapped(other),
        Err(error) => {
            let repaired = || Some((repaired_object(&text)?, ArgumentRepair::Repaired));
            let cut = || Some((whole_members(&text, &error)?, ArgumentRepair::Cut));
            match repaired().or_else(cut) {
                Some((map, repaired)) => NormalizedArguments { map, repaired: Some(repaired) },
                None => wrapped(Value::String(text)),
            }
        }
    }
}

fn wrapped(value: Value) -> NormalizedArguments {
    let map = Map::from_iter([(FREE_FORM_KEY.to_owned(), value)]);
    NormalizedArguments { map, repaired: Some(ArgumentRepair::Wrapped) }
}

/// The members of an object that come before its text breaks, if there are any; all of them where
/// it continues after the object.
fn whole_members(text: &str, error: &serde_json::Error) -> Option<Map<String, Value>> {
    if let Some(Ok(first)) = serde_json::Deserializer::from_str(text).into_iter().next() {
        return Some(first);
    }
    let broken_at = offset(text, error);
    let commas = member_ends(text);
    let before = commas.partition_point(|comma| *comma <= broken_at);
    // Whether the position counts the byte that breaks it or the one before depends on what it is.
    let mut nearest = commas[..before].iter().rev().take(NEAREST_MAX);
    nearest.find_map(|comma| serde_json::from_str(&format!("{}}}", &text[..*comma])).ok())
}

/// Where a reader stopped, in bytes.
fn offset(text: &str, error: &serde_json::Error) -> usize {
    let above = error.line().saturating_sub(1);
    let lines: usize = text.split_inclusive('\n').take(above).map(str::len).sum();
    lines + error.column()
}

/// Where commas stand between the members of the outermost object.
fn member_ends(text: &str) -> Vec<usize> {
    let (mut ends, mut depth, mut in_string, mut escaped) = (Vec::new(), 0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => ends.push(at),
            _ => {}
        }
    }
    ends
}

// === impl ArgumentRepair ===

impl ArgumentRepair {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::TwiceWritten => "JSON text inside of JSON text was read",
            Self::Repaired => "small mistakes in the JSON text were repaired",
            Self::Cut => "the text is broken: the members before that are kept",
            Self::Wrapped => "they are no object: they are kept as `input`",
        }
    }
}

#[cfg(test)]
mod tests;
