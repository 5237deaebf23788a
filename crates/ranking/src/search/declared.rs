//! What declares names, exactly.

use std::cmp::Reverse;

use moss_sdk::RelPath;
use moss_sdk::code_search::{CodeHit, CodeSearch};

use super::hits::kind_name;
use super::scoring::sees;
use crate::analysis::{DECLARES, FileRole};
use crate::ranked::{RankedIndex, RankedView};

// === impl RankedIndex ===

impl RankedIndex {
    /// Finds what declares one of some names: of each, what is near to a file, source before all else, then by path. A
    /// name that is declared often takes no room from others.
    pub(crate) fn declarations(
        &self,
        names: &[String],
        near: Option<&RelPath>,
        search: &CodeSearch,
        view: &RankedView,
    ) -> Vec<CodeHit> {
        let mut found: Vec<Vec<CodeHit>> = Vec::new();
        for name in names {
            let term = format!("{DECLARES}{}", name.to_lowercase());
            let mut of_name: Vec<(bool, CodeHit)> = Vec::new();
            for held in &self.segments {
                let segment = &held.segment;
                for posting in segment.postings(&term).into_iter().flatten() {
                    let chunk = &segment.chunks[posting.chunk as usize];
                    let text = &segment.texts[chunk.text as usize];
                    let is_it = segment.name(chunk) == Some(name.as_str());
                    if !is_it || !sees(held, view, chunk) {
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
            let shared = |hit: &CodeHit| near.map(|near| shared(near, &hit.path));
            of_name.sort_by(|(one_role, one), (other_role, other)| {
                let one = (Reverse(shared(one)), one_role, &one.path, one.lines);
                one.cmp(&(Reverse(shared(other)), other_role, &other.path, other.lines))
            });
            found.push(of_name.into_iter().map(|(_, hit)| hit).collect());
        }
        wanted_in_turn(found, search)
    }
}

/// Of the hits of each name, in their order, as many as of any other. Only as many are looked at as there is room for:
/// that may take a look at the file.
fn wanted_in_turn(found: Vec<Vec<CodeHit>>, search: &CodeSearch) -> Vec<CodeHit> {
    let mut names: Vec<_> = found.into_iter().map(|hits| (hits.into_iter(), Vec::new())).collect();
    let (mut room, mut are_more) = (search.hits_max, true);
    while room > 0 && are_more {
        are_more = false;
        for (hits, wanted) in &mut names {
            if room == 0 {
                break;
            }
            if let Some(hit) = hits.find(|hit| (search.wants)(&hit.path)) {
                wanted.push(hit);
                (room, are_more) = (room - 1, true);
            }
        }
    }
    names.into_iter().flat_map(|(_, wanted)| wanted).collect()
}

/// How many directories two paths have in common.
fn shared(one: &RelPath, other: &RelPath) -> usize {
    one.components().zip(other.components()).take_while(|(one, other)| one == other).count()
}
