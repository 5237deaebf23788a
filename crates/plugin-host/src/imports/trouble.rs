//! What a guest was refused last, for people: a guest that fails over it may not say it, and need
//! not know where things lie on the machine.

use std::sync::{Arc, Mutex, PoisonError};

/// The last refusal of a call, unless something of the kind went well since.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trouble(Arc<Mutex<Option<String>>>);

// === impl Trouble ===

impl Trouble {
    pub(crate) fn note(&self, reason: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    }

    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    pub(crate) fn noted(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
