//! Lines of the log that anybody causes who only connects, such as scanners of ports and health checks: each is
//! logged now and then, with how many of it were left out.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a line is left out once it was logged.
const PAUSE: Duration = Duration::from_secs(60);

/// When a line was logged last, and how many were left out since.
#[derive(Debug, Default)]
pub(super) struct LinePace(Mutex<Option<(Instant, u64)>>);

// === impl LinePace ===

impl LinePace {
    /// Whether the line is logged: if so, how many were left out before it.
    pub(super) fn due(&self) -> Option<u64> {
        self.due_at(Instant::now())
    }

    fn due_at(&self, now: Instant) -> Option<u64> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((logged, left_out)) = last.as_mut()
            && now.saturating_duration_since(*logged) < PAUSE
        {
            *left_out += 1;
            return None;
        }
        Some(last.replace((now, 0)).map_or(0, |(_, left_out)| left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_logged_at_once_and_then_once_a_minute_with_the_number_of_others() {
        let pace = LinePace::default();
        let begun = Instant::now();
        for (after_s, expected) in
            [(0, Some(0)), (0, None), (59, None), (60, Some(2)), (61, None), (600, Some(1))]
        {
            let due = pace.due_at(begun + Duration::from_secs(after_s));
            assert_eq!(due, expected, "after {after_s} s");
        }
    }
}
