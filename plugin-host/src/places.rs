//! Places for the calls of one plugin: so many run at once, some more wait for their turn, the rest
//! is told so. One plugin that is slow does not take the places of all others.

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::CallError;
use crate::limits::{LimitReached, WAITING_PER_CALL};

/// The places of one plugin.
#[derive(Debug)]
pub(crate) struct Places {
    calls_max: usize,
    /// Calls that run or wait.
    taken: Semaphore,
    running: Semaphore,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    _running: SemaphorePermit<'a>,
    _taken: SemaphorePermit<'a>,
}

// === impl Places ===

impl Places {
    pub(crate) fn new(calls_max: usize) -> Self {
        Self {
            calls_max,
            taken: Semaphore::new(calls_max.saturating_mul(1 + WAITING_PER_CALL)),
            running: Semaphore::new(calls_max),
        }
    }

    pub(crate) fn calls_max(&self) -> usize {
        self.calls_max
    }

    /// Waits for a place, or takes one only where it is free.
    ///
    /// # Errors
    ///
    /// Where too many wait already, or none is free.
    pub(crate) async fn take(&self, waits: bool) -> Result<Place<'_>, CallError> {
        let full = || CallError::Limit(LimitReached::Calls(self.calls_max));
        let taken = self.taken.try_acquire().map_err(|_| full())?;
        let running = match waits {
            true => self.running.acquire().await.map_err(|_| full())?,
            false => self.running.try_acquire().map_err(|_| full())?,
        };
        Ok(Place { _running: running, _taken: taken })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_call_runs_waits_or_is_refused() {
        let places = Places::new(1);
        let running = places.take(true).await.unwrap();
        let mut waiting: Vec<_> =
            (0..WAITING_PER_CALL).map(|_| Box::pin(places.take(true))).collect();
        for place in &mut waiting {
            let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(place.as_mut().poll(cx)));
            assert!(polled.await.is_pending());
        }
        let refused = places.take(true).await.unwrap_err();
        assert_eq!(refused, CallError::Limit(LimitReached::Calls(1)));
        let full = Places::new(1);
        let alone = full.take(false).await.unwrap();
        assert_eq!(full.take(false).await.unwrap_err(), refused);
        drop(alone);
        full.take(false).await.unwrap();
        drop(running);
        waiting.remove(0).await.unwrap();
        drop(waiting);
        places.take(true).await.unwrap();
    }
}
