//! Three-way merges of lines, and where lines of one text are in another.
//!
//! Text in, values out: nothing here opens a file. Anybody may have chosen the texts, so all work is
//! bounded: comparing two texts by time, all the rest by the number of lines. What is cancelled ends
//! soon.

mod groups;
mod pace;
mod positions;

use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, DiffableStr, capture_diff_slices_deadline};

use self::groups::{EditGroup, LineEdit, groups};
pub use self::pace::Cancelled;
use self::pace::Pace;
pub use self::positions::positions;

/// After this long a shortest way from one text to another is no longer sought; what is left counts
/// as changed.
const SEARCH_TIME_MAX: Duration = Duration::from_millis(500);
/// Memory that each line of the three texts takes while they are merged, at most.
const LINE_BYTES: usize = 64;

/// What comes of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineMerge {
    /// The text with the changes of both sides.
    Clean(String),
    /// Both sides changed the same lines, each in its way.
    Conflict(MergeConflict),
}

/// Where two sides changed the same lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeConflict {
    /// The lines of our side, counted from 0, ascending; an empty range is between two lines.
    pub ours: Vec<Range<usize>>,
    /// Whether the texts differ by so much that they were compared only roughly.
    pub is_rough: bool,
}

/// The lines of a text, each by a number that equal lines share.
struct NumberedLines<'a> {
    lines: Vec<&'a str>,
    numbers: Vec<u32>,
}

/// How one text became another.
struct LineDiff {
    edits: Vec<LineEdit>,
    is_rough: bool,
}

/// Estimates how much memory merging such texts takes beside the texts, in bytes.
pub fn merge_bytes(texts: [&str; 3]) -> usize {
    let ends = |text: &str| text.bytes().filter(|byte| matches!(byte, b'\n' | b'\r')).count() + 1;
    let lines: usize = texts.iter().map(|text| ends(text)).sum();
    let longest = texts.iter().map(|text| text.len()).max().unwrap_or_default();
    lines.saturating_mul(LINE_BYTES).saturating_add(longest)
}

/// Brings what `theirs` changed of the lines of `base` into `ours`. Lines end with `\n`, `\r` or both.
/// Changes that touch each other are in conflict where they are not the same.
///
/// # Errors
///
/// Where it is cancelled.
pub fn merge_lines(
    base: &str,
    ours: &str,
    theirs: &str,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<LineMerge, Cancelled> {
    let mut pace = Pace::new(is_cancelled);
    let mut numbers = HashMap::new();
    let base = NumberedLines::of(base, &mut numbers, &mut pace)?;
    let ours = NumberedLines::of(ours, &mut numbers, &mut pace)?;
    let theirs = NumberedLines::of(theirs, &mut numbers, &mut pace)?;
    drop(numbers);
    let our_diff = base.diff(&ours, &mut pace)?;
    let their_diff = base.diff(&theirs, &mut pace)?;
    let groups = groups(&our_diff.edits, &their_diff.edits, &mut pace)?;
    let conflicts: Vec<_> = groups
        .iter()
        .filter(|group| group.is_conflict(&ours.numbers, &theirs.numbers))
        .map(|group| group.ours.clone())
        .collect();
    pace.take(base.lines.len())?;
    if !conflicts.is_empty() {
        let is_rough = our_diff.is_rough || their_diff.is_rough;
        return Ok(LineMerge::Conflict(MergeConflict { ours: conflicts, is_rough }));
    }
    Ok(LineMerge::Clean(merged(&groups, [&base, &ours, &theirs])))
}

/// Puts the lines together that no side changed, and those that one did.
fn merged(groups: &[EditGroup], [base, ours, theirs]: [&NumberedLines<'_>; 3]) -> String {
    let mut text = String::new();
    let mut at = 0;
    for group in groups {
        let side = if group.is_of_ours {
            &ours.lines[group.ours.clone()]
        } else {
            &theirs.lines[group.theirs.clone()]
        };
        text.extend(base.lines[at..group.base.start].iter().chain(side).copied());
        at = group.base.end;
    }
    text.extend(base.lines[at..].iter().copied());
    text
}

// === impl NumberedLines ===

impl<'a> NumberedLines<'a> {
    fn of(
        text: &'a str,
        numbers: &mut HashMap<&'a str, u32>,
        pace: &mut Pace<'_>,
    ) -> Result<Self, Cancelled> {
        let lines = text.tokenize_lines();
        pace.take(lines.len())?;
        let mut number = |line| {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            *numbers.entry(line).or_insert(next)
        };
        let numbers = lines.iter().map(|line| number(*line)).collect();
        Ok(Self { lines, numbers })
    }

    fn diff(&self, other: &Self, pace: &mut Pace<'_>) -> Result<LineDiff, Cancelled> {
        let (ops, is_rough) = compared(self, other, pace)?;
        Ok(LineDiff { edits: edits(&ops), is_rough })
    }
}

/// Compares two texts; says as well whether there was no time to do it to the end.
fn compared(
    old: &NumberedLines<'_>,
    new: &NumberedLines<'_>,
    pace: &mut Pace<'_>,
) -> Result<(Vec<DiffOp>, bool), Cancelled> {
    pace.check()?;
    let deadline = Instant::now() + SEARCH_TIME_MAX;
    let (old, new) = (&old.numbers, &new.numbers);
    let ops = capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(deadline));
    pace.take(ops.len())?;
    Ok((ops, Instant::now() > deadline))
}

/// The edits of a diff; what touches is one.
fn edits(ops: &[DiffOp]) -> Vec<LineEdit> {
    let mut edits: Vec<LineEdit> = Vec::new();
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let (base, side) = (op.old_range(), op.new_range());
        match edits.last_mut() {
            Some(last) if last.base.end == base.start => {
                (last.base.end, last.side.end) = (base.end, side.end);
            }
            _ => edits.push(LineEdit { base, side }),
        }
    }
    edits
}

#[cfg(test)]
mod tests;
