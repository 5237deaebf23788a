//! Tests of splices, and of line edits against a plain list of lines.

use std::ops::Range;

use moss_matching::lines::{split, without_line_end};
use moss_sdk::edit::splice;
use proptest::prelude::*;

use super::*;

fn spliced(text: &str, range: Range<usize>, new: &str) -> (String, Vec<Splice>) {
    let splices = splices(text, range, new);
    (splice(text, &splices).unwrap(), splices)
}

#[test]
fn only_what_differs_is_spliced() {
    // text, span, new text, text afterwards, what was touched
    let cases = [
        ("a\nb\nc\n", 0..6, "a\nB\nc\n", "a\nB\nc\n", "2..3"),
        ("a\r\nb\nc\r\nd\n", 0..8, "a\nB\nc\n", "a\r\nB\nc\r\nd\n", "3..4"),
        ("a\r\nb\nc\r\n", 0..8, "A\nb\nC\n", "A\r\nb\nC\r\n", "0..1 5..6"),
        ("a\r\nb\r\n", 0..6, "a\nx\nb\n", "a\r\nx\r\nb\r\n", "3..3"),
        ("a\nb\nc\n", 0..6, "a\nc\n", "a\nc\n", "2..4"),
        ("a\na\n", 0..4, "a\na\na\n", "a\na\na\n", "4..4"),
        ("a\nb", 2..3, "x\ny", "a\nx\ny", "2..3"),
        ("a\nb\n", 0..4, "a\nb\n", "a\nb\n", ""),
        ("one two\n", 4..7, "2", "one 2\n", "4..7"),
    ];
    for (text, range, new, after, touched) in cases {
        let (result, splices) = spliced(text, range, new);
        assert_eq!(result, after, "{text:?} {new:?}");
        let ranges: Vec<String> = splices.iter().map(|s| format!("{:?}", s.range)).collect();
        assert_eq!(ranges.join(" "), touched, "{text:?} {new:?}");
    }
}

#[test]
fn the_end_of_the_file_keeps_its_form() {
    // text, first line, lines removed, new lines, text afterwards
    let cases: [(&str, usize, usize, &str, &str); 16] = [
        ("a\nb", 2, 1, "x", "a\nx"),
        ("a\nb", 2, 1, "x\n", "a\nx"),
        ("a\nb\n", 2, 1, "x", "a\nx\n"),
        ("a\nb", 3, 0, "c", "a\nb\nc"),
        ("a\nb\n", 3, 0, "c", "a\nb\nc\n"),
        ("a\r\nb", 3, 0, "c", "a\r\nb\r\nc"),
        ("a\r\nb", 3, 0, "c\r\nd", "a\r\nb\r\nc\r\nd"),
        ("", 1, 0, "a", "a\n"),
        ("a\nb", 2, 1, "", "a"),
        ("a\nb\n", 2, 1, "", "a\n"),
        ("a\n\nb", 3, 1, "", "a\n\n"),
        ("a\nb", 1, 2, "", ""),
        ("a\nb\n", 1, 2, "", ""),
        ("a", 2, 0, "\n", "a\n\n"),
        ("a", 1, 1, "b", "b"),
        ("a\nb", 1, 1, "", "b"),
    ];
    for (text, first, removed, new, after) in cases {
        let edit = Edit::of_lines(text, first, removed, &split(new));
        assert_eq!(splice(text, &edit.splices).unwrap(), after, "{text:?} {new:?}");
    }
}

/// A line, its content and its line end.
fn line() -> impl Strategy<Value = (String, &'static str)> {
    ("[ab é\t]{0,3}", prop::sample::select(vec!["\n", "\r\n"]))
}

prop_compose! {
    /// A text with LF, CRLF or both, with and without a final line end.
    fn text()(
        lines in prop::collection::vec(line(), 0..8),
        open_end in any::<bool>(),
    ) -> String {
        let text: String = lines.iter().flat_map(|(line, end)| [line.as_str(), end]).collect();
        if open_end { without_line_end(&text).to_owned() } else { text }
    }
}

prop_compose! {
    fn case()(text in text())(
        first in 1..=LineIndex::new(&text).count() + 1,
        removed_max in 0usize..4,
        mut new in prop::collection::vec("[ab é\t]{0,3}", 0..4),
        text in Just(text),
    ) -> (String, usize, usize, Vec<String>) {
        let removed = removed_max.min(LineIndex::new(&text).count() + 1 - first);
        if removed == 0 && new.is_empty() {
            new.push("new".to_owned());
        }
        (text, first, removed, new)
    }
}

proptest! {
    #[test]
    fn line_edits_do_what_a_list_of_lines_would((text, first, removed, new) in case()) {
        let lines = LineIndex::new(&text);
        let new: Vec<&str> = new.iter().map(String::as_str).collect();
        let mut expected: Vec<&str> = lines.iter().collect();
        expected.splice(first - 1..first - 1 + removed, new.iter().copied());

        let edit = Edit::of_lines(&text, first, removed, &new);
        let after = splice(&text, &edit.splices).unwrap();

        prop_assert_eq!(LineIndex::new(&after).iter().collect::<Vec<_>>(), expected.clone());
        let open_end = !text.is_empty() && !text.ends_with('\n');
        let must_end = expected.last().is_some_and(|last| last.is_empty());
        prop_assert_eq!(
            after.is_empty() || after.ends_with('\n'),
            expected.is_empty() || !open_end || must_end
        );
        prop_assert_eq!(edit.before, LineSpan::of(first, removed));
        prop_assert_eq!(edit.after, LineSpan::of(first, new.len()));
    }

    #[test]
    fn bytes_outside_the_lines_stay((text, first, removed, new) in case()) {
        let lines = LineIndex::new(&text);
        let new: Vec<&str> = new.iter().map(String::as_str).collect();
        let edit = Edit::of_lines(&text, first, removed, &new);
        let (after, splices) = (splice(&text, &edit.splices).unwrap(), edit.splices);

        let (start, end) = (lines.start(first), lines.start(first + removed));
        // The line end before the last line goes with it where the file must stay open-ended.
        let head = without_line_end(&text[..start]);
        prop_assert!(after.starts_with(head));
        prop_assert!(end == text.len() || after.starts_with(&text[..start]));
        prop_assert!(after.ends_with(&text[end..]));
        for splice in &splices {
            prop_assert!(splice.range.start >= head.len() && splice.range.end <= end);
        }
    }

    #[test]
    fn new_line_ends_are_those_of_the_file((text, first, removed, new) in case()) {
        let lf = text.matches('\n').count();
        let crlf = text.matches("\r\n").count();
        let new: Vec<&str> = new.iter().map(String::as_str).collect();
        let edit = Edit::of_lines(&text, first, removed, &new);
        let after = splice(&text, &edit.splices).unwrap();
        let (lf_after, crlf_after) = (after.matches('\n').count(), after.matches("\r\n").count());
        prop_assert!(lf == 0 || lf != crlf || lf_after == crlf_after, "CRLF stays: {after:?}");
        prop_assert!(crlf > 0 || crlf_after == 0, "LF stays: {after:?}");
    }

    #[test]
    fn any_replacement_gives_the_text_it_says(
        (text, first, removed, _) in case(),
        new in "[ab\n]{0,8}",
    ) {
        let lines = LineIndex::new(&text);
        let range = lines.start(first)..lines.start(first + removed);
        let (after, splices) = spliced(&text, range.clone(), &new);
        let expected = [&text[..range.start], new.as_str(), &text[range.end..]].concat();
        prop_assert_eq!(after.replace("\r\n", "\n"), expected.replace("\r\n", "\n"));
        let same = text[range].replace("\r\n", "\n") == new;
        prop_assert_eq!(splices.is_empty(), same);
    }
}

#[test]
fn lines_that_only_moved_are_found_again() {
    let old = "a\nb\nc\nd\ne\n";
    // what the file is then, first line, how many, where they are then
    let cases = [
        ("x\na\nb\nc\nd\ne\n", 3, 1, Some(4)),
        ("a\nb\nc\nd\ne\nx\n", 3, 1, Some(3)),
        ("a\nb\nC\nd\ne\n", 3, 1, None),
        ("a\nB\nc\nd\ne\n", 3, 1, None),
        ("a\nb\nc\nd\nE\n", 3, 1, Some(3)),
        ("x\ny\na\nb\nc\nd\ne\n", 1, 1, None),
        ("b\nc\nd\ne\n", 3, 0, Some(2)),
        ("a\nb\nx\nc\nd\ne\n", 3, 0, None),
        ("x\na\nb\nc\nd\ne\n", 6, 0, Some(7)),
        ("a\nb\nc\nd\ne\nf\n", 6, 0, None),
        ("a\nb\nc\nd\ne\nf\n", 5, 1, None),
    ];
    for (new, first, count, expected) in cases {
        assert_eq!(moved(old, new, first, count), expected, "{new:?} {first} {count}");
    }
}
