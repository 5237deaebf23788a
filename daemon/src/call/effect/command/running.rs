//! Running what was decided about, and settling what came of it.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use moss_policy::SandboxMin;
use moss_sandbox::{
    CommandEnd, CommandLimit, EndCause, OutputChunk, Profile, RunningCommand, Sandbox,
    SandboxError, SandboxedCommand, Stopper, Tier,
};
use moss_sdk::command::{CheckFollower, CommandReport};
use moss_sdk::deceptive::escaped;
use moss_sdk::{ErrorCode, ToolError};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::PlannedCommand;
use super::files::{FileMoment, IgnoredBefore, absolute};
use super::made::{MadeFiles, ProtectedBefore};
use super::output::{CollectedOutput, OutputUse};
use super::reporting::{PROMPT_PATIENCE, list_changed, needs_input, report};
use crate::call::effect::Effects;

/// Longest time that a command may run.
const TIMEOUT: Duration = Duration::from_secs(600);
/// Longest time of a command whose output nobody sees.
const UNSEEN_TIMEOUT: Duration = Duration::from_secs(5);
/// What is left of the call's time to end its command and to report what came of it; of a short one a third.
const ENDING: Duration = Duration::from_millis(5_000);
/// Chunks of output that are held for a slow disk.
const CHUNKS_MAX: usize = 16;

/// What runs unasked makes git run no program that a directory names: no monitor of files, no hook, none that checks
/// signatures (which the configuration, a format and an option can each ask for), none that fetches what a
/// partial clone lacks, and nothing of a directory that is made to look like a repository. In the form of `git -c`,
/// the only one that git hands on to the git that it starts in a submodule. Where git would check a signature no
/// program can be: one that starts and ends without reading could end git with it, and what git says of the path names
/// the reason.
const READING_GIT: [(&str, &str); 2] = [
    ("GIT_NO_LAZY_FETCH", "1"),
    (
        "GIT_CONFIG_PARAMETERS",
        "'core.fsmonitor=false' 'core.hooksPath=/dev/null' 'safe.bareRepository=explicit' 'log.showSignature=false' \
         'gpg.program=/dev/null/no-signatures-are-checked-unasked' \
         'gpg.openpgp.program=/dev/null/no-signatures-are-checked-unasked' \
         'gpg.x509.program=/dev/null/no-signatures-are-checked-unasked' \
         'gpg.ssh.program=/dev/null/no-signatures-are-checked-unasked'",
    ),
];

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

/// How long a command may run, and how long it has to end by itself then, where so much is left of its call: a call
/// whose command ignores SIGTERM still has time to report that it was killed.
fn times(left: Option<Duration>, time_max: Duration, grace_max: Duration) -> (Duration, Duration) {
    let Some(left) = left else { return (time_max, grace_max) };
    let timeout = left.saturating_sub(ENDING.min(left / 3));
    let timeout = timeout.min(time_max).max(Duration::from_millis(1));
    let grace = left.saturating_sub(timeout) * 2 / 5;
    (timeout, grace.min(grace_max))
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
        planned.give(&mut command);
        command.tier_min = tier_min;
        if planned.profile == Profile::ReadOnly {
            let set = READING_GIT.map(|(name, value)| (name.into(), value.into()));
            command.environment.set.extend(set);
        }
        // Last: the call may have waited for long.
        self.check_not_cancelled().map_err(|stop| self.pass_on(stop))?;
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
        let before = async { if writes { self.moment_before().await.map(Some) } else { Ok(None) } };
        // Both walk through the workspace.
        let (mut command, before) = tokio::try_join!(self.sandboxed(planned, tier_min), before)?;
        if let Some(rest) =
            before.as_ref().and_then(|before| before.rest_of_second(SystemTime::now()))
        {
            tokio::time::sleep(rest).await;
        }
        let (reports, output_use, time_max) = match wanted {
            OutputWanted::Shown => (None, OutputUse::Shown, TIMEOUT),
            OutputWanted::Whole { reports, follower } => {
                (reports, OutputUse::Read(follower), TIMEOUT)
            }
            OutputWanted::Unseen => (None, OutputUse::Unseen, UNSEEN_TIMEOUT),
        };
        command.files.writable.extend(reports);
        let deadline = self.scope.call.deadline;
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let (timeout, grace) = times(left, time_max, command.limits.grace);
        (command.limits.timeout, command.limits.grace) = (Some(timeout), grace);
        self.lock().ran_command |= writes;
        let (end, output, report) = match before {
            None => {
                let (end, output) = self.run_sandboxed(sandbox, command, output_use).await?;
                let report = report((&end, &output), &planned.command, timeout);
                (end, output, report)
            }
            Some(before) => {
                let SettledRun { end, output, made, after } =
                    self.run_settled(sandbox, command, (output_use, before.ignored())).await?;
                let mut report = report((&end, &output), &planned.command, timeout);
                let set_aside = made.set_aside.held().map(|path| escaped(&path.to_string_lossy()));
                report.sandbox.restored.extend(set_aside);
                report.notes.extend(made.notes());
                list_changed(&mut report, self.changed_files(before, after).await?);
                (end, output, report)
            }
        };
        let is_asking = end.cause == EndCause::Limit(CommandLimit::Input);
        match output.waited_for.as_deref().filter(|_| is_asking) {
            Some(asked) => Err(needs_input(asked, &report)),
            None => Ok((report, output)),
        }
    }

    /// Runs a command that may write, and moves aside what it may not have made. That goes on where the call is
    /// cancelled: its command is killed then, and settled all the same.
    async fn run_settled(
        self: &Arc<Self>,
        sandbox: &Sandbox,
        mut command: SandboxedCommand,
        (output_use, ignored): (OutputUse, IgnoredBefore),
    ) -> Result<SettledRun, ToolError> {
        // Who may do whatever its user may, may make what others may not.
        let is_kept_in = command.profile != Profile::DangerFull;
        let protected = is_kept_in.then(|| ProtectedBefore::of(&command.files));
        let names = protected.as_ref().map(ProtectedBefore::names);
        let record = self.scope.workspace.left_commands.record(names);
        command.record = Some(record.clone());
        let (effects, sandbox) = (Arc::clone(self), sandbox.clone());
        let cancel = CancellationToken::new();
        let cancelled = cancel.clone();
        let run = async move {
            let run = effects.run_until(&sandbox, command, output_use, &cancelled).await;
            let made = async {
                match protected {
                    Some(protected) => effects.set_aside_made(protected).await,
                    None => Ok(MadeFiles::default()),
                }
            };
            let (made, after) = tokio::join!(made, effects.file_moment(Arc::clone(&ignored)));
            if made.is_ok() {
                record.settled();
            }
            let ((end, output), made, mut after) = (run?, made?, after?);
            if !made.set_aside.is_empty() {
                // It may have been seen under either name.
                after = effects.file_moment(ignored).await?;
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
            self.scope.call.caller.clone(),
            self.scope.events.clone(),
            output_use,
        );
        let (asks, asked) = watch::channel(None);
        let collect = self.scope.blocking(move || {
            while let Some(chunk) = chunks.blocking_recv() {
                output.push(&chunk);
                asks.send_replace(output.prompt());
            }
            output
        });
        let (stopper, waited_for) = (running.stopper(), Mutex::default());
        let ended = async { tokio::join!(running.wait(), collect) };
        let (end, output) = tokio::select! {
            ended = ended => ended,
            never = end_at_prompt(asked, stopper, &waited_for) => match never {},
        };
        let mut output = output?;
        output.waited_for = waited_for.into_inner().unwrap_or_default();
        Ok((end.map_err(not_started)?, output))
    }
}

/// Ends a command that asks something on a terminal and writes nothing more for a while. One without a terminal cannot
/// wait for a reply: its standard input is empty, and it only looks as if it asked.
async fn end_at_prompt(
    mut asked: watch::Receiver<Option<String>>,
    stopper: Stopper,
    waited_for: &Mutex<Option<String>>,
) -> Infallible {
    loop {
        let question = asked.wait_for(Option::is_some).await;
        let Some(question) = question.ok().and_then(|question| question.clone()) else {
            return std::future::pending().await;
        };
        asked.mark_unchanged();
        match tokio::time::timeout(PROMPT_PATIENCE, asked.changed()).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return std::future::pending().await,
            Err(_) => {
                *waited_for.lock().unwrap_or_else(PoisonError::into_inner) = Some(question);
                stopper.terminate_at_terminal();
            }
        }
    }
}

/// The error of a command that did not run: never its own fault.
pub(super) fn not_started(error: SandboxError) -> ToolError {
    let message = error.to_string();
    match error {
        SandboxError::Closed { .. } => ToolError::new(ErrorCode::Io, message).hint(
            "a person runs that, or moves it: commands that may write run again then",
        ),
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

#[cfg(test)]
mod tests {
    use moss_dispatch::{Caller, Role, Standing};
    use moss_policy::CommandGrants;
    use moss_sdk::{ContentHash, RelPath};

    use super::*;
    use crate::call::tests::TestDaemon;

    #[derive(Debug)]
    struct Revoked;

    impl Standing for Revoked {
        fn id(&self) -> ContentHash {
            ContentHash::from_bytes([0; 32])
        }

        fn is_revoked(&self) -> bool {
            true
        }
    }

    #[tokio::test]
    async fn no_command_is_started_for_a_token_that_was_revoked() {
        let planned = PlannedCommand {
            command: "true".to_owned(),
            directory: RelPath::root(),
            parts: Vec::new(),
            profile: Profile::WorkspaceWrite,
            grants: CommandGrants::default(),
            tier: Tier::Full,
            is_background: false,
            has_terminal: false,
        };
        let site = TestDaemon::new(&[""]);
        let others = Arc::new(Effects::new(Arc::new(site.scope("run_terminal_cmd"))));
        others.sandboxed(&planned, Tier::Full).await.unwrap();
        let mut scope = site.scope("run_terminal_cmd");
        scope.call.caller = Caller::named(Role::Caller, "ci".to_owned(), Arc::new(Revoked));
        let effects = Arc::new(Effects::new(Arc::new(scope)));
        let refused = effects.sandboxed(&planned, Tier::Full).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Denied, "{refused:?}");
        assert!(refused.message.contains("`ci` was revoked"), "{refused:?}");
    }

    #[test]
    fn a_command_is_killed_early_enough_for_its_call_to_report_it() {
        let grace_max = Duration::from_secs(2);
        let of = |left_ms| {
            times(Some(Duration::from_millis(left_ms)), Duration::from_secs(600), grace_max)
        };
        let millis = Duration::from_millis;
        assert_eq!(of(120_000), (millis(115_000), grace_max));
        assert_eq!(of(15_000), (millis(10_000), grace_max));
        assert_eq!(of(6_000), (millis(4_000), millis(800)));
        assert_eq!(of(900_000), (millis(600_000), grace_max));
        assert_eq!(times(None, TIMEOUT, grace_max), (TIMEOUT, grace_max));
        for left_ms in (0..20_000).step_by(10) {
            let (timeout, grace) = of(left_ms);
            let left = millis(left_ms).saturating_sub(timeout + grace);
            let most = millis(3_000).min(millis(left_ms) / 6);
            assert!(left >= most, "{left:?} is left of {left_ms} ms");
        }
    }
}
