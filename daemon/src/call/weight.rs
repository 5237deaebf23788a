//! How much memory a call holds of what it came with: a share of what the calls of its role may hold
//! together while they wait for a slot and run.

use std::sync::{Mutex, PoisonError};

use moss_dispatch::{Role, TooMuch, Work};

use super::CallScope;
use crate::budget::{BudgetShare, object_bytes};
use crate::state::Daemon;

/// How often a call has what it came with: as it arrived, bound, and read by its tool.
const COPIES: usize = 3;
/// What of each call needs no share: small ones are taken whatever else runs.
const FREE_BYTES: usize = 64 << 10;

/// What a call holds while it waits for a slot and runs.
#[derive(Debug)]
pub(super) struct CallWeight {
    share: Mutex<BudgetShare<1>>,
    bytes: usize,
    /// Why it has no share.
    refused: Option<TooMuch>,
}

/// How much memory it takes that a call came with this, in bytes.
pub(super) fn held_bytes(work: &Work) -> usize {
    let texts = match work {
        Work::Tool { arguments: Ok(arguments), .. } => object_bytes(arguments),
        Work::Tool { arguments: Err(unread), .. } => unread.text.len(),
        Work::Undo(_) | Work::UndoUserPrompt { .. } | Work::ChangePlugins(_) => 0,
    };
    texts.saturating_mul(COPIES)
}

// === impl CallWeight ===

impl CallWeight {
    /// Holds what a call came with, as far as there is room for it.
    pub(super) fn new(daemon: &Daemon, role: Role, work: &Work) -> Self {
        let bytes_max = daemon.config().calls.caller_bytes_max;
        let mut share = BudgetShare::new([(daemon.calls_held.of(Some(role)).clone(), bytes_max)]);
        let bytes = held_bytes(work).saturating_sub(FREE_BYTES);
        let refused = share.hold(bytes).err();
        let refused = refused.map(|_| TooMuch { bytes, bytes_max, role: role.as_str() });
        Self { share: Mutex::new(share), bytes, refused }
    }

    /// Refuses a call for which there was no room.
    pub(super) fn admitted(&self) -> Result<(), TooMuch> {
        self.refused.map_or(Ok(()), Err)
    }

    fn set(&self, bytes: usize) {
        let mut share = self.share.lock().unwrap_or_else(PoisonError::into_inner);
        match bytes {
            // Less is never refused.
            0 => drop(share.hold(0)),
            bytes => share.hold_again(bytes),
        }
    }
}

// === impl CallScope ===

impl CallScope {
    /// Gives the share back while a question waits, which has one of its own: what an answer lets go
    /// on is never refused.
    pub(super) async fn held_by_question<T>(&self, wait: impl Future<Output = T>) -> T {
        self.weight.set(0);
        let value = wait.await;
        self.weight.set(self.weight.bytes);
        value
    }
}
