//! Confirmations: what waits, all that it covers, and decisions.

use std::path::Path;

use moss_dispatch::{Reason, Role};
use moss_proto::v1;
use moss_proto::v1::confirmation_service_client::ConfirmationServiceClient;

use super::{Client, RESPONSE_BYTES_MAX, RequestFailure, Watching, body, scope};

/// A decision for once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OneTimeDecision {
    /// Yes to what was shown.
    Yes,
    /// Yes to what is known by its digest, or to whatever a call does: shown or not.
    YesByDigest,
    /// No, with what the caller is shown.
    No(String),
}

/// No confirmation has it: a list of those that do is empty.
const NOT_AN_ID: &str = "-";
/// Why somebody does not get to see confirmations.
const REFUSALS: [Reason; 2] = [Reason::RoleMissing, Reason::CredentialInvalid];

macro_rules! service {
    ($self:expr) => {
        ConfirmationServiceClient::new($self.channel.clone())
            .max_decoding_message_size(RESPONSE_BYTES_MAX)
    };
}

// === impl Client ===

impl Client {
    /// Lists the confirmations that wait, in one workspace or in all; the one with an `id`, whole,
    /// where it is not empty.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn confirmations(
        &self,
        workspace: Option<&Path>,
        id: &str,
    ) -> Result<v1::ListConfirmationsResponse, RequestFailure> {
        let request =
            v1::ListConfirmationsRequest { workspace: scope(workspace), id: id.to_owned() };
        let request = self.request(Role::Approver, request);
        body(service!(self).list_confirmations(request).await)
    }

    /// Whether the daemon takes decisions from who has these credentials.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn may_decide(&self) -> Result<bool, RequestFailure> {
        match self.confirmations(None, NOT_AN_ID).await {
            Ok(_) => Ok(true),
            Err(failure) if REFUSALS.into_iter().any(|reason| failure.is(reason)) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Follows confirmations, in one workspace or in all.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn watch(&self, workspace: Option<&Path>) -> Result<Watching, RequestFailure> {
        let request = v1::WatchConfirmationsRequest { workspace: scope(workspace) };
        let request = self.request(Role::Approver, request);
        body(service!(self).watch_confirmations(request).await).map(Watching)
    }

    /// Resolves a confirmation: yes, or no with a reason.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`], also where it was resolved before.
    pub(crate) async fn resolve(
        &self,
        confirmation: &v1::Confirmation,
        decision: OneTimeDecision,
    ) -> Result<v1::Confirmation, RequestFailure> {
        let by_digest = decision == OneTimeDecision::YesByDigest;
        let (verdict, reason) = match decision {
            OneTimeDecision::Yes | OneTimeDecision::YesByDigest => {
                (v1::Verdict::Approve, String::new())
            }
            OneTimeDecision::No(reason) => (v1::Verdict::Deny, reason),
        };
        let request = v1::ResolveConfirmationRequest {
            id: confirmation.id.clone(),
            verdict: verdict.into(),
            digest: confirmation.digest.clone(),
            reason,
            remember: String::new(),
            by_digest,
        };
        let request = self.request(Role::Approver, request);
        let response = body(service!(self).resolve_confirmation(request).await)?;
        response.confirmation.ok_or_else(|| RequestFailure::incomplete("confirmation"))
    }

    /// Returns a page of all that a confirmation is about; a preview does not count as shown.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`], also where it was resolved before.
    pub(crate) async fn confirmation_page(
        &self,
        id: &str,
        page_token: &str,
        preview: bool,
    ) -> Result<v1::ShowConfirmationResponse, RequestFailure> {
        let (id, page_token) = (id.to_owned(), page_token.to_owned());
        let request = v1::ShowConfirmationRequest { id, page_token, preview };
        let request = self.request(Role::Approver, request);
        body(service!(self).show_confirmation(request).await)
    }
}
