//! What is left to do of a commit that nobody has to wait for: removing what came out.

use super::{Commit, Committed, recover};
use crate::history::{Claim, LeaseShare};
use crate::own::Lock;

/// A change that is durable and in the history, of which the old versions still lie beside the files.
/// Whoever changes the same files waits until they are gone.
#[must_use = "what lies beside the files is removed by `clear`"]
pub struct Uncleared<'a> {
    commit: Commit<'a>,
    // In the order in which they are given up.
    _lease: LeaseShare<'a, Lock>,
    _claim: Claim<'a>,
}

// === impl Uncleared ===

impl<'a> Uncleared<'a> {
    pub(super) fn new(commit: Commit<'a>, lease: LeaseShare<'a, Lock>, claim: Claim<'a>) -> Self {
        Self { commit, _lease: lease, _claim: claim }
    }

    /// Says what became of the plan.
    pub fn committed(&self) -> Committed {
        self.commit.committed()
    }

    /// Removes the old versions, and what is too old from the history.
    pub fn clear(self) {
        self.commit.remove_displaced();
        // Room is made after the fact: a failure to do so loses nothing and is retried next time.
        let Commit { workspace, history, number, .. } = self.commit;
        let _ = recover::make_room(workspace, history, number);
    }
}
