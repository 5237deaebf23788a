//! A server of the Model Context Protocol that does nothing: what rmcp, the pipe and the client take by
//! themselves. It returns the text that a call has, or a result that it was given before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use rmcp::ServiceExt as _;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};

/// Returns what it is given.
#[derive(Debug, Clone, Default)]
struct EchoServer {
    /// Results by the names that they were given under.
    kept: Arc<Mutex<HashMap<String, CallToolResult>>>,
}

/// The text under a key of the arguments.
fn text<'a>(given: &'a JsonObject, key: &str) -> &'a str {
    given.get(key).and_then(|value| value.as_str()).unwrap_or_default()
}

impl ServerHandler for EchoServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let result = match &*request.name {
            "keep" => {
                let result = given.get("result").cloned().unwrap_or_default();
                let result = serde_json::from_value(result)
                    .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
                kept.insert(text(&given, "name").to_owned(), result);
                CallToolResult::success(Vec::new())
            }
            "kept" => match kept.get(text(&given, "name")) {
                Some(result) => result.clone(),
                None => CallToolResult::error(Vec::new()),
            },
            _ => CallToolResult::success(vec![ContentBlock::text(text(&given, "text"))]),
        };
        Ok(result.into())
    }
}

/// Serves one client on standard input and output, to its end.
pub(crate) async fn serve() -> Result<()> {
    EchoServer::default().serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
