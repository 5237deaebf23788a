//! What a change did to the lines of one text, as searches and replacements that can be made again
//! on another text, and the splices between two texts.

use std::ops::Range;

use moss_matching::lines::LineSpan;
use moss_sdk::edit::Splice;
use similar::{DiffOp, TextDiff};

use super::SEARCH_TIME_MAX;

/// Lines around a change that say where it is.
const CONTEXT_LINES: usize = 3;

/// Lines that were changed together, with those around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hunk {
    /// The lines of the text before that it is about; none where they were added to nothing.
    pub(super) then: Option<LineSpan>,
    /// The lines before the change, with those around them.
    pub(super) search: String,
    /// The lines after the change, with those around them.
    pub(super) replace: String,
}

/// Splits the way from one text to another into hunks. Line ends are plain in both.
pub(super) fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    let (old, new) = (lines(before), lines(after));
    let diff = TextDiff::configure().timeout(SEARCH_TIME_MAX).diff_slices(&old, &new);
    diff.grouped_ops(CONTEXT_LINES)
        .iter()
        .map(|ops| {
            let (olds, news) = (spanned(ops, DiffOp::old_range), spanned(ops, DiffOp::new_range));
            Hunk {
                then: LineSpan::of(olds.start + 1, olds.len()),
                search: old[olds].concat(),
                replace: new[news].concat(),
            }
        })
        .collect()
}

/// Finds the splices that lead from a text to another one, whose line ends are plain: those of the
/// text stay where a line does.
pub(super) fn splices(text: &str, plain: &str, new: &str) -> Vec<Splice> {
    let (ours, old, new) = (lines(text), lines(plain), lines(new));
    let starts: Vec<usize> = std::iter::once(0)
        .chain(ours.iter().scan(0, |at, line| {
            *at += line.len();
            Some(*at)
        }))
        .collect();
    let diff = TextDiff::configure().timeout(SEARCH_TIME_MAX).diff_slices(&old, &new);
    diff.ops()
        .iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| {
            let Range { start, end } = op.old_range();
            let text = new[op.new_range()].concat();
            Splice { range: starts[start]..starts[end], text }
        })
        .collect()
}

/// A line ends with `\n` alone.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn spanned(ops: &[DiffOp], side: impl Fn(&DiffOp) -> Range<usize>) -> Range<usize> {
    let start = ops.first().map_or(0, |op| side(op).start);
    let end = ops.last().map_or(start, |op| side(op).end);
    start..end
}

#[cfg(test)]
mod tests {
    use moss_matching::with_plain_line_ends;
    use moss_sdk::edit::splice;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hunks_have_three_lines_around_them() {
        let before: String = (1..=20).map(|number| format!("{number}\n")).collect();
        let after = before.replace("\n5\n", "\nfive\n").replace("20\n", "");
        let [first, second] = &hunks(&before, &after)[..] else { panic!("there are two") };
        assert_eq!(first.then, LineSpan::of(2, 7));
        assert_eq!(first.search, "2\n3\n4\n5\n6\n7\n8\n");
        assert_eq!(first.replace, "2\n3\n4\nfive\n6\n7\n8\n");
        assert_eq!((second.then, second.replace.as_str()), (LineSpan::of(17, 4), "17\n18\n19\n"));
        let added = hunks("", "1\n");
        assert_eq!((added[0].then, added[0].search.as_str()), (None, ""));
        assert_eq!(hunks(&before, &before), []);
    }

    proptest! {
        #[test]
        fn splices_lead_from_one_text_to_the_other(
            ours in "([ab]|\n|\r\n|\r){0,12}",
            new in "([ab]|\n){0,12}",
        ) {
            let plain = with_plain_line_ends(&ours);
            let spliced = splice(&ours, &splices(&ours, &plain, &new)).unwrap();
            prop_assert_eq!(with_plain_line_ends(&spliced), new.as_str());
        }

        #[test]
        fn hunks_lead_from_before_to_after(
            before in "([abc]\n){0,30}",
            after in "([abc]\n){0,30}",
        ) {
            let mut text = before.clone();
            for hunk in hunks(&before, &after).iter().rev() {
                let line = hunk.then.map_or(0, |then| then.start_line - 1);
                let at: usize = lines(&before)[..line].iter().map(|line| line.len()).sum();
                text.replace_range(at..at + hunk.search.len(), &hunk.replace);
            }
            prop_assert_eq!(text, after);
        }
    }
}
