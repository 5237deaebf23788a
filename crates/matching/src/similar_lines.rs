//! The two levels that go by likeness. They only say where the search probably means; what is
//! written there is decided by the merge.

use std::collections::{BTreeSet, HashMap};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::find::Window;
use super::fold::{Fold, key};
use super::likeness::{Exhausted, SearchBudget};

/// The mean likeness of the lines between the anchors, from which on they are taken to match.
pub(super) const BLOCK_ANCHOR_MIN: f64 = 0.6;
/// The likeness of a line from which on it is taken to match.
pub(super) const CONTEXT_LINE_MIN: f64 = 0.8;
/// The share of lines that must match.
const CONTEXT_SHARE_MIN: f64 = 0.5;
/// The mean likeness of all lines below which nothing matches.
const CONTEXT_MEAN_MIN: f64 = 0.6;
/// Fewest lines of a search that anchors can hold.
const ANCHORED_LINES_MIN: usize = 3;
/// Fewest lines with text that are context for each other.
const CONTEXT_LINES_MIN: usize = 2;
/// Letters and digits from which on a line says something.
const INFORMATIVE_CHARS_MIN: usize = 4;
/// Most positions that are compared.
const CANDIDATES_MAX: usize = 2_000;

/// A position, and how well it matches.
#[derive(Debug)]
pub(super) struct ScoredWindow {
    pub(super) window: Window,
    /// Mean likeness of all lines.
    pub(super) score: f64,
}

/// Lines of file and search, and what they count as.
pub(super) struct Compared<'a> {
    file: &'a [&'a str],
    search: &'a [&'a str],
    file_keys: Vec<String>,
    search_keys: Vec<String>,
}

// === impl Compared ===

impl<'a> Compared<'a> {
    pub(super) fn new(file: &'a [&'a str], search: &'a [&'a str]) -> Self {
        let keys = |lines: &[&str]| lines.iter().map(|line| key(line, Fold::Unicode)).collect();
        Self { file, search, file_keys: keys(file), search_keys: keys(search) }
    }

    /// Finds blocks whose first and last line are those of the search.
    pub(super) fn anchored(
        &self,
        budget: &mut SearchBudget,
    ) -> Result<Vec<ScoredWindow>, Exhausted> {
        let count = self.search.len();
        let informs = [self.search.first(), self.search.last()]
            .iter()
            .any(|line| line.is_some_and(|line| is_informative(line)));
        if count < ANCHORED_LINES_MIN || !informs {
            return Ok(Vec::new());
        }
        let slack = (count / 5).max(1);
        let (first, last) = (&self.search_keys[0], &self.search_keys[count - 1]);
        let mut candidates = Vec::new();
        let starts = (0..self.file.len()).filter(|at| self.file_keys[*at] == *first);
        for start in starts {
            let counts = count.saturating_sub(slack).max(2)..=count + slack;
            for count in counts.filter(|count| self.file_keys.get(start + count - 1) == Some(last))
            {
                candidates.push((start, count));
            }
            if candidates.len() > CANDIDATES_MAX {
                return Err(Exhausted);
            }
        }
        let mut found = Vec::new();
        for (start, count) in candidates {
            let candidate = self.aligned(start, count, budget)?;
            found.extend(candidate);
        }
        Ok(found)
    }

    /// Aligns a block between two anchors, if it is alike enough.
    fn aligned(
        &self,
        start: usize,
        count: usize,
        budget: &mut SearchBudget,
    ) -> Result<Option<ScoredWindow>, Exhausted> {
        let file = &self.file[start..start + count];
        let keys = &self.file_keys[start..start + count];
        let mut align = vec![None; self.search.len()];
        budget.spend(self.search.len(), count)?;
        for op in capture_diff_slices(Algorithm::Myers, &self.search_keys, keys) {
            let (old, new) = (op.old_range(), op.new_range());
            if matches!(op, DiffOp::Equal { .. }) || old.len() == new.len() {
                old.zip(new).for_each(|(old, new)| align[old] = Some(new));
            } else {
                self.pair(old, new, file, &mut align, budget)?;
            }
        }
        let inner = self.search.len() - 2;
        let mut sum = 0.0;
        for (search, at) in self.search.iter().zip(&align).skip(1).take(inner) {
            if let Some(at) = at {
                sum += budget.likeness(search, file[*at])?;
            }
        }
        let lines = inner.max(count.saturating_sub(2));
        let mean = if lines == 0 { 1.0 } else { sum / float(lines) };
        let score = (sum + 2.0) / float(lines + 2);
        let window = Window { first: start + 1, count, align: align.into() };
        Ok((mean >= BLOCK_ANCHOR_MIN).then_some(ScoredWindow { window, score }))
    }

    /// Pairs lines of which there are more on one side, in order, each with the next that is alike.
    fn pair(
        &self,
        old: std::ops::Range<usize>,
        new: std::ops::Range<usize>,
        file: &[&str],
        align: &mut [Option<usize>],
        budget: &mut SearchBudget,
    ) -> Result<(), Exhausted> {
        let mut next = new.start;
        for at in old {
            for (line, found) in file.iter().enumerate().take(new.end).skip(next) {
                if budget.likeness(self.search[at], found)? >= BLOCK_ANCHOR_MIN {
                    align[at] = Some(line);
                    next = line + 1;
                    break;
                }
            }
        }
        Ok(())
    }

    /// Finds blocks of as many lines as the search, enough of which are like its lines. At least
    /// one line that says something must be equal.
    pub(super) fn in_context(
        &self,
        budget: &mut SearchBudget,
    ) -> Result<Vec<ScoredWindow>, Exhausted> {
        let count = self.search.len();
        let filled = self.search.iter().filter(|line| !line.trim().is_empty()).count();
        if filled < CONTEXT_LINES_MIN {
            return Ok(Vec::new());
        }
        let mut informative: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, _) in self.search.iter().enumerate().filter(|(_, line)| is_informative(line)) {
            informative.entry(&self.search_keys[at]).or_default().push(at);
        }
        let mut starts = BTreeSet::new();
        for (line, key) in self.file_keys.iter().enumerate() {
            let places = informative.get(key.as_str()).into_iter().flatten();
            let fits = |at: &&usize| line >= **at && line - **at + count <= self.file.len();
            starts.extend(places.filter(fits).map(|at| line - at));
            if starts.len() > CANDIDATES_MAX {
                return Err(Exhausted);
            }
        }
        let mut found = Vec::new();
        for start in starts {
            let (mut matching, mut sum) = (0, 0.0);
            for (search, line) in self.search.iter().zip(&self.file[start..]) {
                let is_blank = search.trim().is_empty();
                if is_blank {
                    continue;
                }
                let likeness = budget.likeness(search, line)?;
                matching += usize::from(likeness >= CONTEXT_LINE_MIN);
                sum += likeness;
            }
            let (share, score) = (float(matching) / float(filled), sum / float(filled));
            if share >= CONTEXT_SHARE_MIN && score >= CONTEXT_MEAN_MIN {
                let align = (0..count).map(Some).collect();
                found.push(ScoredWindow {
                    window: Window { first: start + 1, count, align },
                    score,
                });
            }
        }
        Ok(found)
    }
}

pub(super) fn is_informative(line: &str) -> bool {
    line.chars().filter(|c| c.is_alphanumeric()).count() >= INFORMATIVE_CHARS_MIN
}

#[expect(clippy::cast_precision_loss, reason = "counts of lines")]
fn float(count: usize) -> f64 {
    count as f64
}
