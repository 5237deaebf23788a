//! Lists of the chunks that have a term, with how often each field has it, in few bytes.

use crate::weights::{BODY, FIELDS};

/// So often and more is written behind the first byte.
const BODY_INLINE_MAX: u16 = 7;
const BODY_SHIFT: u32 = 5;
const BYTE_BITS: u32 = 7;
const MORE: u8 = 0x80;

/// One term in one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TermPosting {
    /// The number of the chunk.
    pub(crate) chunk: u32,
    /// How often it is in each field.
    pub(crate) counts: [u16; FIELDS],
}

/// A list that grows.
#[derive(Debug, Default, Clone)]
pub(crate) struct ChunkPostings {
    next: u32,
    pub(crate) bytes: Vec<u8>,
}

/// Reads a posting list from its start to its end.
#[derive(Debug)]
pub(crate) struct PostingReader<'a> {
    bytes: &'a [u8],
    next: u32,
}

// === impl ChunkPostings ===

impl ChunkPostings {
    /// Adds a posting behind the others: of a later chunk.
    pub(crate) fn push(&mut self, posting: &TermPosting) {
        write(&mut self.bytes, posting.chunk - self.next);
        self.next = posting.chunk + 1;
        let body = posting.counts[BODY];
        let others = (0..BODY).filter(|field| posting.counts[*field] > 0);
        let mask = others.clone().fold(0_u8, |mask, field| mask | 1 << field);
        // The highest bit of the mask says that each of the other fields has it once: those counts are left out.
        let are_ones = others.clone().all(|field| posting.counts[field] == 1);
        let ones = u8::from(are_ones) << BODY;
        let inline = u8::try_from(body.min(BODY_INLINE_MAX)).unwrap_or(u8::MAX);
        self.bytes.push(mask | ones | inline << BODY_SHIFT);
        if body >= BODY_INLINE_MAX {
            write(&mut self.bytes, u32::from(body));
        }
        if !are_ones {
            for field in others {
                write(&mut self.bytes, u32::from(posting.counts[field]));
            }
        }
    }
}

// === impl PostingReader ===

impl<'a> PostingReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, next: 0 }
    }

    fn number(&mut self) -> Option<u32> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        if first & MORE == 0 {
            return Some(u32::from(*first));
        }
        let (mut value, mut shift) = (u32::from(first & !MORE), BYTE_BITS);
        loop {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            value |= u32::from(byte & !MORE).checked_shl(shift)?;
            shift += BYTE_BITS;
            if byte & MORE == 0 {
                return Some(value);
            }
        }
    }

    fn count(&mut self) -> Option<u16> {
        self.number().map(|number| u16::try_from(number).unwrap_or(u16::MAX))
    }
}

impl Iterator for PostingReader<'_> {
    type Item = TermPosting;

    fn next(&mut self) -> Option<TermPosting> {
        let chunk = self.next.checked_add(self.number()?)?;
        self.next = chunk.checked_add(1)?;
        let (head, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        let mut counts = [0; FIELDS];
        counts[BODY] = u16::from(head >> BODY_SHIFT);
        if counts[BODY] == BODY_INLINE_MAX {
            counts[BODY] = self.count()?;
        }
        if head & 0x0f != 0 {
            let are_ones = head & (1 << BODY) != 0;
            for (field, count) in counts.iter_mut().enumerate().take(BODY) {
                if head & (1 << field) != 0 {
                    *count = if are_ones { 1 } else { self.count()? };
                }
            }
        }
        Some(TermPosting { chunk, counts })
    }
}

fn write(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= u32::from(MORE) {
        bytes.push(u8::try_from(number & 0x7f).unwrap_or_default() | MORE);
        number >>= BYTE_BITS;
    }
    bytes.push(u8::try_from(number).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(
            all in prop::collection::btree_map(any::<u32>().prop_map(|n| n / 2), any::<[u16; FIELDS]>(), 0..50),
            small in prop::collection::vec(0_u16..9, 0..50),
        ) {
            let mut all: Vec<TermPosting> =
                all.into_iter().map(|(chunk, counts)| TermPosting { chunk, counts }).collect();
            let after = all.last().map_or(0, |last| last.chunk + 1);
            all.extend((after..).zip(small).map(|(chunk, count)| TermPosting {
                chunk,
                counts: [0, count, 0, count / 2, count],
            }));
            let mut list = ChunkPostings::default();
            all.iter().for_each(|posting| list.push(posting));
            let read: Vec<_> = PostingReader::new(&list.bytes).collect();
            prop_assert_eq!(read, all);
        }

        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(PostingReader::new(&bytes).count() <= bytes.len());
        }
    }
}
