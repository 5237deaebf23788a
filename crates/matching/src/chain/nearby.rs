//! The levels that go by likeness: which of several similar locations is meant, if one is.

use std::cmp::Ordering;

use moss_sdk::edit::{Drift, MatchLevel};

use super::{Chain, located};
use crate::find::Window;
use crate::fold::{Fold, key};
use crate::likeness::{Exhausted, SearchBudget};
use crate::lines::split;
use crate::merge::MergeRefusal;
use crate::similar_lines::{
    BLOCK_ANCHOR_MIN, CONTEXT_LINE_MIN, Compared, ScoredWindow, is_informative,
};
use crate::wrapping::without_outer_blank_lines;
use crate::write::EditTexts;
use crate::{Located, Miss};

/// By how much the best of several similar locations must be better than the others.
const MARGIN_MIN: f64 = 0.1;
/// Most similar locations that are compared with the best.
const RIVALS_MAX: usize = 20;
/// Files with more lines are not matched by likeness.
const SIMILAR_LINES_MAX: usize = 20_000;
/// Files with more bytes are not matched by likeness.
const SIMILAR_BYTES_MAX: usize = 4 << 20;
/// Searches with more lines are not matched by likeness.
const SIMILAR_SEARCH_LINES_MAX: usize = 1_000;

// === impl Chain ===

impl Chain<'_> {
    /// The two levels that go by likeness.
    pub(super) fn similar(&self, file: &[&str]) -> Result<Located, Miss> {
        let EditTexts { text, search, replace, .. } = self.texts;
        let (search, replace) =
            without_outer_blank_lines(search, replace).unwrap_or((search, replace));
        let wanted = split(search);
        let is_small = file.len() <= SIMILAR_LINES_MAX
            && text.len() <= SIMILAR_BYTES_MAX
            && wanted.len() <= SIMILAR_SEARCH_LINES_MAX;
        if wanted.len() < 2 || file.is_empty() {
            return Err(Miss::None);
        }
        if !is_small {
            return Err(Miss::TooLarge);
        }
        let chain = self.with(search, replace);
        let compared = Compared::new(file, &wanted);
        let mut budget = SearchBudget::new();
        let too_large = |Exhausted| Miss::TooLarge;
        let anchored = compared.anchored(&mut budget).map_err(too_large)?;
        if !anchored.is_empty() {
            return chain.best(MatchLevel::BlockAnchor, anchored, BLOCK_ANCHOR_MIN, file);
        }
        let in_context = compared.in_context(&mut budget).map_err(too_large)?;
        chain.best(MatchLevel::ContextAware, in_context, CONTEXT_LINE_MIN, file)
    }

    /// Settles on the best location. Others that are nearly as good must mean the same edit.
    fn best(
        &self,
        level: MatchLevel,
        mut candidates: Vec<ScoredWindow>,
        likeness_min: f64,
        file: &[&str],
    ) -> Result<Located, Miss> {
        candidates.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal));
        let Some((best, others)) = candidates.split_first() else { return Err(Miss::None) };
        let near = |other: &&ScoredWindow| best.score - other.score < MARGIN_MIN;
        let rivals: Vec<&ScoredWindow> = others.iter().take_while(near).collect();
        let written = |candidate: &ScoredWindow| {
            self.texts.lines(&candidate.window, Fold::Unicode, likeness_min)
        };
        let first = written(best);
        let agrees = |rival: &&ScoredWindow| match (&first, written(rival)) {
            (Ok(first), Ok(rival)) => first.splices == rival.splices,
            _ => false,
        };
        if rivals.len() > RIVALS_MAX || !rivals.iter().all(agrees) {
            let mut lines: Vec<usize> =
                [best].into_iter().chain(rivals).map(|candidate| candidate.window.first).collect();
            lines.sort_unstable();
            lines.dedup();
            return Err(Miss::Several { level, lines, more: false });
        }
        let mut first = first.map_err(|MergeRefusal(lines)| Miss::Drift { level, lines })?;
        let others = self.other_lines(best, file);
        if let Some(line) = others.iter().find_map(|other| elsewhere(&other.expected, best, file)) {
            let mut lines = vec![best.window.first, line];
            lines.sort_unstable();
            return Err(Miss::Several { level, lines, more: false });
        }
        // Without anchors, what is around shows which location it is: a person must see it.
        if level == MatchLevel::ContextAware {
            first.drift.extend(others);
            first.drift.sort_by_key(|drift| drift.line);
            first.drift.dedup();
        }
        let line = best.window.first;
        let why = if first.is_there { Miss::Applied(line) } else { Miss::Nothing(line) };
        located(level, vec![first]).ok_or(why)
    }

    /// The lines of a location that are not as the search has them.
    fn other_lines(&self, candidate: &ScoredWindow, file: &[&str]) -> Vec<Drift> {
        let Window { first, align, .. } = &candidate.window;
        let search = split(self.texts.search);
        let pairs =
            search.iter().zip(align.iter()).filter_map(|(search, at)| Some((search, (*at)?)));
        pairs
            .map(|(search, at)| (search, first + at))
            .filter(|(search, line)| {
                key(search, Fold::Unicode) != key(file[line - 1], Fold::Unicode)
            })
            .map(|(search, line)| Drift {
                line: line as u64,
                expected: (*search).to_owned(),
                found: file[line - 1].to_owned(),
            })
            .collect()
    }
}

/// Returns where a line that says something stands outside of a location.
fn elsewhere(line: &str, candidate: &ScoredWindow, file: &[&str]) -> Option<usize> {
    let Window { first, count, .. } = candidate.window;
    let is_outside = |at: usize| at + 1 < first || at + 1 >= first + count;
    let mut same = file.iter().enumerate().filter(|(_, other)| other.trim() == line.trim());
    let found = same.find(|(at, _)| is_outside(*at)).map(|(at, _)| at + 1);
    found.filter(|_| is_informative(line))
}
