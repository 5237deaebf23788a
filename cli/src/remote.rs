//! Which daemon a command talks to, and what it shows to it; for `moss serve`, what others must
//! show to reach its ports.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::client::NamedDaemon;
use moss_daemon::caller::tokens::Tokens;
use moss_daemon::caller::{Credentials, RemoteTokens};
use moss_grpc::address::Address;
use moss_grpc::listener::{self, BindError, Guard};
use moss_grpc::tls::{self, TlsError, TlsIdentity};
use moss_workspace::{dirs::Dirs, own::OwnDir};

use super::error::CliError;
use super::example::quoted;
use moss_dispatch::Outcome;

/// How a daemon is reached that is not on the default socket.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Remote {
    /// Connect to the daemon at unix:PATH or tcp:HOST:PORT
    ///
    /// Over TCP, `--workspace` names a directory of the daemon's machine; without it the daemon's
    /// only workspace is used.
    #[arg(
        long,
        global = true,
        value_name = "ADDRESS",
        env = "MOSS_SERVER",
        hide_env_values = true
    )]
    pub(super) server: Option<Address>,

    /// Authenticate with the credential in FILE; `moss serve` requires it on its ports
    ///
    /// Its holder may call tools. The file must be readable by its owner only. With this option a
    /// command works with a daemon only: the one of `--server`, or on the default socket. `moss
    /// serve` accepts tokens made by `moss token create` without it.
    #[arg(long, global = true, value_name = "FILE", env = "MOSS_TOKEN_FILE")]
    #[arg(hide_env_values = true)]
    token_file: Option<PathBuf>,

    /// Credential file of the approver role, which also resolves confirmations
    ///
    /// Without it `moss serve` accepts no decisions over TCP.
    #[arg(long, global = true, value_name = "FILE", env = "MOSS_APPROVER_TOKEN_FILE")]
    #[arg(hide_env_values = true)]
    approver_token_file: Option<PathBuf>,

    /// Use TLS, and trust only certificates of the authority in FILE
    ///
    /// Checks the daemon's certificate; for `moss serve`, those of clients (mutual TLS).
    #[arg(long, global = true, value_name = "FILE", env = "MOSS_TLS_CA", hide_env_values = true)]
    tls_ca: Option<PathBuf>,

    /// Present the certificate in FILE to the peer
    #[arg(long, global = true, value_name = "FILE", env = "MOSS_TLS_CERT", hide_env_values = true)]
    tls_cert: Option<PathBuf>,

    /// Private key of that certificate, readable by its owner only
    #[arg(long, global = true, value_name = "FILE", env = "MOSS_TLS_KEY", hide_env_values = true)]
    tls_key: Option<PathBuf>,
}

// === impl Remote ===

impl Remote {
    /// A command that reaches the same daemon from another terminal.
    pub(super) fn elsewhere(&self, command: &str) -> String {
        match &self.server {
            Some(server) => format!("{command} --server {}", quoted(&server.to_string())),
            None => command.to_owned(),
        }
    }

    /// The options by which somebody else reaches the same daemon as a caller, with absolute paths.
    pub(super) fn of_a_caller(&self) -> io::Result<Vec<(&'static str, OsString)>> {
        let absolute = |path: &PathBuf| std::path::absolute(path).map(PathBuf::into_os_string);
        let server = self.server.as_ref().map(|server| match server {
            Address::Unix(socket) => absolute(socket).map(|socket| {
                let mut address = OsString::from("unix:");
                address.push(socket);
                address
            }),
            Address::Tcp(_) => Ok(server.to_string().into()),
        });
        let files = [
            ("--token-file", &self.token_file),
            ("--tls-ca", &self.tls_ca),
            ("--tls-cert", &self.tls_cert),
            ("--tls-key", &self.tls_key),
        ];
        let files = files
            .into_iter()
            .filter_map(|(option, file)| file.as_ref().map(|file| Ok((option, absolute(file)?))));
        let server = server.map(|server| Ok(("--server", server?)));
        server.into_iter().chain(files).collect()
    }

    /// The daemon that was named, if one was; with a credential to show, the one on the default socket:
    /// what a command does without a daemon asks nobody for it.
    pub(super) fn server(&self, dirs: &Dirs) -> Result<Option<NamedDaemon>, CliError> {
        let address = match (&self.server, &self.token_file) {
            (Some(address), _) => address.clone(),
            (None, Some(_)) => Address::Unix(dirs.socket()),
            (None, None) => return Ok(None),
        };
        let identity = self.identity()?;
        let unusable = |error: TlsError| {
            CliError::new(Outcome::Unavailable, "certificate_unusable", error.to_string())
        };
        let tls = match (&address, &self.tls_ca) {
            (Address::Unix(_), _) => None,
            (Address::Tcp(_), Some(authority)) => {
                let config = tls::client(authority, identity.as_ref()).map_err(unusable)?;
                Some(Arc::new(config))
            }
            (Address::Tcp(_), None) if identity.is_some() => {
                return Err(CliError::invalid(
                    "--tls-cert needs --tls-ca, the authority of the daemon",
                ));
            }
            (Address::Tcp(_), None) => None,
        };
        let credentials = self.credentials(&address, dirs)?;
        Ok(Some(NamedDaemon { address, credentials, tls }))
    }

    /// What is shown to a daemon: the files that were named; on a Unix socket otherwise the user's
    /// own.
    fn credentials(&self, address: &Address, dirs: &Dirs) -> Result<Credentials, CliError> {
        let invalid = |error: moss_workspace::Error| {
            CliError::new(Outcome::Unavailable, "credential_invalid", error.to_string())
        };
        match (self.tokens().map_err(invalid)?, address) {
            (Some(tokens), _) => Ok(tokens.into_credentials()),
            (None, Address::Unix(_)) => OwnDir::open(&dirs.state)
                .and_then(|state| Credentials::load_or_create(&state))
                .map_err(invalid),
            (None, Address::Tcp(_)) => {
                Err(CliError::invalid("a daemon on a port requires a credential: --token-file"))
            }
        }
    }

    /// What `moss serve` asks of who comes to its ports; none where no token was named and there was
    /// never one with a name. Where the last of those was revoked, nobody gets in.
    pub(super) fn guard(&self, dirs: &Dirs) -> Result<Option<Guard>, CliError> {
        let tokens = match self.tokens().map_err(BindError::from)? {
            Some(tokens) => tokens,
            None if are_named_kept(dirs)? => {
                let approver = self.approver_token_file.as_deref();
                RemoteTokens::without_caller(approver).map_err(BindError::from)?
            }
            None => return Ok(None),
        };
        let tls = match (self.identity()?, &self.tls_ca) {
            (Some(identity), authority) => Some(tls::server(&identity, authority.as_deref())?),
            (None, Some(_)) => {
                return Err(CliError::invalid(
                    "--tls-ca needs --tls-cert and --tls-key: clients show certificates on \
                     encrypted connections only",
                ));
            }
            (None, None) => None,
        };
        Ok(Some(Guard { tokens, tls }))
    }

    /// Every file with a secret that was named: none of them is for tools.
    pub(super) fn secrets(&self) -> Vec<PathBuf> {
        let Self { token_file, approver_token_file, tls_key, .. } = self;
        [token_file, approver_token_file, tls_key].into_iter().flatten().cloned().collect()
    }

    fn tokens(&self) -> Result<Option<RemoteTokens>, moss_workspace::Error> {
        let Some(caller) = &self.token_file else { return Ok(None) };
        RemoteTokens::load(caller, self.approver_token_file.as_deref()).map(Some)
    }

    fn identity(&self) -> Result<Option<TlsIdentity>, CliError> {
        match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => {
                Ok(Some(TlsIdentity { certificate: certificate.clone(), key: key.clone() }))
            }
            (None, None) => Ok(None),
            _ => Err(CliError::invalid("--tls-cert and --tls-key belong together")),
        }
    }
}

/// Why no daemon can listen on the default socket, where that is so, and what helps.
pub(super) fn hindrance(dirs: &Dirs) -> Option<String> {
    let socket = dirs.socket();
    let user = rustix::process::geteuid().as_raw();
    (!listener::fits(&socket)).then(|| {
        let socket = socket.display();
        format!(
            "no daemon can listen on {socket}: the path is longer than the system allows; \
             `export XDG_RUNTIME_DIR=/run/user/{user}`, or another short directory, shortens it"
        )
    })
}

fn are_named_kept(dirs: &Dirs) -> Result<bool, CliError> {
    let Ok(state) = OwnDir::open(&dirs.state) else { return Ok(false) };
    let tokens = Tokens::open(state);
    // A port that a broken file opens to nobody is not opened.
    tokens.list()?;
    Ok(tokens.are_kept())
}

// === impl CliError ===

impl From<TlsError> for CliError {
    fn from(error: TlsError) -> Self {
        Self::new(Outcome::Failed, "certificate_unusable", error.to_string())
    }
}
