//! A server of the Model Context Protocol that does nothing: what rmcp and the pipe take by themselves.

use anyhow::Result;
use rmcp::ServiceExt as _;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};

/// Returns the text that a call has.
#[derive(Debug, Clone)]
struct EchoServer;

impl ServerHandler for EchoServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = request.arguments.as_ref().and_then(|given| given.get("text")?.as_str());
        let content = ContentBlock::text(text.unwrap_or_default());
        Ok(CallToolResult::success(vec![content]).into())
    }
}

/// Serves one client on standard input and output, to its end.
pub(crate) async fn serve() -> Result<()> {
    EchoServer.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
