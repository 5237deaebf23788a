//! Names of chunks, each once, one behind the other in one text.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Stands for no name.
pub(crate) const NONE: u32 = u32::MAX;

/// Counts as segments do, in few bytes.
pub(crate) fn number(length: usize) -> u32 {
    u32::try_from(length).expect("a segment is bounded far below this")
}

/// Names by their numbers.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    text: String,
    /// The byte of `text` at which each name ends.
    ends: Vec<u32>,
}

/// Names that get their numbers.
#[derive(Debug, Default)]
pub(crate) struct NameDraft {
    names: NameTable,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

// === impl NameTable ===

impl NameTable {
    pub(crate) fn get(&self, number: u32) -> Option<&str> {
        let number = number as usize;
        let end = *self.ends.get(number)?;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start as usize..end as usize])
    }

    /// About how much memory they take.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<u32>()
    }
}

// === impl NameDraft ===

impl NameDraft {
    /// Returns the number of a name, the same for the same name.
    pub(crate) fn number(&mut self, name: Option<&str>) -> u32 {
        let Some(name) = name else { return NONE };
        let Self { names, numbers, hasher } = self;
        let hash = hasher.hash_one(name);
        if let Some(number) = numbers.find(hash, |known| names.get(*known) == Some(name)) {
            return *number;
        }
        let next = number(names.ends.len());
        names.text.push_str(name);
        names.ends.push(number(names.text.len()));
        let hash_of = |known: &u32| hasher.hash_one(names.get(*known).unwrap_or_default());
        numbers.insert_unique(hash, next, hash_of);
        next
    }

    /// The names, without a way to find their numbers.
    pub(crate) fn finish(mut self) -> NameTable {
        self.names.text.shrink_to_fit();
        self.names.ends.shrink_to_fit();
        self.names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_has_the_same_number() {
        let mut draft = NameDraft::default();
        let names: Vec<String> = (0..1_000).map(|at| format!("name{}", at % 300)).collect();
        let numbers: Vec<u32> = names.iter().map(|name| draft.number(Some(name))).collect();
        assert_eq!(draft.number(None), NONE);
        assert_eq!(draft.number(Some("")), 300);
        let table = draft.finish();
        for (name, number) in names.iter().zip(&numbers) {
            assert_eq!(table.get(*number), Some(&**name));
        }
        assert_eq!(table.get(300), Some(""));
        assert_eq!(table.get(301), None);
        assert_eq!(table.get(NONE), None);
    }
}
