//! Leaving a command running in the background, as a job.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use moss_sandbox::{Profile, Sandbox, Tier};
use moss_sdk::command::CommandReport;
use moss_sdk::deceptive::escaped;

use super::PlannedCommand;
use super::made::ProtectedBefore;
use super::reporting::reported;
use super::running::not_started;
use crate::call::effect::Effects;
use crate::call::record;
use crate::call::stop::EffectStop;
use crate::job_keeping::StartedJob;
use crate::jobs::{BackgroundJob, JobFacts, Jobs};
use moss_policy::CommandPart;

/// Chunks of output that are held for a slow disk.
const CHUNKS_MAX: usize = 16;
/// How long the call waits for the end of a command that does not even begin: what is misspelt is seen at
/// once.
const FIRST_LOOK: Duration = Duration::from_millis(300);

// === impl Effects ===

impl Effects {
    /// Starts a command that was decided about, and leaves it running.
    pub(super) async fn start_job(
        self: &Arc<Self>,
        sandbox: &Sandbox,
        planned: &PlannedCommand,
        tier_min: Tier,
    ) -> Result<CommandReport, EffectStop> {
        let scope = &self.scope;
        let room = scope.daemon.jobs.admit(scope.call.caller.name())?;
        let mut command = self.sandboxed(planned, tier_min).await?;
        command.limits.timeout = None;
        // What it makes stays as far as it is not git's: a person may have made it meanwhile.
        let record = scope.workspace.left_commands.record(None);
        command.record = Some(record.clone());
        let is_kept_in = command.profile != Profile::DangerFull;
        let protected = is_kept_in.then(|| ProtectedBefore::of(&command.files));
        command.has_input = true;
        command.has_terminal = planned.has_terminal;
        let (sender, chunks) = tokio::sync::mpsc::channel(CHUNKS_MAX);
        let running = sandbox.start(command, sender).await.map_err(not_started)?;
        let facts = JobFacts {
            id: Jobs::id(),
            call_id: scope.call_id.clone(),
            tool: scope.call.tool().to_owned(),
            workspace: scope.workspace.name().to_owned(),
            command: planned.command.clone(),
            directory: planned.directory.clone(),
            caller: scope.call.caller.clone(),
            sandbox: reported(running.facts(), &[&planned.command]),
            is_unclear: planned.parts.iter().any(CommandPart::always_asks),
            started_at: Timestamp::now(),
        };
        // One that leaves no trace does not run: it ends where it is dropped.
        record::job_started(scope, &facts.id).await?;
        let started = StartedJob { facts, room, record, protected, running, chunks };
        let job = started.watch(&scope.daemon, Arc::clone(&scope.workspace));
        let ended = tokio::time::timeout(FIRST_LOOK, job.wait_for(None, 0)).await.is_ok();
        Ok(report(&job, ended))
    }
}

fn report(job: &BackgroundJob, has_ended: bool) -> CommandReport {
    let (status, (output, _)) = (job.status(), job.output(Some(0)));
    let id = &status.job;
    let how = match has_ended {
        true => "it has ended already".to_owned(),
        false => format!(
            "it runs as job {id}: `terminal_job` follows it (`wait`, `output`), writes to it and stops it"
        ),
    };
    CommandReport {
        ran: true,
        job: Some(status.job),
        exit_code: status.exit_code,
        signal: status.signal,
        duration_ms: status.duration_ms,
        stdout: output.text,
        stderr: String::new(),
        truncated: output.more,
        artifact: status.artifact,
        left_running: Vec::new(),
        sandbox: status.sandbox,
        changed: Vec::new(),
        notes: [how]
            .into_iter()
            .chain(status.ended_by)
            .chain(status.notes)
            .map(|note| escaped(&note))
            .collect(),
    }
}
