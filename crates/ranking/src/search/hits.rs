//! Which files and which of their chunks are shown, and in which order.

use std::cmp::Ordering;

use hashbrown::HashSet;
use moss_sdk::code_search::CodeHit;
use moss_symbols::DeclarationKind;

use super::scoring::ChunkScores;
use super::{ChunkPlace, RankedSearch};
use crate::analysis::FileRole;
use crate::question::CodeQuestion;
use crate::ranked::RankedIndex;
use crate::segment::RankedChunk;
use crate::words::parts;

/// How many times as many files are looked at closely as hits are wanted.
const FILES_EACH: usize = 4;
/// How many chunks of a file count.
const COUNTED_CHUNKS: usize = 3;

/// A file and its best chunks, the best first.
struct ScoredFile {
    segment: usize,
    text: u32,
    score: f32,
    chunks: Vec<(f32, u32)>,
}

/// The files that have something.
pub(super) struct FileScores<'a> {
    index: &'a RankedIndex,
    question: &'a CodeQuestion,
    search: &'a RankedSearch<'a>,
    files: Vec<ScoredFile>,
}

// === impl FileScores ===

impl<'a> FileScores<'a> {
    pub(super) fn new(
        index: &'a RankedIndex,
        question: &'a CodeQuestion,
        search: &'a RankedSearch<'a>,
    ) -> Self {
        Self { index, question, search, files: Vec::new() }
    }

    /// Takes the best files that are wanted.
    pub(super) fn gather(&mut self, scores: &ChunkScores<'_>, named: &HashSet<ChunkPlace>) {
        let mut all: Vec<(f32, usize, u32)> = Vec::new();
        for (segment, held) in self.index.segments.iter().enumerate() {
            let chunk_scores = &scores.scores[segment];
            for (number, text) in (0..).zip(&held.segment.texts) {
                let (first, count) = text.chunks;
                let own = &chunk_scores[first as usize..(first + count) as usize];
                let mut best = [0.0_f32; COUNTED_CHUNKS];
                for score in own {
                    if *score > best[COUNTED_CHUNKS - 1] {
                        best[COUNTED_CHUNKS - 1] = *score;
                        best.sort_by(|one, other| other.total_cmp(one));
                    }
                }
                if best[0] > 0.0 {
                    all.push((self.file_score(&best, text.role), segment, number));
                }
            }
        }
        let by_score = |one: &(f32, usize, u32), other: &(f32, usize, u32)| {
            other.0.total_cmp(&one.0).then_with(|| self.path_order(one, other))
        };
        let wanted = self.search.hits_max.saturating_mul(FILES_EACH).max(20);
        all.sort_unstable_by(by_score);
        for (_, segment, text) in all {
            let held = &self.index.segments[segment];
            if !(self.search.wants)(&held.segment.texts[text as usize].path) {
                continue;
            }
            let file = self.closely((segment, text), scores, named);
            self.files.push(file);
            if self.files.len() >= wanted {
                break;
            }
        }
    }

    fn path_order(&self, one: &(f32, usize, u32), other: &(f32, usize, u32)) -> Ordering {
        let path =
            |at: &(f32, usize, u32)| &self.index.segments[at.1].segment.texts[at.2 as usize].path;
        path(one).cmp(path(other))
    }

    fn file_score(&self, best: &[f32; COUNTED_CHUNKS], role: FileRole) -> f32 {
        let rest: f32 = best[1..].iter().sum();
        (best[0] + self.search.weights.next_chunks * rest) * self.prior(role, false)
    }

    /// What the score of a chunk is multiplied with for what it is for.
    fn prior(&self, role: FileRole, is_test: bool) -> f32 {
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

    /// Looks at all chunks of a file, with all that counts.
    fn closely(
        &self,
        (segment, text): (usize, u32),
        scores: &ChunkScores<'_>,
        named: &HashSet<ChunkPlace>,
    ) -> ScoredFile {
        let held = &self.index.segments[segment];
        let role = held.segment.texts[text as usize].role;
        let (first, count) = held.segment.texts[text as usize].chunks;
        let mut chunks: Vec<(f32, u32)> = Vec::new();
        for at in first..first + count {
            let score = scores.scores[segment][at as usize];
            if score > 0.0 {
                let chunk = &held.segment.chunks[at as usize];
                chunks.push((score * self.prior(role, chunk.is_test), at));
            }
        }
        let best_first = |one: &(f32, u32), other: &(f32, u32)| {
            other.0.total_cmp(&one.0).then(one.1.cmp(&other.1))
        };
        chunks.sort_by(best_first);
        for (score, at) in chunks.iter_mut().take(COUNTED_CHUNKS) {
            if !(self.question.is_symbol && named.contains(&(segment, *at))) {
                let chunk = &held.segment.chunks[*at as usize];
                *score *= self.centrality(held.segment.name(chunk), chunk, scores);
            }
        }
        chunks.sort_by(best_first);
        let best = chunks.first().map_or(0.0, |(score, _)| *score);
        let rest: f32 =
            chunks.iter().skip(1).take(COUNTED_CHUNKS - 1).map(|(score, _)| score).sum();
        let score = best + self.search.weights.next_chunks * rest;
        ScoredFile { segment, text, score, chunks }
    }

    /// How much more it is worth that others use what is declared.
    fn centrality(&self, name: Option<&str>, chunk: &RankedChunk, scores: &ChunkScores<'_>) -> f32 {
        let share = self.search.weights.centrality;
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
            let mut shown = 0;
            let segment = &self.index.segments[file.segment].segment;
            for (score, at) in &file.chunks {
                if shown >= self.search.hits_of_file_max || best <= 0.0 {
                    break;
                }
                let chunk = &segment.chunks[*at as usize];
                let place = (file.segment, *at);
                let path = &segment.texts[file.text as usize].path;
                if self.search.leaves_out.is_some_and(|(left, lines)| {
                    left == path && chunk.lines.0 <= lines.1 && lines.0 <= chunk.lines.1
                }) {
                    continue;
                }
                let score = file.score * (score / best) * share;
                shown += 1;
                share *= self.search.weights.repeated;
                let hit = CodeHit {
                    path: path.clone(),
                    lines: chunk.lines,
                    name: segment.name(chunk).map(str::to_owned),
                    container: segment.container(chunk).map(str::to_owned),
                    kind: chunk.kind.map(kind_name),
                    score,
                    is_named: named.contains(&place),
                    matched: Vec::new(),
                };
                hits.push((hit, place));
            }
        }
        hits.sort_by(|(one, _), (other, _)| {
            let by_place = || (&one.path, one.lines).cmp(&(&other.path, other.lines));
            other.score.total_cmp(&one.score).then_with(by_place)
        });
        hits.truncate(self.search.hits_max);
        hits
    }
}

/// The word for a kind of declaration.
fn kind_name(kind: DeclarationKind) -> &'static str {
    match kind {
        DeclarationKind::Function => "function",
        DeclarationKind::Method => "method",
        DeclarationKind::Class => "class",
        DeclarationKind::Struct => "struct",
        DeclarationKind::Enum => "enum",
        DeclarationKind::Variant => "variant",
        DeclarationKind::Interface => "interface",
        DeclarationKind::Trait => "trait",
        DeclarationKind::Type => "type",
        DeclarationKind::Constant => "constant",
        DeclarationKind::Variable => "variable",
        DeclarationKind::Field => "field",
        DeclarationKind::Macro => "macro",
        DeclarationKind::Module => "module",
        DeclarationKind::Test => "test",
        DeclarationKind::Heading => "section",
        DeclarationKind::Key => "key",
    }
}
