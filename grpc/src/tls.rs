//! Encrypted connections: certificates and keys out of files, checked before anything is done with
//! them, and errors of TLS in words that say what to do.
//!
//! TLS 1.3 only. Who connects trusts the one authority that it is given, never the system's.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use moss_workspace::own;
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, InconsistentKeys, RootCertStore, ServerConfig,
};

/// Largest file of certificates or of a key, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// What is spoken inside: HTTP/2.
const PROTOCOL: &[u8] = b"h2";
/// How long before its end a certificate is warned of.
const WARNING: Duration = Duration::from_hours(24 * 14);

/// Who one is: a certificate, after which others of its chain may follow, and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsIdentity {
    /// The file of the certificate.
    pub certificate: PathBuf,
    /// The file of its private key.
    pub key: PathBuf,
}

/// Why there is nothing to encrypt with.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file is missing, too large, or not safe.
    #[error(transparent)]
    File(#[from] moss_workspace::Error),
    /// A file is missing.
    #[error("{}: there is no such file", .0.display())]
    Missing(PathBuf),
    /// A file holds something else.
    #[error("{}: has no {what} in PEM form", file.display())]
    Lacks {
        /// The file without it.
        file: PathBuf,
        /// What it should hold.
        what: &'static str,
    },
    /// A certificate does not hold any more, or not yet.
    #[error("{}: {when}: make a new one, for example with `moss certificate new`", file.display())]
    Outdated {
        /// The file of the certificate.
        file: PathBuf,
        /// Since when, or from when.
        when: String,
    },
    /// The key is not that of the certificate.
    #[error("{}: is not the key of the certificate {}", key.display(), certificate.display())]
    OtherKey {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// A certificate or a key cannot be used.
    #[error("{}: cannot be used: {reason}", file.display())]
    Unusable {
        /// The file of the certificate or key.
        file: PathBuf,
        /// What the library said of it.
        reason: String,
    },
}

/// Prepares the side that is connected to. With an authority, only clients with a certificate of
/// that authority get in.
///
/// # Errors
///
/// Where a file cannot be used, or a certificate is out of date.
pub fn server(
    identity: &TlsIdentity,
    authority: Option<&Path>,
) -> Result<Arc<ServerConfig>, TlsError> {
    let builder = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("the provider has TLS 1.3");
    let builder = match authority {
        None => builder.with_no_client_auth(),
        Some(file) => {
            let roots = Arc::new(roots(file)?);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider()).build();
            builder.with_client_cert_verifier(verifier.map_err(|error| unusable(file, &error))?)
        }
    };
    let (certificates, key) = identity.load()?;
    let mut config =
        builder.with_single_cert(certificates, key).map_err(|error| identity.refused(&error))?;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    // Sessions are not resumed: a certificate is looked at whenever somebody connects.
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// Prepares the side that connects, which trusts one authority and shows who it is where it is
/// given that.
///
/// # Errors
///
/// Where a file cannot be used, or a certificate is out of date.
pub fn client(authority: &Path, identity: Option<&TlsIdentity>) -> Result<ClientConfig, TlsError> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("the provider has TLS 1.3")
        .with_root_certificates(roots(authority)?);
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let (certificates, key) = identity.load()?;
            let config = builder.with_client_auth_cert(certificates, key);
            config.map_err(|error| identity.refused(&error))?
        }
    };
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(config)
}

/// Says what to do about a connection that broke over a certificate; none for other errors.
pub fn explain(error: &io::Error) -> Option<String> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(match error {
        rustls::Error::InvalidCertificate(reason) => match reason {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                "its certificate is not of the authority that --tls-ca names".to_owned()
            }
            CertificateError::ExpiredContext { .. } => "its certificate expired".to_owned(),
            CertificateError::NotValidForNameContext { expected, .. } => format!(
                "its certificate is not for `{}`: name it as its certificate does, or make one with \
                 `moss certificate new --host`",
                expected.to_str()
            ),
            reason => format!("its certificate is not accepted: {reason}"),
        },
        rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => {
            "it requires a certificate: name one with --tls-cert and --tls-key".to_owned()
        }
        rustls::Error::AlertReceived(alert) => {
            format!("it refused the certificate that --tls-cert names: {alert:?}")
        }
        rustls::Error::InvalidMessage(_) => {
            "it does not use TLS: leave out --tls-ca, or name another port".to_owned()
        }
        other => other.to_string(),
    })
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Reads the certificates of an authority.
fn roots(file: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        check_dates(file, &certificate)?;
        roots.add(certificate).map_err(|error| unusable(file, &error))?;
    }
    Ok(roots)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = own::read_trusted(file, FILE_BYTES_MAX)?;
    let bytes = bytes.ok_or_else(|| TlsError::Missing(file.to_owned()))?;
    let lacks = || TlsError::Lacks { file: file.to_owned(), what: "certificate" };
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    all.ok().filter(|all| !all.is_empty()).ok_or_else(lacks)
}

/// Refuses a certificate that does not hold now, and warns of one that soon will not.
fn check_dates(file: &Path, certificate: &CertificateDer<'_>) -> Result<(), TlsError> {
    let outdated = |when: String| TlsError::Outdated { file: file.to_owned(), when };
    let date = |time: UnixTime| {
        let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        Timestamp::from_second(seconds).map_or_else(|_| "ever".to_owned(), |at| at.to_string())
    };
    let now = UnixTime::now();
    match dates_at(certificate, now) {
        Err(rustls::Error::InvalidCertificate(reason)) => match reason {
            CertificateError::ExpiredContext { not_after, .. } => {
                return Err(outdated(format!("the certificate expired at {}", date(not_after))));
            }
            CertificateError::NotValidYetContext { not_before, .. } => {
                return Err(outdated(format!(
                    "the certificate is valid from {}",
                    date(not_before)
                )));
            }
            CertificateError::BadEncoding => return Err(unusable(file, &reason)),
            _ => {}
        },
        Err(error) => return Err(unusable(file, &error)),
        Ok(()) => {}
    }
    let later = UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs()) + WARNING);
    if let Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext {
        not_after,
        ..
    })) = dates_at(certificate, later)
    {
        tracing::warn!(file = %file.display(), at = date(not_after), "a certificate expires soon");
    }
    Ok(())
}

/// Asks whether a certificate holds at a time. Nobody is trusted here, so the result is never that
/// it does: but its dates are looked at before its issuer.
fn dates_at(certificate: &CertificateDer<'_>, at: UnixTime) -> Result<(), rustls::Error> {
    let certificate = ParsedCertificate::try_from(certificate)?;
    let algorithms = provider().signature_verification_algorithms.all;
    verify_server_cert_signed_by_trust_anchor(
        &certificate,
        &RootCertStore::empty(),
        &[],
        at,
        algorithms,
    )
}

fn unusable(file: &Path, reason: &dyn std::fmt::Display) -> TlsError {
    TlsError::Unusable { file: file.to_owned(), reason: reason.to_string() }
}

// === impl TlsIdentity ===

impl TlsIdentity {
    fn load(&self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
        let certificates = certificates(&self.certificate)?;
        check_dates(&self.certificate, &certificates[0])?;
        let bytes = own::read_secret(&self.key, FILE_BYTES_MAX)?;
        let lacks = |_| TlsError::Lacks { file: self.key.clone(), what: "private key" };
        Ok((certificates, PrivateKeyDer::from_pem_slice(&bytes).map_err(lacks)?))
    }

    fn refused(&self, error: &rustls::Error) -> TlsError {
        let Self { certificate, key } = self;
        match error {
            rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                TlsError::OtherKey { certificate: certificate.clone(), key: key.clone() }
            }
            rustls::Error::InvalidCertificate(_) => unusable(certificate, error),
            _ => unusable(key, error),
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests lay out their own files")]
mod tests;
