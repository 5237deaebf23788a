//! The scope of a call: what every part of it may look at, and how it waits by that, for a slot, for blocking work, for
//! a person. What it holds does not know it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::behalf::Behalf;
use super::content::CallContent;
use super::held_records::DeferredRecords;
use super::stop::EffectStop;
use super::weight::{CallWeight, WorkRoom};
use crate::permits::Permit;
use crate::state::{Daemon, WorkspaceState};
use moss_catalog::Catalog;
use moss_dispatch::blocking::{Broken, blocking};
use moss_dispatch::{Call, CallError, Events};
use moss_workspace::Error;

/// Entries of a listing that are not counted against the memory of calls: most workspaces have fewer.
const ENTRIES_UNCOUNTED: usize = 300_000;
/// About how much memory an entry takes with its path, in bytes.
const ENTRY_BYTES: usize = 160;

/// What every part of a call may look at.
#[derive(Debug)]
pub(crate) struct CallScope {
    pub(super) daemon: Arc<Daemon>,
    pub(super) call: Call,
    pub(super) workspace: Arc<WorkspaceState>,
    pub(super) call_id: String,
    /// The tools as they were when the call came.
    pub(super) catalog: Arc<Catalog>,
    pub(super) events: Events,
    pub(super) cancel: CancellationToken,
    permit: Mutex<Option<Permit>>,
    /// The call that made this one, where a plugin did.
    pub(super) behalf: Option<Behalf>,
    /// Why it does not run, where that is known before it begins: it leaves a record of that.
    pub(super) refusal: Option<EffectStop>,
    /// What is not written of it yet.
    pub(super) held: DeferredRecords,
    /// What it came with, in memory.
    pub(super) weight: CallWeight,
    /// What it shows beside its output.
    pub(super) content: CallContent,
}

// === impl CallScope ===

impl CallScope {
    /// The scope of a call from outside, with the tools that there are now.
    pub(super) fn new(
        daemon: Arc<Daemon>,
        workspace: Arc<WorkspaceState>,
        call: Call,
        weight: CallWeight,
        events: Events,
        cancel: CancellationToken,
    ) -> Self {
        let catalog = workspace.installed.catalog.load_full();
        Self {
            daemon,
            call,
            workspace,
            call_id: crate::ids::random(),
            catalog,
            events,
            cancel,
            permit: Mutex::default(),
            behalf: None,
            refusal: None,
            held: Default::default(),
            weight,
            content: Default::default(),
        }
    }

    /// Whether it runs, directly or not, for a call of this plugin.
    pub(super) fn is_for(&self, plugin: &str) -> bool {
        self.behalf.iter().flat_map(Behalf::plugins).any(|name| name == plugin)
    }

    pub(super) async fn take_permit(&self) -> Result<(), CallError> {
        // Who waits for another call to end would wait for its own slot.
        if self.behalf.is_some() {
            return Ok(());
        }
        let caller = &self.call.caller;
        let permits = self.daemon.permits_of(caller.role());
        let permit = permits.acquire(caller).await.map_err(CallError::QueueFull)?;
        *self.permit() = Some(permit);
        Ok(())
    }

    /// Gives the slot away.
    pub(super) fn leave_permit(&self) -> Option<Permit> {
        self.permit().take()
    }

    /// Gives the slot away while a future waits for a person.
    pub(super) async fn parked<T>(&self, wait: impl Future<Output = T>) -> T {
        let had = self.leave_permit().is_some();
        let value = wait.await;
        if had {
            let caller = &self.call.caller;
            let permit = self.daemon.permits_of(caller.role()).resume(caller).await;
            *self.permit() = Some(permit);
        }
        value
    }

    /// Runs blocking work on the pool for it. Work that continues after its call was cancelled
    /// still counts against the number of slots, so that it cannot pile up.
    ///
    /// # Errors
    ///
    /// Where the work panics: a defect.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Broken> {
        let worker = self.daemon.workers.acquire(Some(&self.call.caller)).await;
        let work = move || {
            let value = work();
            drop(worker);
            value
        };
        blocking(work).await
    }

    /// Runs work that takes long and waits for nothing, as much of it at once as is compiled at once.
    ///
    /// # Errors
    ///
    /// Where the work panics: a defect.
    pub(super) async fn heavy<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Broken> {
        let permit = self.daemon.cpu_permits.acquire(Some(&self.call.caller)).await;
        self.blocking(move || {
            let done = work();
            drop(permit);
            done
        })
        .await
    }

    /// Gives its memory back while a question waits, which has one of its own: what a decision lets go
    /// on is never refused.
    pub(super) async fn held_by_question<T>(&self, wait: impl Future<Output = T>) -> T {
        self.weight.rest();
        let value = wait.await;
        self.weight.resume();
        value
    }

    /// Counts further memory against that of calls until this one ends.
    pub(super) fn hold(&self, bytes: u64) -> Result<(), Error> {
        self.weight.hold_more(bytes).map_err(|bytes_max| Error::Memory { bytes, bytes_max })
    }

    /// Counts a listing of so many entries against the memory of calls until this one ends.
    pub(super) fn hold_listing(&self, entries: usize) -> Result<(), Error> {
        match entries.checked_sub(ENTRIES_UNCOUNTED) {
            Some(counted) => self.hold((counted * ENTRY_BYTES) as u64),
            None => Ok(()),
        }
    }

    /// Memory for contents that work of the call compares, as calls of its role have it together.
    pub(super) fn room(&self) -> WorkRoom {
        WorkRoom::new(&self.daemon, &self.call.caller)
    }

    fn permit(&self) -> MutexGuard<'_, Option<Permit>> {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
