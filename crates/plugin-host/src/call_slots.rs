//! Slots for the calls of one plugin: so many run at once, some more wait for their turn, the rest
//! gets an error. One plugin that is slow does not take the slots of all others.

use std::sync::Arc;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::error::PluginCallError;
use crate::limits::{LimitReached, WAITING_PER_CALL};

/// The slots of one plugin.
#[derive(Debug)]
pub(crate) struct CallSlots {
    calls_max: usize,
    /// Calls that run or wait.
    taken: Semaphore,
    running: Semaphore,
}

/// A slot among the calls of a plugin that run at once, until it is dropped.
#[derive(Debug)]
pub struct CallSlot<'a> {
    _running: SemaphorePermit<'a>,
    _taken: SemaphorePermit<'a>,
}

// === impl CallSlots ===

impl CallSlots {
    pub(crate) fn new(calls_max: usize) -> Self {
        Self {
            calls_max,
            taken: Semaphore::new(calls_max.saturating_mul(1 + WAITING_PER_CALL)),
            running: Semaphore::new(calls_max),
        }
    }

    /// As many; calls that run have their slots still.
    pub(crate) fn with_max(self: &Arc<Self>, calls_max: usize) -> Arc<Self> {
        if self.calls_max() == calls_max {
            Arc::clone(self)
        } else {
            Arc::new(Self::new(calls_max))
        }
    }

    pub(crate) fn calls_max(&self) -> usize {
        self.calls_max
    }

    /// Takes a slot where one is free.
    ///
    /// # Errors
    ///
    /// Where none is.
    pub(crate) fn take(&self) -> Result<CallSlot<'_>, PluginCallError> {
        let taken = self.taken.try_acquire().map_err(|_| self.full())?;
        let running = self.running.try_acquire().map_err(|_| self.full())?;
        Ok(CallSlot { _running: running, _taken: taken })
    }

    /// Waits for a slot.
    ///
    /// # Errors
    ///
    /// Where too many wait already.
    pub(crate) async fn wait(&self) -> Result<CallSlot<'_>, PluginCallError> {
        let taken = self.taken.try_acquire().map_err(|_| self.full())?;
        let running = self.running.acquire().await.map_err(|_| self.full())?;
        Ok(CallSlot { _running: running, _taken: taken })
    }

    fn full(&self) -> PluginCallError {
        PluginCallError::Limit(LimitReached::Calls(self.calls_max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_call_runs_waits_or_is_refused() {
        let places = CallSlots::new(1);
        let running = places.wait().await.unwrap();
        let mut waiting: Vec<_> = (0..WAITING_PER_CALL).map(|_| Box::pin(places.wait())).collect();
        for place in &mut waiting {
            let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(place.as_mut().poll(cx)));
            assert!(polled.await.is_pending());
        }
        let refused = places.wait().await.unwrap_err();
        assert_eq!(refused, PluginCallError::Limit(LimitReached::Calls(1)));
        let full = CallSlots::new(1);
        let alone = full.take().unwrap();
        assert_eq!(full.take().unwrap_err(), refused);
        drop(alone);
        full.take().unwrap();
        drop(running);
        waiting.remove(0).await.unwrap();
        drop(waiting);
        places.wait().await.unwrap();
    }
}
