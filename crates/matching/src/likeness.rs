//! How alike two lines are, at a bounded cost.

use std::collections::HashMap;

/// Most characters times characters that are compared for one search.
const CELLS_MAX: usize = 12_000_000;

/// What is left of the work that one search may cause.
#[derive(Debug)]
pub(super) struct SearchBudget(usize);

/// A search needs more work than it may cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exhausted;

/// The share of words that two lines have in common: twice the common ones over all. Cheap, and
/// good enough to show which of some lines is meant.
pub(super) fn dice(a: &str, b: &str) -> f64 {
    let (a, b) = (words(a), words(b));
    let all = a.len() + b.len();
    if all == 0 {
        return 0.0;
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    a.iter().for_each(|word| *counts.entry(*word).or_default() += 1);
    let common = b.iter().filter(|word| match counts.get_mut(**word) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    });
    let common = common.count();
    #[expect(clippy::cast_precision_loss, reason = "words of a line are few")]
    let share = 2.0 * common as f64 / all as f64;
    share
}

fn words(line: &str) -> Vec<&str> {
    let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).collect()
}

// === impl SearchBudget ===

impl SearchBudget {
    pub(super) const fn new() -> Self {
        Self(CELLS_MAX)
    }

    /// Spends on a comparison of some lines with others.
    ///
    /// # Errors
    ///
    /// Where the budget does not suffice.
    pub(super) fn spend(&mut self, a: usize, b: usize) -> Result<(), Exhausted> {
        self.0 = self.0.checked_sub(a.saturating_mul(b)).ok_or(Exhausted)?;
        Ok(())
    }

    /// Returns one minus the edit distance over the longer length, of two lines without the white
    /// space around them.
    ///
    /// # Errors
    ///
    /// Where the budget does not suffice.
    pub(super) fn likeness(&mut self, a: &str, b: &str) -> Result<f64, Exhausted> {
        let (a, b) = (a.trim(), b.trim());
        if a == b {
            return Ok(1.0);
        }
        self.spend(a.len(), b.len())?;
        Ok(strsim::normalized_levenshtein(a, b))
    }
}
