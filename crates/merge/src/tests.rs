//! Merges against those of `similar`, in steps that are counted.

use std::cell::Cell;

use proptest::prelude::*;
use similar::{TextDiff, TextMerge};

use super::*;
use crate::positions::in_old;

fn merge(base: &str, ours: &str, theirs: &str) -> LineMerge {
    merge_lines(base, ours, theirs, &|| false).unwrap()
}

/// What `similar` makes of it, whose walk looks at all edits for each region.
fn expected(base: &str, ours: &str, theirs: &str) -> LineMerge {
    let merged = TextMerge::from_lines(base, ours, theirs);
    if merged.is_conflicted() {
        let ours = merged.conflicts().map(|region| region.ours_range()).collect();
        return LineMerge::Conflict(MergeConflict { ours, is_rough: false });
    }
    LineMerge::Clean(merged.to_string())
}

/// Lines of a small alphabet in no order, the same each time.
fn jumbled(seed: u64, lines: usize) -> String {
    let mut state = seed;
    let line = |_| {
        // The generator of Knuth's MMIX.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ["a\n", "b\n", "c\n", "d\n"][(state >> 60) as usize % 4]
    };
    (0..lines).map(line).collect()
}

/// How many steps the walk takes over what three such texts differ by.
fn steps(lines: usize) -> usize {
    let [base, ours, theirs] = [1, 2, 3].map(|seed| jumbled(seed, lines));
    let mut numbers = HashMap::new();
    let cancelled = || false;
    let mut pace = Pace::new(&cancelled);
    let [base, ours, theirs] = [&*base, &*ours, &*theirs]
        .map(|text| NumberedLines::of(text, &mut numbers, &mut pace).unwrap());
    let [ours, theirs] = [&ours, &theirs].map(|side| base.diff(side, &mut pace).unwrap());
    let mut pace = Pace::new(&cancelled);
    let groups = groups(&ours.edits, &theirs.edits, &mut pace).unwrap();
    let edits = ours.edits.len() + theirs.edits.len();
    assert!(edits > lines / 4 && groups.len() <= edits);
    assert!(pace.steps() <= 2 * edits, "{} steps for {edits} edits", pace.steps());
    pace.steps()
}

#[test]
fn the_walk_over_edits_takes_a_few_steps_for_each() {
    assert!(steps(2_000) > 0);
    assert!(steps(8_000) > 0);
}

#[test]
fn positions_are_found_in_one_walk() {
    let [old, new] = [1, 2].map(|seed| jumbled(seed, 4_000));
    let diff = TextDiff::from_lines(&old, &new);
    let every_line: Vec<_> = (0..4_000).map(|line| line..line + 1).collect();
    let cancelled = || false;
    let mut pace = Pace::new(&cancelled);
    in_old(diff.ops(), &every_line, &mut pace).unwrap();
    let bound = diff.ops().len() + 4 * every_line.len();
    assert!(pace.steps() <= bound, "{} steps, not {bound}", pace.steps());
}

#[test]
fn a_cancelled_merge_ends_within_some_thousand_steps() {
    let [base, ours, theirs] = [1, 2, 3].map(|seed| jumbled(seed, 5_000));
    for asked_max in 0..4 {
        let asked = Cell::new(0);
        let is_cancelled = || asked.replace(asked.get() + 1) >= asked_max;
        assert_eq!(merge_lines(&base, &ours, &theirs, &is_cancelled), Err(Cancelled));
        assert_eq!(asked.get(), asked_max + 1);
        let asked = Cell::new(0);
        let is_cancelled = || asked.replace(asked.get() + 1) >= asked_max.min(1);
        assert_eq!(positions(&base, &ours, &[], &is_cancelled), Err(Cancelled));
    }
}

#[test]
fn changes_of_different_lines_are_brought_together() {
    let merged = merge("1\n2\n3\n4\n5", "1\ntwo\n3\n4\n5", "1\n2\n3\n4\n5\n6\n");
    assert_eq!(merged, LineMerge::Clean("1\ntwo\n3\n4\n5\n6\n".to_owned()));
    let same = merge("1\n2\n", "1\ntwo\n", "1\ntwo\n");
    assert_eq!(same, LineMerge::Clean("1\ntwo\n".to_owned()));
}

#[test]
fn memory_is_estimated_by_lines_and_bytes() {
    assert_eq!(merge_bytes(["", "", ""]), 3 * LINE_BYTES);
    assert_eq!(merge_bytes(["a\r\nb\n", "a", ""]), 6 * LINE_BYTES + 5);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn merges_are_those_of_similar(
        base in "([abc](\n|\r\n|\r)){0,12}[ab]?",
        ours in "([abc](\n|\r\n|\r)){0,12}[ab]?",
        theirs in "([abc](\n|\r\n|\r)){0,12}[ab]?",
    ) {
        prop_assert_eq!(merge(&base, &ours, &theirs), expected(&base, &ours, &theirs));
    }

    /// Sides that differ little from the base: most of these merge.
    #[test]
    fn merges_of_near_texts_are_those_of_similar(
        base in "([abcde]\n){4,24}",
        edits in prop::collection::vec((0..24_usize, 0..3_u8, "[abcx]?", any::<bool>()), 1..6),
    ) {
        let mut sides = [base.clone(), base.clone()];
        for (line, what, new, is_ours) in edits {
            let side = &mut sides[usize::from(is_ours)];
            let mut lines: Vec<String> = side.lines().map(str::to_owned).collect();
            let line = line % lines.len().max(1);
            match what {
                0 if !lines.is_empty() => lines[line] = new,
                1 if !lines.is_empty() => drop(lines.remove(line)),
                _ => lines.insert(line, new),
            }
            *side = lines.iter().flat_map(|line| [line, "\n"]).collect();
        }
        let [theirs, ours] = sides;
        prop_assert_eq!(merge(&base, &ours, &theirs), expected(&base, &ours, &theirs));
    }

    /// As a walk over all operations for each range finds them.
    #[test]
    fn positions_are_those_of_a_full_walk(
        old in "([abc]\n){0,16}",
        new in "([abc]\n){0,16}",
        bounds in prop::collection::btree_set(0..17_usize, 0..8),
    ) {
        let lines = new.lines().count();
        let bounds: Vec<usize> = bounds.into_iter().filter(|bound| *bound <= lines).collect();
        let ranges: Vec<_> = bounds
            .chunks(2)
            .map(|pair| pair[0]..*pair.last().unwrap_or(&pair[0]))
            .collect();
        let diff = TextDiff::from_lines(&old, &new);
        let found = positions(&old, &new, &ranges, &|| false).unwrap();
        let full: Vec<_> = ranges.iter().map(|range| full_walk(diff.ops(), range)).collect();
        prop_assert_eq!(found, full);
    }
}

fn full_walk(ops: &[DiffOp], new: &Range<usize>) -> Range<usize> {
    let mut start = None;
    let mut end = 0;
    for op in ops {
        let (olds, news) = (op.old_range(), op.new_range());
        let is_place = new.is_empty()
            && (news.contains(&new.start) || news.is_empty() && news.start == new.start);
        if is_place || news.start < new.end && new.start < news.end {
            let is_equal = matches!(op, DiffOp::Equal { .. });
            let within = |line: usize| olds.start + line.saturating_sub(news.start);
            let first = if is_equal { within(new.start) } else { olds.start };
            let last = if is_equal { within(new.end).min(olds.end) } else { olds.end };
            start.get_or_insert(first);
            end = last;
        }
    }
    let at_end = ops.last().map_or(0, |op| op.old_range().end);
    let start = start.unwrap_or(at_end);
    start..end.max(start)
}
