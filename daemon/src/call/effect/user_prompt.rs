//! Changing the user's own prompt: shown, decided, asked and committed as changes of files are, but
//! as an effect of its own. No standing approval covers it: what stands in the prompt steers every
//! later session.

use std::sync::Arc;

use moss_sdk::prompt::{PromptApplied, PromptChange};
use moss_workspace::Plan;
use serde_json::{Value, json};

use super::Effects;
use super::ask::Ask;
use crate::call::stop::EffectStop;
use crate::user_prompt::{self, UserPrompt};
use moss_dispatch::change::{self, ChangeStatus};
use moss_policy::{Action, Verdict};

// === impl Effects ===

impl Effects {
    /// Shows a change of the user's prompt, lets policy and people decide, and keeps it.
    pub(in crate::call) async fn change_user_prompt(
        self: &Arc<Self>,
        change: PromptChange,
    ) -> Result<PromptApplied, EffectStop> {
        let prompt = self.open_user_prompt().await?;
        let planner = Arc::clone(&prompt);
        let plan = self.scope.blocking(move || planner.plan(&change)).await??;
        self.settle_user_prompt(prompt, plan).await
    }

    /// Undoes a change of the prompt: the newest where none is named.
    pub(in crate::call) async fn undo_user_prompt(
        self: &Arc<Self>,
        number: Option<u64>,
    ) -> Result<Value, EffectStop> {
        let prompt = self.open_user_prompt().await?;
        let planner = Arc::clone(&prompt);
        let (number, plan) = self.scope.blocking(move || planner.plan_undo(number)).await??;
        let done = self.settle_user_prompt(prompt, plan).await?;
        Ok(json!({
            "undone": number,
            "version": done.version,
            "bytes": done.bytes,
            "applied": done.version.is_some(),
        }))
    }

    async fn open_user_prompt(&self) -> Result<Arc<UserPrompt>, EffectStop> {
        let daemon = Arc::clone(&self.scope.daemon);
        let open = move || UserPrompt::open(&daemon.setup.dirs, &daemon.config());
        Ok(Arc::new(self.scope.blocking(open).await??))
    }

    async fn settle_user_prompt(
        self: &Arc<Self>,
        prompt: Arc<UserPrompt>,
        plan: Plan,
    ) -> Result<PromptApplied, EffectStop> {
        let diff_bytes_max = self.scope.daemon.config().calls.diff_bytes_max;
        let changes = change::proposed(plan.files(), diff_bytes_max);
        let digest = plan.digest();
        let bytes = plan.files().iter().map(|file| file.after_bytes).sum();
        {
            let mut inner = self.lock();
            inner.digest = Some(digest);
            inner.changes.clone_from(&changes);
        }
        let decision = self.decide_own(Action::Configure).await?;
        if self.scope.call.dry_run {
            return Ok(PromptApplied { version: None, bytes });
        }
        if decision.verdict == Verdict::Ask {
            let file = user_prompt::file(&self.scope.daemon.setup.dirs);
            let arguments = json!({ "user_prompt": file.display().to_string() }).to_string();
            let ask = Ask {
                changes,
                arguments: Some(arguments),
                plan_bytes: plan.held_bytes(),
                ..Ask::of(digest, &decision)
            };
            if let Err(error) = self.ask(ask).await {
                self.mark(ChangeStatus::Unconfirmed);
                return Err(error.into());
            }
            // A rule may have come while somebody was being asked.
            self.decide_own(Action::Configure).await?;
        }
        let version = self.commit_user_prompt(prompt, plan).await?;
        Ok(PromptApplied { version: Some(version), bytes })
    }

    /// Writes on a thread of its own; a call that is cancelled meanwhile waits for it.
    async fn commit_user_prompt(
        self: &Arc<Self>,
        prompt: Arc<UserPrompt>,
        plan: Plan,
    ) -> Result<u64, EffectStop> {
        let committing = Arc::clone(&self.committing).lock_owned().await;
        let effects = Arc::clone(self);
        let write = move || {
            effects.check_not_cancelled()?;
            effects.reserve_room(plan.files().iter().map(|file| file.path.as_str()))?;
            let committed = prompt.commit(&plan, &effects.origin());
            match &committed {
                Ok(version) => {
                    effects.mark(ChangeStatus::Committed);
                    effects.lock().prompt_version = Some(*version);
                }
                Err(error) if error.code == moss_sdk::ErrorCode::Conflict => {
                    effects.mark(ChangeStatus::Conflict);
                }
                Err(_) => {}
            }
            drop(committing);
            Ok(committed?)
        };
        self.scope.blocking(write).await?
    }
}
