//! Writing what was decided about.

use std::sync::Arc;

use moss_sdk::context::{Applied, AppliedFile};
use moss_sdk::{ErrorCode, ToolError};
use moss_workspace::{Origin, Plan, Uncleared};
use tokio::sync::oneshot;

use super::Effects;
use crate::call::stop::EffectStop;
use crate::state::WorkspaceState;
use moss_dispatch::{CallError, change::ChangeStatus};
use moss_journal::room;

/// Reports a tool what became of its changes; without a history number, nothing was written.
pub(in crate::call) fn applied(plan: &Plan, history: Option<u64>) -> Applied {
    let files = plan
        .files()
        .iter()
        .map(|file| AppliedFile { path: file.path.clone(), hash: file.after })
        .collect();
    Applied { history, files }
}

// === impl Effects ===

impl Effects {
    /// Writes a plan on a thread of its own. A call that is cancelled meanwhile waits for it in
    /// [`Effects::conclude`]: what is being written is written, and recorded.
    pub(super) async fn commit(self: &Arc<Self>, plan: Plan) -> Result<Applied, EffectStop> {
        let committing = Arc::clone(&self.committing).lock_owned().await;
        let effects = Arc::clone(self);
        if plan.is_unsaved() {
            // A task of its own: what the editor does is recorded, whatever becomes of the call.
            let applying = self.scope().daemon.tasks.spawn(async move {
                let applied = effects.commit_in_editor(&plan).await;
                drop(committing);
                applied
            });
            return applying.await.unwrap_or_else(|error| {
                tracing::error!(%error, "an edit in an editor panicked");
                let message = "internal error: the edit panicked";
                Err(ToolError::new(ErrorCode::Internal, message).into())
            });
        }
        let clearing = Arc::clone(&self.clearing).lock_owned().await;
        let (written, told) = oneshot::channel();
        let write = self.scope.blocking(move || {
            effects.write(&plan, |outcome| {
                drop(committing);
                // A call that was cancelled is concluded by what is noted of it.
                let _ = written.send(outcome);
            });
            drop(clearing);
        });
        // What is durable is recorded while the old versions are removed.
        tokio::select! {
            biased;
            Ok(outcome) = told => outcome,
            Err(broken) = write => Err(broken.into()),
        }
    }

    /// Waits until nothing lies beside the files any more.
    pub(in crate::call) async fn cleared(&self) {
        drop(self.clearing.lock().await);
    }

    /// Carries a plan out and reports it as soon as it is durable, or failed.
    fn write(&self, plan: &Plan, tell: impl FnOnce(Result<Applied, EffectStop>)) {
        match self.make_durable(plan) {
            Ok(uncleared) => {
                tell(Ok(self.committed(plan, uncleared.committed().number)));
                uncleared.clear();
            }
            Err(error) => tell(Err(error)),
        }
    }

    fn make_durable<'a>(&'a self, plan: &'a Plan) -> Result<Uncleared<'a>, EffectStop> {
        self.check_not_cancelled()?;
        self.reserve_room(plan.files().iter().map(|file| file.path.as_str()))?;
        let workspace = &self.scope.workspace;
        let origin = self.origin();
        let WorkspaceState { files, history, editors, .. } = &**workspace;
        let cancelled = || self.scope.cancel.is_cancelled();
        files.make_durable(plan, history, &origin, &**editors, &cancelled).map_err(|error| {
            let error = ToolError::from(error);
            if error.code == ErrorCode::Conflict {
                self.mark(ChangeStatus::Conflict);
            }
            error.into()
        })
    }

    /// Makes sure that the journal has room for what a change of these files leaves there: it is asked
    /// before anything changes. Not for async code.
    pub(in crate::call) fn reserve_room<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), ToolError> {
        let bytes = room::needed(paths);
        let reserved = self.scope.workspace.journal.reserve(bytes);
        let room = reserved.map_err(|error| ToolError::new(ErrorCode::Io, error.to_string()))?;
        self.lock().rooms.push(room);
        Ok(())
    }

    /// Fails where the call was cancelled or its caller's token revoked: the last look before
    /// anything is written.
    pub(in crate::call) fn check_not_cancelled(&self) -> Result<(), EffectStop> {
        if self.scope.cancel.is_cancelled() {
            let message = "cancelled before anything was written";
            return Err(ToolError::new(ErrorCode::Cancelled, message).into());
        }
        let caller = &self.scope.call.caller;
        if caller.is_revoked() {
            let message = format!("{}; nothing was changed", caller.revoked());
            return Err(CallError::Denied { message, rule: None }.into());
        }
        Ok(())
    }

    /// Says where a change comes from.
    pub(in crate::call) fn origin(&self) -> Origin {
        Origin {
            call_id: self.scope.call_id.clone(),
            tool: self.scope.call.tool().to_owned(),
            caller: self.scope.call.caller.name().to_owned(),
            summary: String::new(),
        }
    }

    /// Notes that a plan is carried out.
    pub(in crate::call) fn committed(&self, plan: &Plan, number: u64) -> Applied {
        self.mark(ChangeStatus::Committed);
        self.lock().history = Some(number);
        self.remember(plan);
        applied(plan, Some(number))
    }

    /// A caller's own edits count as reads, where it had read what they were made on: an edit made
    /// blindly must not hide somebody else's change.
    fn remember(&self, plan: &Plan) {
        let Some(session) = self.scope.call.session() else { return };
        let sessions = &self.scope.workspace.sessions;
        for file in plan.files() {
            if sessions.last(&session, &file.path) != file.before {
                continue;
            }
            match file.after {
                Some(hash) => sessions.note(&session, &file.path, hash),
                None => sessions.forget(&session, &file.path),
            }
        }
    }
}
