//! The task that watches over a job: takes what it writes, ends it when it has to end, records its end.

use std::sync::Arc;

use moss_sandbox::{CommandRecord, OutputChunk, RunningCommand};
use tokio::sync::mpsc;

use crate::artifacts::ArtifactWriter;
use crate::call::{ProtectedBefore, made_since};
use crate::caller::until_revoked;
use crate::jobs::{BackgroundJob, JobFacts, JobRoom};
use crate::state::{Daemon, WorkspaceState};
use moss_dispatch::blocking::blocking;
use moss_journal::redact::RedactedText;
use moss_journal::{AuditEvent, Durability, Record};

/// A command that was started and becomes a job.
#[derive(Debug)]
pub(crate) struct StartedJob {
    pub(crate) facts: JobFacts,
    /// Its room, until it has ended.
    pub(crate) room: JobRoom,
    /// What is settled once it has ended.
    pub(crate) record: CommandRecord,
    /// What had protected names before it; none where it may write them.
    pub(crate) protected: Option<ProtectedBefore>,
    pub(crate) running: RunningCommand,
    /// What it writes, as it comes.
    pub(crate) chunks: mpsc::Receiver<OutputChunk>,
}

// === impl StartedJob ===

impl StartedJob {
    /// Lists it, and watches over it until it has ended.
    pub(crate) fn watch(
        self,
        daemon: &Arc<Daemon>,
        workspace: Arc<WorkspaceState>,
    ) -> Arc<BackgroundJob> {
        let Self { facts, room, record, protected, mut running, chunks } = self;
        let input = running.take_input();
        let job = Arc::new(BackgroundJob::new(facts, running.stopper(), input));
        running.facts().warning().into_iter().for_each(|text| job.note(text.to_owned()));
        daemon.jobs.add(&job);
        let (watched, daemon_of_task) = (Arc::clone(&job), Arc::clone(daemon));
        daemon.tasks.spawn(async move {
            let daemon = daemon_of_task;
            let ended = async {
                let wait = async { running.wait().await.map_err(|error| error.to_string()) };
                tokio::join!(wait, collect(&watched, &workspace, chunks)).0
            };
            let end = tokio::select! {
                end = ended => end,
                never = stop_in_time(&watched, &daemon) => match never {},
                never = watched.input.write_rests() => match never {},
            };
            record.settled();
            if let Some(before) = protected {
                note_made(&watched, &workspace, before).await;
            }
            watched.end(end).await;
            drop(room);
            record_end(&watched, &workspace).await;
        });
        job
    }
}

/// Says what is new under protected names: a job runs for long, and a person may have made it meanwhile, so it is not
/// moved aside.
async fn note_made(job: &BackgroundJob, workspace: &Arc<WorkspaceState>, before: ProtectedBefore) {
    let state = Arc::clone(workspace);
    let made = match blocking(move || made_since(&state, &before)).await {
        Ok(made) => made,
        Err(error) => return tracing::error!(%error, "nobody looked at what a job made"),
    };
    if made.is_empty() {
        return;
    }
    job.note(format!(
        "commands may not make {made}, which is there since the job began: made by it or by somebody else, and not \
         moved aside; look at it before a program reads it"
    ));
}

/// Takes what a job writes; what is too much for memory goes to an artifact.
async fn collect(
    job: &Arc<BackgroundJob>,
    workspace: &Arc<WorkspaceState>,
    mut chunks: mpsc::Receiver<OutputChunk>,
) {
    let mut artifact: Option<ArtifactWriter> = None;
    let mut is_kept = true;
    while let Some(chunk) = chunks.recv().await {
        let Some(spilled) = job.push(&chunk.bytes).filter(|_| is_kept) else { continue };
        let (held, workspace) = (artifact.take(), Arc::clone(workspace));
        let caller = job.facts.caller.clone();
        let write = move || {
            let mut writer = match held {
                Some(writer) => writer,
                None => workspace.artifacts.begin(&caller).map_err(|error| error.to_string())?,
            };
            writer.push(&spilled);
            Ok::<_, String>(writer)
        };
        match blocking(write).await.map_err(|broken| broken.to_string()).and_then(|kept| kept) {
            Ok(writer) => {
                job.keep_in(&writer.path);
                if let Some(missing) = writer.missing() {
                    is_kept = false;
                    job.note(missing);
                }
                artifact = Some(writer);
            }
            Err(problem) => {
                is_kept = false;
                job.note(format!("the whole output could not be kept: {problem}"));
            }
        }
    }
}

/// Ends a job with the daemon, and when its caller's token is revoked.
async fn stop_in_time(job: &BackgroundJob, daemon: &Daemon) -> std::convert::Infallible {
    let caller = &job.facts.caller;
    tokio::select! {
        () = daemon.draining.cancelled() => job.stop("the end of the daemon"),
        () = until_revoked(caller) => job.stop(&caller.revoked()),
    }
    std::future::pending().await
}

async fn record_end(job: &BackgroundJob, workspace: &WorkspaceState) {
    let status = job.status();
    let event = AuditEvent::JobEnded {
        job: status.job,
        exit_code: status.exit_code,
        signal: status.signal,
        ended_by: status.ended_by.as_deref().map(RedactedText::new),
        duration_us: status.duration_ms.saturating_mul(1_000),
    };
    let (call_id, tool) = (job.facts.call_id.clone(), RedactedText::new(&job.facts.tool));
    let record = Record { call_id, tool, event };
    if let Err(error) = workspace.journal.record(record, Durability::Batched).await {
        tracing::error!(%error, "the end of a job is not recorded");
    }
}
