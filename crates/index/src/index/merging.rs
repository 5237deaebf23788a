//! Making one segment of several: of what is current in them, list by list, with memory for a block
//! of each.

use std::sync::Arc;

use super::TextIndex;
use super::opening::open_segment;
use crate::core::IndexCore;
use crate::grams::Gram;
use crate::numbers::{NumberedDocument, SegmentNumbers};
use crate::problem::IndexProblem;
use crate::segment::{DocumentsDraft, IndexSegment, SegmentWriter};
use crate::table::{DocumentLocation, SegmentLocation};

/// Stands for the number of a document that is not taken over.
const LEFT_OUT: u32 = u32::MAX;
/// How often it is asked whether the merge is cancelled: once in so many lists.
const LISTS_PER_CHECK: usize = 1 << 10;

/// A merge that can be carried out without the state of the index.
struct SegmentMerge {
    sources: Vec<MergeSource>,
    documents: DocumentsDraft,
    /// Whose the new numbers are.
    numbers: SegmentNumbers,
    /// Where each new document was.
    before: Vec<SegmentLocation>,
}

/// A segment that is read through.
struct MergeSource {
    segment: Arc<IndexSegment>,
    /// The new number of each of its numbers.
    numbers: Vec<u32>,
    /// The number of the next block, and the lists of the one before that are left, the last first.
    block: u32,
    lists: Vec<MergedList>,
    gram: Option<Gram>,
}

/// A list that was read: its trigram, and old numbers.
struct MergedList {
    gram: Gram,
    numbers: Vec<u32>,
}

/// Why a merge came to nothing.
enum MergeStop {
    Cancelled,
    Damaged(u32, IndexProblem),
    Failed(IndexProblem),
}

// === impl TextIndex ===

impl TextIndex {
    /// Writes segments anew that are mostly out of date, and makes one of several.
    pub(super) fn merge_stale(
        &self,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), IndexProblem> {
        let merge = {
            let core = self.read();
            let chosen = chosen_segments(&core, self.bounds.segments);
            if chosen.is_empty() {
                return Ok(());
            }
            SegmentMerge::new(&core, &chosen)
        };
        match self.merge(merge, cancelled) {
            Ok(()) => self.save(),
            Err(MergeStop::Cancelled) => Ok(()),
            Err(MergeStop::Damaged(number, problem)) => {
                self.write().drop_segment(number, problem);
                self.save()
            }
            Err(MergeStop::Failed(problem)) => Err(problem),
        }
    }

    fn merge(
        &self,
        mut merge: SegmentMerge,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), MergeStop> {
        let old: Vec<u32> = merge.sources.iter().map(|one| one.segment.name.number).collect();
        let mut merged = None;
        if !merge.before.is_empty() {
            let number = self.write().number_segment()?;
            let mut writer = SegmentWriter::create(&*self.store, number, merge.numbers.len())?;
            merge.write_lists(&mut writer, cancelled)?;
            let name = writer.finish(merge.documents)?;
            let segment = open_segment(&*self.store, name);
            merged = Some(Arc::new(segment.map_err(MergeStop::Failed)?));
        }
        let mut core = self.write();
        if let Some(segment) = merged {
            let number = segment.name.number;
            let documents: Vec<NumberedDocument> = merge.numbers.documents().collect();
            core.add_segment(segment, merge.numbers);
            let mut has_gone = false;
            for (NumberedDocument { slot, first, .. }, before) in
                documents.into_iter().zip(merge.before)
            {
                let location = SegmentLocation { segment: number, number: first };
                let indexed = core.documents.get(slot).and_then(|record| record.indexed);
                if core.is_at(slot, before) {
                    core.put(slot, DocumentLocation::Segment(location), indexed);
                } else if core.was_at(slot, before) {
                    core.put(slot, DocumentLocation::Pending { former: Some(location) }, indexed);
                } else {
                    has_gone = true;
                }
            }
            if let Some(live) = core.segment_mut(number) {
                live.must_rewrite = has_gone;
            }
        }
        core.retire_segments(&old);
        Ok(())
    }
}

/// The numbers of segments to be written anew: those out of date, and where there are too many all
/// but those that are much larger than the rest.
fn chosen_segments(core: &IndexCore, segments_max: usize) -> Vec<u32> {
    let mut by_size: Vec<_> = core.segments.iter().collect();
    by_size.sort_unstable_by_key(|live| live.segment.name.size_bytes);
    let mut small = 0;
    if core.segments.len() > segments_max {
        let mut before = 0;
        for (at, live) in by_size.iter().enumerate() {
            let size = live.segment.name.size_bytes;
            if at < 2 || size < 2 * before {
                small = at + 1;
            }
            before += size;
        }
    }
    let chosen = by_size.iter().enumerate().filter(|(at, live)| *at < small || live.is_stale());
    chosen.map(|(_, live)| live.number()).collect()
}

// === impl SegmentMerge ===

impl SegmentMerge {
    fn new(core: &IndexCore, chosen: &[u32]) -> Self {
        let mut merge = Self {
            sources: Vec::new(),
            documents: DocumentsDraft::default(),
            numbers: SegmentNumbers::default(),
            before: Vec::new(),
        };
        for live in core.segments.iter().filter(|live| chosen.contains(&live.number())) {
            let mut numbers = vec![LEFT_OUT; live.numbers.len() as usize];
            for NumberedDocument { slot, first, count } in live.numbers.documents() {
                let location = SegmentLocation { segment: live.number(), number: first };
                let record = core.documents.get(slot).filter(|_| core.is_at(slot, location));
                if let Some((record, indexed)) = record.and_then(|one| Some((one, one.indexed?))) {
                    for (old, new) in (first..first + count).zip(merge.numbers.len()..) {
                        numbers[old as usize] = new;
                    }
                    merge.documents.push(&record.path, &indexed, count);
                    merge.numbers.push(slot, count);
                    merge.before.push(location);
                }
            }
            merge.sources.push(MergeSource::new(live.segment.clone(), numbers));
        }
        merge
    }

    fn write_lists(
        &mut self,
        writer: &mut SegmentWriter,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), MergeStop> {
        for source in &mut self.sources {
            source.next_list()?;
        }
        let mut numbers = Vec::new();
        let mut lists = 0;
        while let Some(gram) = self.sources.iter().filter_map(|source| source.gram).min() {
            lists += 1;
            if lists % LISTS_PER_CHECK == 0 && cancelled() {
                return Err(MergeStop::Cancelled);
            }
            numbers.clear();
            for source in self.sources.iter_mut().filter(|source| source.gram == Some(gram)) {
                source.take_list(&mut numbers)?;
            }
            if !numbers.is_empty() {
                writer.push(gram, &numbers)?;
            }
        }
        Ok(())
    }
}

// === impl MergeSource ===

impl MergeSource {
    fn new(segment: Arc<IndexSegment>, numbers: Vec<u32>) -> Self {
        Self { segment, numbers, block: 0, lists: Vec::new(), gram: None }
    }

    /// Adds the new numbers of those in the list, and goes to the next one.
    fn take_list(&mut self, numbers: &mut Vec<u32>) -> Result<(), MergeStop> {
        if let Some(list) = self.lists.pop() {
            let new = list.numbers.into_iter().map(|number| self.numbers[number as usize]);
            numbers.extend(new.filter(|number| *number != LEFT_OUT));
        }
        self.next_list()
    }

    /// Goes to the next list, in the next block where the one at hand has no more.
    fn next_list(&mut self) -> Result<(), MergeStop> {
        while self.lists.is_empty() && self.block < self.segment.blocks() {
            self.lists = self
                .read_block()
                .map_err(|problem| MergeStop::Damaged(self.segment.name.number, problem))?;
            self.block += 1;
        }
        let next = self.lists.last().map(|list| list.gram);
        // Trigrams that do not ascend would be lost.
        if self.gram.is_some_and(|before| next.is_some_and(|next| next <= before)) {
            let problem = self.segment.damaged_list();
            return Err(MergeStop::Damaged(self.segment.name.number, problem));
        }
        self.gram = next;
        Ok(())
    }

    fn read_block(&self) -> Result<Vec<MergedList>, IndexProblem> {
        let block = self.segment.read_block(self.block)?;
        let lists = block.lists().map(|(gram, list)| {
            let numbers = list.numbers(self.segment.numbers);
            Ok(MergedList { gram, numbers: numbers.ok_or_else(|| self.segment.damaged_list())? })
        });
        let mut lists = lists.collect::<Result<Vec<_>, IndexProblem>>()?;
        lists.reverse();
        Ok(lists)
    }
}

// === impl MergeStop ===

impl From<IndexProblem> for MergeStop {
    fn from(problem: IndexProblem) -> Self {
        Self::Failed(problem)
    }
}
