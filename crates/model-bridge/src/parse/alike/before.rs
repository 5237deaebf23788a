//! What stands before a bracket: the name of a tool whose arguments begin there, or to whom a message is.

use super::super::line::LineContext;
use super::label;
use crate::registry::{RegisteredTool, Registry};

/// What names to whom a message is, and what begins such names.
const RECIPIENT: &str = "to=";
const FUNCTIONS: &str = "functions.";
/// The most bytes between whom it is for and what it says.
const FILLER_BYTES_MAX: usize = 64;
/// What may stand between a name and its arguments.
const JSON: &str = "json";
/// What may stand before a name that has its line for itself.
const LEADS: [char; 3] = [':', '=', '>'];

/// The tool whose arguments an object at this position would be: its name stands right before it,
/// or alone on the line before.
pub(super) fn tool<'r>(registry: &'r Registry, line: &LineContext) -> Option<&'r RegisteredTool> {
    let (current, previous) = line.last_two();
    if !line.is_blank() && !label::is_of_arguments(current) {
        return registry.tool(last_word(current).1);
    }
    let (before, word) = last_word(previous);
    let before = before.trim_end();
    let is_alone = before.is_empty() || before.ends_with(LEADS);
    registry.tool(word).filter(|_| is_alone)
}

/// Whether a message to a tool begins before this position on the line: `to=functions.NAME`. Before
/// an object it must begin right there.
pub(super) fn is_addressed(registry: &Registry, line: &LineContext, is_object: bool) -> bool {
    let (current, _) = line.last_two();
    let Some(place) = current.rfind(RECIPIENT) else { return false };
    let after = &current[place + RECIPIENT.len()..];
    let length = after.find(|c| !of_name(c)).unwrap_or(after.len());
    let (name, filler) = after.split_at(length);
    let is_near = match filler.trim() {
        "" | JSON => true,
        filler => !is_object && filler.len() <= FILLER_BYTES_MAX,
    };
    let is_function = name.strip_prefix(FUNCTIONS).is_some_and(|name| !name.is_empty());
    let is_word = current[..place].ends_with(char::is_alphanumeric);
    is_near && !is_word && (is_function || registry.resolve(name).is_some())
}

/// Whether what stands before an object may say that it holds arguments. `line` is the line before the
/// text, which ends right before the object.
pub(super) fn may_say(registry: &Registry, line: &LineContext, text: &str) -> bool {
    let near = text.trim_end();
    let bytes = near.as_bytes();
    match bytes.last() {
        None if text.contains('\n') => true,
        None => tool(registry, line).is_some() || is_addressed(registry, line, true),
        Some(b':') => bytes.iter().nth_back(1).is_none_or(|byte| is_of_word(*byte)),
        Some(last) if is_of_word(*last) => {
            let (before, word) = last_word(near);
            let is_name = || before.ends_with(RECIPIENT) || registry.tool(word).is_some();
            before.is_empty() || word == JSON || is_name()
        }
        Some(_) => false,
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte) || !byte.is_ascii()
}

/// The word that ends a text, without what prefixes names, and what stands before it.
fn last_word(text: &str) -> (&str, &str) {
    let text = text.trim_end();
    let text = text.strip_suffix(':').unwrap_or(text);
    let begin = text.trim_end_matches(of_name).len();
    let (before, word) = text.split_at(begin);
    (before, word.strip_prefix(FUNCTIONS).unwrap_or(word))
}

fn of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}
