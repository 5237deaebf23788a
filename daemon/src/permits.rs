//! Places for running calls. A call that waits for a person gives its place away.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A bounded number of places with a bounded queue.
#[derive(Debug)]
pub struct Permits {
    running: Arc<Semaphore>,
    running_max: usize,
    queued: AtomicUsize,
    queued_max: usize,
}

/// A place, given back when dropped.
#[derive(Debug)]
pub struct Permit {
    _place: OwnedSemaphorePermit,
}

/// The queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} calls wait already (calls.queued_max)")]
pub struct QueueFull(pub usize);

struct Queued<'a>(&'a AtomicUsize);

// === impl Permits ===

impl Permits {
    /// Makes places for so many calls, with a queue for so many more.
    pub fn new(running_max: usize, queued_max: usize) -> Self {
        Self {
            running: Arc::new(Semaphore::new(running_max)),
            running_max,
            queued: AtomicUsize::new(0),
            queued_max,
        }
    }

    /// Takes a place, waiting in the queue for it.
    ///
    /// # Errors
    ///
    /// Where the queue is full.
    pub async fn acquire(&self) -> Result<Permit, QueueFull> {
        if let Ok(place) = Arc::clone(&self.running).try_acquire_owned() {
            return Ok(Permit { _place: place });
        }
        if self.queued.fetch_add(1, Ordering::Relaxed) >= self.queued_max {
            self.queued.fetch_sub(1, Ordering::Relaxed);
            return Err(QueueFull(self.queued_max));
        }
        let _queued = Queued(&self.queued);
        Ok(self.acquire_again().await)
    }

    /// Takes a place back after a wait for a person: never refused, or an answer would be lost.
    pub async fn acquire_again(&self) -> Permit {
        let place = Arc::clone(&self.running).acquire_owned().await;
        Permit { _place: place.expect("the semaphore is never closed") }
    }

    /// Calls that have a place.
    pub fn running(&self) -> usize {
        self.running_max - self.running.available_permits()
    }

    /// Calls that wait for one.
    pub fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }
}

// === impl Queued ===

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn queue_is_bounded_and_a_place_goes_to_who_waits() {
        let permits = Arc::new(Permits::new(1, 1));
        let first = permits.acquire().await.unwrap();
        let waiting = tokio::spawn({
            let permits = Arc::clone(&permits);
            async move { permits.acquire().await }
        });
        while permits.queued() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(permits.acquire().await.unwrap_err(), QueueFull(1));
        drop(first);
        waiting.await.unwrap().unwrap();
        assert_eq!((permits.running(), permits.queued()), (0, 0));
    }
}
