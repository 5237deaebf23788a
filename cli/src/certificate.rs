//! `moss certificate`: certificates and a token for a daemon that listens on a port.

use std::path::{Path, PathBuf};

use moss_grpc::certificates::{self, Certificates, CertificatesError, DAYS_DEFAULT, DAYS_MAX};
use serde_json::json;

use super::Session;
use super::error::CliError;
use moss_dispatch::Outcome;

/// Make certificates for a daemon with remote clients
#[derive(Debug, clap::Subcommand)]
pub(super) enum CertificateCommand {
    /// Make an authority, certificates for both sides, and a token
    ///
    /// The key of the authority is discarded: nobody can sign another certificate
    /// with it. When the certificates expire, or to exclude a client, make new ones. Nothing is
    /// overwritten.
    New(CertificateNewArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct CertificateNewArgs {
    /// The directory for the new files
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,

    /// Host name or address of the daemon; repeatable
    ///
    /// localhost, 127.0.0.1 and ::1 are always among them.
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,

    /// How many days the certificates are valid
    #[arg(long, value_name = "N", default_value_t = DAYS_DEFAULT)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=i64::from(DAYS_MAX)))]
    days: u16,
}

pub(super) fn run(command: CertificateCommand, session: &Session) -> Result<Outcome, CliError> {
    let CertificateCommand::New(args) = command;
    let made = certificates::make(&args.dir, &args.host, args.days)?;
    let host = args.host.first().map_or("127.0.0.1", String::as_str);
    session.ui.print_either(|| json(&made), || described(&made, host))?;
    Ok(Outcome::Ok)
}

fn json(made: &Certificates) -> serde_json::Value {
    json!({
        "authority": made.authority,
        "server_certificate": made.server.0,
        "server_key": made.server.1,
        "client_certificate": made.client.0,
        "client_key": made.client.1,
        "token": made.token,
        "until": made.until.to_string(),
    })
}

fn described(made: &Certificates, host: &str) -> String {
    let Certificates { authority, server, client, token, until } = made;
    let at = match host.contains(':') {
        true => format!("[{host}]:4333"),
        false => format!("{host}:4333"),
    };
    let [authority, certificate, key, client_certificate, client_key, token] =
        [authority, &server.0, &server.1, &client.0, &client.1, token].map(|path| word(path));
    format!(
        "made {authority}, {certificate}, {key}, {client_certificate}, {client_key}, {token}
valid until {until}

serve, and let in who has the token and the client certificate:
  moss serve --listen tcp:{at} --token-file {token} \\
    --tls-cert {certificate} --tls-key {key} --tls-ca {authority}

copy {authority}, {client_certificate}, {client_key} and {token} to the client, then:
  moss tools --server tcp:{at} --token-file {token} \\
    --tls-ca {authority} --tls-cert {client_certificate} --tls-key {client_key}
"
    )
}

/// A path as one word of a shell.
fn word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%,".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

// === impl CliError ===

impl From<CertificatesError> for CliError {
    fn from(error: CertificatesError) -> Self {
        let (outcome, code) = match &error {
            CertificatesError::Host(_) => (Outcome::Invalid, "usage"),
            CertificatesError::Taken(_) => (Outcome::Failed, "already_exists"),
            _ => (Outcome::Failed, "certificate_unusable"),
        };
        Self::new(outcome, code, error.to_string())
    }
}
