//! Ways to a daemon: a connection, such as that of a Unix socket of the same user, or the services of one
//! in this process.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use moss_dispatch::Reason;
use moss_grpc::ProcessDoor;
use moss_grpc::listener;
use moss_sdk::context::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tonic::body::Body;
use tonic::transport::{Channel, Endpoint, Error};
use tower::Service;

use super::failure::RequestFailure;

/// Largest header list of a response, in bytes: a refusal carries its details there.
const HEADER_BYTES_MAX: u32 = 64 * 1024;

/// How requests get to a daemon. Either way they pass the same checks there.
#[derive(Debug, Clone)]
pub(super) enum Route {
    /// Over a connection to a daemon of another process.
    Connection(Channel),
    /// Straight into the services of a daemon in this process.
    Door(ProcessDoor),
}

/// Which socket lies under a name: a daemon that starts makes one of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SocketIdentity {
    device: u64,
    inode: u64,
    /// When it was made, or changed last: seconds, and nanoseconds beside them.
    changed: (i64, u64),
}

/// Hands out the one connection that there is; a second request for one fails, so that a broken
/// connection is an error and not a silent new one.
struct Once<IO>(Option<IO>);

/// Runs blocking work off the async threads; an error where it panics.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, tokio::task::JoinError> {
    tokio::task::spawn_blocking(work).await
}

/// Names the socket under a path.
#[allow(
    clippy::unnecessary_cast,
    clippy::cast_sign_loss,
    reason = "systems differ in these types, and nothing is counted with them"
)]
pub(super) fn identity(socket: &Path) -> io::Result<SocketIdentity> {
    let stat = rustix::fs::stat(socket)?;
    let changed = (stat.st_ctime as i64, stat.st_ctime_nsec as u64);
    Ok(SocketIdentity { device: stat.st_dev as u64, inode: stat.st_ino, changed })
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
pub(super) async fn channel<IO>(io: IO) -> Result<Route, RequestFailure>
where
    IO: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    // The authority is not looked at: the connection is there already.
    Endpoint::from_static("http://moss.invalid")
        .http2_max_header_list_size(HEADER_BYTES_MAX)
        .connect_with_connector(Once(Some(io)))
        .await
        .map(Route::Connection)
        .map_err(|error| {
            let message = format!("the daemon does not speak gRPC: {error}");
            RequestFailure::new(Reason::DaemonUnreachable, message)
        })
}

// === impl Route ===

impl Service<Request<Body>> for Route {
    type Response = Response<Body>;
    type Error = Error;
    type Future = BoxFuture<'static, Result<Response<Body>, Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        match self {
            Self::Connection(channel) => channel.poll_ready(cx),
            Self::Door(door) => door.poll_ready(cx).map_err(|never| match never {}),
        }
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        match self {
            Self::Connection(channel) => Box::pin(channel.call(request)),
            Self::Door(door) => {
                let response = door.call(request);
                Box::pin(async move { response.await.map_err(|never| match never {}) })
            }
        }
    }
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
