//! Running what was decided about, and reporting what came of it.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use moss_policy::SandboxMin;
use moss_sandbox::{
    CommandEnd, EndCause, NetworkMode, OutputChunk, ProcessExit, Profile, RunningCommand, Sandbox,
    SandboxError, SandboxFacts, SandboxedCommand, Stopper, Tier,
};
use moss_sdk::command::{AlteredFile, CheckFollower, CommandReport, LeftRunning, ReportedSandbox};
use moss_sdk::{ErrorCode, ToolError};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::PlannedCommand;
use super::files::{CHANGED_MAX, COMPARED_MAX, FileMoment, absolute};
use super::made::{MadeFiles, ProtectedBefore};
use super::output::{CollectedOutput, OutputUse};
use crate::call::effect::Effects;

/// Longest time that a command may run.
const TIMEOUT: Duration = Duration::from_secs(600);
/// Longest time of a command whose output nobody sees.
const UNSEEN_TIMEOUT: Duration = Duration::from_secs(5);
/// What is left of the call's time to report what came of its command; of a short one a quarter.
const REPORTING: Duration = Duration::from_millis(3_000);
/// Chunks of output that are held for a slow disk.
const CHUNKS_MAX: usize = 16;
/// How long a question of a command stands before the command is ended: nobody can reply.
const PROMPT_PATIENCE: Duration = Duration::from_secs(2);

/// What runs unasked makes git run no program that a directory names: no monitor of files, none that checks
/// signatures (which the configuration, a format and an option can each ask for), none that fetches what a
/// partial clone lacks, and nothing of a directory that is made to look like a repository.
const READING_GIT: [(&str, &str); 16] = [
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_CONFIG_COUNT", "7"),
    ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_1", "explicit"),
    ("GIT_CONFIG_KEY_2", "log.showSignature"),
    ("GIT_CONFIG_VALUE_2", "false"),
    ("GIT_CONFIG_KEY_3", "gpg.program"),
    ("GIT_CONFIG_VALUE_3", NO_PROGRAM),
    ("GIT_CONFIG_KEY_4", "gpg.openpgp.program"),
    ("GIT_CONFIG_VALUE_4", NO_PROGRAM),
    ("GIT_CONFIG_KEY_5", "gpg.x509.program"),
    ("GIT_CONFIG_VALUE_5", NO_PROGRAM),
    ("GIT_CONFIG_KEY_6", "gpg.ssh.program"),
    ("GIT_CONFIG_VALUE_6", NO_PROGRAM),
];
/// Stands where git would run another program. No program can be there: one that starts and ends without reading could
/// end git with it. What git says of it names the reason.
const NO_PROGRAM: &str = "/dev/null/no-signatures-are-checked-unasked";

/// How much of what a command writes is wanted.
pub(super) enum OutputWanted {
    /// What a result has room for.
    Shown,
    /// Much more of it, for a tool that reads it and may follow it as it comes; with a directory of reports
    /// that the command may write.
    Whole { reports: Option<PathBuf>, follower: Option<Box<dyn CheckFollower>> },
    /// Much of it, for moss itself: nobody sees it, and nobody waits long for it.
    Unseen,
}

/// A command that ended, with what it left settled.
struct SettledRun {
    end: CommandEnd,
    output: CollectedOutput,
    made: MadeFiles,
    after: FileMoment,
}

/// The least tier that a policy accepts.
pub(super) fn tier_min(min: SandboxMin) -> Tier {
    match min {
        SandboxMin::None => Tier::None,
        SandboxMin::Landlock => Tier::Landlock,
        SandboxMin::Full => Tier::Full,
    }
}

// === impl Effects ===

impl Effects {
    /// What the sandbox gets to know of a command.
    pub(super) async fn sandboxed(
        self: &Arc<Self>,
        planned: &PlannedCommand,
        tier_min: Tier,
    ) -> Result<SandboxedCommand, ToolError> {
        let files = self.file_view().await?;
        let root = files.workspace.clone();
        let mut command = SandboxedCommand::shell(root.clone(), planned.command.as_str());
        command.directory = absolute(&root, &planned.directory);
        command.files = files;
        command.profile = planned.profile;
        command.network = planned.network;
        command.tier_min = tier_min;
        if planned.profile == Profile::ReadOnly {
            let set = READING_GIT.map(|(name, value)| (name.into(), value.into()));
            command.environment.set.extend(set);
        }
        Ok(command)
    }

    /// Runs a command that was decided about.
    pub(super) async fn run_planned(
        self: &Arc<Self>,
        sandbox: &Sandbox,
        planned: &PlannedCommand,
        tier_min: Tier,
        wanted: OutputWanted,
    ) -> Result<(CommandReport, CollectedOutput), ToolError> {
        let writes = planned.profile != Profile::ReadOnly;
        let before = async { if writes { self.file_moment().await.map(Some) } else { Ok(None) } };
        // Both walk through the workspace.
        let (mut command, before) = tokio::try_join!(self.sandboxed(planned, tier_min), before)?;
        let (reports, output_use, time_max) = match wanted {
            OutputWanted::Shown => (None, OutputUse::Shown, TIMEOUT),
            OutputWanted::Whole { reports, follower } => {
                (reports, OutputUse::Read(follower), TIMEOUT)
            }
            OutputWanted::Unseen => (None, OutputUse::Unseen, UNSEEN_TIMEOUT),
        };
        command.files.writable.extend(reports);
        let time = self.scope.call.deadline.map(|deadline| {
            let left = deadline.saturating_duration_since(Instant::now());
            left.saturating_sub(REPORTING.min(left / 4))
        });
        let timeout = time.unwrap_or(time_max).min(time_max).max(Duration::from_millis(1));
        command.limits.timeout = Some(timeout);
        let Some(before) = before else {
            let (end, output) = self.run_sandboxed(sandbox, command, output_use).await?;
            return Ok((report(&end, &output, timeout), output));
        };
        let SettledRun { end, output, made, after } =
            self.run_settled(sandbox, command, output_use).await?;
        let mut report = report(&end, &output, timeout);
        let set_aside = made.set_aside.iter().map(|path| path.display().to_string());
        report.sandbox.restored.extend(set_aside);
        report.notes.extend(made.notes());
        list_changed(&mut report, after.changed_since(&before));
        Ok((report, output))
    }

    /// Runs a command that may write, and moves aside what it may not have made. That goes on where the call is
    /// cancelled: its command is killed then, and settled all the same.
    async fn run_settled(
        self: &Arc<Self>,
        sandbox: &Sandbox,
        mut command: SandboxedCommand,
        output_use: OutputUse,
    ) -> Result<SettledRun, ToolError> {
        let protected = ProtectedBefore::of(&command.files);
        let record = self.scope.workspace.left_commands.record(Some(protected.names()));
        command.record = Some(record.clone());
        let (effects, sandbox) = (Arc::clone(self), sandbox.clone());
        let cancel = CancellationToken::new();
        let cancelled = cancel.clone();
        let run = async move {
            let run = effects.run_until(&sandbox, command, output_use, &cancelled).await;
            let (made, after) =
                tokio::join!(effects.set_aside_made(protected), effects.file_moment());
            if made.is_ok() {
                record.settled();
            }
            let ((end, output), made, mut after) = (run?, made?, after?);
            if !made.set_aside.is_empty() {
                // It may have been seen under either name.
                after = effects.file_moment().await?;
            }
            Ok::<_, ToolError>(SettledRun { end, output, made, after })
        };
        let _cancelled_with_the_call = cancel.drop_guard();
        let settled = self.scope.daemon.tasks.spawn(run).await;
        settled.map_err(|error| ToolError::new(ErrorCode::Internal, error.to_string()))?
    }

    /// As [`Effects::run_sandboxed`], until the command is killed.
    async fn run_until(
        &self,
        sandbox: &Sandbox,
        command: SandboxedCommand,
        output_use: OutputUse,
        cancelled: &CancellationToken,
    ) -> Result<(CommandEnd, CollectedOutput), ToolError> {
        let (sender, chunks) = tokio::sync::mpsc::channel(CHUNKS_MAX);
        let running = sandbox.start(command, sender).await.map_err(not_started)?;
        let stopper = running.stopper();
        let mut ended = std::pin::pin!(self.follow(running, chunks, output_use));
        tokio::select! {
            ended = &mut ended => return ended,
            () = cancelled.cancelled() => stopper.kill(),
        }
        ended.await
    }

    /// Runs a command and collects what it writes.
    pub(super) async fn run_sandboxed(
        &self,
        sandbox: &Sandbox,
        command: SandboxedCommand,
        output_use: OutputUse,
    ) -> Result<(CommandEnd, CollectedOutput), ToolError> {
        let (sender, chunks) = tokio::sync::mpsc::channel(CHUNKS_MAX);
        let running = sandbox.start(command, sender).await.map_err(not_started)?;
        self.follow(running, chunks, output_use).await
    }

    /// Collects what a command writes until it has ended.
    async fn follow(
        &self,
        running: RunningCommand,
        mut chunks: mpsc::Receiver<OutputChunk>,
        output_use: OutputUse,
    ) -> Result<(CommandEnd, CollectedOutput), ToolError> {
        let mut output = CollectedOutput::new(
            Arc::clone(&self.scope.workspace),
            self.scope.call.caller.name().to_owned(),
            self.scope.events.clone(),
            output_use,
        );
        let (asks, asked) = watch::channel(false);
        let collect = self.scope.blocking(move || {
            while let Some(chunk) = chunks.blocking_recv() {
                output.push(&chunk);
                asks.send_replace(output.prompt().is_some());
            }
            output
        });
        let stopper = running.stopper();
        let ended = async { tokio::join!(running.wait(), collect) };
        let (end, output) = tokio::select! {
            ended = ended => ended,
            never = end_at_prompt(asked, stopper) => match never {},
        };
        Ok((end.map_err(not_started)?, output?))
    }
}

/// Lists what a command changed; none where that is not known.
fn list_changed(report: &mut CommandReport, changed: Option<Vec<AlteredFile>>) {
    if changed.is_none() {
        report.notes.push(format!(
            "the workspace has more than {COMPARED_MAX} entries: what it changed is not listed"
        ));
    }
    let mut changed = changed.unwrap_or_default();
    if !changed.is_empty() {
        report.notes.push("what the command changed cannot be undone".to_owned());
    }
    if changed.len() > CHANGED_MAX {
        let more = changed.len() - CHANGED_MAX;
        changed.truncate(CHANGED_MAX);
        report.notes.push(format!("{more} more files changed"));
    }
    report.changed = changed;
}

/// Ends a command that asks something and writes nothing more for a while.
async fn end_at_prompt(mut asked: watch::Receiver<bool>, stopper: Stopper) -> Infallible {
    loop {
        if asked.wait_for(|asks| *asks).await.is_err() {
            return std::future::pending().await;
        }
        asked.mark_unchanged();
        match tokio::time::timeout(PROMPT_PATIENCE, asked.changed()).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return std::future::pending().await,
            Err(_) => stopper.terminate(),
        }
    }
}

/// The error of a command that did not run: never its own fault.
pub(super) fn not_started(error: SandboxError) -> ToolError {
    let message = error.to_string();
    match error {
        SandboxError::Tier { .. } => ToolError::new(ErrorCode::LimitExceeded, message).hint(
            "`moss doctor` shows what raises it; `sandbox_min` in the user's policy accepts less",
        ),
        SandboxError::Directory { .. } => ToolError::new(ErrorCode::NotFound, message),
        SandboxError::Arguments(_) | SandboxError::Program { .. } => {
            ToolError::new(ErrorCode::InvalidArguments, message)
        }
        SandboxError::TooManyMounts(_) => ToolError::new(ErrorCode::LimitExceeded, message).hint(
            "a person can remove these files or move them out of the workspace, or serve a smaller directory",
        ),
        _ => ToolError::new(ErrorCode::Io, message)
            .hint("the sandbox failed, not the command: `moss doctor` says more"),
    }
}

/// How a command is isolated, as far as it is known before it ends.
pub(super) fn reported(facts: &SandboxFacts) -> ReportedSandbox {
    ReportedSandbox {
        tier: facts.tier.to_string(),
        profile: facts.profile.to_string(),
        network: facts.network == NetworkMode::On,
        environment_removed: facts.environment_removed.clone(),
        restored: Vec::new(),
    }
}

fn report(end: &CommandEnd, output: &CollectedOutput, timeout: Duration) -> CommandReport {
    let (exit_code, signal) = match end.exit {
        ProcessExit::Exited(code) => (Some(code), None),
        ProcessExit::Killed(signal) => (None, Some(signal)),
    };
    let kept = output.kept();
    let left = |left: &moss_sandbox::LeftProcess| LeftRunning {
        pid: left.pid,
        command: left.command.clone(),
    };
    CommandReport {
        ran: true,
        job: None,
        exit_code,
        signal,
        duration_ms: u64::try_from(end.duration.as_millis()).unwrap_or(u64::MAX),
        stdout: output.stdout.shown(),
        stderr: output.stderr.shown(),
        truncated: output.is_cut(),
        artifact: kept.artifact,
        left_running: end.left_running.iter().map(left).collect(),
        sandbox: ReportedSandbox {
            restored: end.restored.iter().map(|path| path.display().to_string()).collect(),
            ..reported(&end.facts)
        },
        changed: Vec::new(),
        notes: notes(end, output, timeout).into_iter().chain(kept.note).collect(),
    }
}

/// What else a result says of how a command ended.
fn notes(end: &CommandEnd, output: &CollectedOutput, timeout: Duration) -> Vec<String> {
    let mut notes = Vec::new();
    match end.cause {
        EndCause::Ended => {}
        EndCause::Timeout => notes.push(format!(
            "it ran for {} s and was ended: split it, or give the call more time",
            timeout.as_secs()
        )),
        EndCause::Stopped => notes.push("it was stopped".to_owned()),
        EndCause::Limit(limit) => notes.push(format!("it was ended at a limit: {limit}")),
        EndCause::Disturbed => {}
    }
    notes.extend(end.disturbance.iter().map(|found| format!("it was ended: {found}")));
    let has_failed = end.exit != ProcessExit::Exited(0);
    if let Some(asked) = output.prompt().filter(|_| has_failed) {
        notes.push(format!(
            "it asked `{asked}` and nobody can reply: standard input is closed. Pass the reply as an option \
             (`-y`, `--yes`, `--batch` …), or have a person run it"
        ));
    }
    let more = end.left_running_count.saturating_sub(end.left_running.len());
    if more > 0 {
        notes.push(format!("{more} more processes were left running, and ended"));
    }
    if end.is_output_cut {
        notes.push("a process kept the output open: its end may be missing".to_owned());
    }
    if !end.restored.is_empty() {
        notes.push("protected files that it changed are as before".to_owned());
    }
    let names = |paths: &[std::path::PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    if !end.changed.is_empty() {
        let changed = names(&end.changed);
        notes.push(format!("protected files that it changed could not be restored: {changed}"));
    }
    if !end.facts.unmasked.is_empty() {
        let count = end.facts.unmasked.len();
        notes.push(format!(
            "this machine could not hide {count} files that the policy keeps from reading"
        ));
    }
    notes
}
