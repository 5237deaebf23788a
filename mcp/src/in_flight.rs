//! The requests of a connection that wait for their responses: so many at once, each id once.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::RequestId;

/// Most requests of one connection that wait at once.
pub(crate) const REQUESTS_MAX: usize = 128;

/// The ids of requests that wait.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight(Arc<Mutex<HashSet<RequestId>>>);

/// Why a request is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// One with its id waits.
    SameId,
    /// So many wait already.
    TooMany,
}

// === impl NotTaken ===

impl NotTaken {
    /// Says so to the client.
    pub(crate) fn message(self, id: &RequestId) -> String {
        match self {
            Self::SameId => format!("a request with the id {id} still runs: use another id"),
            Self::TooMany => {
                format!("{REQUESTS_MAX} requests run already: wait for a response to one of them")
            }
        }
    }
}

// === impl InFlight ===

impl InFlight {
    /// Marks a request as running until [`Self::forget`].
    pub(crate) fn take(&self, id: &RequestId) -> Result<(), NotTaken> {
        let mut ids = self.lock();
        if ids.contains(id) {
            return Err(NotTaken::SameId);
        }
        if ids.len() >= REQUESTS_MAX {
            return Err(NotTaken::TooMany);
        }
        ids.insert(id.clone());
        Ok(())
    }

    /// Forgets a request: it has its response, or nobody waits for one.
    pub(crate) fn forget(&self, id: &RequestId) {
        self.lock().remove(id);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
