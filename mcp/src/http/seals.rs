//! The seals of requests that belong to no session: what a caller carries from one to the next opens for
//! that caller alone.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::seal::StateSeal;

/// Most callers that have a seal. One more, and all begin anew: what is under way is refused as none of ours,
/// as that of a daemon that ran before is, and its client sends the call anew.
const CALLERS_MAX: usize = 1_000;

/// A seal for each caller.
#[derive(Debug, Default)]
pub(super) struct CallerSeals(Mutex<HashMap<String, Arc<StateSeal>>>);

// === impl CallerSeals ===

impl CallerSeals {
    /// The seal of a caller.
    ///
    /// # Errors
    ///
    /// Where the system has no random bytes.
    pub(super) fn of(&self, caller: &str) -> io::Result<Arc<StateSeal>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seal) = all.get(caller) {
            return Ok(Arc::clone(seal));
        }
        if all.len() >= CALLERS_MAX {
            all.clear();
        }
        let seal = Arc::new(StateSeal::new()?);
        all.insert(caller.to_owned(), Arc::clone(&seal));
        Ok(seal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::AskedEffects;

    #[test]
    fn a_seal_is_of_one_caller_and_callers_are_bounded() {
        let seals = CallerSeals::default();
        let asked = AskedEffects { digests: vec!["0a".to_owned()], offers_session: false };
        let state = seals.of("alice").unwrap().seal(&asked, &["call"]).unwrap();
        assert!(seals.of("bob").unwrap().open(&state, &["call"]).is_err());
        assert_eq!(seals.of("alice").unwrap().open(&state, &["call"]), Ok(asked));
        (0..2 * CALLERS_MAX).for_each(|n| drop(seals.of(&n.to_string())));
        assert!(seals.0.lock().unwrap().len() <= CALLERS_MAX);
    }
}
