//! Replacements in a text: checks them, gives their line ends the form of those around them.

use std::ops::Range;

use super::Splice;

/// What is wrong with a list of splices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpliceFault {
    /// Which one, from 1.
    pub position: usize,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// Applies splices to a text. The n-th line end of a splice becomes that of the n-th line end that
/// it replaces, further ones that of the last of those, or else that of the line in which the span
/// ends, or of the line before; without any, line ends stay as they are.
///
/// # Errors
///
/// The first splice that is out of order, overlaps the one before, or does not lie in the text.
pub fn splice(text: &str, splices: &[Splice]) -> Result<String, SpliceFault> {
    let grown: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let mut result = String::with_capacity(text.len() + grown);
    let mut around = LineEndAround { text, next: None, last: text.rfind('\n') };
    let mut done = 0;
    for (index, Splice { range, text: new }) in splices.iter().enumerate() {
        let fault = |reason| SpliceFault { position: index + 1, reason };
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
        push_with_line_ends(&mut result, &mut around, range.clone(), new);
        done = range.end;
    }
    result.push_str(&text[done..]);
    Ok(result)
}

/// The line ends around spans that ascend. A line may be long and have many of them: none of it is looked through
/// for each.
struct LineEndAround<'t> {
    text: &'t str,
    /// Where the next one is behind the span that was looked at last, or the end of the text.
    next: Option<usize>,
    /// Where the last one of the text is.
    last: Option<usize>,
}

/// Appends new text; its n-th line end becomes that of the n-th replaced one, further ones that of
/// the last replaced one, or else of the line around the span.
fn push_with_line_ends(
    result: &mut String,
    around: &mut LineEndAround<'_>,
    range: Range<usize>,
    new: &str,
) {
    let mut replaced = line_ends(around.text, range.clone());
    let mut current = None;
    let mut rest = new;
    while let Some(at) = rest.find('\n') {
        let own = if rest[..at].ends_with('\r') { "\r\n" } else { "\n" };
        current = replaced.next().or(current).or_else(|| around.find(range.end));
        result.push_str(&rest[..at + 1 - own.len()]);
        result.push_str(current.unwrap_or(own));
        rest = &rest[at + 1..];
    }
    result.push_str(rest);
}

/// The line ends whose last byte lies in a span.
fn line_ends(text: &str, range: Range<usize>) -> impl Iterator<Item = &'static str> {
    text[range.clone()].match_indices('\n').map(move |(at, _)| line_end_at(text, range.start + at))
}

fn line_end_at(text: &str, newline: usize) -> &'static str {
    if newline > 0 && text.as_bytes()[newline - 1] == b'\r' { "\r\n" } else { "\n" }
}

// === impl LineEndAround ===

impl LineEndAround<'_> {
    /// The line end of the line in which a span without one ends, or else of the line before it.
    fn find(&mut self, end: usize) -> Option<&'static str> {
        let text = self.text;
        let known = self.next.filter(|next| *next >= end);
        let find = || text[end..].find('\n').map_or(text.len(), |at| end + at);
        let next = known.unwrap_or_else(find);
        self.next = Some(next);
        let at = Some(next).filter(|at| *at < text.len()).or(self.last)?;
        Some(line_end_at(text, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splices_take_the_line_ends_around_them() {
        let cases = [
            ("a\r\nb\n", 0..1, "x\ny", "x\r\ny\r\nb\n"),
            ("a\r\nb\n", 3..4, "x\r\ny", "a\r\nx\ny\n"),
            ("a\r\nb", 4..4, "\nc", "a\r\nb\r\nc"),
            ("a\nb\r\nc\n", 0..5, "x\ny\nz\n", "x\ny\r\nz\r\nc\n"),
            ("", 0..0, "a\n", "a\n"),
            ("", 0..0, "a\r\n", "a\r\n"),
        ];
        for (text, range, new, after) in cases {
            let splices = [Splice { range, text: new.to_owned() }];
            assert_eq!(splice(text, &splices).unwrap(), after, "{text:?}");
        }
    }

    #[test]
    fn a_long_line_is_not_looked_through_for_each_splice_in_it() {
        const COUNT: usize = 1 << 20;
        let end = |at: usize| Splice { range: 2 * at + 1..2 * at + 2, text: ";\n".to_owned() };
        let all: Vec<Splice> = (0..COUNT).map(end).collect();
        let text = "a;".repeat(COUNT);
        assert!(splice(&text, &all).unwrap() == text.replace(';', ";\n"));
        // The one before the line is that of the text as well as the one behind it.
        let at = |start: usize| Splice { range: start..start + 1, text: ";\n".to_owned() };
        let after = splice("x\r\na;b;", &[at(4), at(6)]).unwrap();
        assert_eq!(after, "x\r\na;\r\nb;\r\n");
        let after = splice("a;b;\r\nc;d;\ne;", &[at(1), at(3), at(7), at(9), at(12)]).unwrap();
        assert_eq!(after, "a;\r\nb;\r\n\r\nc;\nd;\n\ne;\n");
    }

    #[test]
    fn spans_out_of_order_or_out_of_the_text_are_refused() {
        let at = |range| Splice { range, text: String::new() };
        for splices in
            [vec![at(2..3), at(0..1)], vec![at(0..2), at(1..3)], vec![at(1..4), at(4..5)]]
        {
            assert!(splice("abc", &splices).is_err(), "{splices:?}");
        }
    }
}
