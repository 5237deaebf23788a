//! Running a linter on a copy of the workspace that has a proposed change: nothing but the copy is writable for it, and
//! nobody is asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use moss_checks::PlannedLint;
use moss_policy::Verdict;
use moss_sandbox::{EndCause, FileView, NetworkMode, ProcessExit, Profile, SandboxedCommand, Tier};
use moss_sdk::command::CommandRequest;
use moss_sdk::{RelPath, ToolError};

use super::PlannedCommand;
use super::files::absolute;
use super::output::OutputUse;
use super::running::tier_min;
use crate::call::effect::Effects;
use crate::call::stop::EffectStop;

/// A linter that may run unasked.
#[derive(Debug)]
pub(in crate::call::effect) struct PermittedLint {
    planned: PlannedCommand,
    tier_min: Tier,
}

/// What a linter left behind.
#[derive(Debug)]
pub(in crate::call::effect) struct UnseenRun {
    /// None where a signal ended it.
    pub(in crate::call::effect) exit_code: Option<i32>,
    pub(in crate::call::effect) signal: Option<i32>,
    pub(in crate::call::effect) stdout: String,
    pub(in crate::call::effect) stderr: String,
    /// Whether either is not whole.
    pub(in crate::call::effect) is_cut: bool,
    /// Whether its time was over.
    pub(in crate::call::effect) is_late: bool,
}

// === impl Effects ===

impl Effects {
    /// Decides about a linter that is to run before an edit. The error says why it does not run.
    pub(in crate::call::effect) async fn permit_lint(
        self: &Arc<Self>,
        lint: &PlannedLint,
    ) -> Result<Result<PermittedLint, String>, EffectStop> {
        let sandbox = match self.sandbox().await {
            Ok(sandbox) => sandbox,
            Err(error) => return Ok(Err(error.message)),
        };
        let directory = match lint.command.directory.as_str() {
            "" => RelPath::root(),
            path => RelPath::parse(path)?,
        };
        let request = CommandRequest {
            command: lint.command.command.clone(),
            directory,
            is_background: false,
            has_terminal: false,
        };
        let mut planned = match self.plan_command(request, sandbox).await {
            Ok(planned) => planned,
            Err(EffectStop::Tool(error)) => return Ok(Err(error.message)),
            Err(stop) => return Err(stop),
        };
        let (policy, tool) = (self.scope.workspace.policy.load_full(), self.linting_tool());
        self.doubt_unasked((&policy, &tool), &mut planned, sandbox).await;
        let decided = self.decide_command(&policy, &tool, &planned).await?;
        let decision = decided.strictest();
        if decision.verdict != Verdict::Allow {
            let command = &planned.command;
            return Ok(Err(format!("running `{command}` by lint_check is {decision}")));
        }
        let tier_min = tier_min(policy.sandbox_min()).max(Tier::Landlock);
        if planned.tier < tier_min {
            let found = planned.tier;
            return Ok(Err(format!("this machine isolates too little: `{found}`")));
        }
        self.note_uses(&decided.each);
        Ok(Ok(PermittedLint { planned, tier_min }))
    }

    /// What a linter sees: the copy, which it may write, and beside it what a command sees of the workspace.
    pub(in crate::call::effect) async fn view_of_copy(
        self: &Arc<Self>,
        copy: PathBuf,
    ) -> Result<FileView, ToolError> {
        let mut view = self.file_view().await?;
        view.keep_caches(std::env::home_dir().as_deref());
        let original = std::mem::replace(&mut view.workspace, copy);
        view.readable.push(original);
        view.readable.append(&mut view.writable);
        view.protected.clear();
        view.protected_last.clear();
        view.repositories.clear();
        Ok(view)
    }

    /// Runs a linter in its directory of the copy.
    pub(in crate::call::effect) async fn run_on_copy(
        &self,
        lint: &PermittedLint,
        view: &FileView,
        timeout: Duration,
    ) -> Result<UnseenRun, ToolError> {
        let PermittedLint { planned, tier_min } = lint;
        let copy: &Path = &view.workspace;
        let mut command = SandboxedCommand::shell(copy, planned.command.as_str());
        command.directory = absolute(copy, &planned.directory);
        command.files = view.clone();
        command.profile = Profile::WorkspaceWrite;
        command.network = NetworkMode::Off;
        command.tier_min = *tier_min;
        command.limits.timeout = Some(timeout.max(Duration::from_millis(1)));
        let sandbox = self.sandbox().await?;
        let (end, output) = self.run_sandboxed(sandbox, command, OutputUse::Unseen).await?;
        let (exit_code, signal) = match end.exit {
            ProcessExit::Exited(code) => (Some(code), None),
            ProcessExit::Killed(signal) => (None, Some(signal)),
        };
        let (stdout, is_stdout_cut) = output.stdout.whole();
        let (stderr, is_stderr_cut) = output.stderr.whole();
        let is_cut = is_stdout_cut || is_stderr_cut;
        let is_late = end.cause == EndCause::Timeout;
        Ok(UnseenRun { exit_code, signal, stdout, stderr, is_cut, is_late })
    }
}
