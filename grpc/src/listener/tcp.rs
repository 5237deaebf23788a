//! Ports: whoever connects must show a credential, and where another machine could, the connection
//! is encrypted. What counts is the address that is bound, never the name that was given.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::BindError;
use crate::address::{HostPort, is_loopback};
use moss_daemon::caller::RemoteTokens;

/// How long a client may take to agree on encryption.
const HANDSHAKE_WAIT_MAX: Duration = Duration::from_secs(5);

/// What TLS agrees on where HTTP is spoken.
const HTTP: &[u8] = b"http/1.1";
/// How long a client that is refused may take to read why.
const FAREWELL_WAIT_MAX: Duration = Duration::from_secs(1);

/// What guards the ports of a daemon.
#[derive(Clone)]
pub struct Guard {
    /// The credentials that are accepted.
    pub tokens: RemoteTokens,
    /// How connections are encrypted; not at all where none.
    pub tls: Option<Arc<rustls::ServerConfig>>,
}

/// A port that listens, and what guards it.
#[derive(Debug)]
pub struct TcpSocket {
    listener: TcpListener,
    address: SocketAddr,
    pub(super) guard: Guard,
}

/// Binds a port on the first address of the host that can be bound.
///
/// # Errors
///
/// Where the host is not known, one of its addresses can be reached from elsewhere and the guard
/// does not encrypt, or the system refuses.
pub(super) async fn bind(host: &HostPort, guard: Guard) -> Result<TcpSocket, BindError> {
    let io = |source| BindError::Io { address: format!("tcp:{host}"), source };
    let addresses = host.look_up().await.map_err(io)?;
    if let Some(address) = addresses.iter().find(|address| !guard.covers(**address)) {
        return Err(BindError::Exposed { given: format!("tcp:{host}"), address: *address });
    }
    let listener = TcpListener::bind(addresses.as_slice()).await.map_err(io)?;
    TcpSocket::new(listener, guard).map_err(io)
}

/// Agrees with a client on encryption, in bounded time. Who is refused gets to read why.
pub(super) async fn shake_hands(
    stream: TcpStream,
    tls: Arc<rustls::ServerConfig>,
) -> io::Result<TlsStream<TcpStream>> {
    let agreed = TlsAcceptor::from(tls).accept(stream).into_fallible();
    let agreed = tokio::time::timeout(HANDSHAKE_WAIT_MAX, agreed).await;
    match agreed.map_err(|_| io::ErrorKind::TimedOut)? {
        Ok(stream) => Ok(stream),
        Err((error, stream)) => {
            let _ = tokio::time::timeout(FAREWELL_WAIT_MAX, part_from(stream)).await;
            Err(error)
        }
    }
}

/// Closes our side and waits for the other's end. Closed at once, with bytes of the client unread,
/// a connection is reset: what was said last would be lost.
async fn part_from(mut stream: TcpStream) -> io::Result<()> {
    stream.shutdown().await?;
    let mut unread = [0; 1024];
    while stream.read(&mut unread).await? > 0 {}
    Ok(())
}

// === impl Guard ===

impl Guard {
    /// The same guard of a port where HTTP/1.1 is spoken, which is part of what TLS agrees on.
    #[must_use]
    pub fn for_http(&self) -> Self {
        let tls = self.tls.as_deref().cloned().map(|mut tls| {
            tls.alpn_protocols = vec![HTTP.to_vec()];
            Arc::new(tls)
        });
        Self { tls, ..self.clone() }
    }

    fn covers(&self, address: SocketAddr) -> bool {
        self.tls.is_some() || is_loopback(address.ip())
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("is_encrypted", &self.tls.is_some()).finish_non_exhaustive()
    }
}

// === impl TcpSocket ===

impl TcpSocket {
    fn new(listener: TcpListener, guard: Guard) -> io::Result<Self> {
        Ok(Self { address: listener.local_addr()?, listener, guard })
    }

    /// Takes a socket that somebody else bound, under the same rules.
    pub(super) fn adopt(listener: std::net::TcpListener, guard: Guard) -> Result<Self, BindError> {
        let io = |source| BindError::Io { address: "an inherited port".to_owned(), source };
        let address = listener.local_addr().map_err(io)?;
        if !guard.covers(address) {
            return Err(BindError::Exposed { given: "an inherited socket".to_owned(), address });
        }
        listener.set_nonblocking(true).map_err(io)?;
        Self::new(TcpListener::from_std(listener).map_err(io)?, guard).map_err(io)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) async fn accept(&self) -> io::Result<TcpStream> {
        let (stream, _) = self.listener.accept().await?;
        // Responses are written whole: nothing is gained by holding them back. Where it fails the
        // client is gone, which reading reveals.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }
}
