//! Where a daemon is: the path of a Unix socket, or a host and a port. Names are looked up here and
//! only here; what is done with the result goes by addresses, never by names.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// How long looking up a name may take.
const LOOK_UP_WAIT_MAX: Duration = Duration::from_secs(10);

/// Where a daemon is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// The path of a socket.
    Unix(PathBuf),
    /// A port of a host.
    Tcp(HostPort),
}

/// A host and a port, as somebody wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPort {
    /// A name or an address; of an IPv6 address without the brackets.
    pub name: String,
    /// The port; 0 for one that the system chooses when it is bound.
    pub port: u16,
}

/// Whether an address can only be reached from this machine.
pub fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

// === impl Address ===

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Some(Self::Unix(path.into())),
            Some(("tcp", host)) => host.parse().ok().map(Self::Tcp),
            _ => None,
        };
        parsed.ok_or_else(|| "expected unix:PATH or tcp:HOST:PORT".to_owned())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp(host) => write!(f, "tcp:{host}"),
        }
    }
}

// === impl HostPort ===

impl HostPort {
    /// Looks up every address that the host has, in bounded time.
    ///
    /// # Errors
    ///
    /// Where the name is not known, or nobody says in time.
    pub async fn look_up(&self) -> io::Result<Vec<SocketAddr>> {
        let found = tokio::net::lookup_host((self.name.as_str(), self.port));
        let found = tokio::time::timeout(LOOK_UP_WAIT_MAX, found).await;
        let all: Vec<SocketAddr> = found.map_err(|_| io::ErrorKind::TimedOut)??.collect();
        if all.is_empty() { Err(io::ErrorKind::AddrNotAvailable.into()) } else { Ok(all) }
    }
}

impl FromStr for HostPort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.rsplit_once(':').and_then(|(name, port)| {
            let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
            let is_whole = bare.is_some() || !name.contains(':');
            let name = bare.unwrap_or(name).to_owned();
            let port = port.bytes().all(|byte| byte.is_ascii_digit()).then(|| port.parse().ok())?;
            (is_whole && !name.is_empty()).then_some(Self { name, port: port? })
        });
        parsed.ok_or_else(|| "expected HOST:PORT".to_owned())
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, port } = self;
        if name.contains(':') { write!(f, "[{name}]:{port}") } else { write!(f, "{name}:{port}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_sockets_and_ports_of_hosts() {
        let host = |name: &str, port| Address::Tcp(HostPort { name: name.to_owned(), port });
        for (text, address) in [
            ("unix:/run/x.sock", Address::Unix("/run/x.sock".into())),
            ("unix:here:1", Address::Unix("here:1".into())),
            ("tcp:127.0.0.1:0", host("127.0.0.1", 0)),
            ("tcp:build.example:65535", host("build.example", 65535)),
            ("tcp:[::1]:4000", host("::1", 4000)),
        ] {
            assert_eq!(text.parse(), Ok(address.clone()));
            assert_eq!(address.to_string(), text);
        }
        for wrong in [
            "",
            "unix:",
            "/run/x.sock",
            "localhost:1",
            "tcp:",
            "tcp:4000",
            "tcp::4000",
            "tcp:localhost",
            "tcp:localhost:",
            "tcp:localhost:+1",
            "tcp:localhost:65536",
            "tcp:::1:4000",
            "tcp:[]:1",
            "udp:localhost:1",
        ] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_addresses_of_this_machine_are_loopback() {
        for (address, expected) in [
            ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("0.0.0.0", false),
            ("::", false),
            ("::ffff:10.0.0.1", false),
            ("10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(address.parse().unwrap()), expected, "{address}");
        }
    }
}
