//! Calls that wait for their results. Each is put in and taken out once, however many there are.

use std::collections::VecDeque;

/// Calls that wait, those of a turn together.
#[derive(Default)]
pub(super) struct OpenCalls(Vec<(usize, VecDeque<usize>)>);

// === impl OpenCalls ===

impl OpenCalls {
    /// Adds a call of a turn that is the last one so far.
    pub(super) fn push(&mut self, turn: usize, call: usize) {
        match self.0.last_mut() {
            Some((last, calls)) if *last == turn => calls.push_back(call),
            _ => self.0.push((turn, VecDeque::from([call]))),
        }
    }

    /// Takes the first call of the last turn that has one for which `waits` holds. Calls before it
    /// that do not wait, because their results were found in another way, go.
    pub(super) fn take(&mut self, waits: impl Fn(usize) -> bool) -> Option<usize> {
        while let Some((_, calls)) = self.0.last_mut() {
            while let Some(call) = calls.pop_front() {
                if waits(call) {
                    return Some(call);
                }
            }
            self.0.pop();
        }
        None
    }
}
