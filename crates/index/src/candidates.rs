//! Results: which documents may match.

use std::collections::HashMap;
use std::sync::Arc;

use moss_sdk::RelPath;

use crate::cache::BlockCache;
use crate::core::IndexCore;
use crate::document::{DocumentKind, DocumentMark, MarkDigest};
use crate::matching::SegmentMatcher;
use crate::numbers::NumberedDocument;
use crate::problem::IndexProblem;
use crate::query::GramQuery;
use crate::table::{DocumentLocation, DocumentRecord, DocumentSlot, SegmentLocation};

/// What is known of a document without looking at its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentVerdict {
    /// It may match, or it is not known yet.
    MayMatch,
    /// It may match in some of its parts alone: the next of [`LocatedVerdicts::parts`].
    MayMatchInParts,
    /// It is a text and does not match.
    CannotMatch,
    /// It is no text.
    Binary,
}

/// Which parts of a document may match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentParts {
    /// How many parts it has. Of its bytes in so many equal steps, each part begins with the first line that begins
    /// behind its step, and ends where the next one begins.
    pub count: u32,
    /// The numbers of those that may match, ascending.
    pub numbers: Box<[u32]>,
    mark: MarkDigest,
}

/// What is known of some documents, and where they are.
#[derive(Debug)]
pub struct LocatedVerdicts {
    /// In the order of the documents.
    pub verdicts: Vec<DocumentVerdict>,
    /// Of the documents that may match in some parts alone, in the same order.
    pub parts: Vec<DocumentParts>,
    /// Where they are, for the next query.
    pub located: Arc<LocatedDocuments>,
}

/// Where the index has some documents, so that they need not be looked up by path each time.
#[derive(Debug)]
pub struct LocatedDocuments {
    /// The layout of the table that they were looked up in.
    layout: u64,
    /// In the order of their paths.
    slots: Box<[Option<DocumentSlot>]>,
}

/// Segments that turned out to be damaged.
pub(crate) type DamagedSegments = Vec<(u32, IndexProblem)>;

/// A document that may match, and in which of its parts alone, where not in all.
type MatchingSlot = (DocumentSlot, Option<DocumentParts>);

/// Evaluates a query over some documents. Those of damaged segments may match.
pub(crate) fn answer(
    core: &IndexCore,
    cache: &BlockCache,
    query: &GramQuery,
    located: Arc<LocatedDocuments>,
) -> (LocatedVerdicts, DamagedSegments) {
    let (slots, damaged) = matching_slots(core, cache, query);
    let mut may_match = vec![DocumentVerdict::CannotMatch; core.documents.slots()];
    let mut parts_of: HashMap<DocumentSlot, DocumentParts> = HashMap::new();
    for (slot, parts) in slots {
        may_match[slot as usize] = match parts {
            Some(parts) => {
                parts_of.insert(slot, parts);
                DocumentVerdict::MayMatchInParts
            }
            None => DocumentVerdict::MayMatch,
        };
    }
    let mut parts = Vec::new();
    let verdict = |slot: &Option<DocumentSlot>| {
        let Some(slot) = *slot else { return DocumentVerdict::MayMatch };
        match core.documents.get(slot).and_then(known_kind) {
            Some(DocumentKind::Listed) => match may_match[slot as usize] {
                DocumentVerdict::MayMatchInParts => match parts_of.remove(&slot) {
                    Some(found) => {
                        parts.push(found);
                        DocumentVerdict::MayMatchInParts
                    }
                    // It is among the documents for the second time.
                    None => DocumentVerdict::MayMatch,
                },
                verdict => verdict,
            },
            Some(DocumentKind::Binary) => DocumentVerdict::Binary,
            Some(DocumentKind::Unlisted) | None => DocumentVerdict::MayMatch,
        }
    };
    let verdicts = located.slots.iter().map(verdict).collect();
    (LocatedVerdicts { verdicts, parts, located }, damaged)
}

fn matching_slots(
    core: &IndexCore,
    cache: &BlockCache,
    query: &GramQuery,
) -> (Vec<MatchingSlot>, DamagedSegments) {
    let mut slots = Vec::new();
    let mut damaged = DamagedSegments::new();
    for live in &core.segments {
        let segment = live.number();
        let is_current = |document: &NumberedDocument| {
            core.is_at(document.slot, SegmentLocation { segment, number: document.first })
        };
        let matcher = SegmentMatcher::new(live, cache, query);
        match matcher.numbers(&query.need) {
            Ok(numbers) => {
                for (document, of_it) in live.numbers.grouped(&numbers) {
                    let record = core.documents.get(document.slot);
                    let record = record.filter(|_| is_current(&document));
                    let listed = record.filter(|one| known_kind(one) == Some(DocumentKind::Listed));
                    let Some(indexed) = listed.and_then(|record| record.indexed) else { continue };
                    let is_part = matcher.knows_parts()
                        && indexed.is_plain
                        && of_it.len() < document.count as usize;
                    let parts = is_part.then(|| DocumentParts {
                        count: document.count,
                        numbers: of_it.iter().map(|number| number - document.first).collect(),
                        mark: indexed.mark,
                    });
                    slots.push((document.slot, parts));
                }
            }
            Err(problem) => {
                let current = live.numbers.documents().filter(is_current);
                slots.extend(current.map(|document| (document.slot, None)));
                damaged.push((segment, problem));
            }
        }
    }
    let in_memory = core.overlay.iter().filter(|(slot, grams)| {
        let record = core.documents.get(**slot);
        record.and_then(known_kind) == Some(DocumentKind::Listed) && query.accepts_parts(grams)
    });
    slots.extend(in_memory.map(|(slot, _)| (*slot, None)));
    (slots, damaged)
}

/// What kind of document it is, where the index knows.
fn known_kind(record: &DocumentRecord) -> Option<DocumentKind> {
    match record.location {
        DocumentLocation::Overlay | DocumentLocation::Segment(_) => {
            record.indexed.map(|indexed| indexed.kind)
        }
        DocumentLocation::Pending { .. } | DocumentLocation::Unread => None,
    }
}

// === impl DocumentParts ===

impl DocumentParts {
    /// Whether a file still has the mark that its text had when it was read for the index.
    pub fn are_of(&self, mark: &DocumentMark) -> bool {
        self.mark == mark.digest()
    }
}

// === impl LocatedDocuments ===

impl LocatedDocuments {
    /// Looks documents up by their paths.
    pub(crate) fn find(core: &IndexCore, paths: impl IntoIterator<Item = RelPath>) -> Self {
        let slots = paths.into_iter().map(|path| core.documents.find(&path)).collect();
        Self { layout: core.documents.layout(), slots }
    }

    /// How much memory it takes.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&*self.slots)
    }

    /// Whether they still are there.
    pub(crate) fn is_current(&self, core: &IndexCore) -> bool {
        self.layout == core.documents.layout()
    }
}
