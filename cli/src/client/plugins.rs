//! Plugins: looking at them, changing their lists.

use moss_proto::v1;
use moss_proto::v1::change_plugins_response::Event;
use moss_proto::v1::plugin_service_client::PluginServiceClient;

use super::{Client, RESPONSE_BYTES_MAX, RequestFailure, body};
use moss_dispatch::Role;

// === impl Client ===

impl Client {
    /// Lists the plugins.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn plugins(&self) -> Result<v1::ListPluginsResponse, RequestFailure> {
        let request = v1::ListPluginsRequest { workspace: self.workspace.clone() };
        let request = self.request(Role::Caller, request);
        let mut service = PluginServiceClient::new(self.channel.clone())
            .max_decoding_message_size(RESPONSE_BYTES_MAX);
        body(service.list_plugins(request).await)
    }

    /// Changes a plugin list; `progress` hears how far it is.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn change_plugins(
        &self,
        mut request: v1::ChangePluginsRequest,
        mut progress: impl FnMut(&v1::CallProgress),
    ) -> Result<v1::CallResult, RequestFailure> {
        request.workspace.clone_from(&self.workspace);
        let request = self.request(Role::Approver, request);
        let mut service = PluginServiceClient::new(self.channel.clone())
            .max_decoding_message_size(RESPONSE_BYTES_MAX);
        let mut events = body(service.change_plugins(request).await)?;
        loop {
            let message = events.message().await.map_err(|status| RequestFailure::from(&status))?;
            let message = message.ok_or_else(|| RequestFailure::incomplete("result"))?;
            match message.event {
                Some(Event::Progress(told)) => progress(&told),
                Some(Event::Result(result)) => return Ok(result),
                None => {}
            }
        }
    }
}
