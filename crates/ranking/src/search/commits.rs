//! How well the subjects of the commits that changed a file fit a question.

use hashbrown::{HashMap, HashSet};
use moss_sdk::code_search::{CodeHit, MatchField, MatchedWord};

use super::{ChunkPlace, RankedSearch};
use crate::commits::SubjectPosting;
use crate::question::{TermGroup, TermKind};
use crate::ranked::{HeldCommits, RankedIndex};
use crate::weights::Weights;

/// The scores of the files of which commits say something.
pub(super) struct CommitScores<'a> {
    index: &'a RankedIndex,
    /// None where they do not count.
    held: Option<&'a HeldCommits>,
    /// Which files may be seen.
    visible: Vec<bool>,
    scores: Vec<f32>,
    files: f32,
    average: f32,
}

// === impl CommitScores ===

impl<'a> CommitScores<'a> {
    pub(super) fn new(index: &'a RankedIndex, search: &RankedSearch<'_>) -> Self {
        let counts = search.uses_commits && search.weights.commits > 0.0;
        let held = index.commits.as_ref().filter(|_| counts);
        let sees = |text: &Option<(usize, u32)>| {
            let Some((segment, text)) = *text else { return false };
            let held = &index.segments[segment];
            let verdicts = search.view.verdicts(held.number);
            let is_seen = |all: &[bool]| all.get(text as usize) == Some(&true);
            !held.dead[text as usize] && verdicts.is_none_or(is_seen)
        };
        let visible: Vec<bool> = held.into_iter().flat_map(|held| &held.texts).map(sees).collect();
        let lengths = held.into_iter().flat_map(|held| &held.subjects.lengths);
        let seen = lengths.zip(&visible).filter(|(_, visible)| **visible);
        let (files, words) = seen.fold((0_u64, 0_u64), |(files, words), (length, _)| {
            (files + 1, words + u64::from(*length))
        });
        Self {
            index,
            held,
            scores: vec![0.0; visible.len()],
            visible,
            files: files as f32,
            average: (words as f32 / files.max(1) as f32).max(1.0),
        }
    }

    fn seen<'s>(&'s self, term: &str) -> impl Iterator<Item = &'a SubjectPosting> + use<'s, 'a> {
        let postings = self.held.map_or(&[][..], |held| held.subjects.postings(term));
        postings.iter().filter(move |posting| self.visible[posting.file as usize])
    }

    /// Adds what the terms of a group are worth: of several in one file the best.
    pub(super) fn add(&mut self, group: &TermGroup, weights: &Weights) {
        let Some(held) = self.held else { return };
        let share = group.kind.share(weights);
        let mut worth: Vec<(u32, f32)> = Vec::new();
        for term in &group.terms {
            let having = self.seen(term).count() as f32;
            let rarity = (1.0 + ((self.files - having).max(0.0) + 0.5) / (having + 0.5)).ln();
            for posting in self.seen(term) {
                let length = held.subjects.lengths[posting.file as usize] as f32 / self.average;
                let b = weights.commits_length;
                let sum = posting.count as f32 / (1.0 - b + b * length);
                let one = group.weight * share * rarity * sum / (weights.commits_k1 + sum);
                worth.push((posting.file, one));
            }
        }
        if group.terms.len() > 1 {
            worth.sort_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)));
            worth.dedup_by_key(|(file, _)| *file);
        }
        for (file, one) in worth {
            self.scores[file as usize] += one;
        }
    }

    /// What commits say of texts, against what they say of the best: by place.
    pub(super) fn shares(&self) -> Vec<((usize, u32), f32)> {
        let best = self.scores.iter().copied().fold(0.0, f32::max);
        let texts = self.held.into_iter().flat_map(|held| &held.texts);
        let share = |(text, score): (&Option<(usize, u32)>, &f32)| {
            text.filter(|_| *score > 0.0).map(|text| (text, score / best))
        };
        texts.zip(&self.scores).filter_map(share).collect()
    }

    /// Says of each hit which words commits of its file have and its text has not.
    pub(super) fn explain(&self, groups: &[&TermGroup], hits: &mut [(CodeHit, ChunkPlace)]) {
        let Some(held) = self.held else { return };
        let text = |(segment, chunk): ChunkPlace| {
            (segment, self.index.segments[segment].segment.chunks[chunk as usize].text)
        };
        let wanted: HashSet<(usize, u32)> = hits.iter().map(|(_, place)| text(*place)).collect();
        let files: HashMap<(usize, u32), u32> = (0..)
            .zip(&held.texts)
            .filter_map(|(file, text)| Some((text.filter(|text| wanted.contains(text))?, file)))
            .collect();
        for (hit, place) in hits {
            let Some(file) = files.get(&text(*place)) else { continue };
            let has = |term: &String| {
                let postings = held.subjects.postings(term);
                postings.binary_search_by_key(file, |posting| posting.file).is_ok()
            };
            for group in groups.iter().filter(|group| group.kind != TermKind::Joined) {
                let is_known = hit.matched.iter().any(|known| known.word == group.shown);
                let term = group.terms.iter().find(|term| has(term)).filter(|_| !is_known);
                if let Some(term) = term.cloned() {
                    let (word, place) = (group.shown.clone(), MatchField::Commits);
                    hit.matched.push(MatchedWord { word, term, place });
                }
            }
        }
    }
}
