//! Which files and which of their chunks are shown, and in which order.

use hashbrown::HashSet;
use moss_sdk::code_search::CodeHit;
use moss_symbols::DeclarationKind;

use super::commits::CommitScores;
use super::rough::{AskedFiles, COUNTED_CHUNKS, RoughFile};
use super::scoring::ChunkScores;
use super::{ChunkPlace, RankedSearch};
use crate::question::CodeQuestion;
use crate::ranked::RankedIndex;
use crate::segment::{RankedChunk, RankedSegment};
use crate::words::parts;

/// How many times as many files are looked at closely as hits are wanted.
const FILES_EACH: usize = 4;

/// A file and its best chunks, the best first.
struct ScoredFile {
    segment: usize,
    text: u32,
    score: f32,
    chunks: Vec<(f32, u32)>,
}

/// The files that have something.
pub(super) struct FileScores<'a> {
    pub(super) asked: AskedFiles<'a>,
    files: Vec<ScoredFile>,
}

// === impl FileScores ===

impl<'a> FileScores<'a> {
    pub(super) fn new(
        index: &'a RankedIndex,
        question: &'a CodeQuestion,
        search: &'a RankedSearch<'a>,
    ) -> Self {
        Self { asked: AskedFiles { index, question, search }, files: Vec::new() }
    }

    /// Takes the best files that are wanted.
    pub(super) fn gather(
        &mut self,
        scores: &mut ChunkScores<'_>,
        named: &HashSet<ChunkPlace>,
        commits: &CommitScores<'_>,
    ) {
        let wanted = self.asked.search.hits_max.saturating_mul(FILES_EACH).max(20);
        let chosen = self.asked.candidates(scores, commits, wanted);
        self.files = chosen.iter().map(|file| self.closely(file, scores, named)).collect();
    }

    /// Looks at all chunks of a file, with all that counts.
    fn closely(
        &self,
        file: &RoughFile,
        scores: &ChunkScores<'_>,
        named: &HashSet<ChunkPlace>,
    ) -> ScoredFile {
        let (segment, text) = file.place;
        let held = &self.asked.index.segments[segment];
        let role = self.asked.role(file.place);
        let (first, count) = self.asked.text(file.place).chunks;
        let mut chunks: Vec<(f32, u32)> = Vec::new();
        for at in first..first + count {
            let score = scores.marks[segment][at as usize].score;
            if score > 0.0 {
                let chunk = &held.segment.chunks[at as usize];
                chunks.push((score * self.asked.prior(role, chunk.is_test), at));
            }
        }
        let best_first = |one: &(f32, u32), other: &(f32, u32)| {
            other.0.total_cmp(&one.0).then(one.1.cmp(&other.1))
        };
        chunks.sort_by(best_first);
        for (score, at) in chunks.iter_mut().take(COUNTED_CHUNKS) {
            if !(self.asked.question.is_symbol && named.contains(&(segment, *at))) {
                let chunk = &held.segment.chunks[*at as usize];
                *score *= self.centrality(held.segment.name(chunk), chunk, scores);
            }
        }
        chunks.sort_by(best_first);
        let best = chunks.first().map_or(0.0, |(score, _)| *score);
        let rest: f32 =
            chunks.iter().skip(1).take(COUNTED_CHUNKS - 1).map(|(score, _)| score).sum();
        let commits = file.commits * self.asked.prior(role, false);
        let worth = (best + self.asked.search.weights.next_chunks * rest) * file.coverage;
        let score = worth + commits;
        if chunks.is_empty() && count > 0 {
            // Only commits say something of it: its beginning is shown.
            chunks.push((1.0, first));
        }
        ScoredFile { segment, text, score, chunks }
    }

    /// How much more it is worth that others use what is declared.
    fn centrality(&self, name: Option<&str>, chunk: &RankedChunk, scores: &ChunkScores<'_>) -> f32 {
        let share = self.asked.search.weights.centrality;
        let Some(name) = name.filter(|_| chunk.kind.is_some() && share > 0.0) else { return 1.0 };
        let mut whole = String::new();
        let mut count = 0;
        for part in parts(name) {
            whole.push_str(&part.to_lowercase());
            count += 1;
        }
        if count < 2 {
            return 1.0;
        }
        let uses = scores.count(&whole);
        1.0 + share * (uses as f32).ln_1p()
    }

    /// The hits, the best first: the best chunk of each file, and further ones below their own worth.
    pub(super) fn hits(self, named: &HashSet<ChunkPlace>) -> Vec<(CodeHit, ChunkPlace)> {
        let mut hits: Vec<(CodeHit, ChunkPlace)> = Vec::new();
        for file in &self.files {
            let best = file.chunks.first().map_or(0.0, |(score, _)| *score);
            let mut share = 1.0;
            let mut shown: Vec<u32> = Vec::new();
            let segment = &self.asked.index.segments[file.segment].segment;
            for (score, at) in &file.chunks {
                if shown.len() >= self.asked.search.hits_of_file_max || best <= 0.0 {
                    break;
                }
                let chunk = &segment.chunks[*at as usize];
                let place = (file.segment, *at);
                let path = &segment.texts[file.text as usize].path;
                if self.asked.search.leaves_out.is_some_and(|(left, lines)| {
                    left == path && chunk.lines.0 <= lines.1 && lines.0 <= chunk.lines.1
                }) {
                    continue;
                }
                if shown.iter().any(|shown| is_shown_by(segment, self.asked.question, *shown, *at))
                {
                    continue;
                }
                let score = file.score * (score / best) * share;
                shown.push(*at);
                share *= self.asked.search.weights.repeated;
                hits.push((segment.hit(*at, score, named.contains(&place)), place));
            }
        }
        hits.sort_by(|(one, _), (other, _)| {
            let by_place = || (&one.path, one.lines).cmp(&(&other.path, other.lines));
            other.score.total_cmp(&one.score).then_with(by_place)
        });
        hits.truncate(self.asked.search.hits_max);
        hits
    }
}

/// Whether a chunk shows what another one of its file is, too: a part of the same declaration, which is long, or, where
/// a name is asked for, an overload of it.
pub(super) fn is_shown_by(
    segment: &RankedSegment,
    question: &CodeQuestion,
    shown: u32,
    at: u32,
) -> bool {
    let (first, last) = (shown.min(at) as usize, shown.max(at) as usize);
    let (one, other) = (&segment.chunks[first], &segment.chunks[last]);
    let is_overload = || {
        segment.name(one).is_some()
            && segment.name(one) == segment.name(other)
            && segment.container(one) == segment.container(other)
    };
    segment.chunks[first + 1..=last].iter().all(|chunk| chunk.is_continued)
        || question.is_symbol && is_overload()
}

// === impl RankedSegment ===

impl RankedSegment {
    /// A hit of a chunk, of which it is not said yet which words it has.
    pub(super) fn hit(&self, at: u32, score: f32, is_named: bool) -> CodeHit {
        let chunk = &self.chunks[at as usize];
        CodeHit {
            path: self.texts[chunk.text as usize].path.clone(),
            lines: chunk.lines,
            name: self.name(chunk).map(str::to_owned),
            container: self.container(chunk).map(str::to_owned),
            kind: chunk.kind.map(kind_name),
            score,
            is_named,
            is_near: false,
            matched: Vec::new(),
        }
    }
}

/// The word for a kind of declaration.
pub(super) fn kind_name(kind: DeclarationKind) -> &'static str {
    match kind {
        DeclarationKind::Heading => "section",
        other => other.as_str(),
    }
}
