//! What git says of commits, for questions over code: by a command that only reads and runs unasked, or
//! not at all.
//!
//! Nobody is asked, and nothing is reported where it does not run: answers only lack what it would add.

use std::sync::Arc;

use moss_policy::Verdict;
use moss_ranking::{COMMIT_LOG, CommitSubjects};
use moss_sandbox::{Sandbox, Tier};
use moss_sdk::RelPath;
use moss_sdk::command::CommandRequest;

use super::ConfirmedCommand;
use super::parts_of;
use super::running::{OutputWanted, tier_min};
use crate::call::effect::Effects;
use crate::call::stop::EffectStop;

// === impl Effects ===

impl Effects {
    /// Whether the caller may know what git says of commits. Has git asked where what is known is old.
    pub(in crate::call) async fn follow_commits(self: &Arc<Self>) -> bool {
        let Some(kept) = self.scope.workspace.live.get() else { return false };
        // What runs commands for a plugin is granted word by word.
        if self.scope.behalf.is_some() {
            return false;
        }
        let Some(sandbox) = self.scope.daemon.sandbox().await else { return false };
        if !self.may_log(sandbox) {
            return false;
        }
        if !self.scope.call.dry_run
            && let Some(turn) = kept.commits_turn(self.scope.workspace.files.root())
        {
            match self.read_log(sandbox).await {
                Ok(log) => {
                    let read = move || log.map(|log| CommitSubjects::of_log(&log));
                    let Ok(subjects) = self.scope.blocking(read).await else { return false };
                    turn.finish(subjects);
                }
                // Cancelled, or the disk failed: the next one tries again.
                Err(_) => return false,
            }
        }
        true
    }

    /// Whether the policy lets the caller run the command unasked, in the sandbox that there is.
    fn may_log(&self, sandbox: &Sandbox) -> bool {
        let policy = self.scope.workspace.policy.load_full();
        let (tool, root) = (self.tool(), RelPath::root());
        let parts = parts_of(COMMIT_LOG, sandbox.tier() == Tier::Full);
        sandbox.tier() >= tier_min(policy.sandbox_min())
            && parts.iter().all(|part| {
                let decision = self.decide_part(&policy, &tool, Some(&root), part);
                part.only_reads && decision.verdict == Verdict::Allow
            })
    }

    /// Runs the command. None where git does not know this workspace, or is not there.
    async fn read_log(self: &Arc<Self>, sandbox: &Sandbox) -> Result<Option<String>, EffectStop> {
        let request = CommandRequest {
            command: COMMIT_LOG.to_owned(),
            directory: RelPath::root(),
            is_background: false,
            has_terminal: false,
        };
        let confirmed = self.confirm_command(request, sandbox, false).await?;
        let ConfirmedCommand::Run(planned, tier_min) = confirmed else { return Ok(None) };
        let ran = self.run_planned(sandbox, &planned, tier_min, OutputWanted::Unseen).await?;
        let (report, output) = ran;
        Ok((report.exit_code == Some(0)).then(|| output.stdout.whole().0))
    }
}
