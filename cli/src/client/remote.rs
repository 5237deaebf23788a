//! The daemon that somebody named: on a Unix socket of this machine, or at a port of this one or
//! another. There is no falling back to a daemon in this process.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use moss_dispatch::Reason;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::AsyncBufReadExt as _;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::failure::RequestFailure;
use super::transport::Route;
use super::{Client, transport};
use moss_daemon::caller::Credentials;
use moss_grpc::address::{Address, HostPort, is_loopback};
use moss_grpc::listener;

/// How long connecting to a port may take, and agreeing on encryption again as long.
const CONNECT_WAIT_MAX: Duration = Duration::from_secs(10);

/// A daemon that somebody named.
#[derive(Debug, Clone)]
pub(crate) struct NamedDaemon {
    /// The socket or port that it listens on.
    pub(crate) address: Address,
    /// What is shown to it.
    pub(crate) credentials: Credentials,
    /// How the connection to a port is encrypted; not at all where none.
    pub(crate) tls: Option<Arc<ClientConfig>>,
}

// === impl Client ===

impl Client {
    /// Connects to a daemon that was named. Requests go to a workspace, or to the daemon's only one
    /// where that is empty.
    ///
    /// # Errors
    ///
    /// Where nobody listens there, or no connection comes about that keeps the credential secret.
    pub(crate) async fn reach(
        server: NamedDaemon,
        workspace: String,
    ) -> Result<Self, RequestFailure> {
        let NamedDaemon { address, credentials, tls } = server;
        let is_encrypted = tls.is_some();
        let channel = match &address {
            Address::Unix(path) => {
                let stream = transport::connect(path).await?.ok_or_else(|| nobody(&address))?;
                transport::channel(stream).await?
            }
            Address::Tcp(host) => dial(&address, host, tls).await?,
        };
        let client = Self { channel, credentials, workspace, host: None };
        // Whether it speaks with us at all is better known before anything is asked of it.
        match client.status().await {
            Err(failure) if is_of_transport(&failure) && !is_encrypted => {
                Err(unreachable(&address, &in_the_clear(&address, &failure.message)))
            }
            Err(failure) => Err(failure),
            Ok(_) => Ok(client),
        }
    }
}

async fn dial(
    address: &Address,
    host: &HostPort,
    tls: Option<Arc<ClientConfig>>,
) -> Result<Route, RequestFailure> {
    let addresses = host.look_up().await.map_err(|error| unreachable(address, &error))?;
    if tls.is_none() && !addresses.iter().all(|address| is_loopback(address.ip())) {
        let message = format!(
            "{address} is another machine: the credential would be sent in the clear; name the \
             authority of the daemon's certificate with --tls-ca"
        );
        return Err(RequestFailure::new(Reason::ConnectionExposed, message));
    }
    let connected = in_time(TcpStream::connect(addresses.as_slice())).await;
    let stream = connected.map_err(|error| match error.kind() {
        io::ErrorKind::ConnectionRefused => nobody(address),
        _ => unreachable(address, &error),
    })?;
    // Requests are written whole: nothing is gained by holding them back.
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else { return transport::channel(stream).await };
    let name = ServerName::try_from(host.name.clone())
        .map_err(|_| unreachable(address, &"not a name that a certificate can have"))?;
    let encrypted = in_time(async {
        let mut stream = TlsConnector::from(tls).connect(name, stream).await?;
        // The daemon looks at a client's certificate when the client believes that they have
        // agreed: only what it says next shows that they have.
        match stream.fill_buf().await? {
            [] => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(stream),
        }
    });
    let stream = encrypted.await.map_err(|error| match moss_grpc::tls::explain(&error) {
        Some(why) => {
            let message = format!("no connection to the daemon on {address}: {why}");
            RequestFailure::new(Reason::CertificateRefused, message)
        }
        None => unreachable(address, &error),
    })?;
    transport::channel(stream).await
}

/// Whether no daemon of ours said so: what responds may not even speak HTTP/2.
fn is_of_transport(failure: &RequestFailure) -> bool {
    let reasons = [Reason::DaemonUnreachable, Reason::CallCancelled, Reason::Internal];
    reasons.into_iter().any(|reason| failure.is(reason))
}

/// What may be behind it where nothing was encrypted.
fn in_the_clear(address: &Address, why: &str) -> String {
    match address {
        Address::Unix(_) => why.to_owned(),
        Address::Tcp(_) => {
            format!("{why}; if it encrypts, name the authority of its certificate with --tls-ca")
        }
    }
}

async fn in_time<T>(attempt: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    tokio::time::timeout(CONNECT_WAIT_MAX, attempt).await.map_err(|_| io::ErrorKind::TimedOut)?
}

fn nobody(address: &Address) -> RequestFailure {
    if let Address::Unix(path) = address
        && !listener::fits(path)
    {
        return unreachable(address, &"the path is too long for a socket");
    }
    RequestFailure::new(Reason::NoDaemon, format!("no daemon listens on {address}"))
}

fn unreachable(address: &Address, why: &dyn std::fmt::Display) -> RequestFailure {
    let message = format!("the daemon on {address} is not reachable: {why}");
    RequestFailure::new(Reason::DaemonUnreachable, message)
}
