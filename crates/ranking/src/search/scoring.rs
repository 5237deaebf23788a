//! How well the words of chunks fit those of a question.

use std::ops::Range;

use hashbrown::{HashMap, HashSet};

use super::ChunkPlace;
use super::signs::{ChunkMark, WordedName};
use crate::analysis::DECLARES;
use crate::names::number;
use crate::postings::TermPosting;
use crate::qualified::{DeclaredPlace, NameFit, NameTier, QualifiedName};
use crate::question::{CodeQuestion, SymbolWord, TermGroup, TermKind};
use crate::ranked::{HeldSegment, RankedIndex, RankedView};
use crate::segment::{RankedChunk, RankedSegment};
use crate::shape::QuestionShape;
use crate::weights::{FIELDS, SYMBOL, Weights};

/// A question of more groups is cut to this many, those of the rarest words.
const HEAVY_GROUPS_MAX: usize = 25;
const _: () = assert!(HEAVY_GROUPS_MAX <= u32::BITS as usize, "each word has a bit of a mark");
/// What is added to what is nothing but the name that was asked for: more than any words are worth.
const NAMED_BONUS: f32 = 1_000.0;
/// How much more it is worth to belong to what the question says.
const IN_CONTAINER: f32 = 1.5;
/// How much less it is worth to have the name only, where others also belong to what the question says: less than for a
/// test that does.
const ELSEWHERE: f32 = 0.5;

/// The scores of all chunks that may be seen.
pub(super) struct ChunkScores<'a> {
    pub(super) index: &'a RankedIndex,
    view: &'a RankedView,
    /// By segment and number of the chunk.
    pub(super) marks: Vec<Vec<ChunkMark>>,
    /// What chunks are worth besides, which declare names that the question spells out.
    pub(super) bonuses: HashMap<ChunkPlace, f32>,
    /// How rare each word of the question is, in the order of their bits.
    rarities: Vec<f32>,
    chunks: f32,
    averages: [f32; FIELDS],
    /// Used for one term after the other.
    weighed: Vec<WeighedPosting>,
}

/// One term in one chunk, weighed: there are many of them, hence no more than 16 bytes.
#[derive(Clone, Copy)]
struct WeighedPosting {
    segment: u32,
    chunk: u32,
    sum: f32,
    is_named: bool,
}

/// What a count of a field is divided by: a fixed part, and one that grows with the field.
#[derive(Clone, Copy)]
struct FieldScale {
    fixed: f32,
    by_length: f32,
}

/// What a term is worth in a chunk.
#[derive(Clone, Copy)]
struct TermWorth {
    worth: f32,
    /// How rare the term is, whatever the chunk.
    rarity: f32,
    is_named: bool,
}

// === impl ChunkScores ===

impl<'a> ChunkScores<'a> {
    pub(super) fn new(index: &'a RankedIndex, view: &'a RankedView) -> Self {
        let (mut chunks, mut sums) = (0_u64, [0_u64; FIELDS]);
        for held in &index.segments {
            let is_whole = held.dead_texts == 0 && view.verdicts(held.number).is_none();
            if is_whole {
                chunks += held.segment.chunks.len() as u64;
                sums.iter_mut().zip(held.lengths).for_each(|(sum, length)| *sum += length);
                continue;
            }
            let all = held.segment.chunks.iter().zip(&held.segment.lengths);
            for (_, lengths) in all.filter(|(chunk, _)| sees(held, view, chunk)) {
                chunks += 1;
                sums.iter_mut().zip(lengths).for_each(|(sum, length)| *sum += u64::from(*length));
            }
        }
        let count = chunks.max(1) as f32;
        let averages = sums.map(|sum| (sum as f32 / count).max(0.1));
        let marks = |held: &HeldSegment| vec![ChunkMark::default(); held.segment.chunks.len()];
        Self {
            index,
            view,
            marks: index.segments.iter().map(marks).collect(),
            bonuses: HashMap::new(),
            rarities: Vec::new(),
            chunks: count,
            averages,
            weighed: Vec::new(),
        }
    }

    /// How rare a term is that so many chunks have.
    fn rarity(&self, chunks: usize) -> f32 {
        let having = chunks as f32;
        (1.0 + ((self.chunks - having).max(0.0) + 0.5) / (having + 0.5)).ln()
    }

    /// How many visible chunks have a term.
    pub(super) fn count(&self, term: &str) -> usize {
        let of_segment = |held: &HeldSegment| {
            let postings = held.segment.postings(term).into_iter().flatten();
            let chunks = postings.map(|posting| &held.segment.chunks[posting.chunk as usize]);
            chunks.filter(|chunk| sees(held, self.view, chunk)).count()
        };
        self.index.segments.iter().map(of_segment).sum()
    }

    /// The groups of a question that say most, where there are too many.
    pub(super) fn heaviest<'q>(&self, groups: &'q [TermGroup]) -> Vec<&'q TermGroup> {
        if groups.len() <= HEAVY_GROUPS_MAX {
            return groups.iter().collect();
        }
        let count = |term: &String| self.count(term);
        let weight = |group: &TermGroup| {
            let chunks = group.terms.iter().map(count).sum::<usize>();
            if chunks == 0 { 0.0 } else { group.weight * self.rarity(chunks) }
        };
        let mut weighed: Vec<(f32, &TermGroup)> =
            groups.iter().map(|group| (weight(group), group)).collect();
        weighed.sort_by(|one, other| other.0.total_cmp(&one.0));
        weighed.truncate(HEAVY_GROUPS_MAX);
        weighed.into_iter().map(|(_, group)| group).collect()
    }

    /// Takes every visible chunk that has a term, weighed by field, in place of what was there.
    fn weigh(&self, term: &str, weights: &Weights, all: &mut Vec<WeighedPosting>) {
        all.clear();
        let scales = self.scales(weights);
        for (number, held) in (0..).zip(&self.index.segments) {
            let segment = &*held.segment;
            let Some(postings) = segment.postings(term) else { continue };
            // Asked once, not for each of very many.
            let is_whole = held.dead_texts == 0 && self.view.verdicts(held.number).is_none();
            for posting in postings {
                let at = posting.chunk as usize;
                if is_whole || sees(held, self.view, &segment.chunks[at]) {
                    all.push(WeighedPosting {
                        segment: number,
                        chunk: posting.chunk,
                        sum: weigh(&posting, segment.lengths[at], &scales),
                        is_named: posting.counts[SYMBOL] > 0,
                    });
                }
            }
        }
    }

    /// How fields are weighed by their lengths.
    fn scales(&self, weights: &Weights) -> [FieldScale; FIELDS] {
        std::array::from_fn(|field| {
            let (weight, share) =
                (weights.fields[field].max(f32::MIN_POSITIVE), weights.lengths[field]);
            FieldScale {
                fixed: (1.0 - share) / weight,
                by_length: share / (weight * self.averages[field]),
            }
        })
    }

    /// Adds what the terms of a group are worth: of several in one chunk the best.
    pub(super) fn add(&mut self, group: &TermGroup, weights: &Weights) {
        let weight = group.weight * group.kind.share(weights);
        if weight == 0.0 {
            return;
        }
        let is_word = group.kind == TermKind::Word;
        let bit = if is_word { 1 << self.rarities.len() } else { 0 };
        let worth = |one: &WeighedPosting, rarity: f32| TermWorth {
            worth: rarity * one.sum / (weights.k1 + one.sum),
            rarity,
            is_named: one.is_named,
        };
        let mut rarest = 0.0_f32;
        let mut best: HashMap<(u32, u32), TermWorth> = HashMap::new();
        let mut all = std::mem::take(&mut self.weighed);
        for term in &group.terms {
            self.weigh(term, weights, &mut all);
            let rarity = weight * self.rarity(all.len());
            rarest = rarest.max(rarity);
            if group.terms.len() == 1 {
                all.iter().for_each(|one| {
                    self.add_one((one.segment, one.chunk), worth(one, rarity), bit);
                });
                break;
            }
            for one in &all {
                let now = worth(one, rarity);
                let known = best.entry((one.segment, one.chunk)).or_insert(now);
                if now.worth > known.worth {
                    *known = now;
                }
            }
        }
        self.weighed = all;
        best.into_iter().for_each(|(place, one)| self.add_one(place, one, bit));
        if is_word {
            self.rarities.push(rarest);
        }
    }

    fn add_one(&mut self, (segment, chunk): (u32, u32), one: TermWorth, word: u32) {
        let mark = &mut self.marks[segment as usize][chunk as usize];
        mark.score += one.worth;
        if word != 0 {
            mark.note(word, one.rarity, one.is_named);
        }
    }

    /// How much of the question those words are.
    pub(super) fn coverage(&self, words: u32) -> f32 {
        let (mut own, mut asked) = (0.0, f32::MIN_POSITIVE);
        for (at, rarity) in self.rarities.iter().enumerate() {
            asked += rarity;
            if words & (1 << at) != 0 {
                own += rarity;
            }
        }
        own / asked
    }

    /// Counts for some chunks of a segment what is known once all words were added. Once for each, and only where that
    /// may come to as much as the least that counts.
    pub(super) fn add_signs(
        &mut self,
        (segment, chunks): (usize, Range<usize>),
        least: f32,
        shape: QuestionShape,
        weights: &Weights,
    ) {
        let held = &self.index.segments[segment].segment;
        for at in chunks {
            let mark = self.marks[segment][at];
            if mark.score > 0.0 && mark.worth_max(weights) >= least {
                let chunk = &held.chunks[at];
                let declared = WordedName {
                    kind: chunk.kind,
                    // Names lie all over the memory: they are looked at where they matter.
                    name: if shape.is_predicate { held.name(chunk) } else { None },
                    words: held.lengths[at][SYMBOL],
                };
                let covered = self.coverage(mark.words);
                self.marks[segment][at].score = mark.worth(covered, declared, shape, weights);
            }
            if !self.bonuses.is_empty()
                && let Some(bonus) = self.bonuses.get(&(segment, number(at)))
            {
                self.marks[segment][at].score += bonus;
            }
        }
    }

    /// Adds what it is worth to be what the question spells out; returns which chunks are.
    pub(super) fn add_symbols(
        &mut self,
        question: &CodeQuestion,
        weights: &Weights,
    ) -> HashSet<ChunkPlace> {
        let mut named = HashSet::new();
        for symbol in &question.symbols {
            let found = self.declared(symbol, question.wanted.as_ref());
            let best = found.iter().map(|(_, fit)| *fit).min();
            let rarity = self.rarity(found.len());
            for ((segment, chunk), fit) in found {
                let best = best.unwrap_or(fit);
                let share = match symbol.container {
                    Some(_) if best.tier == NameTier::Name => 1.0,
                    Some(_) if fit == best => IN_CONTAINER,
                    // Where one is what the question says, others of that name are not meant.
                    Some(_) if best.tier == NameTier::Container => continue,
                    None if fit == best => 1.0,
                    _ => ELSEWHERE,
                };
                let bonus =
                    if question.is_symbol { NAMED_BONUS } else { weights.definition * rarity };
                *self.bonuses.entry((segment, chunk)).or_default() += bonus * share;
                named.insert((segment, chunk));
            }
        }
        named
    }

    /// The visible chunks that declare a name, and how well each fits what the question says.
    fn declared(
        &self,
        symbol: &SymbolWord,
        wanted: Option<&QualifiedName>,
    ) -> Vec<(ChunkPlace, NameFit)> {
        let called = symbol.name.strip_suffix('!').filter(|name| !name.is_empty());
        let mut found = Vec::new();
        for name in [Some(&*symbol.name), called].into_iter().flatten() {
            let term = format!("{DECLARES}{name}");
            for (place, held) in self.index.segments.iter().enumerate() {
                for posting in held.segment.postings(&term).into_iter().flatten() {
                    let chunk = &held.segment.chunks[posting.chunk as usize];
                    if sees(held, self.view, chunk) {
                        let fit = fit(&held.segment, chunk, symbol, wanted);
                        found.push(((place, posting.chunk), fit));
                    }
                }
            }
        }
        found
    }
}

/// How well what a chunk declares fits a name: all of one that is asked for alone, the container of one in a sentence.
fn fit(
    segment: &RankedSegment,
    chunk: &RankedChunk,
    symbol: &SymbolWord,
    wanted: Option<&QualifiedName>,
) -> NameFit {
    let container = segment.container(chunk);
    let Some(wanted) = wanted else {
        let own = container.map(str::to_lowercase);
        let is_inside = own.is_some() && own == symbol.container;
        return if is_inside { NameFit::WHOLE } else { NameFit::STRANGE };
    };
    let place = DeclaredPlace {
        path: &segment.texts[chunk.text as usize].path,
        containers: container.into_iter().collect(),
        is_member: container.is_some(),
        text: "",
    };
    wanted.fit(segment.name(chunk).unwrap_or_default(), chunk.kind, &place)
}

/// What a term of a chunk is worth by its fields, before that saturates.
fn weigh(posting: &TermPosting, lengths: [u16; FIELDS], scales: &[FieldScale; FIELDS]) -> f32 {
    let mut sum = 0.0;
    for (field, scale) in scales.iter().enumerate() {
        let count = posting.counts[field];
        if count > 0 {
            let length = f32::from(lengths[field]);
            sum += f32::from(count) / (scale.fixed + scale.by_length * length);
        }
    }
    sum
}

/// Whether a chunk is still true and may be seen.
pub(super) fn sees(held: &HeldSegment, view: &RankedView, chunk: &RankedChunk) -> bool {
    let text = chunk.text as usize;
    !held.dead[text]
        && view.verdicts(held.number).is_none_or(|verdicts| verdicts.get(text) == Some(&true))
}
