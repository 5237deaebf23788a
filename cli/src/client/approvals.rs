//! Standing approvals: giving, listing and revoking them.

use moss_proto::v1;
use moss_proto::v1::confirmation_service_client::ConfirmationServiceClient;
use moss_proto::v1::policy_service_client::PolicyServiceClient;

use super::{Client, RequestFailure, body};
use moss_dispatch::Role;

// === impl Client ===

impl Client {
    /// Says yes to a confirmation, for as long as one of its offers says. Returns what is remembered.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`], also where it was decided before. The inner error says why the approval was
    /// taken and applies only once.
    pub(crate) async fn remember(
        &self,
        confirmation: &v1::Confirmation,
        offer: &v1::OfferedApproval,
    ) -> Result<Result<v1::StandingApproval, String>, RequestFailure> {
        let request = v1::ResolveConfirmationRequest {
            id: confirmation.id.clone(),
            verdict: v1::Verdict::Approve.into(),
            digest: confirmation.digest.clone(),
            reason: String::new(),
            remember: offer.digest.clone(),
            by_digest: false,
        };
        let request = self.request(Role::Approver, request);
        let mut service = ConfirmationServiceClient::new(self.channel.clone());
        let response = body(service.resolve_confirmation(request).await)?;
        Ok(response.approval.ok_or(response.remember_problem))
    }

    /// Lists the standing approvals in effect.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn standing_approvals(
        &self,
    ) -> Result<v1::ListStandingApprovalsResponse, RequestFailure> {
        let request = v1::ListStandingApprovalsRequest { workspace: self.workspace.clone() };
        let request = self.request(Role::Caller, request);
        let service = PolicyServiceClient::new(self.channel.clone());
        let mut service = service.max_decoding_message_size(super::RESPONSE_BYTES_MAX);
        body(service.list_standing_approvals(request).await)
    }

    /// Revokes a standing approval.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`], also where no approval has that name.
    pub(crate) async fn revoke_standing_approval(
        &self,
        id: &str,
    ) -> Result<v1::StandingApproval, RequestFailure> {
        let request = v1::RevokeStandingApprovalRequest {
            workspace: self.workspace.clone(),
            id: id.to_owned(),
        };
        let request = self.request(Role::Approver, request);
        let mut service = PolicyServiceClient::new(self.channel.clone());
        let response = body(service.revoke_standing_approval(request).await)?;
        response.approval.ok_or_else(|| RequestFailure::incomplete("approval"))
    }
}
