//! How commits use a history together: their turns at files, their lock, their intents, and their
//! waits for the disk.

use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use moss_sdk::RelPath;

use super::claims::{Claim, Touched};
use super::group_sync::PendingSync;
use super::lease::{LeaseShare, Sharing};
use super::settled::SettledEntries;
use super::{History, LOCK_WAIT, prune, query, store};
use crate::changes::Plan;
use crate::error::Error;
use crate::origin::Origin;
use crate::own::Lock;

const LOCK_FILE: &str = "lock";
/// Held by a process while it waits for the lock.
const QUEUE_FILE: &str = "lock.queue";

fn busy() -> Error {
    Error::Busy { what: "many changes of this workspace wait already".to_owned() }
}

// === impl History ===

impl History {
    /// Returns how often this process has waited for the disk with what it wrote. Commits that come
    /// together share a wait.
    pub fn syncs(&self) -> u64 {
        self.group_sync.syncs()
    }

    /// Waits for a turn at files, and at directories that are made.
    pub(crate) fn claim(&self, touched: Touched) -> Result<Claim<'_>, Error> {
        self.claims.take(touched, LOCK_WAIT).ok_or_else(busy)
    }

    /// Takes part in changing this workspace, beside other commits of this process. `recover` is
    /// called before the first of them, when no process changes it.
    pub(crate) fn join(
        &self,
        recover: impl FnOnce() -> Result<(), Error>,
    ) -> Result<LeaseShare<'_, Lock>, Error> {
        let take = || -> Result<Lock, Error> {
            let lock = self.lock()?;
            recover()?;
            Ok(lock)
        };
        // Who cannot be asked does not wait.
        let is_wanted = || self.directory.lock(QUEUE_FILE, Duration::ZERO).is_err();
        self.lease.hold(Sharing::Shared, LOCK_WAIT, take, is_wanted)?.ok_or_else(busy)
    }

    /// Waits until nobody changes this workspace, and keeps it so.
    pub(crate) fn alone(&self) -> Result<LeaseShare<'_, Lock>, Error> {
        let held = self.lease.hold(Sharing::Alone, LOCK_WAIT, || self.lock(), || false)?;
        held.ok_or_else(busy)
    }

    /// Takes the lock between processes. One that waits is seen by the one that has it. Whoever gets it finds a
    /// log that can be trusted.
    fn lock(&self) -> Result<Lock, Error> {
        let _queue = self.directory.lock(QUEUE_FILE, LOCK_WAIT)?;
        let lock = self.directory.lock(LOCK_FILE, LOCK_WAIT)?;
        self.renew()?;
        Ok(lock)
    }

    /// Up to which entry this process knows that nothing lies beside the files.
    pub(crate) fn settled_up_to(&self) -> u64 {
        self.settled().up_to()
    }

    /// Notes that recovery has looked at all entries up to this one.
    pub(crate) fn recovered(&self, newest: u64) {
        self.settled().recover(newest);
    }

    /// Notes that recovery could not look at an entry, which it does again.
    pub(crate) fn left(&self, number: u64) {
        self.settled().leave(number);
    }

    /// Writes an intent with all contents.
    pub(crate) fn begin(
        &self,
        plan: &Plan,
        origin: &Origin,
        directories: &[RelPath],
        temps: &[String],
    ) -> Result<u64, Error> {
        self.check_path()?;
        // Held until the entry counts as open: nobody sees a later one without it.
        let mut connection = self.connection();
        let mut settled = self.settled();
        let number = store::begin(&mut connection, plan, origin, directories, temps)?;
        settled.begin(number);
        Ok(number)
    }

    /// What this process knows to be settled.
    pub(super) fn settled(&self) -> MutexGuard<'_, SettledEntries> {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that nothing is left of an entry beside its files.
    pub(crate) fn settle(&self, number: u64) {
        self.settled().settle(number);
    }

    /// Up to which entry nothing lies beside the files, where it is time to write that down: an entry older than
    /// `newest` can go only then, or many have come together.
    pub(crate) fn sweep_due(&self, newest: u64) -> Result<Option<u64>, Error> {
        let is_held_up = prune::is_held_up(&self.connection(), &self.limits, newest)?;
        let mut settled = self.settled();
        let due = settled.due();
        Ok(if is_held_up { Some(settled.up_to()) } else { due })
    }

    /// The directories that entries made, parents first; none of those that are gone.
    pub(crate) fn directories_of(&self, numbers: &[u64]) -> Result<Vec<RelPath>, Error> {
        query::directories_of(&self.connection(), numbers)
    }

    /// Asks that everything written by now goes to disk, without waiting for it.
    pub(crate) fn request_sync(&self) -> PendingSync {
        self.group_sync.request()
    }

    /// Waits until everything written by now is on disk.
    pub(crate) fn make_durable(&self) -> Result<(), Error> {
        self.wait_for(self.request_sync())
    }

    /// Waits for a sync that was asked for.
    pub(crate) fn wait_for(&self, sync: PendingSync) -> Result<(), Error> {
        let path = self.directory.path().display();
        sync.wait().map_err(|errno| {
            if self.group_sync.failure().is_some() {
                // Where this fails, too, the log is checked only as far as others have it.
                let _ = store::distrust_log(&self.connection());
            }
            Error::io(&path, "make durable", errno)
        })
    }
}
