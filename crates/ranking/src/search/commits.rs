//! How well the subjects of the commits that changed a file fit a question.

use hashbrown::{HashMap, HashSet};
use moss_sdk::code_search::{CodeHit, MatchField, MatchedWord};

use super::{ChunkPlace, RankedSearch};
use crate::commits::SubjectPosting;
use crate::question::{TermGroup, TermKind};
use crate::ranked::{HeldCommits, RankedIndex};
use crate::weights::Weights;

/// How much more a commit counts that says more of a question.
const SIMILARITY_POWER: i32 = 4;

/// The scores of the files of which commits say something.
pub(super) struct CommitScores<'a> {
    index: &'a RankedIndex,
    /// None where they do not count.
    held: Option<&'a HeldCommits>,
    /// Which files may be seen.
    visible: Vec<bool>,
    scores: Vec<f32>,
    similar: SimilarCommits,
    files: f32,
    average: f32,
}

/// How much of a question each commit says.
struct SimilarCommits {
    scores: Vec<f32>,
    /// Of which commits a file may be seen, and how many those are.
    visible: Vec<bool>,
    count: f32,
    asked: f32,
}

// === impl SimilarCommits ===

impl SimilarCommits {
    fn new(held: Option<&HeldCommits>, files: &[bool]) -> Self {
        let commits = held.into_iter().flat_map(|held| &held.subjects.commits);
        let is_seen = |commit: &[u32]| commit.iter().any(|file| files[*file as usize]);
        let visible: Vec<bool> = commits.map(|commit| is_seen(commit)).collect();
        let count = visible.iter().filter(|seen| **seen).count() as f32;
        Self { scores: vec![0.0; visible.len()], visible, count, asked: 0.0 }
    }

    /// Adds what the terms of a group are worth: of several in one commit the best.
    fn add(&mut self, held: &HeldCommits, group: &TermGroup, share: f32) {
        let mut worth: Vec<(u32, f32)> = Vec::new();
        let mut rarest = 0.0_f32;
        for term in &group.terms {
            let all = held.subjects.commits_with(term).iter();
            let seen = all.filter(|commit| self.visible[**commit as usize]);
            let one = group.weight * share * rarity(self.count, seen.clone().count() as f32);
            rarest = rarest.max(one);
            worth.extend(seen.map(|commit| (*commit, one)));
        }
        if group.terms.len() > 1 {
            worth.sort_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)));
            worth.dedup_by_key(|(commit, _)| *commit);
        }
        for (commit, one) in worth {
            self.scores[commit as usize] += one;
        }
        if group.kind != TermKind::Joined {
            self.asked += rarest;
        }
    }

    /// What the commits of each file say together: one that says most of the question far more than many with a
    /// word of it, and of many files less of each.
    fn files(&self, held: &HeldCommits, visible: &[bool]) -> Vec<f32> {
        let mut scores = vec![0.0; visible.len()];
        for (score, files) in self.scores.iter().zip(&held.subjects.commits) {
            if *score > 0.0 {
                let seen = files.iter().filter(|file| visible[**file as usize]);
                let said = (score / self.asked.max(f32::MIN_POSITIVE)).powi(SIMILARITY_POWER);
                let one = said / (seen.clone().count() as f32).sqrt();
                seen.for_each(|file| scores[*file as usize] += one);
            }
        }
        scores
    }
}

/// How rare a word is that so many of all have.
fn rarity(all: f32, having: f32) -> f32 {
    (1.0 + ((all - having).max(0.0) + 0.5) / (having + 0.5)).ln()
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
        let similar = SimilarCommits::new(held, &visible);
        let lengths = held.into_iter().flat_map(|held| &held.subjects.lengths);
        let seen = lengths.zip(&visible).filter(|(_, visible)| **visible);
        let (files, words) = seen.fold((0_u64, 0_u64), |(files, words), (length, _)| {
            (files + 1, words + u64::from(*length))
        });
        Self {
            index,
            held,
            scores: vec![0.0; visible.len()],
            similar,
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
            let rarity = rarity(self.files, having);
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
        self.similar.add(held, group, share);
    }

    /// What commits say of texts, against what they say of the best: by place, all commits of a text together and
    /// single ones that are like the question, both weighed.
    pub(super) fn shares(&self, (weight, similar): (f32, f32)) -> Vec<((usize, u32), f32)> {
        let Some(held) = self.held else { return Vec::new() };
        let best = |scores: &[f32]| scores.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        let by_commit = self.similar.files(held, &self.visible);
        let (best, best_commit) = (best(&self.scores), best(&by_commit));
        let shares = self.scores.iter().zip(&by_commit);
        let shares = shares.map(|(all, one)| weight * all / best + similar * one / best_commit);
        let places = held.texts.iter().zip(shares);
        places
            .filter_map(|(text, share)| text.filter(|_| share > 0.0).map(|at| (at, share)))
            .collect()
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
