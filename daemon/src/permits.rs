//! Slots for running calls. A call that waits for a person gives its slot away.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use moss_dispatch::QueueFull;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A bounded number of slots with a bounded queue, of which no caller has more than half.
#[derive(Debug)]
pub struct Permits {
    running: Arc<Semaphore>,
    running_max: usize,
    queued: Mutex<HashMap<String, usize>>,
    queued_max: usize,
}

/// A slot, given back when dropped.
#[derive(Debug)]
pub struct Permit {
    _place: OwnedSemaphorePermit,
}

struct Queued<'a> {
    permits: &'a Permits,
    caller: &'a str,
}

// === impl Permits ===

impl Permits {
    /// Makes slots for so many calls, with a queue for so many more.
    pub fn new(running_max: usize, queued_max: usize) -> Self {
        Self {
            running: Arc::new(Semaphore::new(running_max)),
            running_max,
            queued: Mutex::default(),
            queued_max,
        }
    }

    /// Takes a slot for a call of somebody, waiting in the queue for it.
    ///
    /// # Errors
    ///
    /// Where the queue, or the caller's share of it, is full.
    pub async fn acquire(&self, caller: &str) -> Result<Permit, QueueFull> {
        if let Ok(place) = Arc::clone(&self.running).try_acquire_owned() {
            return Ok(Permit { _place: place });
        }
        let _queued = self.queue(caller)?;
        Ok(self.acquire_again().await)
    }

    fn queue<'a>(&'a self, caller: &'a str) -> Result<Queued<'a>, QueueFull> {
        let mut queued = self.queued.lock().unwrap_or_else(PoisonError::into_inner);
        let (of_caller, of_all) = (queued.get(caller).copied(), queued.values().sum::<usize>());
        let share_max = self.queued_max.div_ceil(2);
        if of_all >= self.queued_max {
            return Err(QueueFull { waiting: of_all, is_share: false });
        }
        if of_caller.is_some_and(|waiting| waiting >= share_max) {
            return Err(QueueFull { waiting: share_max, is_share: true });
        }
        *queued.entry(caller.to_owned()).or_default() += 1;
        Ok(Queued { permits: self, caller })
    }

    /// Reacquires a permit after a wait for a person: never refused, or a decision would be lost.
    pub async fn acquire_again(&self) -> Permit {
        let place = Arc::clone(&self.running).acquire_owned().await;
        Permit { _place: place.expect("the semaphore is never closed") }
    }

    /// Calls that have a slot.
    pub fn running(&self) -> usize {
        self.running_max - self.running.available_permits()
    }

    /// Calls that wait for one.
    pub fn queued(&self) -> usize {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }
}

// === impl Queued ===

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        let mut queued = self.permits.queued.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = queued.get_mut(self.caller) {
            *waiting -= 1;
            if *waiting == 0 {
                queued.remove(self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn queue_is_bounded_and_a_slot_goes_to_who_waits() {
        let permits = Arc::new(Permits::new(1, 3));
        let first = permits.acquire("a").await.unwrap();
        let wait = |caller: &'static str| {
            let permits = Arc::clone(&permits);
            tokio::spawn(async move { permits.acquire(caller).await.map(drop) })
        };
        let waiting = [wait("a"), wait("a"), wait("b")];
        while permits.queued() < 3 {
            tokio::task::yield_now().await;
        }
        let full = QueueFull { waiting: 3, is_share: false };
        assert_eq!(permits.acquire("c").await.unwrap_err(), full);
        drop(first);
        for waiting in waiting {
            waiting.await.unwrap().unwrap();
        }
        assert_eq!((permits.running(), permits.queued()), (0, 0));
    }

    #[tokio::test]
    async fn a_caller_has_half_of_the_queue() {
        let permits = Permits::new(1, 4);
        let _first = permits.acquire("a").await.unwrap();
        let mine = [permits.queue("a").unwrap(), permits.queue("a").unwrap()];
        let share = QueueFull { waiting: 2, is_share: true };
        assert_eq!(permits.acquire("a").await.unwrap_err(), share);
        let _other = permits.queue("b").unwrap();
        drop(mine);
        permits.queue("a").unwrap();
    }
}
