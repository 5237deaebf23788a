//! Sockets that a supervisor bound and passed on, as systemd does for a `.socket` unit. They obey
//! the rules of sockets that are bound here.

use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;

use listenfd::ListenFd;

use super::{BindError, Guard, Socket, TcpSocket, UnixSocket};

/// Most sockets that are taken.
const SOCKETS_MAX: usize = 16;

/// Sockets that a supervisor passed on, before anything is known of their rules.
#[derive(Debug, Default)]
pub struct Inherited {
    unix: Vec<UnixListener>,
    tcp: Vec<TcpListener>,
}

/// Takes the sockets that were passed to this process, once. It changes the environment: no other
/// thread may run yet.
///
/// # Errors
///
/// Where one of them is no Unix or TCP socket that listens, or there are too many.
pub fn inherit() -> Result<Inherited, BindError> {
    let refused = |reason: String| BindError::Inherited(reason);
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    // What was meant for the process that started us is not ours.
    if variable("LISTEN_PID") != std::process::id().to_string() {
        return Ok(Inherited::default());
    }
    let count = variable("LISTEN_FDS");
    if !count.parse().is_ok_and(|count: usize| count <= SOCKETS_MAX) {
        return Err(refused(format!("{count:?} is not a number up to {SOCKETS_MAX}")));
    }
    let mut passed = ListenFd::from_env();
    let mut inherited = Inherited::default();
    for index in 0..passed.len() {
        let wrong = || refused(format!("number {} is no Unix or TCP socket", index + 1));
        if let Ok(Some(listener)) = passed.take_unix_listener(index) {
            inherited.unix.push(listening(listener, index)?);
        } else {
            let listener = passed.take_tcp_listener(index).map_err(|_| wrong())?;
            inherited.tcp.push(listening(listener.ok_or_else(wrong)?, index)?);
        }
    }
    Ok(inherited)
}

fn listening<S: AsFd>(socket: S, index: usize) -> Result<S, BindError> {
    match rustix::net::sockopt::socket_acceptconn(&socket) {
        Ok(true) => Ok(socket),
        _ => Err(BindError::Inherited(format!("number {} does not listen", index + 1))),
    }
}

// === impl Inherited ===

impl Inherited {
    /// Whether commands of the same user get in by one of them.
    pub fn has_unix(&self) -> bool {
        !self.unix.is_empty()
    }

    /// Whether other machines or users may get in by one of them.
    pub fn has_tcp(&self) -> bool {
        !self.tcp.is_empty()
    }

    /// Makes sockets of them.
    ///
    /// # Errors
    ///
    /// Where a port is not guarded as it must be, or the system refuses.
    pub fn adopt(self, guard: Option<&Guard>) -> Result<Vec<Socket>, BindError> {
        let mut sockets = Vec::new();
        for listener in self.unix {
            let adopted = UnixSocket::adopt(listener);
            let io = |source| BindError::Io { address: "an inherited socket".to_owned(), source };
            sockets.push(Socket::Unix(adopted.map_err(io)?));
        }
        for listener in self.tcp {
            let guard = guard.cloned().ok_or(BindError::Unguarded)?;
            sockets.push(Socket::Tcp(TcpSocket::adopt(listener, guard)?));
        }
        Ok(sockets)
    }
}
