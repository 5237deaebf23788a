//! Which line of an old text is which of a new one.

use std::hash::Hash;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// Longest time that lines are compared; afterwards the rest counts as changed.
const COMPARE_TIME_MAX: Duration = Duration::from_millis(200);

/// Which lines of two texts are the same ones. Lines count from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineMap {
    /// Runs of equal lines: the first in the old text, the first in the new one, how many. Ascending.
    runs: Vec<(u64, u64, u64)>,
}

// === impl LineMap ===

impl LineMap {
    /// Compares two texts line by line, within a time limit.
    pub fn new(old: &str, new: &str) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        Self::of_lines(&old, &new)
    }

    /// Compares two texts whose lines are distinguished by values, such as their hashes.
    pub fn of_lines<L: Hash + Ord>(old: &[L], new: &[L]) -> Self {
        let deadline = Some(Instant::now() + COMPARE_TIME_MAX);
        let operations = capture_diff_slices_deadline(Algorithm::Myers, old, new, deadline);
        let run = |operation: DiffOp| match operation {
            DiffOp::Equal { old_index, new_index, len } => {
                Some((old_index as u64 + 1, new_index as u64 + 1, len as u64))
            }
            _ => None,
        };
        Self { runs: operations.into_iter().filter_map(run).collect() }
    }

    /// Where a line of the old text is in the new one; none where it is gone or changed.
    pub fn new_line(&self, old: u64) -> Option<u64> {
        let at = self.runs.partition_point(|(first, _, _)| *first <= old).checked_sub(1)?;
        let (first, new, lines) = self.runs[at];
        (old < first + lines).then(|| new + (old - first))
    }

    /// Where a line of the new text was in the old one; none where it is new or changed.
    pub fn old_line(&self, new: u64) -> Option<u64> {
        let at = self.runs.partition_point(|(_, first, _)| *first <= new).checked_sub(1)?;
        let (old, first, lines) = self.runs[at];
        (new < first + lines).then(|| old + (new - first))
    }
}
