//! Replacements in a text: checks them, gives their line ends the form of those around them.

use std::ops::Range;

use moss_sdk::edit::Splice;

/// What is wrong with a list of replacements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Which one, from 1.
    pub(crate) position: usize,
    pub(crate) reason: &'static str,
}

/// Applies replacements to a text.
pub(crate) fn splice(text: &str, splices: &[Splice]) -> Result<String, Fault> {
    let grown: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let mut result = String::with_capacity(text.len() + grown);
    let mut done = 0;
    for (index, Splice { range, text: new }) in splices.iter().enumerate() {
        let fault = |reason| Fault { position: index + 1, reason };
        if range.start > range.end {
            return Err(fault("ends before it starts"));
        }
        if range.start < done {
            return Err(fault("overlaps the one before or is out of order"));
        }
        let (Some(kept), Some(_)) = (text.get(done..range.start), text.get(range.clone())) else {
            return Err(fault("lies outside the text or cuts a character"));
        };
        result.push_str(kept);
        push_with_line_ends(&mut result, text, range.clone(), new);
        done = range.end;
    }
    result.push_str(&text[done..]);
    Ok(result)
}

/// Appends new text; its n-th line end becomes that of the n-th replaced one, further ones that of
/// the last replaced one, or else of the line around the span.
fn push_with_line_ends(result: &mut String, text: &str, range: Range<usize>, new: &str) {
    let mut replaced = line_ends(text, range.clone());
    let mut current = None;
    let mut rest = new;
    while let Some(at) = rest.find('\n') {
        let own = if rest[..at].ends_with('\r') { "\r\n" } else { "\n" };
        current = replaced.next().or(current).or_else(|| around(text, &range));
        result.push_str(&rest[..at + 1 - own.len()]);
        result.push_str(current.unwrap_or(own));
        rest = &rest[at + 1..];
    }
    result.push_str(rest);
}

/// The line ends whose last byte lies in a span.
fn line_ends(text: &str, range: Range<usize>) -> impl Iterator<Item = &'static str> {
    memchr::memchr_iter(b'\n', &text.as_bytes()[range.clone()])
        .map(move |at| line_end_at(text, range.start + at))
}

/// The line end of the line in which a span ends, or else of the line before it.
fn around(text: &str, range: &Range<usize>) -> Option<&'static str> {
    let bytes = text.as_bytes();
    let after = memchr::memchr(b'\n', &bytes[range.end..]).map(|at| range.end + at);
    let at = after.or_else(|| memchr::memrchr(b'\n', &bytes[..range.start]))?;
    Some(line_end_at(text, at))
}

fn line_end_at(text: &str, newline: usize) -> &'static str {
    if newline > 0 && text.as_bytes()[newline - 1] == b'\r' { "\r\n" } else { "\n" }
}
