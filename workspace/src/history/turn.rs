//! Taking turns within one process: whoever wants to change a workspace waits here, and only one at a
//! time for the lock between processes, which can only be asked for again and again.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Something that one thread has at a time.
#[derive(Debug, Default)]
pub(super) struct Turns {
    is_taken: Mutex<bool>,
    is_free: Condvar,
}

/// A turn, given up when dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a>(&'a Turns);

// === impl Turns ===

impl Turns {
    /// Waits for a turn; none where it takes longer.
    pub(super) fn take(&self, wait: Duration) -> Option<Turn<'_>> {
        let waited = self.is_free.wait_timeout_while(self.lock(), wait, |is_taken| *is_taken);
        let (mut is_taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *is_taken {
            return None;
        }
        *is_taken = true;
        Some(Turn(self))
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Turn ===

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.lock() = false;
        self.0.is_free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_a_turn_and_the_others_wait_so_long() {
        let turns = Turns::default();
        let turn = turns.take(Duration::ZERO).unwrap();
        assert!(turns.take(Duration::from_millis(1)).is_none());
        drop(turn);
        let turn = turns.take(Duration::ZERO).unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| turns.take(Duration::from_secs(60)).is_some());
            drop(turn);
            assert!(waits.join().unwrap());
        });
    }
}
