//! Commands in the background.

use std::path::Path;

use moss_dispatch::Role;
use moss_proto::v1;
use moss_proto::v1::job_service_client::JobServiceClient;

use super::{Client, RESPONSE_BYTES_MAX, RequestFailure, body, scope};

macro_rules! service {
    ($self:expr) => {
        JobServiceClient::new($self.channel.clone()).max_decoding_message_size(RESPONSE_BYTES_MAX)
    };
}

// === impl Client ===

impl Client {
    /// Lists jobs, in one workspace or in all.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn jobs(
        &self,
        workspace: Option<&Path>,
    ) -> Result<Vec<v1::Job>, RequestFailure> {
        let request = v1::ListJobsRequest { workspace: scope(workspace) };
        let request = self.request(Role::Approver, request);
        Ok(body(service!(self).list_jobs(request).await)?.jobs)
    }

    /// Lists what commands wrote that the caller may read.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn artifacts(&self) -> Result<Vec<v1::Artifact>, RequestFailure> {
        let request = v1::ListArtifactsRequest { workspace: self.workspace.clone() };
        let request = self.request(Role::Caller, request);
        Ok(body(service!(self).list_artifacts(request).await)?.artifacts)
    }

    /// Returns a job and what it wrote from a byte on, the end of it where none is given.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn job_output(
        &self,
        job: &str,
        since: Option<u64>,
        wait_ms: u32,
    ) -> Result<v1::GetJobOutputResponse, RequestFailure> {
        let request = v1::GetJobOutputRequest { job: job.to_owned(), since, wait_ms };
        let request = self.request(Role::Approver, request);
        body(service!(self).get_job_output(request).await)
    }

    /// Ends a job.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn stop_job(&self, job: &str) -> Result<v1::Job, RequestFailure> {
        let request = self.request(Role::Approver, v1::StopJobRequest { job: job.to_owned() });
        let response = body(service!(self).stop_job(request).await)?;
        response.job.ok_or_else(|| RequestFailure::incomplete("job"))
    }
}
