//! Plugins that keep failing are left alone for a while: calls are refused until the pause is over,
//! then one failure more makes the next pause twice as long. A call that succeeds ends all that.
//!
//! Only what the plugin does to itself counts: crashes and limits, not the errors that it returns.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Paused, PluginCallError};

/// Failures that make a pause, and the time within which they count.
const FAILURES_MAX: usize = 3;
const FAILURES_WITHIN: Duration = Duration::from_secs(60);
/// The first pause, and the longest.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(5 * 60);
/// Most bytes of the last failure that are reported.
const REASON_BYTES_MAX: usize = 300;

/// Whether calls of one version of a plugin are refused for now.
#[derive(Debug, Default)]
pub(crate) struct Pause(Mutex<PauseState>);

#[derive(Debug, Default)]
struct PauseState {
    failures: VecDeque<Instant>,
    until: Option<Instant>,
    /// How long the last pause was; none since a call succeeded.
    last: Option<Duration>,
    reason: String,
}

// === impl Pause ===

impl Pause {
    /// Returns the pause that lasts.
    pub(crate) fn current(&self, now: Instant) -> Option<Paused> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let remaining = state.until?.checked_duration_since(now)?;
        let reason = state.reason.clone();
        (!remaining.is_zero()).then_some(Paused { remaining, reason })
    }

    /// Takes how a call ended.
    pub(crate) fn record<T>(&self, ended: &Result<T, PluginCallError>, now: Instant) {
        let error = match ended {
            // What the plugin says is a response like any other.
            Ok(_) | Err(PluginCallError::Failed(_)) => {
                *self.0.lock().unwrap_or_else(PoisonError::into_inner) = PauseState::default();
                return;
            }
            Err(error @ (PluginCallError::Crashed(_) | PluginCallError::Limit(_))) => error,
            Err(_) => return,
        };
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.until.is_some_and(|until| now < until) {
            // It began before the pause.
            return;
        }
        state.failures.push_back(now);
        while state.failures.front().is_some_and(|first| now - *first > FAILURES_WITHIN) {
            state.failures.pop_front();
        }
        if state.last.is_some() || state.failures.len() >= FAILURES_MAX {
            let pause = state.last.map_or(PAUSE_MIN, |last| (last * 2).min(PAUSE_MAX));
            (state.last, state.until) = (Some(pause), Some(now + pause));
            state.failures.clear();
            let mut reason = error.to_string();
            reason.truncate(reason.floor_char_boundary(REASON_BYTES_MAX));
            state.reason = reason;
        }
    }
}

#[cfg(test)]
mod tests {
    use moss_sdk::{ErrorCode, ToolError};

    use super::*;

    fn crash() -> Result<(), PluginCallError> {
        Err(PluginCallError::Crashed("unreachable".to_owned()))
    }

    fn seconds(pause: &Pause, now: Instant) -> Option<u64> {
        pause.current(now).map(|paused| paused.remaining.as_secs())
    }

    #[test]
    fn three_failures_in_a_minute_make_a_pause_that_doubles() {
        let (pause, start) = (Pause::default(), Instant::now());
        let mut now = start;
        for _ in 0..2 {
            pause.record(&crash(), now);
            assert_eq!(pause.current(now), None);
        }
        pause.record(&crash(), now);
        let reason = "the plugin crashed: unreachable".to_owned();
        let expected = Paused { remaining: Duration::from_secs(1), reason };
        assert_eq!(pause.current(now), Some(expected));
        // What began before it and ends now changes nothing.
        pause.record(&crash(), now);
        assert_eq!(seconds(&pause, now), Some(1));
        for expected in [2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
            now += PAUSE_MAX;
            assert_eq!(pause.current(now), None);
            pause.record(&crash(), now);
            assert_eq!(seconds(&pause, now), Some(expected));
        }
    }

    #[test]
    fn failures_that_lie_apart_make_none() {
        let (pause, start) = (Pause::default(), Instant::now());
        for minute in 0..10 {
            let now = start + Duration::from_secs(40 * minute);
            pause.record(&crash(), now);
            assert_eq!(pause.current(now), None);
        }
    }

    #[test]
    fn a_response_ends_it_and_what_others_did_does_not_count() {
        let now = Instant::now();
        let said = PluginCallError::Failed(ToolError::new(ErrorCode::NotFound, "no such"));
        for answer in [Ok(()), Err(said)] {
            let pause = Pause::default();
            (0..2).for_each(|_| pause.record(&crash(), now));
            pause.record(&answer, now);
            (0..2).for_each(|_| pause.record(&crash(), now));
            assert_eq!(pause.current(now), None);
        }
        let pause = Pause::default();
        for _ in 0..5 {
            for error in
                [PluginCallError::Cancelled, PluginCallError::Deadline, PluginCallError::Busy]
            {
                pause.record::<()>(&Err(error), now);
            }
        }
        assert_eq!(pause.current(now), None);
    }
}
