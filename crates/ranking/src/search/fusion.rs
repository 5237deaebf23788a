//! Two rankings of chunks as one: by words, and by how near a model says that they are to the question.
//!
//! Each counts by rank alone (reciprocal rank fusion): scores of the two cannot be compared. What a file is for counts
//! in both.

use std::cmp::Ordering;
use std::hash::Hash;

use hashbrown::{HashMap, HashSet};
use moss_sdk::code_search::CodeHit;

use super::hits::{FileScores, is_shown_by};
use super::scoring::sees;
use super::{ChunkPlace, RankedSearch};
use crate::question::CodeQuestion;
use crate::ranked::{HeldSegment, RankedIndex};
use crate::vectors::Meaning;

/// How many chunks of each ranking count.
pub(super) const FUSED_MAX: usize = 100;
/// How slowly a rank counts less: the first against the tenth.
const RANK_OFFSET: f32 = 20.0;
/// How much nearness counts against words, of 1, where a question is a name, and where it is a sentence.
const SHARE_OF_SYMBOL: f32 = 0.3;
const SHARE: f32 = 0.5;

/// A chunk that is near to a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NearChunk<K> {
    pub(super) place: K,
    /// What its rank is multiplied with for what it is for.
    pub(super) prior: f32,
}

/// How much nearness counts for a question.
pub(super) fn share_of(question: &CodeQuestion) -> f32 {
    if question.is_symbol { SHARE_OF_SYMBOL } else { SHARE }
}

/// Fuses two rankings, each the best first; `share` is how much the second counts, of 1. The best comes first;
/// of what counts alike, what words found.
pub(super) fn fuse<K: Copy + Eq + Hash + Ord>(
    by_words: &[K],
    near: &[NearChunk<K>],
    share: f32,
) -> Vec<(K, f32)> {
    let worth = |rank: usize| 1.0 / (RANK_OFFSET + 1.0 + rank as f32);
    let mut scores: HashMap<K, (f32, usize)> = HashMap::new();
    for (rank, place) in by_words.iter().enumerate() {
        scores.entry(*place).or_insert(((1.0 - share) * worth(rank), rank));
    }
    for (rank, NearChunk { place, prior }) in near.iter().enumerate() {
        let known = scores.entry(*place).or_insert((0.0, usize::MAX));
        known.0 += share * prior * worth(rank);
    }
    let mut fused: Vec<(K, (f32, usize))> = scores.into_iter().collect();
    fused.sort_by(|(one, (score, rank)), (other, (other_score, other_rank))| {
        other_score.total_cmp(score).then(rank.cmp(other_rank)).then(one.cmp(other))
    });
    fused.into_iter().map(|(place, (score, _))| (place, score)).collect()
}

/// The chunks that are nearest to a question, of texts that may be seen and are wanted, the nearest first.
pub(super) fn nearest(
    index: &RankedIndex,
    search: &RankedSearch<'_>,
    files: &FileScores<'_>,
    meaning: Meaning<'_>,
) -> Vec<NearChunk<ChunkPlace>> {
    let mut all: Vec<(f32, ChunkPlace)> = Vec::new();
    for (at, held) in index.segments.iter().enumerate() {
        for text in &held.segment.texts {
            let (first, count) = (text.chunks.0 as usize, text.chunks.1 as usize);
            let chunks = &held.segment.chunks[first..first + count];
            let is_shown = chunks.first().is_some_and(|chunk| sees(held, search.view, chunk))
                && (search.wants)(&text.path);
            if !is_shown {
                continue;
            }
            let lines = chunks.iter().map(|chunk| chunk.lines);
            let near = meaning.vectors.nearness(meaning.question, &text.path, lines);
            let places = (text.chunks.0..).map(|chunk| (at, chunk));
            all.extend(near.into_iter().flatten().zip(places));
        }
    }
    let nearest_first = |one: &(f32, ChunkPlace), other: &(f32, ChunkPlace)| -> Ordering {
        other.0.total_cmp(&one.0).then(one.1.cmp(&other.1))
    };
    if all.len() > FUSED_MAX {
        all.select_nth_unstable_by(FUSED_MAX - 1, nearest_first);
        all.truncate(FUSED_MAX);
    }
    all.sort_unstable_by(nearest_first);
    let near =
        |(_, place): (f32, ChunkPlace)| NearChunk { place, prior: files.asked.prior_of(place) };
    all.into_iter().map(near).collect()
}

/// The hits of both rankings: as many of one file, and of all, as are wanted.
pub(super) fn hits(
    (index, question): (&RankedIndex, &CodeQuestion),
    search: &RankedSearch<'_>,
    by_words: Vec<(CodeHit, ChunkPlace)>,
    near: &[NearChunk<ChunkPlace>],
) -> Vec<(CodeHit, ChunkPlace)> {
    let places: Vec<ChunkPlace> = by_words.iter().map(|(_, place)| *place).collect();
    let mut fused = fuse(&places, near, share_of(question));
    let mut known: HashMap<ChunkPlace, CodeHit> =
        by_words.into_iter().map(|(hit, place)| (place, hit)).collect();
    let is_near: HashSet<ChunkPlace> = near.iter().map(|near| near.place).collect();
    if question.is_symbol {
        // What the question names comes first, as it does by words.
        for (place, score) in &mut fused {
            if known.get(place).is_some_and(|hit| hit.is_named) {
                *score += 1.0;
            }
        }
        fused.sort_by(|one, other| other.1.total_cmp(&one.1));
    }
    let mut shown: HashMap<(usize, u32), Vec<u32>> = HashMap::new();
    let mut hits = Vec::new();
    for (place @ (segment, chunk), score) in fused {
        let held: &HeldSegment = &index.segments[segment];
        let text = held.segment.chunks[chunk as usize].text;
        let of_file = shown.entry((segment, text)).or_default();
        let is_repeated = |shown: &u32| is_shown_by(&held.segment, question, *shown, chunk);
        if of_file.iter().any(is_repeated) || of_file.len() >= search.hits_of_file_max {
            continue;
        }
        of_file.push(chunk);
        let mut hit = known.remove(&place).unwrap_or_else(|| held.segment.hit(chunk, 0.0, false));
        hit.score = score;
        hit.is_near = is_near.contains(&place);
        hits.push((hit, place));
        if hits.len() >= search.hits_max {
            break;
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(places: &[u8]) -> Vec<NearChunk<u8>> {
        places.iter().map(|place| NearChunk { place: *place, prior: 1.0 }).collect()
    }

    fn order(fused: &[(u8, f32)]) -> Vec<u8> {
        fused.iter().map(|(place, _)| *place).collect()
    }

    #[test]
    fn what_both_know_comes_before_what_one_knows() {
        for (by_words, by_meaning, share, expected) in [
            (&[1, 2, 3][..], &[][..], 0.5, &[1, 2, 3][..]),
            (&[], &[7, 8], 0.5, &[7, 8]),
            (&[1, 2, 3], &[3, 4], 0.5, &[3, 1, 2, 4]),
            (&[1, 2], &[2, 1], 0.5, &[1, 2]),
            (&[1, 2], &[2, 1], 0.6, &[2, 1]),
            (&[1, 2], &[3, 4], 0.5, &[1, 3, 2, 4]),
            (&[1, 2], &[3, 4], 0.3, &[1, 2, 3, 4]),
            (&[1, 2], &[3, 4], 0.0, &[1, 2, 3, 4]),
            (&[1, 2], &[3, 4], 1.0, &[3, 4, 1, 2]),
        ] {
            let fused = fuse(by_words, &near(by_meaning), share);
            assert_eq!(order(&fused), expected, "{by_words:?} {by_meaning:?} {share}");
        }
    }

    #[test]
    fn what_a_file_is_for_counts_in_both() {
        let test = NearChunk { place: 1_u8, prior: 0.4 };
        let source = NearChunk { place: 2, prior: 1.0 };
        assert_eq!(order(&fuse(&[], &[test, source], 0.5)), [2, 1]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_made_up_and_scores_fall(
            by_words in prop::collection::hash_set(0_u8..60, 0..40),
            by_meaning in prop::collection::hash_set(0_u8..60, 0..40),
            share in 0.0_f32..1.0,
        ) {
            let by_words: Vec<u8> = by_words.into_iter().collect();
            let by_meaning: Vec<u8> = by_meaning.into_iter().collect();
            let fused = fuse(&by_words, &near(&by_meaning), share);
            prop_assert!(fused.is_sorted_by(|one, other| one.1 >= other.1));
            let mut found = order(&fused);
            found.sort_unstable();
            let mut expected: Vec<u8> = by_words.iter().chain(&by_meaning).copied().collect();
            expected.sort_unstable();
            expected.dedup();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn words_alone_keep_their_order(by_words in prop::collection::hash_set(0_u8..60, 0..40), share in 0.0_f32..1.0) {
            let by_words: Vec<u8> = by_words.into_iter().collect();
            prop_assert_eq!(order(&fuse(&by_words, &[], share)), by_words);
        }
    }
}
