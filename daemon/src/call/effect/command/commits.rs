//! What git says of commits, for questions over code: by a command that only reads and runs unasked, or
//! not at all.
//!
//! Nobody is asked, and nothing is reported where it does not run: results only lack what it would add. The
//! journal has it as it has every command.

use std::sync::Arc;

use moss_policy::Verdict;
use moss_ranking::{COMMIT_LOG, CommitSubjects};
use moss_sandbox::{Sandbox, Tier};
use moss_sdk::command::CommandRequest;
use moss_sdk::{ErrorCode, RelPath};

use super::ConfirmedCommand;
use super::parts::{CommandSetting, parts_of};
use super::running::{OutputWanted, tier_min};
use crate::call::effect::{Effects, FileNames};
use crate::call::stop::EffectStop;

/// What git reads first of a repository: who may not read it knows nothing of commits.
const HEAD: &str = ".git/HEAD";

/// The output of `git log`.
struct PrintedLog {
    /// All of it, but for a gap in the middle where it is very long: there, one commit may have files of
    /// another.
    text: String,
    /// Whether git was ended before its end.
    is_cut: bool,
}

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
        if self.scope.call.dry_run {
            return true;
        }
        let workspace = Arc::clone(&self.scope.workspace);
        let head = move || workspace.live.get()?.head(workspace.files.root());
        let Ok(head) = self.scope.blocking(head).await else { return false };
        let Some(turn) = head.and_then(|head| kept.commits_turn(head)) else { return true };
        let log = match self.read_log(sandbox).await {
            Ok(log) => log,
            // It does not run here: so it is until `HEAD` moves.
            Err(EffectStop::Tool(error)) if error.code != ErrorCode::Cancelled => None,
            // The call ends: the next one tries.
            Err(_) => return false,
        };
        let Ok(subjects) = self.scope.blocking(move || log.map(PrintedLog::subjects)).await else {
            return false;
        };
        turn.finish(subjects);
        true
    }

    /// Whether the policy lets the caller run the command unasked, in the sandbox that there is, and read
    /// what git does.
    fn may_log(&self, sandbox: &Sandbox) -> bool {
        let policy = self.scope.workspace.policy.load_full();
        let (tool, root) = (self.tool(), RelPath::root());
        let Ok(head) = RelPath::parse(HEAD) else { return false };
        let names = FileNames { real: &head, asked: &head };
        if self.decide_one_read((&policy, &tool), names).verdict != Verdict::Allow {
            return false;
        }
        let is_isolated = sandbox.tier() == Tier::Full;
        let parts = parts_of(COMMIT_LOG, CommandSetting { is_isolated, has_terminal: false });
        sandbox.tier() >= tier_min(policy.sandbox_min())
            && parts.iter().all(|part| {
                let decision = self.decide_part(&policy, &tool, Some(&root), part);
                part.only_reads && decision.verdict == Verdict::Allow
            })
    }

    /// Runs the command. None where git does not know this workspace, or is not there.
    async fn read_log(
        self: &Arc<Self>,
        sandbox: &Sandbox,
    ) -> Result<Option<PrintedLog>, EffectStop> {
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
        let (text, _) = output.stdout.whole();
        Ok(match report.exit_code {
            Some(0) => Some(PrintedLog { text, is_cut: false }),
            Some(_) => None,
            // Its time was over: the newest commits are there.
            None => Some(PrintedLog { text, is_cut: true }),
        })
    }
}

// === impl PrintedLog ===

impl PrintedLog {
    fn subjects(self) -> CommitSubjects {
        match self.is_cut {
            true => CommitSubjects::of_cut_log(&self.text),
            false => CommitSubjects::of_log(&self.text),
        }
    }
}
