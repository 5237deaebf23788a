//! A connection over two streams, from its first line to its last.

use rmcp::ServiceExt as _;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::lines::LineTransport;
use crate::methods::NamedMethods;
use crate::server::McpServer;

/// Serves a client over two streams of lines, until the input ends. Subscriptions and open forms end with
/// it. Calls that still run then have a moment to end, and are cancelled after it.
pub async fn serve_lines(
    server: McpServer,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) {
    let stop = server.stop();
    match NamedMethods(server).serve(LineTransport::new(input, output, stop.clone())).await {
        Ok(running) => {
            if let Err(error) = running.waiting().await {
                tracing::error!(%error, "the connection broke");
            }
        }
        // The input ended before anything began.
        Err(error) => tracing::debug!(%error, "no session came about"),
    }
    stop.cancel();
}
