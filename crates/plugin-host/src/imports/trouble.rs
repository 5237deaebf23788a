//! What a guest was refused last, for people: a guest that fails over it may not say it, and need
//! not know where things lie on the machine.

use std::sync::{Arc, Mutex, PoisonError};

/// The last refusal of a call, unless something of the kind went well since.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trouble(Arc<Mutex<Option<GuestRefusal>>>);

/// Something that a guest was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GuestRefusal {
    /// Who may not do what, and what is missing for it; none where the guest itself got the error.
    pub(crate) what: Option<String>,
    /// Who withholds it, and what would give it.
    pub(crate) why: String,
}

// === impl Trouble ===

impl Trouble {
    pub(crate) fn note(&self, why: String) {
        self.note_refusal(GuestRefusal { what: None, why });
    }

    pub(crate) fn note_refusal(&self, refusal: GuestRefusal) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(refusal);
    }

    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    pub(crate) fn noted(&self) -> Option<GuestRefusal> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
