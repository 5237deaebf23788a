//! How the lines of one text became those of another, in bounded time: both may be anybody's.

use std::time::{Duration, Instant};

use moss_matching::lines::LineIndex;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// After this long a shortest way from one text to another is no longer sought; what is left counts as changed.
const COMPARED_FOR: Duration = Duration::from_millis(500);

/// Compares lines; what the time does not suffice for counts as changed.
pub(crate) fn line_ops(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let deadline = Instant::now() + COMPARED_FOR;
    capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(deadline))
}

/// The lines of a text without their line ends.
pub(crate) fn lines_of(text: &str) -> Vec<&str> {
    LineIndex::new(text).iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_have_nothing_in_common_are_compared_all_the_same() {
        let text = |word: &str| (0..200_000).map(|n| format!("{word} {n}\n")).collect::<String>();
        let (old, new) = (text("a"), text("b"));
        let (old, new) = (lines_of(&old), lines_of(&new));
        let ops = line_ops(&old, &new);
        assert!(ops.iter().all(|op| !matches!(op, DiffOp::Equal { .. })));
        let olds: usize = ops.iter().map(|op| op.old_range().len()).sum();
        let news: usize = ops.iter().map(|op| op.new_range().len()).sum();
        assert_eq!((olds, news), (200_000, 200_000));
        let same = line_ops(&old, &old);
        assert!(matches!(same[..], [DiffOp::Equal { len: 200_000, .. }]), "{}", same.len());
    }
}
