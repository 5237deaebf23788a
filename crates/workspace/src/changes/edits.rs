//! A planned change of a text as edits of whole lines, for whoever holds the text in a buffer.

use moss_sdk::editor::{Position, Span, TextEdit};
use similar::{DiffOp, TextDiff};

use super::PlannedFile;
use crate::diff::SEARCH_TIME_MAX;

// === impl PlannedFile ===

impl PlannedFile {
    /// Returns the change as edits that do not touch each other, from the first line on. Their
    /// locations are those of the text before all of them, in which a byte-order mark is a
    /// character like any other: whoever holds the text holds the mark. None where a side is
    /// missing or not text.
    pub fn text_edits(&self) -> Option<Vec<TextEdit>> {
        Some(between(self.text_before()?, self.text_after()?))
    }

    /// Returns the content before, where it is text.
    pub fn text_before(&self) -> Option<&str> {
        std::str::from_utf8(self.old.as_deref()?).ok()
    }

    /// Returns the content after, where it is text.
    pub fn text_after(&self) -> Option<&str> {
        std::str::from_utf8(self.new.as_deref()?).ok()
    }
}

fn between(old: &str, new: &str) -> Vec<TextEdit> {
    let diff = TextDiff::configure().timeout(SEARCH_TIME_MAX).diff_lines(old, new);
    let start_of = |line: usize| match line.checked_sub(1).map(|last| (last, diff.old_slice(last)))
    {
        // The last line has no end: what follows it begins in it.
        Some((last, Some(text))) if line == diff.old_len() && !text.ends_with(['\n', '\r']) => {
            Position { line: number(last), character: number(text.encode_utf16().count()) }
        }
        _ => Position { line: number(line), character: 0 },
    };
    diff.ops()
        .iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| {
            let (old, new) = (op.old_range(), op.new_range());
            let span = Span { start: start_of(old.start), end: start_of(old.end) };
            let text = new.filter_map(|line| diff.new_slice(line)).collect();
            TextEdit { span, text }
        })
        .collect()
}

/// A file that is edited is far smaller than what does not fit.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Carries edits out as an editor does.
    fn apply(old: &str, edits: &[TextEdit]) -> String {
        let mut text: Vec<u16> = old.encode_utf16().collect();
        for edit in edits.iter().rev() {
            let offset = |place: Position| {
                let mut starts = vec![0];
                let units: Vec<u16> = old.encode_utf16().collect();
                for (at, unit) in units.iter().enumerate() {
                    let is_lf = *unit == u16::from(b'\n');
                    let is_cr = *unit == u16::from(b'\r');
                    if is_lf || is_cr && units.get(at + 1) != Some(&u16::from(b'\n')) {
                        starts.push(at + 1);
                    }
                }
                starts[place.line as usize] + place.character as usize
            };
            let new = edit.text.encode_utf16();
            text.splice(offset(edit.span.start)..offset(edit.span.end), new);
        }
        String::from_utf16(&text).unwrap()
    }

    #[test]
    fn edits_touch_only_the_lines_that_change() {
        let edits = between("a\nb\nc\nd\n", "a\nB\nc\nd\ne\n");
        let place = |line| Position { line, character: 0 };
        let edit = |start, end, text: &str| TextEdit {
            span: Span { start: place(start), end: place(end) },
            text: text.into(),
        };
        assert_eq!(edits, [edit(1, 2, "B\n"), edit(4, 4, "e\n")]);
    }

    #[test]
    fn last_line_without_an_end_is_reached() {
        for (old, new) in [("", "a"), ("a", ""), ("a\nb𝄞", "a\nb𝄞\nc"), ("a\r\nb", "a"), ("x", "y")]
        {
            assert_eq!(apply(old, &between(old, new)), new, "{old:?} to {new:?}");
        }
    }

    proptest! {
        #[test]
        fn edits_lead_from_one_text_to_the_other(
            old in "([ab𝄞é]|\n|\r\n|\r){0,12}",
            new in "([ab𝄞é]|\n|\r\n|\r){0,12}",
        ) {
            prop_assert_eq!(apply(&old, &between(&old, &new)), new);
        }
    }
}
