//! One accepted connection: it has its slot while it lives, and must say in time what it is there
//! for.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;
use tokio_util::sync::WaitForCancellationFutureOwned;
use tonic::transport::server::Connected;

use super::ConnectionPermit;
use super::peer::Peer;

/// What a client says first: the preface of HTTP/2, in bytes.
pub(super) const PREFACE_BYTES: usize = 24;
/// How long a client may take to say it.
pub(super) const PREFACE_WAIT_MAX: Duration = Duration::from_secs(5);
/// How long a client that anybody can be may take, after its preface, to show a credential.
pub(super) const CREDENTIAL_WAIT_MAX: Duration = Duration::from_secs(10);

/// Bytes in both directions.
pub(super) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// A connection that counts against the limit on connections while it lives. Reading fails where
/// the client does not say in time what is awaited of it.
pub struct Connection {
    stream: Box<dyn ByteStream>,
    peer: Peer,
    awaited: Option<(Awaited, Pin<Box<Sleep>>)>,
    leaves: Pin<Box<WaitForCancellationFutureOwned>>,
    _place: ConnectionPermit,
}

/// What a client has to say next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    /// So many bytes of its preface.
    Preface(usize),
    /// A request with a credential.
    Credential,
}

// === impl Connection ===

impl Connection {
    pub(super) fn new(stream: Box<dyn ByteStream>, peer: Peer, place: ConnectionPermit) -> Self {
        let wait = Box::pin(tokio::time::sleep(PREFACE_WAIT_MAX));
        let awaited = Some((Awaited::Preface(PREFACE_BYTES), wait));
        let leaves = Box::pin(peer.leaves());
        Self { stream, peer, awaited, leaves, _place: place }
    }

    /// Who is at the other end.
    pub fn peer(&self) -> Peer {
        self.peer.clone()
    }

    /// Notes that bytes came; what is awaited of the client may be there with them.
    fn came(&mut self, bytes: usize) {
        let Some((awaited, _)) = &mut self.awaited else { return };
        match awaited {
            Awaited::Preface(missing) if bytes < *missing => *missing -= bytes,
            Awaited::Preface(_) if self.peer.is_awaited() => {
                let wait = Box::pin(tokio::time::sleep(CREDENTIAL_WAIT_MAX));
                self.awaited = Some((Awaited::Credential, wait));
            }
            Awaited::Preface(_) => self.awaited = None,
            Awaited::Credential => {}
        }
    }

    /// Whether the client has to go, or the wait for it is over. Wakes up when it is.
    fn is_late(&mut self, cx: &mut Context<'_>) -> bool {
        if self.leaves.as_mut().poll(cx).is_ready() {
            return true;
        }
        let Some((awaited, wait)) = &mut self.awaited else { return false };
        if *awaited == Awaited::Credential && !self.peer.is_awaited() {
            self.awaited = None;
            return false;
        }
        wait.as_mut().poll(cx).is_ready()
    }
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // First, and also where something came: who never stops talking is not heard out either.
        if self.is_late(cx) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        let filled = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if let Poll::Ready(Ok(())) = &read {
            self.came(buffer.filled().len() - filled);
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
        // Who reads nothing does not stay for that.
        if self.leaves.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // Who reads nothing does not stay for that.
        if self.leaves.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
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

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { peer, awaited, .. } = self;
        let awaited = awaited.as_ref().map(|(awaited, _)| awaited);
        f.debug_struct("Connection").field("peer", peer).field("awaited", &awaited).finish()
    }
}
