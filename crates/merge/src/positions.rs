//! Where lines of a text are in another text, from which it was made or which was made of it.

use std::ops::Range;

use similar::DiffOp;

use crate::pace::{Cancelled, Pace};
use crate::{NumberedLines, compared};

/// Finds the lines of `old` that became each of some ranges of lines of `new`, which ascend and do not
/// overlap. Where there are none, an empty range before the next line.
///
/// # Errors
///
/// Where it is cancelled.
pub fn positions(
    old: &str,
    new: &str,
    ranges: &[Range<usize>],
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Vec<Range<usize>>, Cancelled> {
    if old == new {
        return Ok(ranges.to_vec());
    }
    let mut pace = Pace::new(is_cancelled);
    let mut numbers = std::collections::HashMap::new();
    let old = NumberedLines::of(old, &mut numbers, &mut pace)?;
    let new = NumberedLines::of(new, &mut numbers, &mut pace)?;
    let (ops, _) = compared(&old, &new, &mut pace)?;
    in_old(&ops, ranges, &mut pace)
}

/// As [`positions`], by the operations of a diff: one walk over both.
pub(crate) fn in_old(
    ops: &[DiffOp],
    ranges: &[Range<usize>],
    pace: &mut Pace<'_>,
) -> Result<Vec<Range<usize>>, Cancelled> {
    let mut found = Vec::with_capacity(ranges.len());
    let mut left = ops;
    for new in ranges {
        // What ends before it is before all that follow, too.
        let passed = left.iter().take_while(|op| op.new_range().end < new.start).count();
        left = &left[passed..];
        let near = left.iter().take_while(|op| op.new_range().start <= new.end).count();
        pace.take(1 + passed + near)?;
        let at_end = ops.last().map_or(0, |op| op.old_range().end);
        found.push(touched(&left[..near], new, at_end));
    }
    Ok(found)
}

/// The old lines of the operations that touch new ones; where none does, the end.
fn touched(ops: &[DiffOp], new: &Range<usize>, at_end: usize) -> Range<usize> {
    let mut start = None;
    let mut end = 0;
    for op in ops {
        let (olds, news) = (op.old_range(), op.new_range());
        // A location between two lines is in what comes after it.
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
    let start = start.unwrap_or(at_end);
    start..end.max(start)
}
