//! Results: which documents may match.

use moss_sdk::RelPath;

use crate::cache::BlockCache;
use crate::core::IndexCore;
use crate::document::DocumentKind;
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
    /// It is a text and does not match.
    CannotMatch,
    /// It is no text.
    Binary,
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

/// Evaluates a query over some documents. Those of damaged segments may match.
pub(crate) fn answer(
    core: &IndexCore,
    cache: &BlockCache,
    query: &GramQuery,
    located: &LocatedDocuments,
) -> (Vec<DocumentVerdict>, DamagedSegments) {
    let (slots, damaged) = matching_slots(core, cache, query);
    let mut may_match = vec![false; core.documents.slots()];
    for slot in slots {
        may_match[slot as usize] = true;
    }
    let verdict = |slot: &Option<DocumentSlot>| {
        let Some(slot) = *slot else { return DocumentVerdict::MayMatch };
        match core.documents.get(slot).and_then(known_kind) {
            Some(DocumentKind::Listed) if !may_match[slot as usize] => DocumentVerdict::CannotMatch,
            Some(DocumentKind::Binary) => DocumentVerdict::Binary,
            _ => DocumentVerdict::MayMatch,
        }
    };
    (located.slots.iter().map(verdict).collect(), damaged)
}

fn matching_slots(
    core: &IndexCore,
    cache: &BlockCache,
    query: &GramQuery,
) -> (Vec<DocumentSlot>, DamagedSegments) {
    let mut slots = Vec::new();
    let mut damaged = DamagedSegments::new();
    for live in &core.segments {
        let segment = live.number();
        let is_current = |document: &NumberedDocument| {
            core.is_at(document.slot, SegmentLocation { segment, number: document.first })
        };
        match SegmentMatcher::new(live, cache, query).numbers(&query.need) {
            Ok(numbers) => {
                let found = live.numbers.documents_of(numbers).filter(|document| {
                    let record = core.documents.get(document.slot);
                    is_current(document)
                        && record.and_then(known_kind) == Some(DocumentKind::Listed)
                });
                slots.extend(found.map(|document| document.slot));
            }
            Err(problem) => {
                let current = live.numbers.documents().filter(is_current);
                slots.extend(current.map(|document| document.slot));
                damaged.push((segment, problem));
            }
        }
    }
    let in_memory = core.overlay.iter().filter(|(slot, grams)| {
        let record = core.documents.get(**slot);
        record.and_then(known_kind) == Some(DocumentKind::Listed) && query.accepts_parts(grams)
    });
    slots.extend(in_memory.map(|(slot, _)| *slot));
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
