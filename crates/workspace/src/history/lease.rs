//! The lock between processes, held by all commits of this process together.
//!
//! The first commit takes it, others join, the last one gives it up. Nobody joins any more when
//! another process waits, so that a busy daemon does not keep it out.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A lock that several holders share within this process.
#[derive(Debug)]
pub(super) struct Lease<L> {
    state: Mutex<LeaseState<L>>,
    changed: Condvar,
}

#[derive(Debug)]
struct LeaseState<L> {
    lock: Option<L>,
    holders: usize,
    /// Somebody is taking the lock right now.
    is_taking: bool,
    /// Nobody joins until all holders are gone.
    is_closed: bool,
}

/// A share in the lock, given up when dropped.
#[derive(Debug)]
pub(crate) struct LeaseShare<'a, L>(&'a Lease<L>);

/// Whether others may hold the lock at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Others of this process may.
    Shared,
    /// Nobody else may, of this process or another.
    Alone,
}

/// Lets others try where taking the lock failed, even by a panic.
struct Taking<'a, L>(&'a Lease<L>);

// === impl Lease ===

impl<L> Lease<L> {
    /// Joins the holders or takes the lock; none where that is not possible in time. `take` is
    /// called while nobody holds it; `is_wanted` shows whether another process waits for it.
    pub(super) fn hold<E>(
        &self,
        sharing: Sharing,
        wait: Duration,
        take: impl FnOnce() -> Result<L, E>,
        is_wanted: impl Fn() -> bool,
    ) -> Result<Option<LeaseShare<'_, L>>, E> {
        let deadline = Instant::now() + wait;
        let mut state = self.lock();
        while state.is_taking || state.holders > 0 {
            if state.holders > 0 {
                state.is_closed |= sharing == Sharing::Alone || is_wanted();
                if !state.is_closed {
                    state.holders += 1;
                    return Ok(Some(LeaseShare(self)));
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.is_taking = true;
        drop(state);
        let taking = Taking(self);
        let lock = take()?;
        let mut state = self.lock();
        state.lock = Some(lock);
        state.holders = 1;
        state.is_closed = sharing == Sharing::Alone;
        drop(state);
        drop(taking);
        Ok(Some(LeaseShare(self)))
    }

    fn lock(&self) -> MutexGuard<'_, LeaseState<L>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<L> Default for Lease<L> {
    fn default() -> Self {
        let state = LeaseState { lock: None, holders: 0, is_taking: false, is_closed: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }
}

// === impl LeaseShare ===

impl<L> LeaseShare<'_, L> {
    /// Makes the next commit take the lock anew, and recover what this one could not roll back.
    pub(crate) fn close(&self) {
        self.0.lock().is_closed = true;
    }
}

impl<L> Drop for LeaseShare<'_, L> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        // What a defect cut off is recovered before anybody changes the same files again.
        state.is_closed |= std::thread::panicking();
        state.holders -= 1;
        if state.holders == 0 {
            // The lock first: who is next finds it free.
            state.lock = None;
            state.is_closed = false;
            drop(state);
            self.0.changed.notify_all();
        }
    }
}

// === impl Taking ===

impl<L> Drop for Taking<'_, L> {
    fn drop(&mut self) {
        self.0.lock().is_taking = false;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use super::*;

    type Holding<'a> = Option<LeaseShare<'a, ()>>;

    fn hold<'a>(lease: &'a Lease<()>, sharing: Sharing, taken: &Cell<u32>) -> Holding<'a> {
        let take = || {
            taken.set(taken.get() + 1);
            Ok::<_, Infallible>(())
        };
        lease.hold(sharing, Duration::ZERO, take, || false).unwrap()
    }

    #[test]
    fn commits_share_one_lock_until_the_last_is_done() {
        let (lease, taken) = (Lease::default(), Cell::new(0));
        let first = hold(&lease, Sharing::Shared, &taken).unwrap();
        let second = hold(&lease, Sharing::Shared, &taken).unwrap();
        drop(first);
        let third = hold(&lease, Sharing::Shared, &taken).unwrap();
        assert!(lease.lock().lock.is_some());
        drop((second, third));
        assert!(lease.lock().lock.is_none());
        assert_eq!(taken.get(), 1);
        hold(&lease, Sharing::Shared, &taken).unwrap();
        assert_eq!(taken.get(), 2);
    }

    #[test]
    fn nobody_joins_a_lock_that_is_wanted_closed_or_held_alone() {
        let (lease, taken) = (Lease::default(), Cell::new(0));
        let first = hold(&lease, Sharing::Shared, &taken).unwrap();
        let take = || Ok::<_, Infallible>(());
        let wanted = lease.hold(Sharing::Shared, Duration::ZERO, take, || true).unwrap();
        assert!(wanted.is_none());
        // It stays closed until it is free.
        assert!(hold(&lease, Sharing::Shared, &taken).is_none());
        drop(first);
        let first = hold(&lease, Sharing::Shared, &taken).unwrap();
        first.close();
        assert!(hold(&lease, Sharing::Shared, &taken).is_none());
        drop(first);
        let alone = hold(&lease, Sharing::Alone, &taken).unwrap();
        assert!(hold(&lease, Sharing::Shared, &taken).is_none());
        drop(alone);
        let shared = hold(&lease, Sharing::Shared, &taken).unwrap();
        assert!(hold(&lease, Sharing::Alone, &taken).is_none());
        drop(shared);
    }

    #[test]
    fn nobody_joins_after_a_holder_that_panicked() {
        let (lease, taken) = (Lease::default(), Cell::new(0));
        let first = hold(&lease, Sharing::Shared, &taken).unwrap();
        let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _second = hold(&lease, Sharing::Shared, &taken).unwrap();
            panic!("a defect, on purpose");
        }));
        assert!(broken.is_err());
        assert!(hold(&lease, Sharing::Shared, &taken).is_none());
        drop(first);
        hold(&lease, Sharing::Shared, &taken).unwrap();
        assert_eq!(taken.get(), 2);
    }

    #[test]
    fn one_that_cannot_take_the_lock_leaves_it_to_the_next() {
        let (lease, taken) = (Lease::default(), Cell::new(0));
        let failed = lease.hold(Sharing::Shared, Duration::ZERO, || Err("no"), || false);
        assert_eq!(failed.err(), Some("no"));
        let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let take = || -> Result<(), Infallible> { panic!("a defect, on purpose") };
            drop(lease.hold(Sharing::Shared, Duration::ZERO, take, || false));
        }));
        assert!(broken.is_err());
        assert!(hold(&lease, Sharing::Shared, &taken).is_some());
    }

    #[test]
    fn one_that_waits_takes_the_lock_when_it_is_free() {
        let (lease, taken) = (Lease::default(), Cell::new(0));
        let alone = hold(&lease, Sharing::Alone, &taken).unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| {
                let take = || Ok::<_, Infallible>(());
                let wait = Duration::from_secs(60);
                lease.hold(Sharing::Shared, wait, take, || false).unwrap().is_some()
            });
            drop(alone);
            assert!(waits.join().unwrap());
        });
    }
}
