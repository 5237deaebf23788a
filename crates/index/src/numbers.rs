//! Which numbers of a segment are whose: a document has one, or, where its text was cut into parts, one for each of
//! them, one after the other.

use std::collections::BTreeSet;

use crate::table::DocumentSlot;

/// The numbers of a segment, each a document or a part of one.
#[derive(Debug, Default)]
pub(crate) struct SegmentNumbers {
    /// The slot of each number's document. The slot says whether it is still there.
    slots: Vec<DocumentSlot>,
    /// The documents that have several: the first of them, and how many.
    split: Vec<(u32, u32)>,
}

/// A document among the numbers of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberedDocument {
    pub(crate) slot: DocumentSlot,
    /// The first of its numbers, which it is known by.
    pub(crate) first: u32,
    /// How many it has: at least one.
    pub(crate) count: u32,
}

// === impl SegmentNumbers ===

impl SegmentNumbers {
    /// Gives the next numbers to a document, so many.
    pub(crate) fn push(&mut self, slot: DocumentSlot, count: u32) {
        let first = self.len();
        self.slots.resize(self.slots.len() + count as usize, slot);
        if count > 1 {
            self.split.push((first, count));
        }
    }

    /// Returns how many there are.
    pub(crate) fn len(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Whether some number is of one of these documents.
    pub(crate) fn has_any(&self, slots: &BTreeSet<DocumentSlot>) -> bool {
        !slots.is_empty() && self.slots.iter().any(|slot| slots.contains(slot))
    }

    /// Whether some document has several.
    pub(crate) fn has_split(&self) -> bool {
        !self.split.is_empty()
    }

    /// Returns the document that has a number.
    pub(crate) fn document(&self, number: u32) -> NumberedDocument {
        let after = self.split.partition_point(|(first, _)| *first <= number);
        let before = after.checked_sub(1).map(|at| self.split[at]);
        let split = before.filter(|(first, count)| number - first < *count);
        let (first, count) = split.unwrap_or((number, 1));
        NumberedDocument { slot: self.slots[number as usize], first, count }
    }

    /// Returns the documents in the order of their numbers.
    pub(crate) fn documents(&self) -> impl Iterator<Item = NumberedDocument> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let document = (next < self.len()).then(|| self.document(next))?;
            next += document.count;
            Some(document)
        })
    }

    /// Returns the documents that have some ascending numbers, each once with those that it has.
    pub(crate) fn grouped<'a>(
        &self,
        numbers: &'a [u32],
    ) -> impl Iterator<Item = (NumberedDocument, &'a [u32])> {
        let mut left = numbers;
        std::iter::from_fn(move || {
            let document = self.document(*left.first()?);
            let end = document.first + document.count;
            let (own, behind) =
                left.split_at(left.iter().take_while(|number| **number < end).count());
            left = behind;
            Some((document, own))
        })
    }

    /// Returns the documents that have some ascending numbers, each once.
    pub(crate) fn documents_of(
        &self,
        numbers: impl IntoIterator<Item = u32>,
    ) -> impl Iterator<Item = NumberedDocument> {
        let mut next = 0;
        numbers.into_iter().filter_map(move |number| {
            let document = (number >= next).then(|| self.document(number))?;
            next = document.first + document.count;
            Some(document)
        })
    }

    /// Roughly how much memory it takes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<DocumentSlot>()
            + self.split.capacity() * size_of::<(u32, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lead_to_documents() {
        let mut numbers = SegmentNumbers::default();
        let counts = [1, 3, 1, 2, 1];
        for (slot, count) in (10..).zip(counts) {
            numbers.push(slot, count);
        }
        let all: Vec<_> = numbers.documents().collect();
        let firsts = [0, 1, 4, 5, 7];
        let expected = (10..).zip(firsts).zip(counts);
        let expected: Vec<_> = expected
            .map(|((slot, first), count)| NumberedDocument { slot, first, count })
            .collect();
        assert_eq!(all, expected);
        assert_eq!(numbers.len(), 8);
        let of = |asked: &[u32]| -> Vec<u32> {
            numbers.documents_of(asked.iter().copied()).map(|one| one.first).collect()
        };
        assert_eq!(of(&[0, 2, 3, 4, 6]), [0, 1, 4, 5]);
        assert_eq!(of(&[1, 2, 3, 7]), [1, 7]);
        let asked = [0, 2, 3, 4, 6];
        let grouped: Vec<_> =
            numbers.grouped(&asked).map(|(document, own)| (document.first, own)).collect();
        let expected = [(0, &[0][..]), (1, &[2, 3]), (4, &[4]), (5, &[6])];
        assert_eq!(grouped, expected);
    }
}
