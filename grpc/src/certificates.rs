//! A new authority with one certificate for a daemon and one for its clients, and a token: all that
//! a port needs. The authority's own key is thrown away, so that nobody can ever add to it.

use std::path::{Path, PathBuf};

use jiff::{Timestamp, ToSpan as _, civil::Date, tz::TimeZone};
use moss_workspace::own::OwnDir;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

/// Names under which every daemon reaches itself.
const OWN_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
/// How long certificates hold unless somebody says otherwise, and at most, in days.
pub const DAYS_DEFAULT: u16 = 365;
/// Longest life of a certificate, in days.
pub const DAYS_MAX: u16 = 3650;

/// What was made, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificates {
    /// The certificate of the authority, for both sides.
    pub authority: PathBuf,
    /// The daemon's certificate and its key.
    pub server: (PathBuf, PathBuf),
    /// The clients' certificate and its key.
    pub client: (PathBuf, PathBuf),
    /// The caller's credential, for both sides.
    pub token: PathBuf,
    /// The first day on which the certificates do not hold any more.
    pub until: Date,
}

/// Why nothing was made, or not all.
#[derive(Debug, thiserror::Error)]
pub enum CertificatesError {
    /// A file is there already.
    #[error("{}: is there already, and nothing is overwritten: name another directory", .0.display())]
    Taken(PathBuf),
    /// Not a name that a certificate can have.
    #[error("`{0}` is neither the name of a host nor an address")]
    Host(String),
    /// The directory or a file in it.
    #[error(transparent)]
    File(#[from] moss_workspace::Error),
    /// No key was made, or nothing could be signed with it.
    #[error("cannot make a certificate: {0}")]
    Crypto(#[from] rcgen::Error),
}

/// Makes everything in a directory, which is made where it is missing; private files for their
/// owner only.
///
/// # Errors
///
/// Where one of the files is there already, a host is no host, or the directory cannot be written.
pub fn make(
    directory: &Path,
    hosts: &[String],
    days: u16,
) -> Result<Certificates, CertificatesError> {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let until = today.saturating_add(i64::from(days).days());
    let authority_key = KeyPair::generate()?;
    // A name of its own: another authority of moss is not taken for it.
    let name = format!("moss authority {}", &moss_daemon::ids::random()[..16]);
    let mut authority = params(&name, today, until)?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let certificate = authority.self_signed(&authority_key)?.pem();
    let issuer = Issuer::new(authority, authority_key);

    let mut server = params("moss daemon", today, until)?;
    for host in OWN_HOSTS.iter().copied().chain(hosts.iter().map(String::as_str)) {
        server.subject_alt_names.push(alternative_name(host)?);
    }
    let server = leaf(server, ExtendedKeyUsagePurpose::ServerAuth, &issuer)?;
    let client = params("moss client", today, until)?;
    let client = leaf(client, ExtendedKeyUsagePurpose::ClientAuth, &issuer)?;

    let token = moss_daemon::ids::secret() + "\n";
    let files = [
        ("ca.crt", certificate),
        ("server.crt", server.0),
        ("server.key", server.1),
        ("client.crt", client.0),
        ("client.key", client.1),
        ("caller.token", token),
    ];
    let directory = OwnDir::create(directory)?;
    write(&directory, &files)?;
    let at = |name: &str| directory.path().join(name);
    Ok(Certificates {
        authority: at("ca.crt"),
        server: (at("server.crt"), at("server.key")),
        client: (at("client.crt"), at("client.key")),
        token: at("caller.token"),
        until,
    })
}

/// Writes all files, or none where one is there.
fn write(directory: &OwnDir, files: &[(&str, String)]) -> Result<(), CertificatesError> {
    let taken = |name: &str| CertificatesError::Taken(directory.path().join(name));
    if let Some((name, _)) = files.iter().find(|(name, _)| directory.path().join(name).exists()) {
        return Err(taken(name));
    }
    for (name, text) in files {
        // Somebody may have been faster.
        if !directory.create_new(name, text.as_bytes())? {
            return Err(taken(name));
        }
    }
    Ok(())
}

fn params(name: &str, today: Date, until: Date) -> Result<CertificateParams, rcgen::Error> {
    // A clock that is behind ours is fine.
    let from = today.saturating_sub(1.day());
    let at = |date: Date| {
        let part = |number: i8| u8::try_from(number).expect("months and days count from 1");
        rcgen::date_time_ymd(i32::from(date.year()), part(date.month()), part(date.day()))
    };
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = at(from);
    params.not_after = at(until);
    Ok(params)
}

/// Makes a key and a certificate for it, both in PEM.
fn leaf(
    mut params: CertificateParams,
    purpose: ExtendedKeyUsagePurpose,
    issuer: &Issuer<'_, KeyPair>,
) -> Result<(String, String), rcgen::Error> {
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![purpose];
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    Ok((params.signed_by(&key, issuer)?.pem(), key.serialize_pem()))
}

/// A name that rustls takes on the other side, too.
fn alternative_name(host: &str) -> Result<rcgen::SanType, CertificatesError> {
    let wrong = || CertificatesError::Host(host.to_owned());
    if let Ok(address) = host.parse() {
        return Ok(rcgen::SanType::IpAddress(address));
    }
    rustls::pki_types::DnsName::try_from(host).map_err(|_| wrong())?;
    Ok(rcgen::SanType::DnsName(host.try_into().map_err(|_| wrong())?))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::tls::{self, TlsIdentity};

    #[test]
    fn what_is_made_is_private_and_fits_together() {
        let temp = tempfile::tempdir().unwrap();
        let directory = temp.path().join("new");
        let hosts = ["build.example".to_owned(), "10.0.0.7".to_owned()];
        let made = make(&directory, &hosts, DAYS_DEFAULT).unwrap();
        let identity = |(certificate, key): (PathBuf, PathBuf)| TlsIdentity { certificate, key };
        let (server, client) = (identity(made.server.clone()), identity(made.client.clone()));
        tls::server(&server, Some(&made.authority)).unwrap();
        tls::client(&made.authority, Some(&client)).unwrap();
        moss_daemon::caller::RemoteTokens::load(&made.token, None).unwrap();
        for entry in std::fs::read_dir(&directory).unwrap() {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{:?}", entry.path());
        }
        let crossed = TlsIdentity { certificate: made.server.0, key: made.client.1 };
        assert!(matches!(tls::server(&crossed, None), Err(tls::TlsError::OtherKey { .. })));
    }

    #[test]
    fn nothing_is_overwritten_and_no_host_invented() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("client.key"), "mine").unwrap();
        let error = make(temp.path(), &[], 1).unwrap_err();
        assert!(matches!(error, CertificatesError::Taken(_)), "{error}");
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 1);
        for host in ["", "two words", "a/b", "*", "name:1"] {
            let error = make(temp.path(), &[host.to_owned()], 1).unwrap_err();
            assert!(matches!(error, CertificatesError::Host(_)), "{host}: {error}");
        }
    }
}
