//! Changes that a tool proposes: each in its turn, and anew where a file changed before anybody was
//! shown them.

use std::sync::Arc;

use moss_policy::Decision;
use moss_sdk::context::ProposalOutcome;
use moss_sdk::edit::ChangeSet;
use moss_sdk::{ErrorCode, RelPath};
use moss_workspace::Error;

use super::{Effects, LintsOfChange};
use crate::call::stop::EffectStop;

// === impl Effects ===

impl Effects {
    /// Shows changes, decides, asks, commits. A tool that learns that they are stale has its turn
    /// until it proposes again.
    pub(in crate::call) async fn propose(
        self: &Arc<Self>,
        changes: ChangeSet,
        lints: LintsOfChange<'_>,
    ) -> Result<ProposalOutcome, EffectStop> {
        self.take_turn(&changes).await;
        let workspace = Arc::clone(&self.scope.workspace);
        let (cancel, effects) = (self.scope.cancel.clone(), Arc::clone(self));
        let plan = move || {
            let cancelled = || cancel.is_cancelled();
            let planned = workspace.files.plan_over(&changes, &*workspace.editors, &cancelled);
            planned.map_err(|error| (effects.hidden_of(&changes), error))
        };
        let settled = match self.scope.blocking(plan).await? {
            Ok(plan) => self.settle(plan, lints).await,
            Err((Some((path, decision)), _)) => Err(self.deny_read(&path, &decision).await),
            Err((None, stale @ Error::Changed { .. })) => {
                return Ok(ProposalOutcome::Stale(stale.into()));
            }
            Err((None, error)) => Err(error.into()),
        };
        // Who was asked about one effect is not made to look at another.
        let is_in_turn = self.lock().turn.is_some();
        match settled {
            Err(EffectStop::Tool(stale)) if stale.code == ErrorCode::Conflict && is_in_turn => {
                Ok(ProposalOutcome::Stale(stale))
            }
            settled => {
                self.leave_turn();
                settled.map(ProposalOutcome::Applied)
            }
        }
    }

    /// The first of the files that is out of the caller's sight: why its change cannot be planned says what is there.
    fn hidden_of(&self, changes: &ChangeSet) -> Option<(RelPath, Decision)> {
        let (policy, tool) = (self.scope.workspace.policy.load(), self.tool());
        changes.changes.iter().find_map(|change| self.hides_path((&policy, &tool), &change.path))
    }

    /// Waits until no other call changes the first of the files. Who changes several may still meet
    /// others: then the commit finds out.
    async fn take_turn(&self, changes: &ChangeSet) {
        let Some(change) = changes.changes.first().filter(|_| !self.scope.call.dry_run) else {
            return;
        };
        if self.lock().turn.as_ref().is_some_and(|turn| turn.is_at(&change.path)) {
            return;
        }
        self.leave_turn();
        let turn = self.scope.workspace.turns.take(&change.path).await;
        self.lock().turn = Some(turn);
    }

    /// Lets others change the file.
    pub(in crate::call) fn leave_turn(&self) {
        let turn = self.lock().turn.take();
        drop(turn);
    }
}
