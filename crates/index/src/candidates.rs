//! Answers: which documents may match.

use moss_sdk::RelPath;

use crate::cache::BlockCache;
use crate::core::IndexCore;
use crate::document::DocumentKind;
use crate::matching::SegmentMatcher;
use crate::problem::IndexProblem;
use crate::query::GramQuery;
use crate::table::{DocumentPlace, DocumentRecord, DocumentSlot, SegmentPlace};

/// Which documents may match a query. Every document that does is among them, as far as the index was
/// told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexCandidates {
    /// The documents to look at, in the order of their paths' bytes.
    pub paths: Vec<RelPath>,
    /// How many texts cannot match.
    pub texts_passed: u64,
    /// How many files are no text.
    pub binary_passed: u64,
    /// Up to which change of documents the index knew.
    pub generation: u64,
}

/// Chooses documents, such as those of a file type.
pub type DocumentFilter<'a> = &'a dyn Fn(&RelPath) -> bool;

/// Segments that turned out to be damaged.
pub(crate) type DamagedSegments = Vec<(u32, IndexProblem)>;

/// Answers a query. The documents of damaged segments are candidates.
pub(crate) fn answer(
    core: &IndexCore,
    cache: &BlockCache,
    query: &GramQuery,
    filter: Option<DocumentFilter<'_>>,
) -> (IndexCandidates, DamagedSegments) {
    let (mut slots, damaged) = matching_slots(core, cache, query);
    slots.sort_unstable();
    slots.dedup();
    let is_wanted = |record: &DocumentRecord| filter.is_none_or(|filter| filter(&record.path));
    let records = slots.iter().filter_map(|slot| core.documents.get(*slot));
    let mut looked_at = (0, 0);
    let mut paths = Vec::new();
    for record in records.filter(|record| is_wanted(record)) {
        match known_kind(record) {
            Some(DocumentKind::Listed) => looked_at.0 += 1,
            Some(DocumentKind::Binary) => looked_at.1 += 1,
            _ => {}
        }
        paths.push(record.path.clone());
    }
    paths.sort_unstable();
    let (texts, binary) = match filter {
        None => (core.listed, core.binary),
        Some(_) => {
            let wanted = core.documents.iter().filter(|(_, record)| is_wanted(record));
            wanted.fold((0, 0), |(texts, binary), (_, record)| match known_kind(record) {
                Some(DocumentKind::Listed) => (texts + 1, binary),
                Some(DocumentKind::Binary) => (texts, binary + 1),
                _ => (texts, binary),
            })
        }
    };
    let candidates = IndexCandidates {
        paths,
        texts_passed: (texts - looked_at.0) as u64,
        binary_passed: (binary - looked_at.1) as u64,
        generation: core.generation,
    };
    (candidates, damaged)
}

fn matching_slots(
    core: &IndexCore,
    cache: &BlockCache,
    query: &GramQuery,
) -> (Vec<DocumentSlot>, DamagedSegments) {
    let mut slots: Vec<DocumentSlot> = core.always.iter().copied().collect();
    let mut damaged = DamagedSegments::new();
    for live in &core.segments {
        let (segment, number) = (&*live.segment, live.number());
        let place = |number_in| SegmentPlace { segment: number, number: number_in };
        match (SegmentMatcher { segment, cache }).documents(&query.need) {
            Ok(numbers) => {
                let found = numbers.into_iter().map(|one| (one, live.slots[one as usize]));
                let current = found.filter(|(one, slot)| {
                    let record = core.documents.get(*slot);
                    core.is_at(*slot, place(*one))
                        && record.and_then(known_kind) == Some(DocumentKind::Listed)
                });
                slots.extend(current.map(|(_, slot)| slot));
            }
            Err(problem) => {
                let all = live.slots.iter().zip(0..);
                let current = all.filter(|(slot, one)| core.is_at(**slot, place(*one)));
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
    match record.place {
        DocumentPlace::Overlay | DocumentPlace::Segment(_) => {
            record.indexed.map(|indexed| indexed.kind)
        }
        DocumentPlace::Pending { .. } | DocumentPlace::Unread => None,
    }
}
