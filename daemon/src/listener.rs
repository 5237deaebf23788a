//! The Unix socket: in a directory of mode 0700, itself 0600, and only processes of the same user
//! get a connection. Accepting never ends because of one bad connection, and one that says nothing
//! does not keep its place.

use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use moss_workspace::own::{Lock, OwnDir};
use rustix::fs::FileType;
use rustix::io::Errno;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Sleep;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::{Connected, UdsConnectInfo};

/// How long accepting pauses after it failed, for example for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// What a client says first: the preface of HTTP/2, in bytes.
const PREFACE_BYTES: usize = 24;
/// How long a client may take to say it.
const PREFACE_WAIT_MAX: Duration = Duration::from_secs(5);

/// A bound socket. Dropping it removes the socket file.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    directory: OwnDir,
    name: String,
    /// Held while the socket is: a second daemon on the same path is told so.
    _lock: Lock,
}

/// A connection that counts against the limit on connections while it lives. Reading fails where
/// the client does not say its preface in time.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    /// What is missing of the preface, in bytes, and when the wait for it ends.
    preface: Option<(usize, Pin<Box<Sleep>>)>,
    _place: OwnedSemaphorePermit,
}

/// Why a socket cannot be bound.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another daemon has it.
    #[error("another daemon listens on {}", .0.display())]
    Taken(PathBuf),
    /// The directory is not safe, or cannot be made.
    #[error(transparent)]
    Directory(#[from] moss_workspace::Error),
    /// Something that is not a socket lies there.
    #[error("{}: is in the way and not a socket: move it, or name another socket", .0.display())]
    InTheWay(PathBuf),
    /// Not the path of a socket.
    #[error("{}: not a usable name for a socket", .0.display())]
    Name(PathBuf),
    /// The system refuses.
    #[error("cannot listen on {}: {source}", path.display())]
    Io {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Binds a socket, making its directory where it is missing and removing what a dead daemon left.
///
/// # Errors
///
/// Where a living daemon has it, something else lies there, its directory is open to others, or
/// the system refuses.
pub fn bind(path: &Path) -> Result<Socket, BindError> {
    let io = |source| BindError::Io { path: path.to_owned(), source };
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| BindError::Name(path.to_owned()))?.to_owned();
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = OwnDir::create(parent.unwrap_or(Path::new(".")))?;
    let lock = match directory.lock(&format!("{name}.lock"), Duration::ZERO) {
        Ok(lock) => lock,
        Err(moss_workspace::Error::Busy { .. }) => return Err(BindError::Taken(path.to_owned())),
        Err(error) => return Err(error.into()),
    };
    match is_socket(path) {
        Ok(true) => directory.remove(&name)?,
        Ok(false) => return Err(BindError::InTheWay(path.to_owned())),
        Err(Errno::NOENT) => {}
        Err(errno) => return Err(io(errno.into())),
    }
    let listener = UnixListener::bind(path).map_err(io)?;
    // The directory keeps others out from the first instant; this is the second fence.
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::chmod(path, mode).map_err(|errno| io(errno.into()))?;
    Ok(Socket { listener, directory, name, _lock: lock })
}

/// Whether a socket lies there itself, not behind a link.
fn is_socket(path: &Path) -> rustix::io::Result<bool> {
    let stat = rustix::fs::lstat(path)?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Socket)
}

/// Accepts the connections of this user's processes, at most so many at once, until the stream is
/// dropped; then the socket is gone.
pub fn accept(socket: Socket, connections_max: usize) -> ReceiverStream<io::Result<Connection>> {
    let (sender, receiver) = mpsc::channel(1);
    let places = Arc::new(Semaphore::new(connections_max));
    tokio::spawn(async move {
        loop {
            let accepted = tokio::select! {
                () = sender.closed() => break,
                accepted = socket.listener.accept() => accepted,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            if let Some(connection) = admit(stream, &places)
                && sender.send(Ok(connection)).await.is_err()
            {
                break;
            }
        }
        drop(socket);
    });
    ReceiverStream::new(receiver)
}

/// Lets a peer of the same user in while there is a place.
fn admit(stream: UnixStream, places: &Arc<Semaphore>) -> Option<Connection> {
    let ours = rustix::process::geteuid().as_raw();
    let peer = stream.peer_cred().map(|peer| peer.uid());
    if peer.as_ref().ok() != Some(&ours) {
        tracing::warn!(?peer, "refused a connection of another user");
        return None;
    }
    let Ok(place) = Arc::clone(places).try_acquire_owned() else {
        tracing::warn!("refused a connection: too many (grpc.connections_max)");
        return None;
    };
    let preface = Some((PREFACE_BYTES, Box::pin(tokio::time::sleep(PREFACE_WAIT_MAX))));
    Some(Connection { stream, preface, _place: place })
}

// === impl Socket ===

impl Drop for Socket {
    fn drop(&mut self) {
        if let Err(error) = self.directory.remove(&self.name) {
            tracing::warn!(%error, "cannot remove the socket");
        }
    }
}

// === impl Connection ===

impl Connected for Connection {
    type ConnectInfo = UdsConnectInfo;

    fn connect_info(&self) -> UdsConnectInfo {
        self.stream.connect_info()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let filled = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let Some((missing, wait)) = &mut self.preface else { return read };
        if read.is_pending() {
            return wait.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()));
        }
        *missing = missing.saturating_sub(buffer.filled().len() - filled);
        if *missing == 0 {
            self.preface = None;
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look from outside")]
mod tests;
