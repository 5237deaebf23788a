//! Connections: a Unix socket of a daemon of the same user, or a pipe in memory.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Uri;
use hyper_util::rt::TokioIo;
use moss_daemon::listener;
use moss_dispatch::Reason;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::net::UnixStream;
use tonic::transport::{Channel, Endpoint};
use tower::Service;

use super::failure::RequestFailure;

/// Bytes that wait in a pipe in memory, in each direction.
const PIPE_BYTES_MAX: usize = 256 * 1024;
/// Largest header list of a response, in bytes: a refusal carries its details there.
const HEADER_BYTES_MAX: u32 = 64 * 1024;

/// Hands out the one connection that there is; a second request for one fails, so that a broken
/// connection is an error and not a silent new one.
struct Once<IO>(Option<IO>);

/// Makes both ends of a pipe in memory.
pub(super) fn pipe() -> (DuplexStream, DuplexStream) {
    tokio::io::duplex(PIPE_BYTES_MAX)
}

/// Runs blocking work off the async threads; an error where it panics.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, tokio::task::JoinError> {
    tokio::task::spawn_blocking(work).await
}

/// Connects to a socket; none where nobody listens or could. Refuses a process of another user: it would
/// get to see a credential.
pub(super) async fn connect(socket: &Path) -> Result<Option<UnixStream>, RequestFailure> {
    let unreachable = |why: &dyn std::fmt::Display| {
        let message = format!("the daemon on {} is not reachable: {why}", socket.display());
        RequestFailure::new(Reason::DaemonUnreachable, message)
    };
    if !listener::fits(socket) {
        return Ok(None);
    }
    let stream = match UnixStream::connect(socket).await {
        Ok(stream) => stream,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(unreachable(&error)),
    };
    let peer = stream.peer_cred().map_err(|error| unreachable(&error))?.uid();
    if peer != rustix::process::geteuid().as_raw() {
        return Err(unreachable(&"it belongs to another user"));
    }
    Ok(Some(stream))
}

/// Speaks HTTP/2 over a connection.
pub(super) async fn channel<IO>(io: IO) -> Result<Channel, RequestFailure>
where
    IO: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    // The authority is not looked at: the connection is there already.
    Endpoint::from_static("http://moss.invalid")
        .http2_max_header_list_size(HEADER_BYTES_MAX)
        .connect_with_connector(Once(Some(io)))
        .await
        .map_err(|error| {
            let message = format!("the daemon does not speak gRPC: {error}");
            RequestFailure::new(Reason::DaemonUnreachable, message)
        })
}

// === impl Once ===

impl<IO> Service<Uri> for Once<IO>
where
    IO: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    type Response = TokioIo<IO>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TokioIo<IO>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let io = self.0.take();
        Box::pin(async move {
            io.map(TokioIo::new).ok_or_else(|| io::Error::other("the connection is closed"))
        })
    }
}
