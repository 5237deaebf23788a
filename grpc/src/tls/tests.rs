//! Tests of the module `tls`.

use std::os::unix::fs::PermissionsExt as _;

use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::ServerName;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::*;

/// Writes an authority, a good server of it, and clients that hold until a year.
fn lay_out(directory: &Path, years: &[i32]) -> PathBuf {
    let write = |name: &str, text: String| {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path
    };
    let (key, mut authority) = (KeyPair::generate().unwrap(), CertificateParams::default());
    authority.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let file = write("ca.crt", authority.self_signed(&key).unwrap().pem());
    let issuer = Issuer::new(authority, key);
    let names = years.iter().map(|year| (year.to_string(), *year));
    for (name, year) in names.chain([("server".to_owned(), 4000)]) {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(year, 1, 1);
        params.extended_key_usages = match name.as_str() {
            "server" => vec![ExtendedKeyUsagePurpose::ServerAuth],
            _ => vec![ExtendedKeyUsagePurpose::ClientAuth],
        };
        let key = KeyPair::generate().unwrap();
        write(&format!("{name}.crt"), params.signed_by(&key, &issuer).unwrap().pem());
        write(&format!("{name}.key"), key.serialize_pem());
    }
    file
}

fn identity(directory: &Path, name: &str) -> TlsIdentity {
    let at = |kind: &str| directory.join(format!("{name}.{kind}"));
    TlsIdentity { certificate: at("crt"), key: at("key") }
}

/// A client that shows its certificate without looking at it.
fn careless(authority: &Path, identity: &TlsIdentity) -> ClientConfig {
    let key = std::fs::read(&identity.key).unwrap();
    ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots(authority).unwrap())
        .with_client_auth_cert(
            certificates(&identity.certificate).unwrap(),
            PrivateKeyDer::from_pem_slice(&key).unwrap(),
        )
        .unwrap()
}

#[tokio::test]
async fn a_client_whose_certificate_expired_is_refused_by_the_server() {
    let temp = tempfile::tempdir().unwrap();
    let authority = lay_out(temp.path(), &[2001, 4000]);
    let server = server(&identity(temp.path(), "server"), Some(&authority)).unwrap();
    for (name, is_let_in) in [("2001", false), ("4000", true)] {
        let shown = identity(temp.path(), name);
        assert_eq!(client(&authority, Some(&shown)).is_ok(), is_let_in, "{name}");
        let config = Arc::new(careless(&authority, &shown));
        let (near, far) = tokio::io::duplex(1 << 16);
        let localhost = ServerName::try_from("localhost").unwrap();
        let (accepted, _client) = tokio::join!(
            TlsAcceptor::from(Arc::clone(&server)).accept(far),
            TlsConnector::from(config).connect(localhost, near),
        );
        match accepted {
            Ok(_) => assert!(is_let_in, "{name}"),
            Err(error) => {
                assert!(!is_let_in, "{name}: {error}");
                assert!(error.to_string().contains("expired"), "{error}");
            }
        }
    }
}

#[test]
fn an_authority_that_expired_vouches_for_nobody() {
    let temp = tempfile::tempdir().unwrap();
    lay_out(temp.path(), &[2001]);
    let error = client(&temp.path().join("2001.crt"), None).unwrap_err();
    assert!(matches!(&error, TlsError::Outdated { .. }), "{error}");
    assert!(error.to_string().contains("expired at 2001-01-01"), "{error}");
}
