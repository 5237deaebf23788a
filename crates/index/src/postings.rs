//! Posting lists: which numbers of a segment have a trigram, ascending. Written as
//! differences, or as a bit for each number where that is shorter.

use crate::coding::{CodedBytes, put_number};

/// A list as it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PostingList<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) has_bits: bool,
}

/// Appends a list of ascending numbers below `limit`; returns whether it is one of bits.
pub(crate) fn put_list(bytes: &mut Vec<u8>, numbers: &[u32], limit: u32) -> bool {
    let start = bytes.len();
    let bits_bytes = limit.div_ceil(8) as usize;
    let mut next = 0;
    for number in numbers {
        put_number(bytes, u64::from(number - next));
        next = number + 1;
        if bytes.len() - start > bits_bytes {
            break;
        }
    }
    if bytes.len() - start <= bits_bytes {
        return false;
    }
    bytes.truncate(start);
    bytes.resize(start + bits_bytes, 0);
    for number in numbers {
        bytes[start + *number as usize / 8] |= 1 << (number % 8);
    }
    true
}

// === impl PostingList ===

impl PostingList<'_> {
    /// Reads the list of a segment whose numbers are below `limit`; none where it is damaged.
    pub(crate) fn numbers(self, limit: u32) -> Option<Vec<u32>> {
        let mut numbers = Vec::new();
        if self.has_bits {
            self.check_bits(limit)?;
            for (at, byte) in (0..).zip(self.bytes) {
                let mut bits = *byte;
                while bits != 0 {
                    numbers.push(at * 8 + bits.trailing_zeros());
                    bits &= bits - 1;
                }
            }
            return numbers.last().is_none_or(|last| *last < limit).then_some(numbers);
        }
        numbers.reserve(self.bytes.len());
        self.each(limit, |number| numbers.push(number))?;
        Some(numbers)
    }

    /// Keeps those of ascending numbers that are in the list; none where it is damaged.
    pub(crate) fn keep(self, kept: &mut Vec<u32>, limit: u32) -> Option<()> {
        if self.has_bits {
            self.check_bits(limit)?;
            kept.retain(|number| self.bytes[*number as usize / 8] & 1 << (number % 8) != 0);
            return Some(());
        }
        let (mut from, mut to) = (0, 0);
        self.each(limit, |number| {
            while from < kept.len() && kept[from] < number {
                from += 1;
            }
            if from < kept.len() && kept[from] == number {
                kept[to] = number;
                to += 1;
                from += 1;
            }
        })?;
        kept.truncate(to);
        Some(())
    }

    fn each(self, limit: u32, mut take: impl FnMut(u32)) -> Option<()> {
        let mut coded = CodedBytes(self.bytes);
        let mut next = 0_u32;
        while !coded.0.is_empty() {
            // Most differences are one byte.
            let difference = match coded.0 {
                [byte @ 0..=0x7f, rest @ ..] => {
                    coded.0 = rest;
                    u32::from(*byte)
                }
                _ => coded.small()?,
            };
            let number = next.checked_add(difference).filter(|number| *number < limit)?;
            take(number);
            next = number + 1;
        }
        Some(())
    }

    fn check_bits(self, limit: u32) -> Option<()> {
        (self.bytes.len() == limit.div_ceil(8) as usize).then_some(())
    }
}

#[cfg(test)]
mod tests;
