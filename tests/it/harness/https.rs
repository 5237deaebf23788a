//! A server on this machine that speaks HTTPS with the certificate of an authority of its own.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rcgen::{CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::{Ended, Site};

/// A running server. Ends when it is told to, or with its runtime.
pub(crate) struct HttpsServer {
    /// Where it listens, at `localhost`.
    pub(crate) port: u16,
    /// The certificate of the authority that vouches for it.
    pub(crate) authority: PathBuf,
    /// The heads of the requests that it answered.
    asked: Arc<Mutex<Vec<String>>>,
    task: tokio::task::JoinHandle<()>,
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Where a daemon keeps what it fetched: by the digest of the component, and by where it came from.
pub(crate) fn kept_download(site: &Site, digest: &str, from: &str, extension: &str) -> PathBuf {
    let from = &sha256(from.as_bytes())[..32];
    site.state().join("downloads").join(format!("{digest}-{from}.{extension}"))
}

/// Makes a whole response.
pub(crate) fn response(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let headers: String =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

// === impl HttpsServer ===

impl HttpsServer {
    /// Starts a server that answers a path, and the head of its request, with a whole response; it
    /// is told its own port.
    pub(crate) async fn start(
        site: &Site,
        answer: impl Fn(&str, &str, u16) -> Vec<u8> + Send + 'static,
    ) -> Self {
        let (authority, config) = certificates(&site.outside(""));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tls, asked) = (TlsAcceptor::from(Arc::new(config)), Arc::new(Mutex::new(Vec::new())));
        let heads = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(mut stream) = tls.accept(stream).await else { continue };
                let (mut head, mut buffer) = (Vec::new(), [0; 4096]);
                while !head.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
                    match stream.read(&mut buffer).await {
                        Ok(count) if count > 0 => head.extend_from_slice(&buffer[..count]),
                        _ => break,
                    }
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let path = head.split(' ').nth(1).unwrap_or_default();
                let response = answer(path, &head, port);
                heads.lock().unwrap().push(head);
                let _ = stream.write_all(&response).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { port, authority, asked, task }
    }

    /// The heads of the requests so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// Ends the server: from now on nothing listens there.
    pub(crate) fn stop(&self) {
        self.task.abort();
    }

    /// Runs a command that trusts the authority of this server.
    pub(crate) async fn run(&self, site: &Site, arguments: &[&str]) -> Ended {
        let mut command = site.command(arguments);
        command.env("SSL_CERT_FILE", &self.authority);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        tokio::task::spawn_blocking(move || Ended::of(&mut command)).await.unwrap()
    }
}

fn certificates(directory: &Path) -> (PathBuf, ServerConfig) {
    let (authority_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let file = directory.join("authority.pem");
    std::fs::write(&file, authority.self_signed(&authority_key).unwrap().pem()).unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let server = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = server.signed_by(&key, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    (file, config)
}
