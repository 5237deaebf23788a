//! How central files are for each caller: found out once, and kept until a text changes or what the
//! caller may see. Finding it out takes most of a second where there are 20,000 files.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moss_ranking::FileRanks;
use moss_workspace::GateKey;

/// Most callers of whom it is kept.
const CALLERS_MAX: usize = 4;

/// The ranks that were found out last.
#[derive(Debug, Default)]
pub(super) struct KeptRanks {
    all: Mutex<VecDeque<CallerRanks>>,
}

/// The ranks for one caller, after so many changes of the index.
#[derive(Debug)]
struct CallerRanks {
    name: GateKey,
    changes: u64,
    ranks: Arc<FileRanks>,
}

// === impl KeptRanks ===

impl KeptRanks {
    /// The ranks for a caller, found out where they are not known. To be called while the index cannot
    /// change. They are not kept for a caller without a name.
    pub(super) fn of(
        &self,
        name: Option<GateKey>,
        changes: u64,
        find: impl FnOnce() -> FileRanks,
    ) -> Arc<FileRanks> {
        let Some(name) = name else { return Arc::new(find()) };
        let is_it = |known: &&CallerRanks| known.changes == changes && known.name == name;
        let known = self.lock().iter().find(is_it).map(|known| Arc::clone(&known.ranks));
        known.unwrap_or_else(|| {
            let ranks = Arc::new(find());
            let mut all = self.lock();
            all.retain(|known| known.changes == changes && known.name != name);
            all.truncate(CALLERS_MAX - 1);
            all.push_front(CallerRanks { name, changes, ranks: Arc::clone(&ranks) });
            ranks
        })
    }

    /// Forgets all of them.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<CallerRanks>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_found_out_once_for_each_caller_and_change() {
        let kept = KeptRanks::default();
        let rules: Arc<dyn std::any::Any + Send + Sync> = Arc::new(());
        let name =
            |facts: &str| Some(GateKey { rules: Arc::clone(&rules), facts: facts.to_owned() });
        let count = std::cell::Cell::new(0);
        let ask = |name, changes| {
            drop(kept.of(name, changes, || {
                count.set(count.get() + 1);
                FileRanks::default()
            }));
            count.get()
        };
        assert_eq!([ask(name("a"), 1), ask(name("a"), 1), ask(name("b"), 1)], [1, 1, 2]);
        assert_eq!([ask(name("a"), 1), ask(name("a"), 2), ask(name("b"), 2)], [2, 3, 4]);
        assert_eq!([ask(None, 2), ask(None, 2)], [5, 6]);
        kept.clear();
        assert_eq!(ask(name("a"), 2), 7);
    }
}
