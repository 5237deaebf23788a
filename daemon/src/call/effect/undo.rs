//! Undoing changes: what the files hold now is looked at only where it may be read.

use std::collections::BTreeSet;
use std::future::ready;
use std::sync::Arc;

use moss_sdk::RelPath;
use moss_workspace::{Error, Plan, UndoBounds, UndoTarget};
use serde_json::{Value, json};

use super::{Effects, FileNames, ProposedLints};
use crate::call::stop::EffectStop;
use crate::state::WorkspaceState;
use moss_policy::{Policy, Verdict};

// === impl Effects ===

impl Effects {
    /// Undoes history entries, as a change like any other.
    pub(in crate::call) async fn undo(
        self: &Arc<Self>,
        target: UndoTarget,
    ) -> Result<Value, EffectStop> {
        let workspace = Arc::clone(&self.scope.workspace);
        let number = match target {
            UndoTarget::Entry(number) => Some(number),
            UndoTarget::Call(_) | UndoTarget::Since(_) => None,
        };
        self.permit_looking(&target).await?;
        let scope = Arc::clone(&self.scope);
        let plan = move || {
            let WorkspaceState { files, history, editors, .. } = &*workspace;
            let room = scope.room();
            let bounds = UndoBounds {
                cancelled: &|| scope.cancel.is_cancelled(),
                hold: &|bytes| room.hold(bytes),
                ..UndoBounds::default()
            };
            history.plan_undo_over(files, &target, &**editors, bounds)
        };
        let plan = self.scope.blocking(plan).await?.inspect_err(|error| {
            if let Error::Merge(conflicts) = error {
                self.lock().conflicts.clone_from(&conflicts.0);
            }
        })?;
        self.permit_showing(&plan).await?;
        let undoes = plan.undo_of().to_vec();
        let applied = self.settle(plan, Box::pin(ready(Ok(ProposedLints::default())))).await?;
        let files: Vec<_> = applied
            .files
            .iter()
            .map(|file| json!({ "path": file.path, "hash": file.hash }))
            .collect();
        Ok(json!({
            "undone": number,
            "undoes": undoes,
            "history": applied.history,
            "applied": applied.history.is_some(),
            "files": files,
        }))
    }

    /// Planning an undo looks at what the files hold now, and its errors report that: reading them
    /// is decided about before.
    async fn permit_looking(&self, target: &UndoTarget) -> Result<(), EffectStop> {
        let (workspace, target) = (Arc::clone(&self.scope.workspace), target.clone());
        let find = move || {
            let files = workspace.history.undo_files(&target)?;
            // A way that leads elsewhere by now leads to what is looked at.
            let now = |real: &RelPath| workspace.files.resolve(real).ok().map(|found| found.path);
            let named = files.into_iter().map(|file| {
                let now = now(&file.real).unwrap_or_else(|| file.real.clone());
                (now, file.real, file.path)
            });
            Ok::<BTreeSet<_>, Error>(named.collect())
        };
        let policy = self.scope.workspace.policy.load_full();
        for (now, real, asked) in self.scope.blocking(find).await?? {
            for asked in [&real, &asked] {
                self.permit_read(&policy, FileNames { real: &now, asked }).await?;
            }
        }
        Ok(())
    }

    /// What an undo shows was never read by a tool of this call: reading is decided about here.
    async fn permit_showing(&self, plan: &Plan) -> Result<(), EffectStop> {
        let policy = self.scope.workspace.policy.load_full();
        for file in plan.files() {
            self.permit_read(&policy, FileNames { real: &file.real, asked: &file.path }).await?;
        }
        Ok(())
    }

    async fn permit_read(&self, policy: &Policy, names: FileNames<'_>) -> Result<(), EffectStop> {
        let decision = self.decide_read(policy, names);
        match decision.verdict {
            Verdict::Allow => Ok(()),
            Verdict::Deny => Err(self.deny_read(names.real, &decision).await),
            Verdict::Ask => self.ask_read(names, &decision).await,
        }
    }
}
