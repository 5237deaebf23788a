//! Durations, in the order of their length.

use std::time::Duration;

/// What was measured, sorted.
#[derive(Debug, Clone)]
pub(crate) struct Durations(Vec<Duration>);

// === impl Durations ===

impl Durations {
    pub(crate) fn median(&self) -> Duration {
        self.at(50)
    }

    /// The duration that 99 of 100 stay within.
    pub(crate) fn p99(&self) -> Duration {
        self.at(99)
    }

    fn at(&self, percent: usize) -> Duration {
        let index = (self.0.len() * percent / 100).min(self.0.len().saturating_sub(1));
        self.0.get(index).copied().unwrap_or_default()
    }
}

impl From<Vec<Duration>> for Durations {
    fn from(mut durations: Vec<Duration>) -> Self {
        durations.sort_unstable();
        Self(durations)
    }
}
