//! Edits whose texts leave lines out.

use moss_sdk::edit::MatchLevel;

use super::Chain;
use crate::find;
use crate::lines::split;
use crate::{Located, Miss, Occurrence};

// === impl Chain ===

impl Chain<'_> {
    /// Makes an edit whose texts leave lines out, part by part: each part that changes has its own
    /// place, all parts stand in their order, and what lies between them lies within the block that
    /// the first line opens. The search never showed those lines: that is no exact match.
    pub(super) fn in_segments(
        &self,
        file: &[&str],
        old: &[String],
        new: &[String],
    ) -> Result<Located, Miss> {
        let (level, splices, drift) = (MatchLevel::BlockAnchor, Vec::new(), Vec::new());
        let mut all = Located { level, splices, drift, places: Vec::new() };
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for (search, replace) in old.iter().zip(new) {
            let next = spans.last().map_or(0, |(_, last)| *last);
            match (search.trim().is_empty(), search == replace) {
                (true, true) => continue,
                (true, false) => return Err(Miss::Elision),
                (false, true) => {
                    let found = find::trimmed(file, &split(search), usize::MAX);
                    let found = found.iter().find(|window| window.first > next);
                    let found = found.ok_or(Miss::Elision)?;
                    spans.push((found.first, found.first + found.count - 1));
                }
                (false, false) => {
                    let located =
                        self.segment(file, search, replace).map_err(|miss| match miss {
                            Miss::Several { .. } => Miss::Elision,
                            miss => miss,
                        })?;
                    let span = located.places.first().and_then(|spot| spot.before);
                    let span = span.filter(|span| span.start_line > next).ok_or(Miss::Elision)?;
                    spans.push((span.start_line, span.end_line));
                    all.level = all.level.max(located.level);
                    all.splices.extend(located.splices);
                    all.drift.extend(located.drift);
                    all.places.extend(located.places);
                }
            }
        }
        let is_within = spans.windows(2).all(|pair| {
            let width = |line: &str| line.len() - line.trim_start().len();
            let head = width(file[spans[0].0 - 1]);
            let between = &file[pair[0].1..pair[1].0 - 1];
            between.iter().all(|line| line.trim().is_empty() || width(line) > head)
        });
        if all.splices.is_empty() || !is_within {
            return Err(Miss::Elision);
        }
        Ok(all)
    }

    fn segment(&self, file: &[&str], search: &str, replace: &str) -> Result<Located, Miss> {
        let chain = Chain { occurrence: Occurrence::Only, ..self.with(search, replace) };
        let found = match chain.exact()? {
            Some(located) => Some(located),
            None => chain.levels(file)?,
        };
        found.ok_or(Miss::Elision)
    }
}
