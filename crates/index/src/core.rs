//! The state of an index in memory: which documents there are, where the trigrams of each are, and
//! which segments there are.

mod live;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use moss_sdk::RelPath;

pub(crate) use self::live::LiveSegment;
use crate::document::{DocumentChange, DocumentKind, DocumentMark, IndexedDocument};
use crate::grams::Gram;
use crate::manifest::IndexManifest;
use crate::numbers::{NumberedDocument, SegmentNumbers};
use crate::problem::IndexProblem;
use crate::segment::IndexSegment;
use crate::table::{DocumentLocation, DocumentSlot, DocumentTable, SegmentLocation};

/// The trigrams of a document, part by part, those of each sorted.
pub(crate) type PartGrams = Box<[Box<[Gram]>]>;

/// The state of an index.
#[derive(Default)]
pub(crate) struct IndexCore {
    pub(crate) documents: DocumentTable,
    pub(crate) segments: Vec<LiveSegment>,
    /// The trigrams of documents that are in no segment yet.
    pub(crate) overlay: BTreeMap<DocumentSlot, PartGrams>,
    pub(crate) overlay_grams: usize,
    /// The documents that have to be looked at whatever is searched for.
    pub(crate) always: BTreeSet<DocumentSlot>,
    pub(crate) pending: usize,
    /// How many documents are texts whose trigrams are known, and how many are binary.
    pub(crate) listed: usize,
    pub(crate) binary: usize,
    /// Whether a listing has said which documents there are.
    pub(crate) has_listing: bool,
    /// Counts what was reported of documents.
    pub(crate) generation: u64,
    /// Why there is no index, if it is missing.
    pub(crate) off: Option<IndexProblem>,
    /// What went wrong last.
    pub(crate) problem: Option<IndexProblem>,
    listing: u32,
    next_segment: u32,
}

/// How many trigrams there are in all parts.
fn count(grams: &PartGrams) -> usize {
    grams.iter().map(|part| part.len()).sum()
}

// === impl IndexCore ===

impl IndexCore {
    /// A state without documents, whose segments begin with a number.
    pub(crate) fn empty(next_segment: u32) -> Self {
        Self { next_segment, ..Self::default() }
    }

    /// The size of all segments.
    pub(crate) fn disk_bytes(&self) -> u64 {
        self.segments.iter().map(|live| live.segment.name.size_bytes).sum()
    }

    /// Roughly how much memory all of it takes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let of_segments: usize = self.segments.iter().map(LiveSegment::memory_bytes).sum();
        let of_overlay = self.overlay_grams * size_of::<Gram>();
        self.documents.memory_bytes() + of_segments + of_overlay
    }

    /// Takes in the documents that there are, and that there are no others. What the files say of
    /// others is going to be removed from them.
    pub(crate) fn sync(&mut self, listing: impl IntoIterator<Item = (RelPath, DocumentMark)>) {
        self.generation += 1;
        self.listing = self.listing.wrapping_add(1);
        for (path, mark) in listing {
            self.present(&path, mark);
        }
        let unlisted = self.documents.iter().filter(|(_, record)| record.listing != self.listing);
        let unlisted: BTreeSet<DocumentSlot> = unlisted.map(|(slot, _)| slot).collect();
        self.rewrite_those_with(&unlisted);
        unlisted.into_iter().for_each(|slot| self.remove(slot));
        self.has_listing = true;
    }

    /// Takes in the documents that there are beneath some directories, and that there are no others
    /// beneath those; where some are denied, nothing of these may stay in files.
    pub(crate) fn sync_beneath(
        &mut self,
        directories: &BTreeSet<RelPath>,
        listing: impl IntoIterator<Item = (RelPath, DocumentMark)>,
        are_denied: bool,
    ) {
        self.generation += 1;
        self.listing = self.listing.wrapping_add(1);
        for (path, mark) in listing {
            self.present(&path, mark);
        }
        let directories: HashSet<&str> = directories.iter().map(RelPath::as_str).collect();
        let is_all = directories.contains(RelPath::root().as_str());
        let is_beneath = |path: &RelPath| {
            let path = path.as_str();
            is_all || path.match_indices('/').any(|(end, _)| directories.contains(&path[..end]))
        };
        let unlisted = self.documents.iter().filter(|(_, record)| record.listing != self.listing);
        let gone = unlisted.filter(|(_, record)| is_beneath(&record.path));
        let gone: BTreeSet<DocumentSlot> = gone.map(|(slot, _)| slot).collect();
        if are_denied {
            self.rewrite_those_with(&gone);
        }
        gone.into_iter().for_each(|slot| self.remove(slot));
    }

    pub(crate) fn update(&mut self, changes: impl IntoIterator<Item = DocumentChange>) {
        self.generation += 1;
        let mut denied = BTreeSet::new();
        for change in changes {
            match change {
                DocumentChange::Present(path, mark) => self.present(&path, mark),
                DocumentChange::Gone(path) => drop(self.remove_path(&path)),
                DocumentChange::Denied(path) => denied.extend(self.remove_path(&path)),
            }
        }
        self.rewrite_those_with(&denied);
    }

    fn present(&mut self, path: &RelPath, mark: DocumentMark) {
        let slot = self.adopt(path);
        let (generation, listing) = (self.generation, self.listing);
        let Some(record) = self.documents.get_mut(slot) else { return };
        record.listing = listing;
        let is_same = record
            .indexed
            .is_some_and(|indexed| !indexed.is_unsettled && indexed.mark == mark.digest());
        let former = match record.location {
            DocumentLocation::Unread | DocumentLocation::Overlay if is_same => return,
            DocumentLocation::Segment(_) if is_same => return,
            DocumentLocation::Segment(location) => Some(location),
            DocumentLocation::Pending { former } => former,
            DocumentLocation::Unread | DocumentLocation::Overlay => None,
        };
        record.version = generation;
        let indexed = record.indexed;
        self.put(slot, DocumentLocation::Pending { former }, indexed);
    }

    /// Returns the slot of a path. A document that was not known is pending.
    pub(crate) fn adopt(&mut self, path: &RelPath) -> DocumentSlot {
        let known = self.documents.len();
        let slot = self.documents.slot(path);
        if self.documents.len() > known {
            self.always.insert(slot);
            self.pending += 1;
        }
        slot
    }

    fn remove_path(&mut self, path: &RelPath) -> Option<DocumentSlot> {
        let slot = self.documents.find(path)?;
        self.remove(slot);
        Some(slot)
    }

    fn remove(&mut self, slot: DocumentSlot) {
        self.leave(slot);
        self.documents.remove(slot);
    }

    /// Has segments written anew that hold some document of these, which must not even stay in files: whatever it is
    /// in by now, those that were written before may have it as it was.
    fn rewrite_those_with(&mut self, slots: &BTreeSet<DocumentSlot>) {
        for live in self.segments.iter_mut().filter(|live| !live.must_rewrite) {
            live.must_rewrite = live.numbers.has_any(slots);
        }
    }

    /// Puts a document somewhere else, with what is known of it.
    pub(crate) fn put(
        &mut self,
        slot: DocumentSlot,
        location: DocumentLocation,
        indexed: Option<IndexedDocument>,
    ) {
        self.leave(slot);
        let Some(record) = self.documents.get_mut(slot) else { return };
        record.location = location;
        record.indexed = indexed;
        let kind = indexed.map(|indexed| indexed.kind);
        match (location, kind) {
            (DocumentLocation::Pending { .. }, _) => {
                self.pending += 1;
                self.always.insert(slot);
            }
            (DocumentLocation::Unread, _) | (_, None | Some(DocumentKind::Unlisted)) => {
                self.always.insert(slot);
            }
            (_, Some(DocumentKind::Listed)) => self.listed += 1,
            (_, Some(DocumentKind::Binary)) => self.binary += 1,
        }
        if let DocumentLocation::Segment(location) = location
            && let Some(live) = self.segment_mut(location.segment)
        {
            live.live += live.numbers.document(location.number).count;
        }
    }

    /// Takes a document away from where it is.
    fn leave(&mut self, slot: DocumentSlot) {
        let Some(record) = self.documents.get(slot) else { return };
        let (location, kind) = (record.location, record.indexed.map(|indexed| indexed.kind));
        self.always.remove(&slot);
        match (location, kind) {
            (DocumentLocation::Pending { .. }, _) => self.pending -= 1,
            (DocumentLocation::Unread, _) => {}
            (_, Some(DocumentKind::Listed)) => self.listed -= 1,
            (_, Some(DocumentKind::Binary)) => self.binary -= 1,
            (_, None | Some(DocumentKind::Unlisted)) => {}
        }
        match location {
            DocumentLocation::Overlay => {
                let grams = self.overlay.remove(&slot);
                self.overlay_grams -= grams.as_ref().map_or(0, count);
            }
            DocumentLocation::Segment(location) => {
                if let Some(live) = self.segment_mut(location.segment) {
                    live.live -= live.numbers.document(location.number).count;
                }
            }
            DocumentLocation::Pending { .. } | DocumentLocation::Unread => {}
        }
    }

    /// Keeps the trigrams of a document in memory.
    pub(crate) fn put_overlay(
        &mut self,
        slot: DocumentSlot,
        indexed: IndexedDocument,
        grams: PartGrams,
    ) {
        self.put(slot, DocumentLocation::Overlay, Some(indexed));
        self.overlay_grams += count(&grams);
        self.overlay.insert(slot, grams);
    }

    /// Whether a document is still as it was reported in a generation.
    pub(crate) fn is_current(&self, slot: DocumentSlot, version: u64) -> bool {
        self.documents.get(slot).is_some_and(|record| record.version == version)
    }

    /// Whether a document is in a segment under a number.
    pub(crate) fn is_at(&self, slot: DocumentSlot, location: SegmentLocation) -> bool {
        let record = self.documents.get(slot);
        record.is_some_and(|record| record.location == DocumentLocation::Segment(location))
    }

    /// Whether a document was in a segment under a number when it was read last.
    pub(crate) fn was_at(&self, slot: DocumentSlot, location: SegmentLocation) -> bool {
        let former = DocumentLocation::Pending { former: Some(location) };
        self.documents.get(slot).is_some_and(|record| record.location == former)
    }

    pub(crate) fn segment_mut(&mut self, number: u32) -> Option<&mut LiveSegment> {
        self.segments.iter_mut().find(|live| live.number() == number)
    }

    /// Adds a segment behind the others, without documents that are in it.
    pub(crate) fn add_segment(&mut self, segment: Arc<IndexSegment>, numbers: SegmentNumbers) {
        self.segments.push(LiveSegment::new(segment, numbers));
    }

    /// Drops a segment that cannot be read: its documents are pending.
    pub(crate) fn drop_segment(&mut self, number: u32, problem: IndexProblem) {
        let Some(at) = self.segments.iter().position(|live| live.number() == number) else {
            return;
        };
        self.problem = Some(problem);
        let documents: Vec<NumberedDocument> = self.segments[at].numbers.documents().collect();
        for NumberedDocument { slot, first, .. } in documents {
            let location = SegmentLocation { segment: number, number: first };
            if self.is_at(slot, location) || self.was_at(slot, location) {
                self.put(slot, DocumentLocation::Pending { former: None }, None);
            }
        }
        self.segments.remove(at);
    }

    /// Takes out segments that another one stands for.
    pub(crate) fn retire_segments(&mut self, numbers: &[u32]) {
        let is_retired = |live: &LiveSegment| numbers.contains(&live.number());
        let all = std::mem::take(&mut self.segments).into_iter();
        let (retired, kept): (Vec<_>, Vec<_>) = all.partition(is_retired);
        self.segments = kept;
        for live in retired {
            for NumberedDocument { slot, first, .. } in live.numbers.documents() {
                let location = SegmentLocation { segment: live.number(), number: first };
                if self.was_at(slot, location)
                    && let Some(record) = self.documents.get_mut(slot)
                {
                    record.location = DocumentLocation::Pending { former: None };
                }
            }
        }
    }

    /// Returns a number for a new segment.
    pub(crate) fn number_segment(&mut self) -> Result<u32, IndexProblem> {
        let number = self.next_segment;
        let used_up = || IndexProblem::Unusable { reason: "its numbers are used up".to_owned() };
        self.next_segment = number.checked_add(1).ok_or_else(used_up)?;
        Ok(number)
    }

    pub(crate) fn manifest(&self) -> IndexManifest {
        let segments = self.segments.iter().map(|live| live.segment.name).collect();
        IndexManifest { segments, next: self.next_segment }
    }
}
