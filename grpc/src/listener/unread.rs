//! Replies on one connection that wait for its client to read them. A client that takes nothing while
//! they wait, or takes too long for all of one, is hung up on: what waits for it ends with it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use moss_dispatch::budget::Budget;

/// How long a client may take nothing while replies wait for it; at most twice as long, as it is looked
/// at no more often.
const STALL_MAX: Duration = Duration::from_secs(20);
/// How long a reply may wait until all of it was taken.
const READ_MAX: Duration = Duration::from_secs(600);

/// The replies of a connection that wait. Clones are of the same connection.
#[derive(Debug, Clone)]
pub struct UnreadReplies(Arc<UnreadState>);

#[derive(Debug)]
struct UnreadState {
    /// How many bytes waiting replies hold.
    held: Budget,
    /// How many parts of replies were taken so far.
    taken: AtomicUsize,
    waiting: Mutex<WaitingReplies>,
    /// Cancelled to close the connection.
    leaves: CancellationToken,
}

#[derive(Debug, Default)]
struct WaitingReplies {
    /// Since when each waits, the oldest first; some may have been read since.
    since: VecDeque<(Instant, Weak<()>)>,
    /// Whether a task looks after them.
    is_watched: bool,
}

/// A reply that waits, until it is dropped.
#[derive(Debug)]
pub struct UnreadReply(#[expect(dead_code, reason = "it is there or not")] Arc<()>);

// === impl UnreadReplies ===

impl UnreadReplies {
    /// None yet, on a connection that is closed by `leaves`.
    pub(super) fn new(leaves: CancellationToken) -> Self {
        Self(Arc::new(UnreadState {
            held: Budget::default(),
            taken: AtomicUsize::default(),
            waiting: Mutex::default(),
            leaves,
        }))
    }

    /// Where their bytes are counted.
    pub fn held(&self) -> &Budget {
        &self.0.held
    }

    /// Notes that a reply waits from now on.
    pub fn wait(&self) -> UnreadReply {
        let reply = Arc::new(());
        let mut waiting = self.0.waiting();
        // Those that were read are forgotten on the way: of a busy connection they would be many.
        while waiting.since.front().is_some_and(|(_, reply)| reply.strong_count() == 0) {
            waiting.since.pop_front();
        }
        waiting.since.push_back((Instant::now(), Arc::downgrade(&reply)));
        if !waiting.is_watched {
            waiting.is_watched = true;
            tokio::spawn(watch(Arc::clone(&self.0)));
        }
        UnreadReply(reply)
    }

    /// Notes that the client took part of a reply.
    pub fn took(&self) {
        self.0.taken.fetch_add(1, Ordering::Relaxed);
    }
}

// === impl UnreadState ===

impl UnreadState {
    fn waiting(&self) -> MutexGuard<'_, WaitingReplies> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Since when the oldest reply waits. Where no reply waits, nobody watches any more.
    fn oldest(&self) -> Option<Instant> {
        let mut waiting = self.waiting();
        waiting.since.retain(|(_, reply)| reply.strong_count() > 0);
        let oldest = waiting.since.front().map(|(since, _)| *since);
        waiting.is_watched = oldest.is_some();
        oldest
    }
}

/// Watches the replies of a connection while there are any.
async fn watch(state: Arc<UnreadState>) {
    let mut taken = state.taken.load(Ordering::Relaxed);
    loop {
        tokio::time::sleep(STALL_MAX).await;
        let Some(oldest) = state.oldest() else { return };
        let now_taken = state.taken.load(Ordering::Relaxed);
        let waited = oldest.elapsed();
        if waited >= READ_MAX || now_taken == taken && waited >= STALL_MAX {
            tracing::warn!(
                waited_s = waited.as_secs(),
                "closed a connection: its client does not read the replies that it asked for"
            );
            state.leaves.cancel();
            return;
        }
        taken = now_taken;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unread() -> (UnreadReplies, CancellationToken) {
        let leaves = CancellationToken::new();
        (UnreadReplies::new(leaves.clone()), leaves)
    }

    async fn pass(time: Duration) {
        let never = std::future::pending::<()>();
        tokio::time::timeout(time, never).await.unwrap_err();
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_is_hung_up_on() {
        let (unread, leaves) = unread();
        let begun = Instant::now();
        let _reply = unread.wait();
        leaves.cancelled().await;
        assert!(begun.elapsed() >= STALL_MAX && begun.elapsed() <= 2 * STALL_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_stays_for_as_long_as_a_reply_may_take() {
        let (unread, leaves) = unread();
        let begun = Instant::now();
        let _reply = unread.wait();
        while !leaves.is_cancelled() {
            unread.took();
            pass(STALL_MAX / 2).await;
        }
        assert!(begun.elapsed() >= READ_MAX, "{:?}", begun.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn replies_that_were_read_are_forgotten_with_the_next_one() {
        let (unread, _leaves) = unread();
        for _ in 0..100 {
            drop(unread.wait());
        }
        assert_eq!(unread.0.waiting().since.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_watches_where_nothing_waits_and_what_comes_later_is_watched_again() {
        let (unread, leaves) = unread();
        for _ in 0..3 {
            drop(unread.wait());
            pass(3 * STALL_MAX).await;
            assert!(!unread.0.waiting().is_watched && !leaves.is_cancelled());
        }
        let _reply = unread.wait();
        leaves.cancelled().await;
    }
}
