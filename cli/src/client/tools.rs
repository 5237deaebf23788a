//! Which tools a daemon has.

use moss_catalog::{Language, ListedSchema};
use moss_dispatch::Role;
use moss_proto::v1;
use moss_proto::v1::tool_service_client::ToolServiceClient;

use super::transport::Route;
use super::{Client, RESPONSE_BYTES_MAX, RequestFailure, WatchingTools, body};

// === impl Client ===

impl Client {
    /// Lists the tools of a toolset, or all.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn tools(
        &self,
        toolset: Option<&str>,
        schema: ListedSchema,
        language: Language,
    ) -> Result<v1::ListToolsResponse, RequestFailure> {
        let request = v1::ListToolsRequest {
            workspace: self.workspace.clone(),
            toolset: toolset.unwrap_or_default().to_owned(),
            language: wire_language(language).into(),
            schema: wire_schema(schema).into(),
        };
        let request = self.request(Role::Caller, request);
        body(self.tool_service().list_tools(request).await)
    }

    /// Follows the catalog: a message at once, and one for each change.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn watch_tools(&self) -> Result<WatchingTools, RequestFailure> {
        let request = v1::WatchToolsRequest { workspace: self.workspace.clone() };
        let request = self.request(Role::Caller, request);
        body(self.tool_service().watch_tools(request).await).map(WatchingTools)
    }

    /// Returns one tool.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn tool(
        &self,
        name: &str,
        schema: ListedSchema,
        language: Language,
    ) -> Result<v1::Tool, RequestFailure> {
        let request = v1::GetToolRequest {
            workspace: self.workspace.clone(),
            name: name.to_owned(),
            language: wire_language(language).into(),
            schema: wire_schema(schema).into(),
        };
        let request = self.request(Role::Caller, request);
        let response = body(self.tool_service().get_tool(request).await)?;
        response.tool.ok_or_else(|| RequestFailure::incomplete("tool"))
    }

    fn tool_service(&self) -> ToolServiceClient<Route> {
        ToolServiceClient::new(self.channel.clone()).max_decoding_message_size(RESPONSE_BYTES_MAX)
    }
}

fn wire_language(language: Language) -> v1::Language {
    match language {
        Language::En => v1::Language::En,
        Language::Zh => v1::Language::Zh,
    }
}

fn wire_schema(schema: ListedSchema) -> v1::ListedSchema {
    match schema {
        ListedSchema::Asi => v1::ListedSchema::Asi,
        ListedSchema::Full => v1::ListedSchema::Full,
        ListedSchema::Brief => v1::ListedSchema::Brief,
    }
}
