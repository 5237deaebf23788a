//! Where the numbers are reported: `GET /metrics` over HTTP/1.1, on loopback only, one response for
//! each connection.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::address::{HostPort, is_loopback};
use crate::listener::BindError;
use moss_daemon::state::Daemon;
use moss_dispatch::blocking::{Broken, blocking};

/// Connections at once; more wait until one is over.
const CONNECTIONS_MAX: usize = 8;
/// How long a connection may last, request and response together.
const CONNECTION_MAX: Duration = Duration::from_secs(10);
/// Largest request, in bytes.
const REQUEST_BYTES_MAX: usize = 16 * 1024;
/// How long accepting pauses after it failed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// What the response is written in.
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The turn at reading the numbers. It is kept until they are read, also where the connection is over by then.
type Turn = Arc<Mutex<()>>;

/// A port on loopback that listens for requests.
#[derive(Debug)]
pub struct Endpoint {
    listener: TcpListener,
    address: SocketAddr,
}

/// Binds the endpoint.
///
/// # Errors
///
/// Where the host is not known, one of its addresses is not loopback, or the system refuses.
pub async fn bind(host: &HostPort) -> Result<Endpoint, BindError> {
    let io = |source| BindError::Io { address: host.to_string(), source };
    let addresses = host.look_up().await.map_err(io)?;
    if let Some(address) = addresses.iter().find(|address| !is_loopback(address.ip())) {
        return Err(BindError::MetricsExposed(*address));
    }
    let listener = TcpListener::bind(addresses.as_slice()).await.map_err(io)?;
    Ok(Endpoint { address: listener.local_addr().map_err(io)?, listener })
}

/// Reports the numbers to who asks, until the daemon is about to stop.
pub async fn serve(endpoint: Endpoint, daemon: Arc<Daemon>) {
    let mut connections = JoinSet::new();
    let turn = Turn::default();
    loop {
        let accepted = tokio::select! {
            () = daemon.draining.cancelled() => return,
            Some(_) = connections.join_next() => continue,
            accepted = endpoint.listener.accept(), if connections.len() < CONNECTIONS_MAX => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                connections.spawn(serve_one(stream, Arc::clone(&daemon), Arc::clone(&turn)));
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection to the metrics");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn serve_one(stream: TcpStream, daemon: Arc<Daemon>, turn: Turn) {
    let service = service_fn(|request| {
        let (daemon, turn) = (Arc::clone(&daemon), Arc::clone(&turn));
        async move { Ok::<_, Infallible>(respond(&request, daemon, turn).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(false)
        .max_buf_size(REQUEST_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    if let Ok(Err(error)) = tokio::time::timeout(CONNECTION_MAX, connection).await {
        tracing::debug!(%error, "a metrics request failed");
    }
}

/// Writes the numbers of this moment.
async fn numbers(daemon: Arc<Daemon>, turn: Turn) -> Result<String, Broken> {
    let turn = turn.lock_owned().await;
    // What is known of files may be being brought up to date: that is waited for elsewhere.
    blocking(move || {
        let text = daemon.metrics.text(&daemon.moment());
        drop(turn);
        text
    })
    .await
}

async fn respond(
    request: &Request<Incoming>,
    daemon: Arc<Daemon>,
    turn: Turn,
) -> Response<Full<Bytes>> {
    let (status, content_type, text) = match (request.method(), request.uri().path()) {
        (&Method::GET, "/metrics") => match numbers(daemon, turn).await {
            Ok(text) => (StatusCode::OK, CONTENT_TYPE, text),
            Err(broken) => {
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                (status, "text/plain", format!("{broken}\n"))
            }
        },
        (_, "/metrics") => {
            (StatusCode::METHOD_NOT_ALLOWED, "text/plain", "only GET is supported\n".to_owned())
        }
        _ => (StatusCode::NOT_FOUND, "text/plain", "there is only /metrics\n".to_owned()),
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    let content_type = header::HeaderValue::from_static(content_type);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

// === impl Endpoint ===

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "metrics on {}", self.address)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;
    use crate::tests::TestDaemon;

    #[tokio::test(start_paused = true)]
    async fn the_numbers_are_read_by_one_at_a_time() {
        let (site, turn) = (TestDaemon::new(), Turn::default());
        let taken = Arc::clone(&turn).lock_owned().await;
        let mut waiting = Box::pin(numbers(Arc::clone(&site.daemon), turn));
        assert!(timeout(CONNECTION_MAX, &mut waiting).await.is_err());
        drop(taken);
        assert!(waiting.await.unwrap().contains("moss_"));
    }
}
