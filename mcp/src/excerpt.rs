//! Long texts in results, as much of them as a model has use for: it knows what it asked for, and the person decides
//! where all of it can be seen.

use std::borrow::Cow;

use crate::form::FORM_BYTES_MAX;

/// So much of the end is kept: the rule and the digest stand there.
const END_BYTES: usize = 4 * 1024;

/// A text, or where it is longer than a form may be, its first and its last lines and how much is missing between them.
pub(crate) fn excerpt(text: &str) -> Cow<'_, str> {
    if text.len() <= FORM_BYTES_MAX {
        return Cow::Borrowed(text);
    }
    let start = &text[..text.floor_char_boundary(FORM_BYTES_MAX - END_BYTES)];
    let end = &text[text.ceil_char_boundary(text.len() - END_BYTES)..];
    // Whole lines, where there are some.
    let start = start.rfind('\n').map_or(start, |at| &start[..at]);
    let end = end.find('\n').map_or(end, |at| &end[at + 1..]);
    let missing = text.len() - start.len() - end.len();
    Cow::Owned(format!(
        "{start}\n… {missing} bytes are left out here: moss shows them to the person\n{end}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_first_and_last_lines() {
        let line = "+ a line of a change é\n";
        let short = line.repeat(FORM_BYTES_MAX / line.len());
        assert_eq!(excerpt(&short), short);
        let long = format!("What may happen\n{}Digest: 5", line.repeat(50_000));
        let shown = excerpt(&long);
        assert!(shown.len() < FORM_BYTES_MAX + 200, "{}", shown.len());
        assert!(shown.starts_with("What may happen\n+ a line") && shown.ends_with("\nDigest: 5"));
        let missing = shown.lines().find(|line| line.starts_with('…')).unwrap();
        let bytes: usize = missing.split(' ').nth(1).unwrap().parse().unwrap();
        let kept: usize = shown.len() - missing.len() - 2;
        assert_eq!(bytes, long.len() - kept);
        assert!(shown.lines().all(|line| line.len() < 100), "no line is cut");
    }

    #[test]
    fn a_text_without_lines_is_cut_between_characters() {
        let long = "é".repeat(FORM_BYTES_MAX);
        assert!(excerpt(&long).len() < FORM_BYTES_MAX + 200);
    }
}
