//! The documents that there are, and where the index has each.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use moss_sdk::RelPath;

use crate::document::IndexedDocument;

/// Where a document stands in the table; free again once the document is gone.
pub(crate) type DocumentSlot = u32;

/// The documents that there are, by slot and by path.
#[derive(Default)]
pub(crate) struct DocumentTable {
    records: Vec<Option<DocumentRecord>>,
    free: Vec<DocumentSlot>,
    by_path: HashTable<DocumentSlot>,
    hashing: RandomState,
    /// Another number each time that a path gets a slot or leaves it; no two tables share one.
    layout: u64,
    /// The bytes of all paths.
    path_bytes: usize,
}

/// A document that there is.
#[derive(Debug)]
pub(crate) struct DocumentRecord {
    pub(crate) path: RelPath,
    pub(crate) location: DocumentLocation,
    /// What is known of it where it has been read.
    pub(crate) indexed: Option<IndexedDocument>,
    /// The version of the index in which it changed last: what was read before counts no longer.
    pub(crate) version: u64,
    /// The last listing that it was in.
    pub(crate) listing: u32,
}

/// Where the trigrams of a document are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentLocation {
    /// In no segment: it has to be read. The text that it had when it was read last may be in a segment.
    Pending { former: Option<SegmentLocation> },
    /// In no segment: it could not be read, and is not tried again before it changes.
    Unread,
    /// In memory, not yet written to a segment.
    Overlay,
    /// In a segment on disk.
    Segment(SegmentLocation),
}

/// A document of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentLocation {
    /// The number of the segment.
    pub(crate) segment: u32,
    /// The number of the document in it.
    pub(crate) number: u32,
}

/// Returns a number that no table has had.
fn next_layout() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

// === impl DocumentTable ===

impl DocumentTable {
    /// Returns how many documents there are.
    pub(crate) fn len(&self) -> usize {
        self.by_path.len()
    }

    /// Returns what slots stay the same by: as long as it is the same, no path has another one.
    pub(crate) fn layout(&self) -> u64 {
        self.layout
    }

    /// Returns how many slots there are, those that are free included.
    pub(crate) fn slots(&self) -> usize {
        self.records.len()
    }

    /// Roughly how much memory they take.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.records.capacity() * size_of::<Option<DocumentRecord>>()
            + self.free.capacity() * size_of::<DocumentSlot>()
            + self.by_path.allocation_size()
            + self.path_bytes
    }

    pub(crate) fn find(&self, path: &RelPath) -> Option<DocumentSlot> {
        let hash = self.hashing.hash_one(path.as_str());
        self.by_path.find(hash, |slot| self.is_at(*slot, path)).copied()
    }

    pub(crate) fn get(&self, slot: DocumentSlot) -> Option<&DocumentRecord> {
        self.records.get(slot as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, slot: DocumentSlot) -> Option<&mut DocumentRecord> {
        self.records.get_mut(slot as usize)?.as_mut()
    }

    /// Returns the documents with their slots, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (DocumentSlot, &DocumentRecord)> {
        (0..).zip(&self.records).filter_map(|(slot, record)| Some((slot, record.as_ref()?)))
    }

    /// Returns the slot of a path, a new one if it has none. A new document is pending.
    pub(crate) fn slot(&mut self, path: &RelPath) -> DocumentSlot {
        let hash = self.hashing.hash_one(path.as_str());
        let records = &mut self.records;
        let is_it = |slot: &DocumentSlot| {
            records[*slot as usize].as_ref().is_some_and(|record| record.path == *path)
        };
        let hash_of = |slot: &DocumentSlot| {
            let record = records[*slot as usize].as_ref();
            record.map_or(0, |record| self.hashing.hash_one(record.path.as_str()))
        };
        let vacant = match self.by_path.entry(hash, is_it, hash_of) {
            Entry::Occupied(found) => return *found.get(),
            Entry::Vacant(vacant) => vacant,
        };
        let record = DocumentRecord {
            path: path.clone(),
            location: DocumentLocation::Pending { former: None },
            indexed: None,
            version: 0,
            listing: 0,
        };
        self.layout = next_layout();
        self.path_bytes += path.as_str().len();
        let slot = self.free.pop().unwrap_or(records.len() as DocumentSlot);
        vacant.insert(slot);
        match records.get_mut(slot as usize) {
            Some(free) => *free = Some(record),
            None => records.push(Some(record)),
        }
        slot
    }

    pub(crate) fn remove(&mut self, slot: DocumentSlot) {
        let Some(path) = self.get(slot).map(|record| record.path.clone()) else { return };
        let hash = self.hashing.hash_one(path.as_str());
        if let Ok(found) = self.by_path.find_entry(hash, |one| *one == slot) {
            found.remove();
        }
        self.path_bytes -= path.as_str().len();
        self.records[slot as usize] = None;
        self.free.push(slot);
        self.layout = next_layout();
    }

    fn is_at(&self, slot: DocumentSlot, path: &RelPath) -> bool {
        self.get(slot).is_some_and(|record| record.path == *path)
    }
}
