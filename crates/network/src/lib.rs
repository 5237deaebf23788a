//! The one door to the network for what moss sends by itself: requests of plugins, downloads of
//! them. HTTP/1.1 only.
//!
//! A host is resolved here, every address that comes out is looked at, and the connection is made
//! to one of these addresses and no other: a name that changes its mind meanwhile changes nothing.
//! No redirect is followed unasked, no proxy of the environment is used, no connection is kept.

pub mod address;
mod body;
pub mod download;
mod lookups;
mod traffic;

use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::header::HOST;
use http_body::Body as _;
use http_body_util::BodyExt as _;
use moss_plugin_host::services::{HttpBody, HttpError, HttpOptions, Wait};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use self::address::{AddressReach, reach};
use self::body::{Received, Upload};
use self::lookups::Lookups;
use self::traffic::Traffic;

/// How moss calls itself where who asks gives no name.
const USER_AGENT: &str = concat!("moss/", env!("CARGO_PKG_VERSION"));

/// Why a download does not reach a private host.
const LED_THERE: &str = "private; a download goes to such a host only where a person named it, and not where another \
                         host leads there";

/// The way out. Learns which authorities the system trusts when that is needed first.
#[derive(Debug, Default)]
pub struct Network {
    tls: OnceLock<Result<ClientConfig, String>>,
    lookups: Lookups,
    traffic: Traffic,
}

/// How long a request may take and how much it may carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestBounds {
    /// Longest time to resolve the name, and again to connect.
    pub connect: Duration,
    /// Longest wait for the head of the response, once connected.
    pub head: Duration,
    /// Longest wait for the next part of the response's body.
    pub read_timeout: Duration,
    /// Largest body of the request.
    pub request_bytes_max: u64,
    /// Largest body of the response.
    pub response_bytes_max: u64,
}

/// Whether a host may have a private address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PrivateHost {
    Allowed,
    /// The grant of a plugin does not allow it.
    NotGranted,
    /// No person named it: a download was led there.
    NotNamed,
}

/// Names that were resolved already: the addresses that were looked at, and no others.
struct CheckedAddresses(Vec<SocketAddr>);

// === impl RequestBounds ===

impl RequestBounds {
    /// The shorter times of both.
    #[must_use]
    pub fn within(self, options: &HttpOptions) -> Self {
        Self {
            connect: self.connect.min(options.connect_timeout),
            head: self.head.min(options.first_byte_timeout),
            read_timeout: self.read_timeout.min(options.between_bytes_timeout),
            ..self
        }
    }
}

// === impl Network ===

impl Network {
    /// A way out that trusts only these authorities.
    #[cfg(test)]
    fn trusting(roots: RootCertStore) -> Self {
        Self {
            tls: OnceLock::from(Ok(tls_config()
                .with_root_certificates(roots)
                .with_no_client_auth())),
            lookups: Lookups::default(),
            traffic: Traffic::default(),
        }
    }

    /// Sends a request to an absolute URI and returns the response as it is, redirects included.
    /// `may_be_private` says that who allowed it also allowed private addresses.
    ///
    /// # Errors
    ///
    /// Where there is no response; the body of a response fails in its own time.
    pub async fn send(
        &self,
        request: http::Request<HttpBody>,
        may_be_private: bool,
        bounds: RequestBounds,
    ) -> Result<http::Response<HttpBody>, HttpError> {
        let private = if may_be_private { PrivateHost::Allowed } else { PrivateHost::NotGranted };
        self.send_to(private, request, bounds).await
    }

    async fn send_to(
        &self,
        private: PrivateHost,
        request: http::Request<HttpBody>,
        bounds: RequestBounds,
    ) -> Result<http::Response<HttpBody>, HttpError> {
        let (head, body) = request.into_parts();
        let url = url(&head.uri)?;
        let mut request = reqwest::Request::new(head.method, url);
        *request.headers_mut() = head.headers;
        // It is the host of the URI, and nothing else.
        request.headers_mut().remove(HOST);
        if !body.is_end_stream() {
            let upload = Upload::new(body, bounds.request_bytes_max);
            *request.body_mut() = Some(reqwest::Body::wrap(upload));
        }
        let client = self.client_for(request.url(), private, bounds).await?;
        let answered = self.traffic.run(async move { client.execute(request).await })?;
        let response = tokio::time::timeout(bounds.connect + bounds.head, answered)
            .await
            .map_err(|_| HttpError::Timeout(Wait::Response))?
            .map_err(|error| HttpError::Failed(error.to_string()))?
            .map_err(|error| explain(&error))?;
        let (head, body) = http::Response::<reqwest::Body>::from(response).into_parts();
        let body = Received::new(body, bounds.response_bytes_max, bounds.read_timeout)?;
        Ok(http::Response::from_parts(head, body.boxed_unsync()))
    }

    /// A client that connects to what the host's name leads to now, if that may be asked.
    async fn client_for(
        &self,
        url: &Url,
        private: PrivateHost,
        bounds: RequestBounds,
    ) -> Result<Client, HttpError> {
        let resolved = tokio::time::timeout(bounds.connect, resolve(&self.lookups, url)).await;
        let addresses = resolved.map_err(|_| HttpError::Timeout(Wait::Name))??;
        check(url, &addresses, private)?;
        let tls = match url.scheme() {
            "https" => self.tls.get_or_init(trusting_the_system).clone().map_err(HttpError::Tls)?,
            // Never used.
            _ => tls_config().with_root_certificates(RootCertStore::empty()).with_no_client_auth(),
        };
        Client::builder()
            .tls_backend_preconfigured(tls)
            .dns_resolver(CheckedAddresses(addresses))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .http1_only()
            .pool_max_idle_per_host(0)
            .connect_timeout(bounds.connect)
            .user_agent(USER_AGENT)
            .build()
            .map_err(|error| explain(&error))
    }
}

fn tls_config() -> rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the versions of TLS")
}

/// Trusts whom the system trusts. Reads its certificates, which takes some milliseconds once.
fn trusting_the_system() -> Result<ClientConfig, String> {
    let config = tls_config().with_platform_verifier().map_err(|error| error.to_string())?;
    Ok(config.with_no_client_auth())
}

/// Reads a URI into what is connected to. Ways to write a host that two readers understand in two
/// ways are refused.
fn url(uri: &http::Uri) -> Result<Url, HttpError> {
    let refused = |why: &str| HttpError::Denied(format!("the URL is refused: {why}"));
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(refused("it holds credentials; send them in a header"));
    }
    let url = Url::parse(&uri.to_string()).map_err(|error| refused(&error.to_string()))?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err(refused("only https and http are spoken"));
    }
    let (written, read) = (uri.host().unwrap_or_default(), url.host_str().unwrap_or_default());
    let is_same = written.eq_ignore_ascii_case(read)
        || bare(written).parse::<IpAddr>().is_ok_and(|address| Ok(address) == bare(read).parse());
    match is_same && !read.is_empty() {
        true => Ok(url),
        false => Err(refused("its host is written in an ambiguous way")),
    }
}

/// An address of IPv6 without its brackets.
fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host)
}

/// Returns every address that the host stands for.
async fn resolve(lookups: &Lookups, url: &Url) -> Result<Vec<SocketAddr>, HttpError> {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or_default();
    if let Ok(address) = bare(host).parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let unresolved = |why: String| HttpError::Name(format!("{host}: {why}"));
    let addresses = lookups.find(host, port).await.map_err(unresolved)?;
    if addresses.is_empty() {
        return Err(unresolved("it has no address".to_owned()));
    }
    Ok(addresses)
}

/// Refuses a host if any of its addresses is not to be asked.
fn check(url: &Url, addresses: &[SocketAddr], private: PrivateHost) -> Result<(), HttpError> {
    let least = match private {
        PrivateHost::Allowed => AddressReach::Near,
        PrivateHost::NotGranted | PrivateHost::NotNamed => AddressReach::Public,
    };
    let host = url.host_str().unwrap_or_default();
    let mut all = addresses.iter().map(|address| address.ip());
    let Some(address) = all.find(|address| reach(*address) < least) else { return Ok(()) };
    let why = match private {
        _ if reach(address) != AddressReach::Near => "never asked".to_owned(),
        PrivateHost::NotNamed => LED_THERE.to_owned(),
        PrivateHost::Allowed | PrivateHost::NotGranted => {
            format!("private; a plugin reaches it where its grant says `private:{host}`")
        }
    };
    Err(HttpError::Denied(format!("{host} has the address {address}, which is {why}")))
}

/// Finds in an error of the client what went wrong. The URL, which may hold secrets, is left out.
fn explain(error: &reqwest::Error) -> HttpError {
    let mut root: &(dyn Error + 'static) = error;
    loop {
        if let Some(known) = root.downcast_ref::<HttpError>() {
            return known.clone();
        }
        if let Some(tls) = root.downcast_ref::<rustls::Error>() {
            return HttpError::Tls(tls.to_string());
        }
        // An error of input and output repeats the source of what it contains, not what it holds.
        let held = root.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        match held.map(|held| held as &(dyn Error + 'static)).or_else(|| root.source()) {
            Some(inner) => root = inner,
            None => break,
        }
    }
    if error.is_timeout() {
        HttpError::Timeout(Wait::Connection)
    } else if error.is_connect() {
        HttpError::Connect(root.to_string())
    } else if error.is_builder() {
        HttpError::Failed("the request cannot be sent as it is".to_owned())
    } else {
        HttpError::Failed(root.to_string())
    }
}

// === impl CheckedAddresses ===

impl Resolve for CheckedAddresses {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

#[cfg(test)]
mod tests;
