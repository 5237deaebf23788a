//! Turns to have the text of a large file in memory for a search: one at a time, however many searches run.

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::Duration;

/// So long one waits for its turn between two looks at whether somebody still waits.
const TURN_WAIT: Duration = Duration::from_millis(2);

/// Held while the text of a large file is in memory for a search: one for most, and one for those who read apart from
/// them.
pub(crate) type LargeTextTurns = [Mutex<()>; 2];

/// Waits for the turn to have a large text in memory. None where nobody waits for it any more.
pub(crate) fn turn<'a>(
    (turns, is_apart): (&'a LargeTextTurns, bool),
    cancelled: &dyn Fn() -> bool,
) -> Option<MutexGuard<'a, ()>> {
    loop {
        match turns[usize::from(is_apart)].try_lock() {
            Ok(turn) => return Some(turn),
            Err(TryLockError::Poisoned(turn)) => return Some(turn.into_inner()),
            Err(TryLockError::WouldBlock) if cancelled() => return None,
            Err(TryLockError::WouldBlock) => thread::sleep(TURN_WAIT),
        }
    }
}
