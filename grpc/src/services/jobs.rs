//! `moss.v1.JobService`.

use std::sync::Arc;
use std::time::Duration;

use moss_dispatch::{CallError, Reason};
use moss_proto::v1;
use moss_proto::v1::job_service_server::JobService;
use moss_sdk::ToolError;
use tonic::{Request, Response, Status};

use super::methods::methods;
use super::{error, from_proto, look_up, to_proto};
use moss_daemon::jobs::BackgroundJob;
use moss_daemon::state::Daemon;

/// Longest wait for output.
const WAIT_MAX: Duration = Duration::from_secs(30);
/// Longest wait for the end of a job that was stopped: SIGTERM, SIGKILL, and what follows.
const STOP_MAX: Duration = Duration::from_secs(15);

#[derive(Debug, Clone)]
pub(super) struct JobsRpc(pub(super) Arc<Daemon>);

methods! {
    JobService for JobsRpc {
        fn list_jobs(v1::ListJobsRequest) -> v1::ListJobsResponse;
        fn list_artifacts(v1::ListArtifactsRequest) -> v1::ListArtifactsResponse;
        fn get_job_output(v1::GetJobOutputRequest) -> v1::GetJobOutputResponse;
        fn stop_job(v1::StopJobRequest) -> v1::StopJobResponse;
    }
}

impl JobsRpc {
    async fn list_jobs(
        &self,
        request: Request<v1::ListJobsRequest>,
    ) -> Result<Response<v1::ListJobsResponse>, Status> {
        let (_, extensions, request) = request.into_parts();
        let caller = from_proto::caller(&extensions)?;
        let scope = match request.workspace.as_str() {
            "" => None,
            root => Some(from_proto::workspace(&self.0, root)?.name().to_owned()),
        };
        let jobs = self.0.jobs.list(&caller, scope.as_deref());
        let jobs = jobs.iter().map(|job| to_wire(job)).collect();
        Ok(Response::new(v1::ListJobsResponse { jobs }))
    }

    async fn list_artifacts(
        &self,
        request: Request<v1::ListArtifactsRequest>,
    ) -> Result<Response<v1::ListArtifactsResponse>, Status> {
        let (_, extensions, request) = request.into_parts();
        let caller = from_proto::caller(&extensions)?;
        let workspace = from_proto::workspace(&self.0, &request.workspace)?;
        let asker = caller.clone();
        let listed = look_up((&self.0, &asker), move || workspace.artifacts.list(&caller))
            .await?
            .map_err(|failure| error::call(&CallError::Internal(failure.to_string())))?;
        let artifacts = listed.into_iter().map(|one| v1::Artifact {
            path: one.path,
            size_bytes: one.size_bytes,
            modified_at: Some(one.modified.into()),
        });
        Ok(Response::new(v1::ListArtifactsResponse { artifacts: artifacts.collect() }))
    }

    async fn get_job_output(
        &self,
        request: Request<v1::GetJobOutputRequest>,
    ) -> Result<Response<v1::GetJobOutputResponse>, Status> {
        let (_, extensions, request) = request.into_parts();
        let caller = from_proto::caller(&extensions)?;
        let found = self.0.jobs.find(&request.job, &caller, None);
        let job = found.map_err(|refusal| missing(&refusal))?;
        let wait = Duration::from_millis(request.wait_ms.into()).min(WAIT_MAX);
        if !wait.is_zero() {
            tokio::select! {
                () = job.wait_beyond(request.since.unwrap_or(0)) => {}
                () = tokio::time::sleep(wait) => {}
                () = self.0.draining.cancelled() => {}
            }
        }
        let (output, note) = job.output(request.since);
        Ok(Response::new(v1::GetJobOutputResponse {
            job: Some(to_wire(&job)),
            text: output.text,
            since: output.since,
            next: output.next,
            more: output.more,
            note: note.unwrap_or_default(),
        }))
    }

    async fn stop_job(
        &self,
        request: Request<v1::StopJobRequest>,
    ) -> Result<Response<v1::StopJobResponse>, Status> {
        let (_, extensions, request) = request.into_parts();
        let caller = from_proto::caller(&extensions)?;
        let found = self.0.jobs.find(&request.job, &caller, None);
        let job = found.map_err(|refusal| missing(&refusal))?;
        job.stop(&format!("stopped by {}", caller.name()));
        // What does not end even then is shown as running.
        let _ = tokio::time::timeout(STOP_MAX, job.wait_for(None, 0)).await;
        Ok(Response::new(v1::StopJobResponse { job: Some(to_wire(&job)) }))
    }
}

fn missing(refusal: &ToolError) -> Status {
    error::status(Reason::JobUnknown, &refusal.message, &[])
}

fn to_wire(job: &BackgroundJob) -> v1::Job {
    let status = job.status();
    v1::Job {
        id: status.job,
        workspace: job.facts.workspace.clone(),
        command: status.command,
        directory: status.cwd,
        caller: status.caller,
        running: status.running,
        exit_code: status.exit_code,
        signal: status.signal,
        started_at: Some(to_proto::timestamp(job.facts.started_at)),
        duration_ms: status.duration_ms,
        output_bytes: status.output_bytes,
        asks: status.asks.unwrap_or_default(),
        ended_by: status.ended_by.unwrap_or_default(),
        artifact: status.artifact.unwrap_or_default(),
        notes: status.notes,
    }
}
