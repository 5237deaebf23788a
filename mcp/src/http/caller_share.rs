//! What is bounded for all callers of a port together, of which each has at most half.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The part of all units that one caller has at most: one in so many.
pub(super) const SHARE_PARTS: usize = 2;

/// The units of a port.
#[derive(Debug)]
pub(super) struct SharedUnits {
    units_max: usize,
    all: Arc<Semaphore>,
    callers: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// The units that one caller may take.
#[derive(Debug)]
pub(super) struct CallerShare {
    all: Arc<Semaphore>,
    own: Arc<Semaphore>,
}

/// Units that are taken until they are dropped.
#[derive(Debug)]
pub(super) struct TakenUnits {
    all: OwnedSemaphorePermit,
    own: OwnedSemaphorePermit,
}

// === impl SharedUnits ===

impl SharedUnits {
    /// Makes so many units.
    pub(super) fn new(units_max: usize) -> Self {
        Self { units_max, all: Arc::new(Semaphore::new(units_max)), callers: Mutex::default() }
    }

    /// The share of a caller, whichever connection it comes over.
    pub(super) fn of(&self, caller: &str) -> CallerShare {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        // Callers for whom nothing is taken are forgotten on the way.
        callers.retain(|name, own| name == caller || Arc::strong_count(own) > 1);
        let new = || Arc::new(Semaphore::new(self.units_max / SHARE_PARTS));
        let own = Arc::clone(callers.entry(caller.to_owned()).or_insert_with(new));
        CallerShare { all: Arc::clone(&self.all), own }
    }
}

// === impl CallerShare ===

impl CallerShare {
    /// Takes units; none where others, or the caller's own, leave too few.
    pub(super) fn take(&self, units: usize) -> Option<TakenUnits> {
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        let take = |of: &Arc<Semaphore>| Arc::clone(of).try_acquire_many_owned(units).ok();
        let own = take(&self.own)?;
        Some(TakenUnits { all: take(&self.all)?, own })
    }
}

// === impl TakenUnits ===

impl TakenUnits {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.all.num_permits()
    }

    /// Adds more of the same caller.
    pub(super) fn merge(&mut self, more: Self) {
        self.all.merge(more.all);
        self.own.merge(more.own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_bounded_for_each_caller_and_together() {
        let units = SharedUnits::new(8);
        let (alice, bob, carol) = (units.of("alice"), units.of("bob"), units.of("carol"));
        let mut first = alice.take(3).unwrap();
        first.merge(alice.take(1).unwrap());
        assert_eq!(first.count(), 4);
        assert!(units.of("alice").take(1).is_none());
        let _other = bob.take(4).unwrap();
        assert!(carol.take(1).is_none());
        drop(first);
        assert!(carol.take(4).is_some());
    }

    #[test]
    fn callers_for_whom_nothing_is_taken_are_forgotten() {
        let units = SharedUnits::new(8);
        let held = units.of("alice").take(1).unwrap();
        for number in 0..100 {
            units.of(&number.to_string());
        }
        let names: Vec<_> = units.callers.lock().unwrap().keys().cloned().collect();
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(names.iter().any(|name| name == "alice"), "{names:?}");
        drop(held);
    }
}
