//! Counted work that whoever waits for it may end.

/// After so many steps it is asked whether anybody still waits.
const STEPS_UNASKED: usize = 4_096;

/// Nobody waits for the result any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// Counts the steps of some work.
pub(crate) struct Pace<'a> {
    steps: usize,
    /// Steps since it was asked last.
    unasked: usize,
    is_cancelled: &'a dyn Fn() -> bool,
}

// === impl Pace ===

impl<'a> Pace<'a> {
    pub(crate) fn new(is_cancelled: &'a dyn Fn() -> bool) -> Self {
        Self { steps: 0, unasked: 0, is_cancelled }
    }

    /// Counts steps that are made at once.
    pub(crate) fn take(&mut self, steps: usize) -> Result<(), Cancelled> {
        self.steps = self.steps.saturating_add(steps);
        self.unasked = self.unasked.saturating_add(steps);
        if self.unasked < STEPS_UNASKED { Ok(()) } else { self.check() }
    }

    /// Asks at once, before something that takes its time.
    pub(crate) fn check(&mut self) -> Result<(), Cancelled> {
        self.unasked = 0;
        if (self.is_cancelled)() { Err(Cancelled) } else { Ok(()) }
    }

    #[cfg(test)]
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }
}
