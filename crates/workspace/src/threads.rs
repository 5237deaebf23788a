//! Threads that help a walk: never more than there are processors for, over all walks of the
//! process. A walk always has the thread that it was called on.

use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, available_parallelism, scope};

/// Most threads that work on one walk.
const WALK_THREADS_MAX: usize = 8;

/// How many threads help, over all walks.
static HELPING: AtomicUsize = AtomicUsize::new(0);

/// The right to start so many threads.
struct HelperThreads(usize);

/// Does work on this thread and on helpers, where there are any to be had, until all of them
/// return. A panic of any of them is passed on when the others have returned: the work sees to it
/// that they do.
pub(crate) fn share(work: &(dyn Fn() + Sync)) {
    let helpers = HelperThreads::take(WALK_THREADS_MAX - 1);
    scope(|scope| {
        let start = |_| {
            let helper = Builder::new().name("moss-walk".to_owned());
            // Without the thread the walk takes longer.
            helper.spawn_scoped(scope, work).ok()
        };
        let started: Vec<_> = (0..helpers.0).filter_map(start).collect();
        work();
        for helper in started {
            if let Err(panic) = helper.join() {
                resume_unwind(panic);
            }
        }
    });
}

fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| available_parallelism().map_or(1, usize::from))
}

// === impl HelperThreads ===

impl HelperThreads {
    fn take(most: usize) -> Self {
        let most = most.min(processors() - 1);
        let mut taken = 0;
        let take = |helping: usize| {
            taken = most.min(processors().saturating_sub(helping));
            Some(helping + taken)
        };
        let _ = HELPING.fetch_update(Ordering::AcqRel, Ordering::Acquire, take);
        Self(taken)
    }
}

impl Drop for HelperThreads {
    fn drop(&mut self) {
        HELPING.fetch_sub(self.0, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn all_walks_share_a_bounded_number_of_helpers() {
        let held: Vec<HelperThreads> = (0..64).map(|_| HelperThreads::take(7)).collect();
        let helpers: usize = held.iter().map(|held| held.0).sum();
        assert!(helpers <= processors(), "{helpers}");
        drop(held);
        let ids = Mutex::new(HashSet::new());
        share(&|| {
            ids.lock().unwrap().insert(std::thread::current().id());
        });
        let ids = ids.into_inner().unwrap();
        assert!(ids.contains(&std::thread::current().id()) && ids.len() <= WALK_THREADS_MAX);
    }

    #[test]
    fn a_panic_is_passed_on() {
        let panicked = catch_unwind(AssertUnwindSafe(|| share(&|| panic!("of the test"))));
        assert!(panicked.is_err());
    }
}
