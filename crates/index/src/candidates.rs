//! Results: which documents may match.

use moss_sdk::RelPath;

use crate::cache::BlockCache;
use crate::core::IndexCore;
use crate::document::DocumentKind;
use crate::matching::SegmentMatcher;
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
        let (segment, number) = (&*live.segment, live.number());
        let location = |number_in| SegmentLocation { segment: number, number: number_in };
        match (SegmentMatcher { segment, cache }).documents(&query.need) {
            Ok(numbers) => {
                let found = numbers.into_iter().map(|one| (one, live.slots[one as usize]));
                let current = found.filter(|(one, slot)| {
                    let record = core.documents.get(*slot);
                    core.is_at(*slot, location(*one))
                        && record.and_then(known_kind) == Some(DocumentKind::Listed)
                });
                slots.extend(current.map(|(_, slot)| slot));
            }
            Err(problem) => {
                let all = live.slots.iter().zip(0..);
                let current = all.filter(|(slot, one)| core.is_at(**slot, location(*one)));
                slots.extend(current.map(|(slot, _)| *slot));
                damaged.push((number, problem));
            }
        }
    }
    let in_memory = core.overlay.iter().filter(|(slot, grams)| {
        let record = core.documents.get(**slot);
        record.and_then(known_kind) == Some(DocumentKind::Listed)
            && query.accepts(&|gram| grams.binary_search(&gram).is_ok())
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
