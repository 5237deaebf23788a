//! A part of the index: texts that were read together, never changed. What is no longer true of it is
//! known beside it.

use hashbrown::HashMap;
use moss_sdk::RelPath;
use moss_symbols::DeclarationKind;

use crate::analysis::{AnalyzedText, FileRole};
use crate::names::{NONE, NameDraft, NameTable, number};
use crate::postings::{ChunkPostings, PostingReader, TermPosting};
use crate::weights::FIELDS;

/// Texts, their chunks and which terms those have.
#[derive(Debug)]
pub(crate) struct RankedSegment {
    pub(crate) texts: Vec<RankedText>,
    pub(crate) chunks: Vec<RankedChunk>,
    /// How long the fields of each are: beside them, since of each word of a question all are looked at.
    pub(crate) lengths: Vec<[u16; FIELDS]>,
    names: NameTable,
    /// All terms, in their order, one behind the other.
    terms: String,
    /// Where each ends, and where its list does.
    ends: Vec<TermEnd>,
    lists: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct TermEnd {
    term: u32,
    list: u32,
}

/// A file of a segment, with the role that its path gives it.
#[derive(Debug, Clone)]
pub(crate) struct RankedText {
    pub(crate) path: RelPath,
    pub(crate) role: FileRole,
    /// Its first chunk, and how many there are.
    pub(crate) chunks: (u32, u32),
}

/// A part of a file that is weighed as one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RankedChunk {
    /// The number of the text that it is of, in its segment.
    pub(crate) text: u32,
    pub(crate) lines: (u32, u32),
    name: u32,
    container: u32,
    pub(crate) kind: Option<DeclarationKind>,
    pub(crate) is_test: bool,
    /// Whether it is a further part of the declaration that the chunk before it begins.
    pub(crate) is_continued: bool,
}

/// A segment in the making.
#[derive(Debug, Default)]
pub(crate) struct SegmentDraft {
    texts: Vec<RankedText>,
    chunks: Vec<RankedChunk>,
    lengths: Vec<[u16; FIELDS]>,
    names: NameDraft,
    lists: HashMap<Box<str>, ChunkPostings>,
}

// === impl SegmentDraft ===

impl SegmentDraft {
    pub(crate) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    pub(crate) fn chunks(&self) -> usize {
        self.chunks.len()
    }

    /// Adds a text behind the others; returns its number.
    pub(crate) fn add(&mut self, analyzed: &AnalyzedText) -> u32 {
        let (text, first) = (number(self.texts.len()), number(self.chunks.len()));
        for chunk in &analyzed.chunks {
            let place = number(self.chunks.len());
            let name = self.names.number(chunk.name.as_deref());
            let container = self.names.number(chunk.container.as_deref());
            self.chunks.push(RankedChunk {
                text,
                lines: chunk.lines,
                name,
                container,
                kind: chunk.kind,
                is_test: chunk.is_test,
                is_continued: chunk.is_continued,
            });
            self.lengths.push(chunk.lengths);
            for (term, counts) in &chunk.counts {
                let term = &analyzed.terms[*term as usize];
                let list = match self.lists.get_mut(term) {
                    Some(list) => list,
                    None => self.lists.entry(term.clone()).or_default(),
                };
                list.push(&TermPosting { chunk: place, counts: *counts });
            }
        }
        let chunks = (first, number(self.chunks.len()) - first);
        self.texts.push(RankedText { path: analyzed.path.clone(), role: analyzed.role, chunks });
        text
    }

    /// Adds the texts of a segment that are still true; says of each under which number.
    pub(crate) fn absorb(
        &mut self,
        segment: &RankedSegment,
        is_live: &dyn Fn(u32) -> bool,
    ) -> Vec<(u32, u32)> {
        let mut moved = Vec::new();
        let mut places = vec![NONE; segment.chunks.len()];
        for (from, text) in (0..).zip(&segment.texts) {
            if !is_live(from) {
                continue;
            }
            let (to, first) = (number(self.texts.len()), number(self.chunks.len()));
            for at in text.chunks.0..text.chunks.0 + text.chunks.1 {
                let chunk = segment.chunks[at as usize];
                places[at as usize] = number(self.chunks.len());
                let name = self.names.number(segment.name(&chunk));
                let container = self.names.number(segment.container(&chunk));
                self.chunks.push(RankedChunk { text: to, name, container, ..chunk });
                self.lengths.push(segment.lengths[at as usize]);
            }
            self.texts.push(RankedText { chunks: (first, text.chunks.1), ..text.clone() });
            moved.push((from, to));
        }
        for (term, list) in segment.all_lists() {
            let mut postings = list
                .map(|posting| TermPosting { chunk: places[posting.chunk as usize], ..posting })
                .filter(|posting| posting.chunk != NONE)
                .peekable();
            if postings.peek().is_none() {
                continue;
            }
            let list = match self.lists.get_mut(term) {
                Some(list) => list,
                None => self.lists.entry(term.into()).or_default(),
            };
            postings.for_each(|posting| list.push(&posting));
        }
        moved
    }

    pub(crate) fn finish(self) -> RankedSegment {
        let mut lists: Vec<(Box<str>, ChunkPostings)> = self.lists.into_iter().collect();
        lists.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let bytes: usize = lists.iter().map(|(_, list)| list.bytes.len()).sum();
        let letters: usize = lists.iter().map(|(term, _)| term.len()).sum();
        let mut segment = RankedSegment {
            texts: self.texts,
            chunks: self.chunks,
            lengths: self.lengths,
            names: self.names.finish(),
            terms: String::with_capacity(letters),
            ends: Vec::with_capacity(lists.len()),
            lists: Vec::with_capacity(bytes),
        };
        for (term, list) in lists {
            segment.terms.push_str(&term);
            segment.lists.extend(list.bytes);
            segment.ends.push(TermEnd {
                term: number(segment.terms.len()),
                list: number(segment.lists.len()),
            });
        }
        segment.texts.shrink_to_fit();
        segment.chunks.shrink_to_fit();
        segment.lengths.shrink_to_fit();
        segment
    }
}

// === impl RankedText ===

impl RankedText {
    /// The places of its chunks among those of its segment.
    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        let (first, count) = (self.chunks.0 as usize, self.chunks.1 as usize);
        first..first + count
    }
}

// === impl RankedSegment ===

impl RankedSegment {
    pub(crate) fn name(&self, chunk: &RankedChunk) -> Option<&str> {
        self.names.get(chunk.name)
    }

    pub(crate) fn container(&self, chunk: &RankedChunk) -> Option<&str> {
        self.names.get(chunk.container)
    }

    fn term(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before].term);
        &self.terms[start as usize..self.ends[at].term as usize]
    }

    fn list(&self, at: usize) -> PostingReader<'_> {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before].list);
        PostingReader::new(&self.lists[start as usize..self.ends[at].list as usize])
    }

    fn find(&self, term: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.term(middle).cmp(term) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The chunks that have a term, in their order.
    pub(crate) fn postings(&self, term: &str) -> Option<PostingReader<'_>> {
        self.find(term).map(|at| self.list(at))
    }

    fn all_lists(&self) -> impl Iterator<Item = (&str, PostingReader<'_>)> {
        (0..self.ends.len()).map(|at| (self.term(at), self.list(at)))
    }

    /// About how much memory it takes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let paths: usize = self.texts.iter().map(|text| text.path.as_str().len()).sum();
        self.terms.len()
            + self.lists.len()
            + self.ends.len() * size_of::<TermEnd>()
            + self.chunks.len() * (size_of::<RankedChunk>() + size_of::<[u16; FIELDS]>())
            + self.texts.len() * size_of::<RankedText>()
            + paths
            + self.names.memory_bytes()
    }
}
