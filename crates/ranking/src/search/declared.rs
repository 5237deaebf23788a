//! What declares names, exactly.

use moss_sdk::code_search::{CodeHit, CodeSearch};

use super::hits::kind_name;
use super::scoring::sees;
use crate::analysis::{DECLARES, FileRole};
use crate::ranked::{RankedIndex, RankedView};

// === impl RankedIndex ===

impl RankedIndex {
    /// Finds what declares one of some names: of each, source before all else, then by path.
    pub(crate) fn declarations(
        &self,
        names: &[String],
        search: &CodeSearch,
        view: &RankedView,
    ) -> Vec<CodeHit> {
        let mut found = Vec::new();
        for name in names {
            let term = format!("{DECLARES}{}", name.to_lowercase());
            let mut of_name: Vec<(bool, CodeHit)> = Vec::new();
            for held in &self.segments {
                let segment = &held.segment;
                for posting in segment.postings(&term).into_iter().flatten() {
                    let chunk = &segment.chunks[posting.chunk as usize];
                    let text = &segment.texts[chunk.text as usize];
                    let is_it = segment.name(chunk) == Some(name.as_str());
                    if !is_it || !sees(held, view, chunk) || !(search.wants)(&text.path) {
                        continue;
                    }
                    // A long declaration is several chunks: the first has its name.
                    let behind = segment.chunks[posting.chunk as usize + 1..].iter();
                    let last = behind.take_while(|chunk| chunk.is_continued).last();
                    let hit = CodeHit {
                        path: text.path.clone(),
                        lines: (chunk.lines.0, last.unwrap_or(chunk).lines.1),
                        name: Some(name.clone()),
                        container: segment.container(chunk).map(str::to_owned),
                        kind: chunk.kind.map(kind_name),
                        score: 1.0,
                        is_named: true,
                        is_near: false,
                        matched: Vec::new(),
                    };
                    of_name.push((text.role != FileRole::Source, hit));
                }
            }
            of_name.sort_by(|(one_role, one), (other_role, other)| {
                (one_role, &one.path, one.lines).cmp(&(other_role, &other.path, other.lines))
            });
            found.extend(of_name.into_iter().map(|(_, hit)| hit));
        }
        found.truncate(search.hits_max);
        found
    }
}
