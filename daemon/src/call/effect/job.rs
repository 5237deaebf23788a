//! What a call does with jobs: looks, waits, stops; what it writes to one is an effect of its own, decided
//! and asked about.

use std::sync::Arc;
use std::time::{Duration, Instant};

use moss_sdk::command::CommandRequest;
use moss_sdk::job::{JobReport, JobRequest};
use moss_sdk::{RelPath, ToolError};
use serde_json::json;

use super::Effects;
use super::ask::Ask;
use crate::call::held_records::OnRecord;
use crate::call::record;
use crate::call::stop::EffectStop;
use crate::jobs::BackgroundJob;
use moss_dispatch::command::{AskedCommand, CommandQuestion};
use moss_policy::{CommandPart, Decision, Verdict};

/// What is left of the call's time to report what came of a wait.
const REPORTING: Duration = Duration::from_millis(1_000);
/// Longest wait for the end of a job that was stopped: SIGTERM, SIGKILL, and what follows.
const STOP_MAX: Duration = Duration::from_secs(15);

/// What is to be written to a job.
struct JobInput {
    job: Arc<BackgroundJob>,
    text: String,
    close: bool,
}

// === impl Effects ===

impl Effects {
    /// Looks at jobs, or does something with one.
    pub(in crate::call) async fn job(
        self: &Arc<Self>,
        request: JobRequest,
    ) -> Result<JobReport, EffectStop> {
        match request {
            JobRequest::List => {
                let scope = &self.scope;
                let workspace = Some(scope.workspace.name());
                let jobs = scope.daemon.jobs.list(&scope.call.caller, workspace);
                let jobs = jobs.iter().map(|job| job.status()).collect();
                Ok(JobReport { jobs, ..JobReport::default() })
            }
            JobRequest::Start { command, directory } => {
                self.start_in_terminal(command, directory).await
            }
            JobRequest::Output { job, since } => {
                let job = self.find_job(&job)?;
                Ok(shown(&job, since))
            }
            JobRequest::Wait { job, since, text, timeout } => {
                let job = self.find_job(&job)?;
                Ok(self.wait_for_job(&job, since, text.as_deref(), timeout).await)
            }
            JobRequest::Write { job, text, close } => {
                let job = self.find_job(&job)?;
                let on_record = record::release(&self.scope).await?;
                self.write_to_job(JobInput { job, text, close }, on_record).await
            }
            JobRequest::Stop { job } => {
                let job = self.find_job(&job)?;
                // Who stopped it is recorded, however the call ends.
                let on_record = record::release(&self.scope).await?;
                Ok(self.stop_job(&job, on_record).await)
            }
        }
    }

    /// Starts a command with a terminal of its own, as one in the background.
    async fn start_in_terminal(
        self: &Arc<Self>,
        command: String,
        directory: RelPath,
    ) -> Result<JobReport, EffectStop> {
        let (is_background, has_terminal) = (true, true);
        let request = CommandRequest { command, directory, is_background, has_terminal };
        let report = self.run_command(request).await?;
        let Some(job) = &report.job else {
            return Ok(JobReport { notes: report.notes, ..JobReport::default() });
        };
        let job = self.find_job(job)?;
        let mut started = shown(&job, Some(0));
        started.notes.extend(report.notes);
        Ok(started)
    }

    fn find_job(&self, id: &str) -> Result<Arc<BackgroundJob>, ToolError> {
        let scope = &self.scope;
        scope.daemon.jobs.find(id, &scope.call.caller, Some(scope.workspace.name()))
    }

    async fn wait_for_job(
        &self,
        job: &BackgroundJob,
        since: Option<u64>,
        text: Option<&str>,
        timeout: Duration,
    ) -> JobReport {
        let left = self.scope.call.deadline.map(|deadline| {
            deadline.saturating_duration_since(Instant::now()).saturating_sub(REPORTING)
        });
        let timeout = left.map_or(timeout, |left| left.min(timeout));
        let wait = tokio::time::timeout(timeout, job.wait_for(text, since.unwrap_or(0)));
        let waited = tokio::select! {
            waited = wait => waited,
            // It ends with the daemon, and this call before that.
            () = self.scope.daemon.draining.cancelled() => Ok(false),
        };
        let mut report = shown(job, since);
        report.found = text.map(|_| waited == Ok(true));
        match (waited, text) {
            (Ok(_), _) => {}
            (Err(_), Some(_)) => report.notes.push("the text did not come in that time".to_owned()),
            (Err(_), None) => report.notes.push("it still runs".to_owned()),
        }
        report
    }

    /// Ends a job, and waits until it has ended.
    async fn stop_job(&self, job: &BackgroundJob, _: OnRecord) -> JobReport {
        if self.scope.call.dry_run {
            let mut report = of(job);
            report.notes.push("it would be stopped".to_owned());
            return report;
        }
        let had_ended = job.has_ended();
        if !had_ended {
            job.stop(&format!("stopped by {}", self.scope.call.caller.name()));
        }
        let ended = tokio::time::timeout(STOP_MAX, job.wait_for(None, 0)).await;
        let mut report = of(job);
        match ended {
            Ok(_) if had_ended => report.notes.push("it had ended before".to_owned()),
            Ok(_) => {}
            Err(_) => report.notes.push("it was killed, and has not ended yet".to_owned()),
        }
        report
    }

    /// Writes to a job what policy and people let it be written.
    async fn write_to_job(
        self: &Arc<Self>,
        input: JobInput,
        _: OnRecord,
    ) -> Result<JobReport, EffectStop> {
        let JobInput { job, text, close } = &input;
        job.input.check(text).map_err(|error| job.not_written(&error))?;
        if !text.is_empty()
            && let Some(report) = self.permit_input(&input).await?
        {
            return Ok(report);
        }
        if self.scope.call.dry_run {
            let mut report = of(job);
            report.notes.push("its standard input would be closed".to_owned());
            return Ok(report);
        }
        job.write(text, *close).await?;
        Ok(of(job))
    }

    /// Decides about what is to be written. Returns a report where it is not: in a dry run.
    async fn permit_input(&self, input: &JobInput) -> Result<Option<JobReport>, EffectStop> {
        let facts = &input.job.facts;
        let part = CommandPart::input(&input.text, facts.is_unclear);
        self.look_for_approvals().await;
        let decision = self.decide_input(input, &part).await?;
        let arguments = json!({
            "job": facts.id,
            "command": facts.command,
            "text": input.text,
            "close": input.close,
        })
        .to_string();
        let digest = self.digest_of("exec", &arguments);
        self.lock().digest = Some(digest);
        let asks = decision.verdict == Verdict::Ask;
        if self.scope.call.dry_run {
            let mut report = of(&input.job);
            let verb = if asks { "asks" } else { "is written unasked" };
            report.notes.push(format!("{verb}: {}", decision.rule));
            return Ok(Some(report));
        }
        if asks {
            let ask = Ask {
                digest,
                decision: &decision,
                changes: Vec::new(),
                arguments: Some(arguments),
                plan_bytes: input.text.len(),
                consent: None,
                command: Some(Arc::new(input.question(&decision))),
                embedding: None,
                offers: Vec::new(),
            };
            self.ask(ask).await?;
            self.decide_input(input, &part).await?;
        }
        self.note_uses(std::slice::from_ref(&decision));
        Ok(None)
    }

    /// Decides about a text as about a command that nobody reads, by the rules of this moment.
    async fn decide_input(
        &self,
        input: &JobInput,
        part: &CommandPart,
    ) -> Result<Decision, EffectStop> {
        let policy = self.scope.workspace.policy.load_full();
        let facts = &input.job.facts;
        let decision = self.decide_part(&policy, &self.tool(), Some(&facts.directory), part);
        // What is written may be a password.
        let what = format!("input of job {}, {} bytes", facts.id, input.text.len());
        record::decided_command(&self.scope, &facts.directory, &what, &decision).await?;
        if decision.verdict == Verdict::Deny {
            return Err(self.denied(&decision).into());
        }
        Ok(decision)
    }
}

/// A report about one job.
fn of(job: &BackgroundJob) -> JobReport {
    JobReport { jobs: vec![job.status()], ..JobReport::default() }
}

/// A report with what a job wrote.
fn shown(job: &BackgroundJob, since: Option<u64>) -> JobReport {
    let (output, note) = job.output(since);
    JobReport { output: Some(output), notes: note.into_iter().collect(), ..of(job) }
}

// === impl JobInput ===

impl JobInput {
    fn question(&self, decision: &Decision) -> CommandQuestion {
        let facts = &self.job.facts;
        CommandQuestion {
            command: self.text.clone(),
            directory: facts.directory.to_string(),
            profile: facts.sandbox.profile.clone(),
            network: facts.sandbox.network,
            environment: facts.sandbox.environment_granted.clone(),
            sockets: facts.sandbox.sockets.clone(),
            tier: facts.sandbox.tier.clone(),
            parts: vec![AskedCommand {
                text: self.text.clone(),
                via: vec![facts.command.clone()],
                asks: true,
                rule: decision.rule.to_string(),
                writes: Vec::new(),
            }],
            is_background: true,
            is_input: true,
            is_optional: false,
        }
    }
}
