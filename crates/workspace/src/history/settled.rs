//! Up to which entry nothing lies beside the files any more, so that recovery need not look there.

use std::collections::BTreeSet;

/// So many entries are settled before that is written down.
const DUE: u64 = 64;

/// What this process knows of the entries since it last took the lock between processes.
#[derive(Debug, Default)]
pub(super) struct SettledEntries {
    newest: u64,
    /// Those that are being carried out, or of which something was left behind.
    open: BTreeSet<u64>,
    /// Up to where it was written down.
    written: u64,
}

// === impl SettledEntries ===

impl SettledEntries {
    /// The newest entry up to which all are settled.
    pub(super) fn up_to(&self) -> u64 {
        self.open.first().map_or(self.newest, |oldest| oldest.saturating_sub(1))
    }

    /// What is to be written down, where enough has come together.
    pub(super) fn due(&mut self) -> Option<u64> {
        let up_to = self.up_to();
        let is_due = up_to >= self.written.saturating_add(DUE);
        is_due.then(|| std::mem::replace(&mut self.written, up_to)).map(|_| up_to)
    }

    /// Recovery has looked at all entries up to this one.
    pub(super) fn recover(&mut self, newest: u64) {
        self.newest = self.newest.max(newest);
        self.written = self.written.max(newest);
        self.open.retain(|open| *open > newest);
    }

    /// Recovery could not look at an entry.
    pub(super) fn leave(&mut self, number: u64) {
        self.newest = self.newest.max(number);
        self.open.insert(number);
    }

    /// An entry is begun.
    pub(super) fn begin(&mut self, number: u64) {
        self.newest = self.newest.max(number);
        self.open.insert(number);
    }

    /// Nothing is left of an entry beside its files.
    pub(super) fn settle(&mut self, number: u64) {
        self.open.remove(&number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_entry_holds_back_all_after_it() {
        let mut settled = SettledEntries::default();
        settled.recover(10);
        assert_eq!(settled.up_to(), 10);
        for number in 11..=13 {
            settled.begin(number);
        }
        assert_eq!(settled.up_to(), 10);
        settled.settle(12);
        assert_eq!(settled.up_to(), 10);
        settled.settle(11);
        assert_eq!(settled.up_to(), 12);
        settled.settle(13);
        assert_eq!(settled.up_to(), 13);
    }

    #[test]
    fn it_is_written_down_now_and_then() {
        let mut settled = SettledEntries::default();
        settled.recover(10);
        settled.begin(9 + DUE);
        assert_eq!(settled.due(), None);
        settled.begin(10 + DUE);
        settled.settle(9 + DUE);
        assert_eq!(settled.due(), None);
        settled.settle(10 + DUE);
        assert_eq!((settled.due(), settled.due()), (Some(10 + DUE), None));
    }

    #[test]
    fn recovery_settles_what_was_left_behind() {
        let mut settled = SettledEntries::default();
        settled.begin(5);
        settled.recover(4);
        assert_eq!(settled.up_to(), 4);
        settled.recover(5);
        assert_eq!(settled.up_to(), 5);
    }

    #[test]
    fn what_recovery_could_not_look_at_holds_back_all_after_it() {
        let mut settled = SettledEntries::default();
        settled.recover(7);
        settled.leave(8);
        for number in 11..=100 {
            settled.begin(number);
            settled.settle(number);
            assert_eq!((settled.up_to(), settled.due()), (7, None));
        }
        settled.recover(8);
        assert_eq!(settled.up_to(), 100);
    }
}
