//! What a daemon keeps of files.

use moss_dispatch::Role;
use moss_proto::v1;
use moss_proto::v1::index_service_client::IndexServiceClient;

use super::{Client, RESPONSE_BYTES_MAX, RequestFailure, body};

// === impl Client ===

impl Client {
    /// Has the index of the texts of a workspace built anew.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn rebuild_index(
        &self,
        workspace: String,
    ) -> Result<v1::IndexStatus, RequestFailure> {
        let request = self.request(Role::Approver, v1::RebuildIndexRequest { workspace });
        let mut service = IndexServiceClient::new(self.channel.clone())
            .max_decoding_message_size(RESPONSE_BYTES_MAX);
        let response = body(service.rebuild_index(request).await)?;
        response.index.ok_or_else(|| RequestFailure::incomplete("index"))
    }
}
