//! Searching a text as if every line ended with `\n`, and finding the way back to its bytes.
//!
//! Nothing here decides what a match is worth: it only counts and locates.

use std::borrow::Cow;
use std::ops::Range;

/// Most occurrences that are counted; more are of no use to anybody.
pub(crate) const OCCURRENCES_MAX: usize = 100;

/// A text in which `\r\n` is `\n`.
pub(crate) struct LfView<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Where the view left out a carriage return: offsets of `\n` in the view, ascending.
    left_out: Vec<usize>,
}

/// Turns `\r\n` into `\n`.
pub fn with_plain_line_ends(text: &str) -> Cow<'_, str> {
    // Looking for one byte is much faster than looking for two.
    let has_some = text.contains('\r') && text.contains("\r\n");
    if has_some { text.replace("\r\n", "\n").into() } else { text.into() }
}

// === impl LfView ===

impl<'a> LfView<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let plain = with_plain_line_ends(text);
        let left_out = match &plain {
            Cow::Borrowed(_) => Vec::new(),
            Cow::Owned(_) => {
                let line_ends = text.match_indices("\r\n").enumerate();
                line_ends.map(|(before, (at, _))| at - before).collect()
            }
        };
        Self { text: plain, left_out }
    }

    /// Returns the span of the original text that a span of the view stands for.
    pub(crate) fn original(&self, span: Range<usize>) -> Range<usize> {
        let original = |at| at + self.left_out.partition_point(|left_out| *left_out < at);
        original(span.start)..original(span.end)
    }

    /// Returns where a text occurs, overlaps included, up to [`OCCURRENCES_MAX`] locations.
    pub(crate) fn occurrences(&self, wanted: &str) -> Vec<usize> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(at) = self.text[from..].find(wanted).map(|at| from + at) {
            found.push(at);
            if found.len() == OCCURRENCES_MAX {
                break;
            }
            from = at + self.text[at..].chars().next().map_or(1, char::len_utf8);
            if from > self.text.len() {
                break;
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_lead_back_to_the_bytes() {
        let text = "a\r\nb\nc\r\n";
        let view = LfView::new(text);
        assert_eq!(view.text, "a\nb\nc\n");
        for (wanted, original) in [("a\n", "a\r\n"), ("b", "b"), ("b\nc", "b\nc"), ("\nb", "\r\nb")]
        {
            let at = view.text.find(wanted).unwrap();
            assert_eq!(&text[view.original(at..at + wanted.len())], original, "{wanted:?}");
        }
    }

    #[test]
    fn overlapping_occurrences_count() {
        assert_eq!(LfView::new("aaa").occurrences("aa"), [0, 1]);
        assert_eq!(LfView::new("ééé").occurrences("éé"), [0, 2]);
        assert_eq!(LfView::new("a").occurrences("b"), [0; 0]);
        assert_eq!(LfView::new(&"a".repeat(500)).occurrences("a").len(), OCCURRENCES_MAX);
    }
}
