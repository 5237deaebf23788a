//! A block: a few trigrams in order, then their posting lists.

use crate::coding::{CodedBytes, put_number};
use crate::grams::Gram;
use crate::postings::{PostingList, put_list};

/// Once a block has so many bytes, the next list begins another one.
const BLOCK_BYTES: usize = 4 << 10;

/// A block in memory, checked.
pub(crate) struct LoadedBlock {
    bytes: Vec<u8>,
    first: Gram,
    lists: u32,
    /// Where the table of its trigrams begins, and the lists.
    table_start: usize,
    lists_start: usize,
}

/// A block that is being filled.
#[derive(Default)]
pub(super) struct BlockDraft {
    table: Vec<u8>,
    lists: Vec<u8>,
    count: u32,
    first: Gram,
    last: Gram,
}

// === impl LoadedBlock ===

impl LoadedBlock {
    /// Takes a block apart; none where it cannot be one.
    pub(super) fn read(bytes: Vec<u8>, first: Gram) -> Option<Self> {
        let mut coded = CodedBytes(&bytes);
        let lists = coded.small()?;
        let table_start = bytes.len() - coded.0.len();
        let mut lists_bytes = 0_usize;
        let mut gram = first;
        for at in 0..lists {
            let difference = coded.small()?;
            if at > 0 && difference == 0 {
                return None;
            }
            gram = gram.checked_add(difference)?;
            lists_bytes = lists_bytes.checked_add(usize::try_from(coded.number()? >> 1).ok()?)?;
        }
        let lists_start = bytes.len() - coded.0.len();
        let is_whole = coded.0.len() == lists_bytes;
        is_whole.then_some(Self { bytes, first, lists, table_start, lists_start })
    }

    /// Returns the posting list of a trigram.
    pub(crate) fn list(&self, gram: Gram) -> Option<PostingList<'_>> {
        self.lists()
            .take_while(|(one, _)| *one <= gram)
            .find(|(one, _)| *one == gram)
            .map(|(_, list)| list)
    }

    /// Returns its posting lists, in the order of their trigrams.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (Gram, PostingList<'_>)> {
        let mut table = CodedBytes(&self.bytes[self.table_start..self.lists_start]);
        let mut lists = CodedBytes(&self.bytes[self.lists_start..]);
        let mut gram = self.first;
        (0..self.lists).map_while(move |_| {
            gram += table.small()?;
            let size = table.number()?;
            let bytes = lists.take((size >> 1) as usize)?;
            Some((gram, PostingList { bytes, has_bits: size & 1 == 1 }))
        })
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.len() + size_of::<Self>()
    }
}

// === impl BlockDraft ===

impl BlockDraft {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn is_full(&self) -> bool {
        self.table.len() + self.lists.len() >= BLOCK_BYTES
    }

    /// Adds the list of the next trigram.
    pub(super) fn push(&mut self, gram: Gram, numbers: &[u32], limit: u32) {
        if self.is_empty() {
            (self.first, self.last) = (gram, gram);
        }
        let start = self.lists.len();
        let has_bits = put_list(&mut self.lists, numbers, limit);
        let size = (self.lists.len() - start) as u64;
        put_number(&mut self.table, u64::from(gram - self.last));
        put_number(&mut self.table, size << 1 | u64::from(has_bits));
        self.last = gram;
        self.count += 1;
    }

    /// Ends the block: its first trigram and its bytes.
    pub(super) fn take(&mut self) -> (Gram, Vec<u8>) {
        let mut bytes = Vec::with_capacity(self.table.len() + self.lists.len() + 4);
        put_number(&mut bytes, u64::from(self.count));
        bytes.append(&mut self.table);
        bytes.append(&mut self.lists);
        self.count = 0;
        (self.first, bytes)
    }
}
