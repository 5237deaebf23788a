//! Edits whose texts leave lines out.

use super::Chain;
use crate::lines::split;
use crate::matching::find;
use crate::matching::{Located, Miss, Occurrence};

// === impl Chain ===

impl Chain<'_> {
    /// Makes an edit whose texts leave lines out, part by part: each part that changes has its own
    /// place, and all parts stand in their order.
    pub(super) fn in_segments(
        &self,
        file: &[&str],
        old: &[String],
        new: &[String],
    ) -> Result<Located, Miss> {
        let mut all: Option<Located> = None;
        let mut next = 0;
        for (search, replace) in old.iter().zip(new) {
            let chain = Chain { occurrence: Occurrence::Only, ..self.with(search, replace) };
            match (search.trim().is_empty(), search == replace) {
                (true, true) => continue,
                (true, false) => return Err(Miss::Elision),
                (false, true) => {
                    let found = find::trimmed(file, &split(search), usize::MAX);
                    let found = found.iter().find(|window| window.first > next);
                    next = found.map(|window| window.first + window.count - 1).ok_or(Miss::None)?;
                    continue;
                }
                (false, false) => {}
            }
            let located = chain.exact()?.map_or_else(|| chain.levels(file), |l| Ok(Some(l)))?;
            let located = located.ok_or(Miss::None)?;
            let span = located.places.first().and_then(|spot| spot.before).ok_or(Miss::None)?;
            if span.start_line <= next {
                return Err(Miss::None);
            }
            next = span.end_line;
            all = Some(match all {
                None => located,
                Some(mut all) => {
                    all.level = all.level.max(located.level);
                    all.splices.extend(located.splices);
                    all.places.extend(located.places);
                    all
                }
            });
        }
        all.ok_or(Miss::Elision)
    }
}
