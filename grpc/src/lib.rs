//! gRPC: the services of moss, what listens for their clients, who may connect.
//!
//! A front of the daemon: a request becomes a call, a call's outcome a reply, and nothing is decided here.
//! Read [`services`] next.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests lay out their own files"))]

pub mod address;
pub mod certificates;
pub mod listener;
pub mod metrics_endpoint;
pub mod services;
pub mod tls;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use moss_daemon::{Started, drain, keep_current};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::listener::Socket;
use self::metrics_endpoint::Endpoint;
pub use self::services::{APPROVER_HEADER, ProcessDoor, ServeError};

/// How long connections may take to pass the last responses on.
const REPLY_GRACE: Duration = Duration::from_secs(1);

/// Serves until `shutdown` is ready, then drains: no new connections, open questions are
/// withdrawn, running calls get `shutdown.grace_ms` to end before they are cancelled. Reports its
/// numbers meanwhile where there is an endpoint for them.
///
/// # Errors
///
/// Where a listener breaks.
pub async fn serve(
    started: Started,
    sockets: Vec<Socket>,
    endpoint: Option<Endpoint>,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let Started { daemon, credentials, tokens } = started;
    let stop = CancellationToken::new();
    let mut servers = JoinSet::new();
    keep_current(&daemon);
    for socket in sockets {
        let access = socket.access(&credentials, &tokens);
        let count = daemon.metrics.connections(socket.transport());
        let connections = listener::accept(socket, daemon.config().grpc.connections_max, count);
        let stopped = stop.clone().cancelled_owned();
        servers.spawn(services::serve(Arc::clone(&daemon), access, connections, stopped));
    }
    if let Some(endpoint) = endpoint {
        daemon.tasks.spawn(metrics_endpoint::serve(endpoint, Arc::clone(&daemon)));
    }
    let ended = tokio::select! {
        () = shutdown => None,
        ended = servers.join_next() => ended,
    };
    stop.cancel();
    drain(&daemon).await;
    // Connections close when their last response is out. What is still open after that has no call:
    // its streams end with the process.
    let closed = async { while servers.join_next().await.is_some() {} };
    if tokio::time::timeout(REPLY_GRACE, closed).await.is_err() {
        servers.abort_all();
    }
    match ended {
        Some(Ok(result)) => result,
        Some(Err(error)) => {
            tracing::error!(%error, "a listener failed");
            Ok(())
        }
        None => Ok(()),
    }
}
