//! Which files are worth a closer look: all that have a word of the question, by what their words alone are worth.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::commits::CommitScores;
use super::scoring::ChunkScores;
use super::{ChunkPlace, RankedSearch};
use crate::analysis::FileRole;
use crate::question::CodeQuestion;
use crate::ranked::RankedIndex;
use crate::segment::RankedText;
use crate::weights::Weights;

/// How many chunks of a file count.
pub(super) const COUNTED_CHUNKS: usize = 3;
/// How many times as many files are scored with all signs as are looked at closely.
const SCORED_EACH: usize = 4;

/// Where a text is: the place of its segment among all, its number there.
pub(super) type TextOfSegment = (usize, u32);

/// The files of an index that a question is about.
#[derive(Clone, Copy)]
pub(super) struct AskedFiles<'a> {
    pub(super) index: &'a RankedIndex,
    pub(super) question: &'a CodeQuestion,
    pub(super) search: &'a RankedSearch<'a>,
}

/// A file before it is looked at closely.
#[derive(Clone, Copy)]
pub(super) struct RoughFile {
    pub(super) place: TextOfSegment,
    /// What its best chunks are worth, whatever the file is for.
    worth: f32,
    /// What commits say of it, against what they say of others.
    commits_share: f32,
    /// What that share adds to its worth.
    pub(super) commits: f32,
    /// What the worth of its chunks is multiplied with for what it has of the question.
    pub(super) coverage: f32,
}

/// What the best chunks of a file are worth together.
#[derive(Default)]
struct BestChunks([f32; COUNTED_CHUNKS]);

/// How much commits to files count for a question, and single ones that are like it.
pub(super) fn commit_weights(question: &CodeQuestion, weights: &Weights) -> (f32, f32) {
    // Commits say what changed, and who describes something says what is there.
    let share = if question.shape.is_description() { weights.described_commits } else { 1.0 };
    (weights.commits * share, weights.similar_commits * share)
}

// === impl BestChunks ===

impl BestChunks {
    fn note(&mut self, score: f32) {
        let [first, second, third] = &mut self.0;
        if score <= *third {
            return;
        }
        *third = score;
        if *third > *second {
            std::mem::swap(second, third);
        }
        if *second > *first {
            std::mem::swap(first, second);
        }
    }

    fn worth(&self, weights: &Weights) -> f32 {
        self.0[0] + weights.next_chunks * self.0[1..].iter().sum::<f32>()
    }
}

// === impl AskedFiles ===

impl AskedFiles<'_> {
    pub(super) fn role(&self, place: TextOfSegment) -> FileRole {
        self.text(place).role
    }

    /// As [`AskedFiles::prior`], of the chunk at a place.
    pub(super) fn prior_of(&self, (segment, chunk): ChunkPlace) -> f32 {
        let chunk = &self.index.segments[segment].segment.chunks[chunk as usize];
        self.prior(self.role((segment, chunk.text)), chunk.is_test)
    }

    /// What the score of a chunk is multiplied with for what it is for.
    pub(super) fn prior(&self, role: FileRole, is_test: bool) -> f32 {
        let weights = self.search.weights;
        let test = if self.question.asks_tests { 1.0 } else { weights.test };
        let prior = match role {
            FileRole::Source => 1.0,
            FileRole::Barrel => weights.barrel,
            FileRole::Test => test,
            FileRole::Document if self.question.asks_documents => 1.0,
            FileRole::Document => weights.document,
            FileRole::Data => weights.data,
            FileRole::Vendored => weights.vendored,
        };
        if is_test && role == FileRole::Source { prior * test } else { prior }
    }

    /// Finds so many files that are wanted, the best first.
    pub(super) fn candidates(
        &self,
        scores: &mut ChunkScores<'_>,
        commits: &CommitScores<'_>,
        wanted: usize,
    ) -> Vec<RoughFile> {
        let mut all = self.by_texts(scores);
        let mut others = Vec::new();
        for (place, share) in commits.shares(commit_weights(self.question, self.search.weights)) {
            match all.binary_search_by_key(&place, |file| file.place) {
                Ok(at) => all[at].commits_share = share,
                Err(_) => others.push(RoughFile::of_commits(place, share)),
            }
        }
        all.extend(others);
        let mut chosen = self.best(all, wanted.saturating_mul(SCORED_EACH));
        for file in &mut chosen {
            self.score(file, scores);
        }
        self.best(chosen, wanted)
    }

    /// The best files that are wanted, the best first. Far more are scored than that: not all are sorted.
    fn best(&self, mut files: Vec<RoughFile>, wanted: usize) -> Vec<RoughFile> {
        let best = files.iter().map(|file| file.worth).fold(f32::MIN_POSITIVE, f32::max);
        files.iter_mut().for_each(|file| file.commits = file.commits_share * best);
        let prior = |file: &RoughFile| self.prior(self.role(file.place), false);
        let score = |file: &RoughFile| (file.worth + file.commits) * prior(file);
        let mut all: Vec<(f32, RoughFile)> =
            files.into_iter().map(|file| (score(&file), file)).collect();
        let best_first = |one: &(f32, RoughFile), other: &(f32, RoughFile)| {
            other.0.total_cmp(&one.0).then_with(|| self.path_order(one.1.place, other.1.place))
        };
        let (mut chosen, mut rest, mut count) = (Vec::new(), all.as_mut_slice(), wanted);
        while !rest.is_empty() && chosen.len() < wanted {
            count = count.saturating_mul(4).min(rest.len());
            if count < rest.len() {
                rest.select_nth_unstable_by(count - 1, best_first);
            }
            let (first, behind) = std::mem::take(&mut rest).split_at_mut(count);
            first.sort_unstable_by(best_first);
            let is_wanted = |file: &RoughFile| (self.search.wants)(&self.text(file.place).path);
            let room = wanted - chosen.len();
            let files = first.iter().map(|(_, file)| *file);
            chosen.extend(files.filter(is_wanted).take(room));
            rest = behind;
        }
        chosen
    }

    /// What the words of each file are worth, in the order of their places.
    fn by_texts(&self, scores: &ChunkScores<'_>) -> Vec<RoughFile> {
        let weights = self.search.weights;
        let mut all = Vec::new();
        for (segment, held) in self.index.segments.iter().enumerate() {
            let marks = &scores.marks[segment];
            for (number, text) in (0..).zip(&held.segment.texts) {
                let (mut best, mut words) = (BestChunks::default(), 0);
                for mark in &marks[text.range()] {
                    best.note(mark.score);
                    words |= mark.words;
                }
                if best.0[0] > 0.0 {
                    let coverage = 1.0 + weights.file_covered * scores.coverage(words);
                    let worth = best.worth(weights) * coverage;
                    let place = (segment, number);
                    all.push(RoughFile {
                        place,
                        worth,
                        commits_share: 0.0,
                        commits: 0.0,
                        coverage,
                    });
                }
            }
        }
        self.add_named(scores, &mut all);
        all
    }

    /// Counts names that the question spells out for the files that declare them.
    fn add_named(&self, scores: &ChunkScores<'_>, all: &mut Vec<RoughFile>) {
        let mut named: BTreeMap<TextOfSegment, BestChunks> = BTreeMap::new();
        for ((segment, chunk), bonus) in &scores.bonuses {
            let text = self.index.segments[*segment].segment.chunks[*chunk as usize].text;
            named.entry((*segment, text)).or_default().note(*bonus);
        }
        let count = all.len();
        for (place, best) in named {
            let worth = best.worth(self.search.weights);
            match all[..count].binary_search_by_key(&place, |file| file.place) {
                Ok(at) => all[at].worth += worth,
                Err(_) => all.push(RoughFile { worth, ..RoughFile::of_commits(place, 0.0) }),
            }
        }
        all.sort_unstable_by_key(|file| file.place);
    }

    /// Scores a file by all signs of its chunks.
    fn score(&self, file: &mut RoughFile, scores: &mut ChunkScores<'_>) {
        let (segment, text) = file.place;
        let range = self.index.segments[segment].segment.texts[text as usize].range();
        let mut best = BestChunks::default();
        scores.marks[segment][range.clone()].iter().for_each(|mark| best.note(mark.score));
        let least = best.0[COUNTED_CHUNKS - 1];
        scores.add_signs((segment, range.clone()), least, self.question.shape, self.search.weights);
        let mut best = BestChunks::default();
        scores.marks[segment][range].iter().for_each(|mark| best.note(mark.score));
        file.worth = best.worth(self.search.weights) * file.coverage;
    }

    pub(super) fn text(&self, (segment, text): TextOfSegment) -> &RankedText {
        &self.index.segments[segment].segment.texts[text as usize]
    }

    fn path_order(&self, one: TextOfSegment, other: TextOfSegment) -> Ordering {
        self.text(one).path.cmp(&self.text(other).path)
    }
}

// === impl RoughFile ===

impl RoughFile {
    /// A file that has no word of the question but in what was committed to it.
    fn of_commits(place: TextOfSegment, commits_share: f32) -> Self {
        Self { place, worth: 0.0, commits_share, commits: 0.0, coverage: 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_best_chunks_are_kept_in_their_order(scores in prop::collection::vec(0.0_f32..9.0, 0..20)) {
            let mut best = BestChunks::default();
            scores.iter().for_each(|score| best.note(*score));
            let mut sorted = scores;
            sorted.extend([0.0; COUNTED_CHUNKS]);
            sorted.sort_by(|one, other| other.total_cmp(one));
            prop_assert_eq!(&best.0[..], &sorted[..COUNTED_CHUNKS]);
        }
    }

    #[test]
    fn commits_count_less_where_the_question_describes_what_is_there() {
        let weights = Weights::default();
        let of = |text| commit_weights(&CodeQuestion::parse(text), &weights);
        let most = of("Fix the retries of requests");
        assert_eq!(of("where are requests retried"), most);
        for text in ["Returns the retries", "A retry of requests", "whether requests are retried"] {
            let (all, similar) = of(text);
            assert!(0.0 < all && all < most.0, "{text}");
            assert!(0.0 < similar && similar < most.1, "{text}");
        }
    }
}
