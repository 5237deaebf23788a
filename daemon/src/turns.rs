//! Turns at files: changes of one file are planned and committed one after the other, so that each
//! is planned for what the one before left.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use moss_sdk::RelPath;
use tokio::sync::OwnedMutexGuard;

/// Files at which turns are remembered before those are forgotten that nobody waits for.
const FORGET_FROM: usize = 64;

/// The turns of one workspace, first come, first served.
#[derive(Debug, Default)]
pub struct Turns(Mutex<HashMap<RelPath, Arc<tokio::sync::Mutex<()>>>>);

/// A turn at a file; it is over when this is dropped.
#[derive(Debug)]
pub struct FileTurn {
    path: RelPath,
    _guard: OwnedMutexGuard<()>,
}

// === impl Turns ===

impl Turns {
    /// Waits for a turn at a file, by the name that a call has for it.
    pub async fn take(&self, path: &RelPath) -> FileTurn {
        let queue = {
            let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if queues.len() >= FORGET_FROM {
                queues.retain(|_, queue| Arc::strong_count(queue) > 1);
            }
            Arc::clone(queues.entry(path.clone()).or_default())
        };
        FileTurn { path: path.clone(), _guard: queue.lock_owned().await }
    }
}

// === impl FileTurn ===

impl FileTurn {
    /// Whether it is one at this file.
    pub fn is_at(&self, path: &RelPath) -> bool {
        self.path == *path
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Waker};

    use super::*;

    fn waits(future: &mut Pin<Box<impl Future>>) -> bool {
        future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    #[tokio::test]
    async fn a_file_is_one_turn_at_a_time_and_others_are_free() {
        let turns = Turns::default();
        let path = |text: &str| RelPath::parse(text).unwrap();
        let (a, b) = (path("a"), path("b"));
        let first = turns.take(&a).await;
        assert!(first.is_at(&a) && !first.is_at(&b));
        let mut second = Box::pin(turns.take(&a));
        assert!(waits(&mut second));
        for other in 0..2 * FORGET_FROM {
            turns.take(&path(&format!("{other}"))).await;
        }
        assert!(turns.0.lock().unwrap().len() <= FORGET_FROM + 1);
        assert!(waits(&mut second));
        drop(first);
        second.await;
    }
}
