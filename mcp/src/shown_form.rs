//! A form at a client: it is withdrawn where nobody waits for its reply any more, so that no person decides about what
//! is over.

use rmcp::model::{ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ServerRequest};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleServer, ServiceError};
use tokio::runtime::Handle;

/// The reason that a client gets for a form that is withdrawn.
const OVER: &str = "the question is over";

/// A form that is shown. Dropped without its reply, it is withdrawn.
pub(crate) struct ShownForm(Option<RequestHandle<RoleServer>>);

// === impl ShownForm ===

impl ShownForm {
    /// Shows a form and waits for what comes back.
    pub(crate) async fn result(
        peer: &Peer<RoleServer>,
        form: ElicitRequestParams,
    ) -> Result<ElicitResult, ServiceError> {
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
        let sent = peer.send_cancellable_request(request, PeerRequestOptions::default());
        let mut shown = Self(Some(sent.await?));
        let Some(request) = &mut shown.0 else { return Err(ServiceError::TransportClosed) };
        let response = (&mut request.rx).await;
        // Whatever came, there is nothing to withdraw.
        shown.0 = None;
        match response.map_err(|_| ServiceError::TransportClosed)?? {
            ClientResult::ElicitResult(result) => Ok(result),
            _ => Err(ServiceError::UnexpectedResponse),
        }
    }
}

impl Drop for ShownForm {
    fn drop(&mut self) {
        if let (Some(request), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(request.cancel(Some(OVER.to_owned())));
        }
    }
}
