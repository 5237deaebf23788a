//! How much memory a call holds of what it came with: a share of what the calls of its role may hold
//! together while they wait for a place and run.

use std::sync::{Mutex, PoisonError};

use super::{Scope, Work};
use crate::budget::{Share, object_bytes};
use crate::caller::Role;
use crate::state::Daemon;

/// How often a call has what it came with: as it arrived, bound, and read by its tool.
const COPIES: usize = 3;
/// What of each call needs no share: small ones are taken whatever else runs.
const FREE_BYTES: usize = 64 << 10;

/// What a call holds while it waits for a place and runs.
#[derive(Debug)]
pub(super) struct Held {
    share: Mutex<Share<1>>,
    bytes: usize,
    /// Why it has no share.
    refused: Option<TooMuch>,
}

/// What calls came with takes too much memory together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "what this call came with takes {bytes} bytes of memory and has no room beside that of other \
     calls of the {role} that run or wait: {bytes_max} bytes (calls.caller_bytes_max); wait for some \
     of them to end, then call again; a call alone that has no room is sent in parts"
)]
pub struct TooMuch {
    /// How many bytes the call takes.
    pub bytes: usize,
    /// How many there may be.
    pub bytes_max: usize,
    /// Whose.
    pub role: &'static str,
}

// === impl Work ===

impl Work {
    /// How much memory it takes that this came along, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        let texts = match self {
            Self::Tool { arguments: Ok(arguments), .. } => object_bytes(arguments),
            Self::Tool { arguments: Err(unread), .. } => unread.text.len(),
            Self::Undo(_) | Self::UndoUserPrompt { .. } | Self::ChangePlugins(_) => 0,
        };
        texts.saturating_mul(COPIES)
    }
}

// === impl Held ===

impl Held {
    /// Holds what a call came with, as far as there is room for it.
    pub(super) fn new(daemon: &Daemon, role: Role, work: &Work) -> Self {
        let bytes_max = daemon.config().calls.caller_bytes_max;
        let mut share = Share::new([(daemon.calls_held.of(Some(role)).clone(), bytes_max)]);
        let bytes = work.held_bytes().saturating_sub(FREE_BYTES);
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

// === impl Scope ===

impl Scope {
    /// Gives the share back while a question waits, which has one of its own: what an answer lets go
    /// on is never refused.
    pub(super) async fn held_by_question<T>(&self, wait: impl Future<Output = T>) -> T {
        self.weight.set(0);
        let value = wait.await;
        self.weight.set(self.weight.bytes);
        value
    }
}
