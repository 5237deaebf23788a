//! What is worked out of files of a listing, kept for as long as they hold the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::EntryNumber;
use crate::ContentHash;

/// What was worked out of files, by their numbers, each with the content that it had. One that was not read has none.
#[derive(Debug)]
pub struct DerivedByContent<T>(Mutex<HashMap<EntryNumber, Derived<T>>>);

/// What was worked out of one file.
#[derive(Debug)]
struct Derived<T> {
    hash: Option<ContentHash>,
    found: Arc<T>,
}

// === impl DerivedByContent ===

impl<T> DerivedByContent<T> {
    /// Works something out of a file with some content, or returns what was worked out of the same before.
    pub fn of(
        &self,
        number: EntryNumber,
        hash: Option<ContentHash>,
        derive: impl FnOnce() -> T,
    ) -> Arc<T> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |known: &&Derived<T>| known.hash == hash;
        let known = kept().get(&number).filter(same).map(|known| Arc::clone(&known.found));
        if let Some(found) = known {
            return found;
        }
        // Without the lock: others want other files.
        let found = Arc::new(derive());
        kept().insert(number, Derived { hash, found: Arc::clone(&found) });
        found
    }
}

impl<T> Default for DerivedByContent<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_content_of_a_file_is_worked_on_once() {
        let kept = DerivedByContent::default();
        let hash = |byte| Some(ContentHash::from_bytes([byte; 32]));
        let count = std::cell::Cell::new(0);
        let ask = |number, hash| {
            *kept.of(number, hash, || {
                count.set(count.get() + 1);
                count.get()
            })
        };
        assert_eq!([ask(1, hash(1)), ask(1, hash(1)), ask(2, hash(1))], [1, 1, 2]);
        assert_eq!([ask(1, hash(2)), ask(1, None), ask(1, None), ask(2, hash(1))], [3, 4, 4, 2]);
    }
}
