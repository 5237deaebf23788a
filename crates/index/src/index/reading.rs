//! Reading documents that have changed: on several threads, into memory where they are few and into
//! segments where they are many.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use moss_sdk::RelPath;

use super::TextIndex;
use super::opening::open_segment;
use crate::core::IndexCore;
use crate::document::{
    DocumentContent, DocumentKind, DocumentSource, IndexedDocument, MarkDigest, ReadDocument,
    TextHash,
};
use crate::grams::{Gram, GramCollector};
use crate::numbers::SegmentNumbers;
use crate::parts::parts;
use crate::problem::IndexProblem;
use crate::segment::{DocumentsDraft, SegmentName, SegmentWriter};
use crate::table::{DocumentLocation, DocumentSlot, SegmentLocation};

/// So many documents are taken at a time.
const TAKEN: usize = 32;
/// So many documents are worth another thread.
const DOCUMENTS_PER_THREAD: usize = 64;

/// A document that has to be read.
struct PendingDocument {
    slot: DocumentSlot,
    version: u64,
    path: RelPath,
    /// The text that it had when it was read last, where a segment still has it.
    former: Option<(SegmentLocation, IndexedDocument)>,
}

/// Documents that one thread has read.
struct ReadBatch {
    documents: Vec<BatchedDocument>,
    /// Trigram and number in the batch, part by part.
    postings: Vec<u64>,
    /// How many numbers they have by now: one for each part.
    numbers: u32,
    /// Documents whose text is that of a segment still, and those that could not be read.
    others: Vec<(DocumentSlot, u64, DocumentLocation, Option<IndexedDocument>)>,
}

struct BatchedDocument {
    slot: DocumentSlot,
    version: u64,
    path: RelPath,
    indexed: IndexedDocument,
    /// Where its postings end, and its numbers.
    end: usize,
    numbers_end: u32,
}

/// What the threads share that read.
struct ReadingRound<'a> {
    index: &'a TextIndex,
    source: &'a dyn DocumentSource,
    pending: &'a [PendingDocument],
    next: AtomicUsize,
    has_failed: AtomicBool,
    cancelled: &'a (dyn Fn() -> bool + Sync),
    batch_grams: usize,
    left: Mutex<Vec<ReadBatch>>,
    /// Held by whoever has a large document in memory.
    large: Mutex<()>,
}

// === impl TextIndex ===

impl TextIndex {
    /// Reads the documents that are pending at the moment.
    pub(super) fn read_pending(
        &self,
        source: &dyn DocumentSource,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), IndexProblem> {
        let pending = pending_documents(&self.read());
        if pending.is_empty() {
            return Ok(());
        }
        let threads = pending.len().div_ceil(DOCUMENTS_PER_THREAD).min(self.bounds.threads).max(1);
        let round = ReadingRound {
            index: self,
            source,
            pending: &pending,
            next: AtomicUsize::new(0),
            has_failed: AtomicBool::new(false),
            cancelled,
            batch_grams: self.bounds.reading_grams / threads,
            left: Mutex::default(),
            large: Mutex::default(),
        };
        let read: Vec<Result<(), IndexProblem>> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| round.read())).collect();
            let own = round.read();
            let others = others.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            others.chain([own]).collect()
        });
        let left = round.left.into_inner().unwrap_or_else(PoisonError::into_inner);
        read.into_iter().collect::<Result<(), _>>()?;
        let grams: usize = left.iter().map(|batch| batch.postings.len()).sum();
        if grams <= self.bounds.overlay_grams {
            let mut core = self.write();
            left.into_iter().for_each(|batch| batch.keep_in_memory(&mut core));
        } else {
            left.into_iter().try_for_each(|batch| self.write_batch(batch))?;
        }
        if self.read().overlay_grams > self.bounds.overlay_grams {
            return self.write_overlay();
        }
        Ok(())
    }

    /// Makes a segment of the documents that are only in memory.
    pub(super) fn write_overlay(&self) -> Result<(), IndexProblem> {
        let mut batch = ReadBatch::new(0);
        {
            let core = self.read();
            for (slot, grams) in &core.overlay {
                let Some(record) = core.documents.get(*slot) else { continue };
                let Some(indexed) = record.indexed else { continue };
                grams.iter().for_each(|part| batch.push_part(part));
                batch.push(*slot, record.version, record.path.clone(), indexed);
            }
        }
        self.write_batch(batch)
    }

    /// Makes a segment of documents that were read.
    fn write_batch(&self, mut batch: ReadBatch) -> Result<(), IndexProblem> {
        batch.put_others(&mut self.write());
        if batch.documents.is_empty() {
            return Ok(());
        }
        let number = self.write().number_segment()?;
        let name = batch.write(self, number)?;
        let bytes_max = self.bounds.disk_bytes;
        if self.read().disk_bytes() + name.size_bytes > bytes_max {
            return Err(IndexProblem::TooLarge { bytes_max });
        }
        // What cannot be read back at once is not worth keeping; its documents stay as they are.
        let segment = match open_segment(&*self.store, name) {
            Ok(segment) => Arc::new(segment),
            Err(problem) => {
                self.write().problem = Some(problem);
                return Ok(());
            }
        };
        {
            let mut core = self.write();
            let numbers = batch.segment_numbers();
            let firsts: Vec<u32> = numbers.documents().map(|document| document.first).collect();
            core.add_segment(segment, numbers);
            let is_gone = |document: &BatchedDocument| {
                let record = core.documents.get(document.slot);
                record.is_none_or(|record| record.path != document.path)
            };
            let has_gone = batch.documents.iter().any(is_gone);
            if let Some(live) = core.segment_mut(number) {
                live.must_rewrite = has_gone;
            }
            for (document, number_in) in batch.documents.iter().zip(firsts) {
                if core.is_current(document.slot, document.version) {
                    let location = SegmentLocation { segment: number, number: number_in };
                    let location = DocumentLocation::Segment(location);
                    core.put(document.slot, location, Some(document.indexed));
                }
            }
        }
        self.save()
    }
}

/// The documents that have to be read, neighbours together.
fn pending_documents(core: &IndexCore) -> Vec<PendingDocument> {
    let records = core.always.iter().filter_map(|slot| Some((*slot, core.documents.get(*slot)?)));
    let pending = records.filter_map(|(slot, record)| {
        let DocumentLocation::Pending { former } = record.location else { return None };
        let (version, path) = (record.version, record.path.clone());
        let former = former.zip(record.indexed);
        Some(PendingDocument { slot, version, path, former })
    });
    let mut pending: Vec<PendingDocument> = pending.collect();
    pending.sort_unstable_by(|one, two| one.path.cmp(&two.path));
    pending
}

// === impl ReadingRound ===

impl ReadingRound<'_> {
    fn read(&self) -> Result<(), IndexProblem> {
        let mut collector = GramCollector::new();
        let mut buffer = Vec::new();
        let mut batch = ReadBatch::new(self.batch_grams);
        loop {
            let start = self.next.fetch_add(TAKEN, Ordering::Relaxed);
            if start >= self.pending.len() {
                break;
            }
            let end = (start + TAKEN).min(self.pending.len());
            for document in &self.pending[start..end] {
                if (self.cancelled)() || self.has_failed.load(Ordering::Relaxed) {
                    self.next.store(self.pending.len(), Ordering::Relaxed);
                    break;
                }
                self.read_document(document, &mut collector, &mut buffer, &mut batch);
                if batch.postings.len() >= self.batch_grams {
                    let full = std::mem::replace(&mut batch, ReadBatch::new(self.batch_grams));
                    let written = self.index.write_batch(full);
                    self.has_failed.fetch_or(written.is_err(), Ordering::Relaxed);
                    written?;
                }
            }
        }
        self.left.lock().unwrap_or_else(PoisonError::into_inner).push(batch);
        Ok(())
    }

    fn read_document(
        &self,
        document: &PendingDocument,
        collector: &mut GramCollector,
        buffer: &mut Vec<u8>,
        batch: &mut ReadBatch,
    ) {
        let now = SystemTime::now();
        let read = self.source.read(&document.path, buffer);
        if !matches!(read.content, DocumentContent::Large) {
            return self.take_in(document, (&read, now), collector, batch);
        }
        // With its trigrams in hand the next one may come, and needs the room.
        let _alone = self.large.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, mut buffer) = (SystemTime::now(), Vec::new());
        let read = self.source.read_large(&document.path, &mut buffer);
        self.take_in(document, (&read, now), collector, batch);
    }

    /// Takes in a document that was read at a time.
    fn take_in(
        &self,
        document: &PendingDocument,
        (read, now): (&ReadDocument<'_>, SystemTime),
        collector: &mut GramCollector,
        batch: &mut ReadBatch,
    ) {
        let PendingDocument { slot, version, path, former } = document;
        let mark = read.mark.map_or(MarkDigest::NONE, |mark| mark.digest());
        let is_unsettled = read.mark.is_none_or(|mark| mark.is_unsettled(now));
        let hash = match &read.content {
            DocumentContent::Text(text) => TextHash::of(text.as_bytes()),
            _ => TextHash::NONE,
        };
        let kind = DocumentKind::Listed;
        let is_plain = read.is_plain();
        let mut indexed = IndexedDocument { mark, hash, kind, is_unsettled, is_plain };
        let text = match &read.content {
            DocumentContent::Unread | DocumentContent::Large => {
                indexed.kind = DocumentKind::Unlisted;
                batch.others.push((*slot, *version, DocumentLocation::Unread, Some(indexed)));
                return;
            }
            DocumentContent::Binary => {
                indexed.kind = DocumentKind::Binary;
                &[]
            }
            DocumentContent::Text(text) => {
                if let Some((location, before)) = former
                    && before.hash == hash
                    && before.kind != DocumentKind::Binary
                {
                    indexed.kind = before.kind;
                    let location = DocumentLocation::Segment(*location);
                    batch.others.push((*slot, *version, location, Some(indexed)));
                    return;
                }
                text.as_bytes()
            }
        };
        let bounds = &self.index.bounds;
        let mut left = bounds.document_grams;
        for part in parts(text, bounds.part_bytes) {
            let grams = collector.collect(part);
            if grams.len() > bounds.part_grams.min(left) {
                indexed.kind = DocumentKind::Unlisted;
                batch.drop_parts();
                batch.push_part(&[]);
                break;
            }
            left -= grams.len();
            batch.push_part(grams);
        }
        batch.push(*slot, *version, path.clone(), indexed);
    }
}

// === impl ReadBatch ===

impl ReadBatch {
    fn new(grams: usize) -> Self {
        let postings = Vec::with_capacity(grams);
        Self { documents: Vec::new(), postings, numbers: 0, others: Vec::new() }
    }

    /// Adds the trigrams of the next part of a document.
    fn push_part(&mut self, grams: &[Gram]) {
        let number = u64::from(self.numbers);
        self.postings.extend(grams.iter().map(|gram| u64::from(*gram) << 32 | number));
        self.numbers += 1;
    }

    /// Forgets the parts that are of no document yet.
    fn drop_parts(&mut self) {
        let end = self.documents.last().map_or((0, 0), |last| (last.end, last.numbers_end));
        self.postings.truncate(end.0);
        self.numbers = end.1;
    }

    /// Adds the document that the parts before are of.
    fn push(&mut self, slot: DocumentSlot, version: u64, path: RelPath, indexed: IndexedDocument) {
        let (end, numbers_end) = (self.postings.len(), self.numbers);
        self.documents.push(BatchedDocument { slot, version, path, indexed, end, numbers_end });
    }

    /// Returns whose its numbers are.
    fn segment_numbers(&self) -> SegmentNumbers {
        let mut numbers = SegmentNumbers::default();
        for document in &self.documents {
            numbers.push(document.slot, document.numbers_end - numbers.len());
        }
        numbers
    }

    /// Puts the documents that need no new postings where they belong.
    fn put_others(&mut self, core: &mut IndexCore) {
        for (slot, version, location, indexed) in self.others.drain(..) {
            if !core.is_current(slot, version) {
                continue;
            }
            if let DocumentLocation::Segment(location) = location {
                // The segment may have turned out to be damaged meanwhile.
                if !core.was_at(slot, location) {
                    continue;
                }
                if let Some(live) = core.segment_mut(location.segment) {
                    live.remarked += 1;
                }
            }
            core.put(slot, location, indexed);
        }
    }

    fn keep_in_memory(mut self, core: &mut IndexCore) {
        self.put_others(core);
        let (mut left, mut number) = (self.postings.as_slice(), 0);
        for document in self.documents {
            let mut parts = Vec::new();
            while number < document.numbers_end {
                let end = left.partition_point(|posting| *posting as u32 == number);
                let (part, behind) = left.split_at(end);
                let mut grams: Box<[Gram]> =
                    part.iter().map(|posting| (posting >> 32) as Gram).collect();
                grams.sort_unstable();
                parts.push(grams);
                (left, number) = (behind, number + 1);
            }
            if core.is_current(document.slot, document.version) {
                core.put_overlay(document.slot, document.indexed, parts.into());
            }
        }
    }

    fn write(&mut self, index: &TextIndex, number: u32) -> Result<SegmentName, IndexProblem> {
        self.postings.sort_unstable();
        let mut writer = SegmentWriter::create(&*index.store, number, self.numbers)?;
        let mut numbers = Vec::new();
        for postings in self.postings.chunk_by(|one, two| one >> 32 == two >> 32) {
            numbers.clear();
            numbers.extend(postings.iter().map(|posting| *posting as u32));
            writer.push((postings[0] >> 32) as Gram, &numbers)?;
        }
        let mut draft = DocumentsDraft::default();
        let mut numbers_start = 0;
        for document in &self.documents {
            draft.push(&document.path, &document.indexed, document.numbers_end - numbers_start);
            numbers_start = document.numbers_end;
        }
        writer.finish(draft)
    }
}
