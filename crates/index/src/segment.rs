//! Segments: files that never change, each with some documents and where their trigrams occur. Posting lists have
//! numbers: one of each document, or several in a row of one whose text was cut into parts.
//!
//! A segment is written from front to back: blocks of posting lists, its documents, the directory of
//! its blocks, a footer. Each of them has a sum in what is read before it (the manifest has the
//! footer's), so that whoever reads a list checks that block alone. `writer` writes segments,
//! `block` knows a block from inside.

mod block;
mod documents;
mod writer;

pub(crate) use self::block::LoadedBlock;
pub(crate) use self::documents::{DocumentsDraft, StoredDocument};
pub(crate) use self::writer::SegmentWriter;

use crate::coding::{CodedBytes, FORMAT, checksum, put_number};
use crate::grams::Gram;
use crate::problem::IndexProblem;
use crate::store::StoredPieces;

/// How the names of segments end.
pub(crate) const SEGMENT: &str = ".segment";

const MAGIC: [u8; 8] = *b"mossgram";
const FOOTER_BYTES: u64 = 64;
/// Most bytes of a piece that is held in memory at once: no damaged length asks for more.
const PIECE_BYTES_MAX: u64 = 1 << 30;

/// A segment, as the manifest names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentName {
    /// Its number, which no other segment of the index ever has.
    pub(crate) number: u32,
    /// How long it is.
    pub(crate) size_bytes: u64,
    /// The sum of its footer.
    pub(crate) checksum: u64,
}

/// A segment with its directory in memory; its documents and lists are read on demand.
pub(crate) struct IndexSegment {
    pub(crate) name: SegmentName,
    /// How many numbers its documents have.
    pub(crate) numbers: u32,
    pieces: Box<dyn StoredPieces>,
    blocks: Vec<BlockEntry>,
    documents_piece: PieceEntry,
}

/// Where a block lies, and the first of its trigrams.
#[derive(Debug, Clone, Copy)]
struct BlockEntry {
    first: Gram,
    piece: PieceEntry,
}

/// A piece of the file and the sum of its bytes.
#[derive(Debug, Clone, Copy)]
struct PieceEntry {
    start: u64,
    size_bytes: u64,
    checksum: u64,
}

/// What the end of a segment says about the rest.
struct SegmentFooter {
    numbers: u32,
    blocks: u32,
    documents_piece: PieceEntry,
    directory: PieceEntry,
}

// === impl SegmentName ===

impl SegmentName {
    /// What the file is called.
    pub(crate) fn file(&self) -> String {
        format!("{FORMAT}-{:08x}{SEGMENT}", self.number)
    }

    fn damaged(&self, what: &'static str) -> IndexProblem {
        IndexProblem::damaged(&self.file(), what)
    }
}

// === impl IndexSegment ===

impl IndexSegment {
    /// Opens a segment and checks its frame.
    pub(crate) fn open(
        name: SegmentName,
        pieces: Box<dyn StoredPieces>,
    ) -> Result<Self, IndexProblem> {
        let start = name.size_bytes.checked_sub(FOOTER_BYTES);
        let start = start.filter(|_| pieces.size_bytes() == name.size_bytes);
        let start = start.ok_or_else(|| name.damaged("another length"))?;
        let entry = PieceEntry { start, size_bytes: FOOTER_BYTES, checksum: name.checksum };
        let footer = read_piece(&*pieces, name, entry)?;
        let footer = SegmentFooter::read(&footer).filter(|footer| footer.fits(start));
        let footer = footer.ok_or_else(|| name.damaged("a footer that cannot be"))?;
        let directory = read_piece(&*pieces, name, footer.directory)?;
        let blocks = read_directory(&directory, &footer);
        let blocks = blocks.ok_or_else(|| name.damaged("a directory that cannot be"))?;
        let SegmentFooter { numbers, documents_piece, .. } = footer;
        Ok(Self { name, numbers, pieces, blocks, documents_piece })
    }

    /// How much memory its directory takes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<BlockEntry>()
    }

    /// Reads its documents, in the order of their numbers.
    pub(crate) fn read_documents(&self) -> Result<Vec<StoredDocument>, IndexProblem> {
        let bytes = read_piece(&*self.pieces, self.name, self.documents_piece)?;
        documents::read(&bytes, self.numbers)
            .ok_or_else(|| self.name.damaged("documents that cannot be"))
    }

    /// Returns the only block that can have a trigram; none where no block can.
    pub(crate) fn block_of(&self, gram: Gram) -> Option<u32> {
        let after = self.blocks.partition_point(|block| block.first <= gram);
        u32::try_from(after.checked_sub(1)?).ok()
    }

    /// Returns how many blocks there are.
    pub(crate) fn blocks(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// Reads and checks a block.
    pub(crate) fn read_block(&self, number: u32) -> Result<LoadedBlock, IndexProblem> {
        let entry = self.blocks[number as usize];
        let bytes = read_piece(&*self.pieces, self.name, entry.piece)?;
        LoadedBlock::read(bytes, entry.first)
            .ok_or_else(|| self.name.damaged("a block that cannot be"))
    }

    /// The problem of a list that its block's sum did not show.
    pub(crate) fn damaged_list(&self) -> IndexProblem {
        self.name.damaged("a list that cannot be")
    }
}

fn read_piece(
    pieces: &dyn StoredPieces,
    name: SegmentName,
    entry: PieceEntry,
) -> Result<Vec<u8>, IndexProblem> {
    let size = usize::try_from(entry.size_bytes.min(PIECE_BYTES_MAX)).unwrap_or(usize::MAX);
    let mut bytes = vec![0; size];
    let read = pieces.read_exact_at(&mut bytes, entry.start);
    read.map_err(|_| name.damaged("a piece that cannot be read"))?;
    if checksum(&bytes) == entry.checksum { Ok(bytes) } else { Err(name.damaged("another sum")) }
}

fn read_directory(bytes: &[u8], footer: &SegmentFooter) -> Option<Vec<BlockEntry>> {
    let mut coded = CodedBytes(bytes);
    let mut blocks: Vec<BlockEntry> = Vec::new();
    let mut start = 0;
    for _ in 0..footer.blocks {
        let before = blocks.last().map_or(0, |block| block.first);
        let first = before.checked_add(coded.small()?)?;
        let size_bytes = coded.number()?;
        let checksum = u64::from_le_bytes(coded.array()?);
        blocks.push(BlockEntry { first, piece: PieceEntry { start, size_bytes, checksum } });
        start = start.checked_add(size_bytes)?;
    }
    let is_whole = coded.0.is_empty() && start == footer.documents_piece.start;
    is_whole.then_some(blocks)
}

fn put_directory(blocks: &[BlockEntry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut before = 0;
    for block in blocks {
        put_number(&mut bytes, u64::from(block.first - before));
        put_number(&mut bytes, block.piece.size_bytes);
        bytes.extend(block.piece.checksum.to_le_bytes());
        before = block.first;
    }
    bytes
}

// === impl SegmentFooter ===

impl SegmentFooter {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut coded = CodedBytes(bytes);
        if coded.array()? != MAGIC {
            return None;
        }
        let numbers = u32::from_le_bytes(coded.array()?);
        let blocks = u32::from_le_bytes(coded.array()?);
        let mut piece = || {
            let mut number = || coded.array().map(u64::from_le_bytes);
            Some(PieceEntry { start: number()?, size_bytes: number()?, checksum: number()? })
        };
        let (documents_piece, directory) = (piece()?, piece()?);
        Some(Self { numbers, blocks, documents_piece, directory })
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.numbers.to_le_bytes());
        bytes.extend(self.blocks.to_le_bytes());
        for piece in [self.documents_piece, self.directory] {
            bytes.extend(piece.start.to_le_bytes());
            bytes.extend(piece.size_bytes.to_le_bytes());
            bytes.extend(piece.checksum.to_le_bytes());
        }
        bytes
    }

    /// Whether its pieces follow each other up to where it begins.
    fn fits(&self, footer_start: u64) -> bool {
        let end = |piece: PieceEntry| piece.start.checked_add(piece.size_bytes);
        end(self.documents_piece) == Some(self.directory.start)
            && end(self.directory) == Some(footer_start)
    }
}
