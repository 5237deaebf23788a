//! The user's own prompt: looking at it and at its changes, undoing them.

use moss_proto::v1;
use moss_proto::v1::user_prompt_service_client::UserPromptServiceClient;

use super::{Client, RESPONSE_BYTES_MAX, RequestFailure, body, role_for};
use moss_dispatch::Role;

// === impl Client ===

impl Client {
    /// Returns the prompt.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn user_prompt(&self) -> Result<v1::GetUserPromptResponse, RequestFailure> {
        let request = self.request(Role::Caller, v1::GetUserPromptRequest {});
        let mut service = UserPromptServiceClient::new(self.channel.clone());
        body(service.get_user_prompt(request).await)
    }

    /// Lists what was changed in the prompt through moss, newest first, with diffs.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn user_prompt_history(
        &self,
        entries_max: u32,
    ) -> Result<v1::ListUserPromptHistoryResponse, RequestFailure> {
        let request = v1::ListUserPromptHistoryRequest { page_size: entries_max };
        let request = self.request(Role::Caller, request);
        let mut service = UserPromptServiceClient::new(self.channel.clone())
            .max_decoding_message_size(RESPONSE_BYTES_MAX);
        body(service.list_user_prompt_history(request).await)
    }

    /// Undoes a change of the prompt, in the role that the request needs.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn undo_user_prompt(
        &self,
        mut request: v1::UndoUserPromptRequest,
    ) -> Result<v1::CallResult, RequestFailure> {
        request.workspace.clone_from(&self.workspace);
        let request = self.request(role_for(&request.approved_digests), request);
        let mut service = UserPromptServiceClient::new(self.channel.clone())
            .max_decoding_message_size(RESPONSE_BYTES_MAX);
        let response = body(service.undo_user_prompt(request).await)?;
        response.result.ok_or_else(|| RequestFailure::incomplete("result"))
    }
}
