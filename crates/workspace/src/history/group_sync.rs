//! Waits for the disk that commits share.
//!
//! Edits of different files commit side by side; each makes the same steps:
//!
//! 1. It takes its turn at its files ([`super::claims`]) and joins the process's hold on the lock
//!    between processes ([`super::lease`]).
//! 2. It writes its intent, with all contents, into the write-ahead log of the history.
//! 3. **First wait.** The log goes to disk here, while the commit writes the new versions beside
//!    the files and makes them durable. No file is exchanged before both are done.
//! 4. It exchanges the versions and marks the intent as committed, in the log.
//! 5. **Second wait.** The log goes to disk here, while the commit makes the directories durable.
//!    After a power cut that kept the mark and lost an exchange, recovery makes the exchange again:
//!    the new version still lies beside the file. A deletion leaves nothing to make again, so that
//!    its directory is durable before its mark is made.
//! 6. It removes the old versions, while the caller records the call in the audit journal: the
//!    **third wait**, which the journal shares in the same way.
//!
//! What is written in one go needs one sync, so whoever asks while one is under way is served by
//! the next one, together with all others: N commits that come together wait three times, not 3 N
//! times. Nothing is delayed so that others can join.
//!
//! Once a sync has failed, no later one is trusted: the system takes what it could not write for
//! written, and the next sync returns well without it. All who ask are refused until the log was
//! written anew ([`super::renewal`]).
//!
//! This file knows neither files nor databases: it runs a given sync for whoever asks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rustix::io::Errno;

type SyncResult = Result<(), Errno>;

/// The thread that syncs, and the way to ask it.
#[derive(Debug)]
pub(super) struct GroupSync {
    /// None once it is to end.
    requests: Option<Sender<Sender<SyncResult>>>,
    thread: Option<JoinHandle<()>>,
    state: Arc<SyncState>,
}

/// What the thread and those who ask it both know.
#[derive(Debug, Default)]
struct SyncState {
    syncs: AtomicU64,
    /// How a sync failed; none while what syncs return can be trusted.
    failure: Mutex<Option<Errno>>,
}

/// A sync that was asked for.
#[derive(Debug)]
#[must_use = "nothing is durable before the wait is over"]
pub(crate) struct PendingSync(Receiver<SyncResult>);

/// Syncs once for all who have asked, until nobody can ask any more.
fn serve(
    requests: &Receiver<Sender<SyncResult>>,
    mut sync: impl FnMut() -> SyncResult,
    state: &SyncState,
) {
    while let Ok(first) = requests.recv() {
        // Each of them has written before it asked.
        let group: Vec<_> = std::iter::once(first).chain(requests.try_iter()).collect();
        let outcome = state.run(&mut sync);
        for waiter in group {
            // Who has gone does not need to know.
            let _ = waiter.send(outcome);
        }
    }
}

// === impl GroupSync ===

impl GroupSync {
    /// Starts the thread. `sync` brings everything that is written by then to disk.
    pub(super) fn start(
        sync: impl FnMut() -> SyncResult + Send + 'static,
    ) -> Result<Self, std::io::Error> {
        let (requests, receiver) = channel();
        let state = Arc::new(SyncState::default());
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new()
            .name("moss-sync".to_owned())
            .spawn(move || serve(&receiver, sync, &shared))?;
        Ok(Self { requests: Some(requests), thread: Some(thread), state })
    }

    /// Asks for a sync of what is written by now, without waiting for it.
    pub(super) fn request(&self) -> PendingSync {
        let (waiter, outcome) = channel();
        if let Some(requests) = &self.requests {
            // Where the thread is gone the waiter is dropped, and the wait fails.
            let _ = requests.send(waiter);
        }
        PendingSync(outcome)
    }

    /// How many syncs there were.
    pub(super) fn syncs(&self) -> u64 {
        self.state.syncs.load(Ordering::Relaxed)
    }

    /// How a sync failed; none while what syncs return can be trusted.
    pub(super) fn failure(&self) -> Option<Errno> {
        *self.state.failure()
    }

    /// Refuses all who ask from now on, as after a failed sync.
    pub(super) fn distrust(&self, errno: Errno) {
        *self.state.failure() = Some(errno);
    }

    /// Syncs again: nothing of what a sync may have lost is needed any more.
    pub(super) fn trust(&self) {
        *self.state.failure() = None;
    }
}

// === impl SyncState ===

impl SyncState {
    fn run(&self, sync: &mut impl FnMut() -> SyncResult) -> SyncResult {
        let failure = *self.failure();
        if let Some(errno) = failure {
            return Err(errno);
        }
        let outcome = sync();
        self.syncs.fetch_add(1, Ordering::Relaxed);
        if let Err(errno) = outcome {
            *self.failure() = Some(errno);
        }
        outcome
    }

    fn failure(&self) -> MutexGuard<'_, Option<Errno>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for GroupSync {
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

// === impl PendingSync ===

impl PendingSync {
    /// Waits until it is done.
    pub(super) fn wait(self) -> SyncResult {
        self.0.recv().unwrap_or(Err(Errno::IO))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    const WAITERS: usize = 64;

    #[test]
    fn whoever_asks_while_a_sync_runs_shares_the_next_one() {
        let (begins, begun) = channel();
        let (let_end, may_end) = channel::<()>();
        let group = GroupSync::start(move || {
            begins.send(()).unwrap();
            may_end.recv().unwrap();
            Ok(())
        })
        .unwrap();
        let first = group.request();
        begun.recv().unwrap();
        let later: Vec<_> = (0..WAITERS).map(|_| group.request()).collect();
        let_end.send(()).unwrap();
        assert_eq!(first.wait(), Ok(()));
        begun.recv().unwrap();
        // Nobody is served by the sync that was under way when it asked.
        assert!(later.iter().all(|sync| sync.0.try_recv().is_err()));
        let_end.send(()).unwrap();
        assert!(later.into_iter().all(|sync| sync.wait() == Ok(())));
        assert_eq!(group.syncs(), 2);
    }

    #[test]
    fn after_a_failure_no_sync_is_trusted_until_that_is_said() {
        let (outcomes, next) = sync_channel(2);
        let group = GroupSync::start(move || next.recv().unwrap()).unwrap();
        outcomes.send(Err(Errno::NOSPC)).unwrap();
        // It would return well now.
        outcomes.send(Ok(())).unwrap();
        for _ in 0..2 {
            assert_eq!(group.request().wait(), Err(Errno::NOSPC));
        }
        assert_eq!((group.failure(), group.syncs()), (Some(Errno::NOSPC), 1));
        group.trust();
        assert_eq!(group.request().wait(), Ok(()));
        group.distrust(Errno::IO);
        assert_eq!(group.request().wait(), Err(Errno::IO));
    }

    #[test]
    fn dropping_ends_the_thread_after_what_was_asked_for() {
        let done = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&done);
        let group = GroupSync::start(move || {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
        let sync = group.request();
        drop(group);
        assert_eq!((sync.wait(), done.load(Ordering::Relaxed)), (Ok(()), 1));
    }

    #[test]
    fn wait_fails_where_the_thread_broke() {
        let group = GroupSync::start(|| panic!("a defect, on purpose")).unwrap();
        assert_eq!(group.request().wait(), Err(Errno::IO));
        assert_eq!(group.request().wait(), Err(Errno::IO));
    }
}
