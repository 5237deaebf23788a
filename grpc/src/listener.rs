//! Where clients come in: Unix sockets for processes of the same user, and ports for whoever shows
//! a credential. Accepting never ends because of one bad connection, and one that sends nothing
//! does not keep its slot.

mod connection;
mod inherited;
mod line_pace;
mod link;
mod peer;
mod permits;
mod tcp;
mod unix;
mod unread;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpStream, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::JoinSet;
use tokio_stream::wrappers::ReceiverStream;

pub use self::connection::Connection;
pub use self::inherited::{Inherited, inherit};
use self::line_pace::LinePace;
pub use self::link::SocketLink;
pub use self::peer::Peer;
use self::permits::ConnectionPermits;
pub use self::tcp::{Guard, TcpSocket};
pub use self::unix::{UnixSocket, fits};
pub use self::unread::{UnreadReplies, UnreadReply};
use crate::address::Address;
use moss_daemon::caller::tokens::Tokens;
use moss_daemon::caller::{Access, Credentials};
use moss_daemon::metrics::{ConnectionCount, OpenConnection};

/// How long accepting pauses after it failed, for example for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A socket that listens.
#[derive(Debug)]
pub enum Socket {
    /// For processes of the same user.
    Unix(UnixSocket),
    /// For whoever shows a credential.
    Tcp(TcpSocket),
}

/// Why a socket cannot be bound.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another daemon has it.
    #[error(
        "another daemon listens on {}: `moss status` says what it serves; for one beside it name another \
         socket, here with --listen unix:PATH and for clients with --server unix:PATH, or have that one serve \
         this directory as well with --also DIR",
        .0.display()
    )]
    Taken(PathBuf),
    /// The directory is not safe, or cannot be made.
    #[error(transparent)]
    Directory(#[from] moss_workspace::Error),
    /// Something that is not a socket lies there.
    #[error("{}: exists and is not a socket: move it, or name another socket", .0.display())]
    InTheWay(PathBuf),
    /// Not the path of a socket.
    #[error("{}: not a usable name for a socket", .0.display())]
    Name(PathBuf),
    /// The path is longer than that of a socket may be.
    #[error(
        "cannot listen on unix:{}: the path is longer than the system allows: set XDG_RUNTIME_DIR to a \
         short directory such as /run/user/1000, or name a short path with --listen unix:PATH",
        .0.display()
    )]
    TooLong(PathBuf),
    /// A port, and nothing that says who may come in.
    #[error(
        "a port needs a credential: name its file with --token-file, or make a token \
         with `moss token create NAME`"
    )]
    Unguarded,
    /// A port that other machines can reach, without encryption.
    #[error(
        "{given} can be reached from other machines, as {address}: use TLS with --tls-cert and \
         --tls-key (`moss certificate new` makes them), or listen on 127.0.0.1"
    )]
    Exposed {
        /// What was asked for.
        given: String,
        /// The address that can be reached.
        address: SocketAddr,
    },
    /// Numbers that other machines could read.
    #[error("metrics are exposed on this machine only, and {0} is not loopback: use 127.0.0.1")]
    MetricsExposed(SocketAddr),
    /// What a supervisor passed on cannot be used.
    #[error("the sockets passed by LISTEN_FDS: {0}")]
    Inherited(String),
    /// The system does not bind it or does not let it be used.
    #[error("cannot listen on {address}: {source}")]
    Io {
        /// What was to be bound, such as `tcp:127.0.0.1:7000`.
        address: String,
        /// What the system said.
        source: io::Error,
    },
}

/// What a connection holds while it lives, and gives back.
struct ConnectionPermit {
    _permit: OwnedSemaphorePermit,
    _counted: OpenConnection,
}

/// A connection as it came.
enum AcceptedStream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// Binds a socket. A port needs a guard.
///
/// # Errors
///
/// See [`BindError`].
pub async fn bind(address: &Address, guard: Option<&Guard>) -> Result<Socket, BindError> {
    match address {
        Address::Unix(path) => unix::bind(path).map(Socket::Unix),
        Address::Tcp(host) => {
            let guard = guard.cloned().ok_or(BindError::Unguarded)?;
            tcp::bind(host, guard).await.map(Socket::Tcp)
        }
    }
}

/// Accepts connections, at most so many at once and a few of approvers, until the stream is dropped; then the socket is
/// gone.
pub fn accept(
    socket: Socket,
    connections_max: usize,
    count: ConnectionCount,
) -> ReceiverStream<io::Result<Connection>> {
    let (sender, receiver) = mpsc::channel(1);
    let places = ConnectionPermits::new(connections_max);
    let handshake_lines = Arc::new(LinePace::default());
    tokio::spawn(async move {
        // Each has its slot already: there are at most so many. They end with the loop.
        let mut arriving = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                () = sender.closed() => break,
                Some(_) = arriving.join_next() => continue,
                accepted = socket.accept() => accepted,
            };
            let accepted = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let admitted = match &accepted {
                AcceptedStream::Unix(stream) if !unix::is_of_same_user(stream) => None,
                AcceptedStream::Unix(_) => places.admit(false),
                AcceptedStream::Tcp(_) => places.admit(true),
            };
            let Some((peer, place)) = admitted else {
                count.refuse();
                continue;
            };
            let (opened, tls) = (count.open(), socket.tls());
            let (sender, lines) = (sender.clone(), Arc::clone(&handshake_lines));
            arriving.spawn(async move {
                let Some(place) = place.await else { return };
                let place = ConnectionPermit { _permit: place, _counted: opened };
                if let Some(connection) = arrive(accepted, peer, (tls, &lines), place).await {
                    // Nobody takes it any more: the daemon stops.
                    let _ = sender.send(Ok(connection)).await;
                }
            });
        }
        drop(socket);
    });
    ReceiverStream::new(receiver)
}

/// Makes a connection of what came; none where the client does not agree on encryption.
async fn arrive(
    accepted: AcceptedStream,
    peer: Peer,
    (tls, lines): (Option<Arc<rustls::ServerConfig>>, &LinePace),
    place: ConnectionPermit,
) -> Option<Connection> {
    match (accepted, tls) {
        (AcceptedStream::Unix(stream), _) => Some(Connection::new(Box::new(stream), peer, place)),
        (AcceptedStream::Tcp(stream), None) => Some(Connection::new(Box::new(stream), peer, place)),
        (AcceptedStream::Tcp(stream), Some(tls)) => {
            let address = stream.peer_addr().map(|peer| peer.to_string()).unwrap_or_default();
            let shaken = tokio::select! {
                shaken = tcp::shake_hands(stream, tls) => shaken,
                () = peer.leaves() => return None,
            };
            match shaken {
                Ok(stream) => Some(Connection::new(Box::new(stream), peer, place)),
                Err(error) => {
                    match lines.due() {
                        Some(left_out) => {
                            tracing::info!(peer = address, %error, left_out, "a TLS handshake failed");
                        }
                        None => tracing::debug!(peer = address, %error, "a TLS handshake failed"),
                    }
                    None
                }
            }
        }
    }
}

// === impl Socket ===

impl Socket {
    /// What a client on it has to show, where `local` are the daemon's own credentials.
    pub fn access(&self, local: &Credentials, tokens: &Arc<Tokens>) -> Access {
        let access = match self {
            Self::Unix(_) => Access::local(local.clone()),
            Self::Tcp(socket) => Access::remote(socket.guard.tokens.clone()),
        };
        access.and_named(Arc::clone(tokens))
    }

    /// Where HTTP is spoken on it; none on a Unix socket.
    pub fn url(&self) -> Option<String> {
        let Self::Tcp(socket) = self else { return None };
        let scheme = if self.tls().is_some() { "https" } else { "http" };
        Some(format!("{scheme}://{}", socket.address()))
    }

    /// The kind of socket, in one word.
    pub fn transport(&self) -> &'static str {
        match self {
            Self::Unix(_) => "unix",
            Self::Tcp(_) => "tcp",
        }
    }

    /// How connections are encrypted, if they are.
    fn tls(&self) -> Option<Arc<rustls::ServerConfig>> {
        match self {
            Self::Unix(_) => None,
            Self::Tcp(socket) => socket.guard.tls.clone(),
        }
    }

    async fn accept(&self) -> io::Result<AcceptedStream> {
        match self {
            Self::Unix(socket) => socket.accept().await.map(AcceptedStream::Unix),
            Self::Tcp(socket) => socket.accept().await.map(AcceptedStream::Tcp),
        }
    }
}

impl std::fmt::Display for Socket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unix(socket) => write!(f, "unix:{}", socket.path().display()),
            Self::Tcp(socket) => {
                let encrypted = if self.tls().is_some() { " (TLS)" } else { "" };
                write!(f, "tcp:{}{encrypted}", socket.address())
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look from outside")]
mod tests;
