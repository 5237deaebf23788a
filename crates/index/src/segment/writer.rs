//! Writing a segment, from front to back.

use super::block::BlockDraft;
use super::{BlockEntry, DocumentsDraft, PieceEntry, SegmentFooter, SegmentName, put_directory};
use crate::coding::checksum;
use crate::grams::Gram;
use crate::problem::IndexProblem;
use crate::store::{IndexStore, StoredDraft};

/// A segment that is being written.
pub(crate) struct SegmentWriter {
    draft: Box<dyn StoredDraft>,
    number: u32,
    numbers: u32,
    block: BlockDraft,
    blocks: Vec<BlockEntry>,
    written_bytes: u64,
}

// === impl SegmentWriter ===

impl SegmentWriter {
    /// Begins the segment of a number, whose documents have so many numbers.
    pub(crate) fn create(
        store: &dyn IndexStore,
        number: u32,
        numbers: u32,
    ) -> Result<Self, IndexProblem> {
        let name = SegmentName { number, size_bytes: 0, checksum: 0 };
        Ok(Self {
            draft: store.draft(&name.file())?,
            number,
            numbers,
            block: BlockDraft::default(),
            blocks: Vec::new(),
            written_bytes: 0,
        })
    }

    /// Adds a posting list: ascending numbers, of a trigram above those before.
    pub(crate) fn push(&mut self, gram: Gram, numbers: &[u32]) -> Result<(), IndexProblem> {
        self.block.push(gram, numbers, self.numbers);
        if self.block.is_full() { self.end_block() } else { Ok(()) }
    }

    /// Writes the documents and what frames the segment, and gives it its name.
    pub(crate) fn finish(mut self, documents: DocumentsDraft) -> Result<SegmentName, IndexProblem> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        let documents_piece = self.write(&documents.bytes)?;
        let directory = self.write(&put_directory(&self.blocks))?;
        let blocks = self.blocks.len() as u32;
        let footer = SegmentFooter { numbers: self.numbers, blocks, documents_piece, directory };
        let footer = self.write(&footer.bytes())?;
        self.draft.finish()?;
        let (number, size_bytes) = (self.number, self.written_bytes);
        Ok(SegmentName { number, size_bytes, checksum: footer.checksum })
    }

    fn end_block(&mut self) -> Result<(), IndexProblem> {
        let (first, bytes) = self.block.take();
        let piece = self.write(&bytes)?;
        self.blocks.push(BlockEntry { first, piece });
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<PieceEntry, IndexProblem> {
        self.draft.write(bytes)?;
        let (start, size_bytes) = (self.written_bytes, bytes.len() as u64);
        self.written_bytes += size_bytes;
        Ok(PieceEntry { start, size_bytes, checksum: checksum(bytes) })
    }
}
