//! How much memory a call holds of what it came with, and of what it compares: a share of what the
//! calls of its role may hold together while they wait for a slot and run.

use std::sync::{Mutex, MutexGuard, PoisonError};

use moss_dispatch::{Caller, TooMuch, Work};

use crate::state::Daemon;
use moss_dispatch::budget::{BudgetShare, object_bytes};

/// How often a call has what it came with: as it arrived, bound, and read by its tool.
const COPIES: usize = 3;
/// What of each call needs no share: small ones are taken whatever else runs.
const FREE_BYTES: usize = 64 << 10;

/// What a call holds while it waits for a slot and runs.
#[derive(Debug)]
pub(super) struct CallWeight {
    held: Mutex<HeldBytes>,
    /// Why it has no share.
    refused: Option<TooMuch>,
}

#[derive(Debug)]
struct HeldBytes {
    share: BudgetShare<2>,
    /// What the call holds while it runs.
    bytes: usize,
}

/// Memory for contents that some work of a call compares; given back when the work ends.
#[derive(Debug)]
pub(super) struct WorkRoom(Mutex<BudgetShare<2>>);

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
    pub(super) fn new(daemon: &Daemon, caller: &Caller, work: &Work) -> Self {
        let mut share = share(daemon, caller);
        let (bytes, role) = (held_bytes(work), caller.role().as_str());
        let refused = hold(&mut share, bytes).err();
        let refused = refused.map(|bytes_max| TooMuch { bytes, bytes_max, role });
        Self { held: Mutex::new(HeldBytes { share, bytes }), refused }
    }

    /// Holds so many bytes more until the call ends.
    ///
    /// # Errors
    ///
    /// The most that there may be, where there is no room.
    pub(super) fn hold_more(&self, more: u64) -> Result<(), u64> {
        let mut held = self.held();
        let more = usize::try_from(more).unwrap_or(usize::MAX);
        let bytes = held.bytes.saturating_add(more);
        hold(&mut held.share, bytes).map_err(|bytes_max| bytes_max as u64)?;
        held.bytes = bytes;
        Ok(())
    }

    /// Refuses a call for which there was no room.
    pub(super) fn admitted(&self) -> Result<(), TooMuch> {
        self.refused.map_or(Ok(()), Err)
    }

    /// Gives back what it holds, until it resumes.
    pub(super) fn rest(&self) {
        // Less is never refused.
        let _ = self.held().share.hold(0);
    }

    /// Holds again what it held before it rested; never refused.
    pub(super) fn resume(&self) {
        let mut held = self.held();
        let bytes = held.bytes.saturating_sub(FREE_BYTES);
        held.share.hold_again(bytes);
    }

    fn held(&self) -> MutexGuard<'_, HeldBytes> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn share(daemon: &Daemon, caller: &Caller) -> BudgetShare<2> {
    let bytes_max = daemon.config().calls.caller_bytes_max;
    BudgetShare::new(daemon.calls_held.shares(Some(caller), bytes_max, 0))
}

/// Has a share hold so many bytes but for what is free, or returns the bound that has no room.
fn hold(share: &mut BudgetShare<2>, bytes: usize) -> Result<(), usize> {
    share.hold(bytes.saturating_sub(FREE_BYTES)).map_err(|full| share.bytes_max()[full])
}

// === impl WorkRoom ===

impl WorkRoom {
    /// Memory for work of a caller, of which nothing is held yet.
    pub(super) fn new(daemon: &Daemon, caller: &Caller) -> Self {
        Self(Mutex::new(share(daemon, caller)))
    }

    /// Holds so many bytes from now on, in place of those before.
    ///
    /// # Errors
    ///
    /// The most that there may be, where there is no room.
    pub(super) fn hold(&self, bytes: u64) -> Result<(), u64> {
        let mut share = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        hold(&mut share, bytes).map_err(|bytes_max| bytes_max as u64)
    }
}
