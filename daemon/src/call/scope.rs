//! How a call waits by its [`CallScope`]: for a slot, for blocking work, for a person. The scope itself is in `call.rs`:
//! what it holds, as its records, knows it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::CallScope;
use super::behalf::Behalf;
use super::weight::CallWeight;
use crate::permits::Permit;
use crate::state::{Daemon, WorkspaceState};
use moss_dispatch::blocking::{Broken, blocking};
use moss_dispatch::{Call, CallError, Events};

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
        let permit = permits.acquire(caller.name()).await.map_err(CallError::QueueFull)?;
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
            let permit = self.daemon.permits_of(self.call.caller.role()).acquire_again().await;
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

    fn permit(&self) -> MutexGuard<'_, Option<Permit>> {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
