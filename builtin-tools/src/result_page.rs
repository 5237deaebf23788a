//! How much of a list one result has: so many entries, and so many bytes of them as they are returned.
//! What has no room comes with the next `offset`; nothing is passed over.

use serde::Serialize;

/// Most bytes of the entries of a page where the caller does not say how many are wanted: with what is beside them
/// 24,000, about 6,000 tokens, which no client cuts or refuses by default.
const ROOM_UNASKED: usize = 23_000;
/// Most bytes of the entries of a page where the caller does: twice that, as a client may count it, is less than
/// the largest result that one takes.
const ROOM_ASKED: usize = 240_000;

/// How many entries a page has, and how many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageSize {
    pub(crate) entries_max: usize,
    pub(crate) bytes_max: usize,
}

/// What is left of a page while it is filled.
#[derive(Debug)]
pub(crate) struct PageRoom {
    left: PageSize,
    is_empty: bool,
}

// === impl PageSize ===

impl PageSize {
    /// Where the caller does not say how many entries are wanted.
    pub(crate) fn usual(entries_max: usize) -> Self {
        Self { entries_max, bytes_max: ROOM_UNASKED }
    }

    /// Where the caller says how many entries are wanted.
    pub(crate) fn asked(entries_max: usize) -> Self {
        Self { entries_max, bytes_max: ROOM_ASKED }
    }

    /// Of a caller that may have said how many entries are wanted. One that names no more than the default did
    /// not: clients fill in the defaults of a schema.
    pub(crate) fn of(limit: Option<u64>, default: u64, max: u64) -> Self {
        let entries = limit.unwrap_or(default).min(max);
        let entries_max = usize::try_from(entries).expect("the bound is small");
        match limit {
            Some(limit) if limit > default => Self::asked(entries_max),
            _ => Self::usual(entries_max),
        }
    }
}

// === impl PageRoom ===

impl PageRoom {
    pub(crate) fn new(size: PageSize) -> Self {
        Self { left: size, is_empty: true }
    }

    /// Whether another entry may have room.
    pub(crate) fn is_left(&self) -> bool {
        self.left.entries_max > 0 && (self.is_empty || self.left.bytes_max > 0)
    }

    /// Takes room for the next entry. After the first that does not fit no other does: they would come in
    /// another order. A page has one entry at least, however large that is.
    pub(crate) fn takes(&mut self, entry: &impl Serialize) -> bool {
        if !self.is_left() {
            return false;
        }
        // A comma behind it included.
        let bytes = serde_json::to_string(entry).map_or(usize::MAX, |text| text.len() + 1);
        if bytes > self.left.bytes_max && !self.is_empty {
            self.left.entries_max = 0;
            return false;
        }
        self.is_empty = false;
        self.left.entries_max -= 1;
        self.left.bytes_max = self.left.bytes_max.saturating_sub(bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(size: (usize, usize), entries: &[&str]) -> Vec<bool> {
        let (entries_max, bytes_max) = size;
        let mut room = PageRoom::new(PageSize { entries_max, bytes_max });
        entries.iter().map(|entry| room.takes(entry)).collect()
    }

    #[test]
    fn a_page_ends_with_the_first_entry_that_has_no_room() {
        // Each takes two quotes and a comma besides.
        assert_eq!(taken((9, 10), &["ab", "abcd", "", ""]), [true, false, false, false]);
        assert_eq!(taken((9, 10), &["ab", "ab", ""]), [true, true, false]);
        assert_eq!(taken((2, 99), &["", "", ""]), [true, true, false]);
        assert_eq!(taken((0, 99), &[""]), [false]);
        assert_eq!(taken((9, 10), &["longer than the page", ""]), [true, false]);
        assert_eq!(taken((9, 4), &["\n", ""]), [true, false], "as it is written");
    }

    #[test]
    fn who_says_how_many_entries_are_wanted_has_more_room() {
        let size = |limit| PageSize::of(limit, 50, 1_000);
        let page = |entries_max, bytes_max| PageSize { entries_max, bytes_max };
        assert_eq!(size(None), page(50, ROOM_UNASKED));
        assert_eq!(size(Some(9)), page(9, ROOM_UNASKED));
        assert_eq!(size(Some(50)), page(50, ROOM_UNASKED), "the default, filled in by a client");
        assert_eq!(size(Some(51)), page(51, ROOM_ASKED));
        assert_eq!(size(Some(u64::MAX)), page(1_000, ROOM_ASKED));
    }
}
