//! Lasting answers: giving, listing and taking them back.

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
    /// [`RequestFailure`], also where it was answered before. The inner error says why the answer was taken
    /// and holds only once.
    pub(crate) async fn remember(
        &self,
        confirmation: &v1::Confirmation,
        offer: &v1::OfferedAnswer,
    ) -> Result<Result<v1::LastingAnswer, String>, RequestFailure> {
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
        Ok(response.answer.ok_or(response.remember_problem))
    }

    /// Lists the lasting answers in force.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn answers(&self) -> Result<v1::ListAnswersResponse, RequestFailure> {
        let request = v1::ListAnswersRequest { workspace: self.workspace.clone() };
        let request = self.request(Role::Caller, request);
        let service = PolicyServiceClient::new(self.channel.clone());
        let mut service = service.max_decoding_message_size(super::RESPONSE_BYTES_MAX);
        body(service.list_answers(request).await)
    }

    /// Takes a lasting answer back.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`], also where there is none of that name.
    pub(crate) async fn revoke_answer(
        &self,
        id: &str,
    ) -> Result<v1::LastingAnswer, RequestFailure> {
        let request =
            v1::RevokeAnswerRequest { workspace: self.workspace.clone(), id: id.to_owned() };
        let request = self.request(Role::Approver, request);
        let mut service = PolicyServiceClient::new(self.channel.clone());
        let response = body(service.revoke_answer(request).await)?;
        response.answer.ok_or_else(|| RequestFailure::incomplete("answer"))
    }
}
