//! `moss serve`.

use std::path::PathBuf;
use std::str::FromStr;

use moss_daemon::listener::{self, BindError};
use moss_daemon::start::Setup;
use sd_notify::NotifyState;
use tokio::signal::unix::{SignalKind, signal};

use super::Session;
use super::error::CliError;
use super::outcome::Outcome;

/// Serve the workspace to editors, models and other commands
///
/// Ends on SIGTERM or Ctrl-C: running calls get time to finish, open questions are withdrawn.
#[derive(Debug, clap::Args)]
pub(super) struct ServeArgs {
    /// Listen on a Unix socket, may be given several times
    ///
    /// By default the socket that commands look for: `moss/moss.sock` in XDG_RUNTIME_DIR.
    #[arg(long, value_name = "unix:PATH")]
    listen: Vec<Address>,

    /// Load the plugins of another list
    #[arg(long, value_name = "FILE")]
    plugins: Vec<PathBuf>,

    /// Read limits from FILE in place of the user's config.toml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Obey another admin policy beside /etc/moss/policy.toml
    #[arg(long, value_name = "FILE")]
    admin_policy: Vec<PathBuf>,
}

/// Where a daemon listens.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Address(PathBuf);

pub(super) async fn run(args: ServeArgs, session: &Session) -> Result<Outcome, CliError> {
    let setup = Setup {
        plugin_lists: args.plugins,
        config_file: args.config,
        admin_policies: args.admin_policy,
        ..session.setup()?
    };
    let mut addresses: Vec<PathBuf> = args.listen.into_iter().map(|address| address.0).collect();
    if addresses.is_empty() {
        addresses.push(setup.dirs.socket());
    }
    // Before anything is opened: a signal that comes early must not be lost.
    let shutdown = shutdown()?;
    // Next: a second daemon is told so before it touches anything.
    let sockets = addresses.iter().map(|path| listener::bind(path)).collect::<Result<_, _>>()?;
    let workspace = setup.workspaces[0].display().to_string();
    let started = tokio::task::spawn_blocking(move || moss_daemon::start(&setup))
        .await
        .map_err(|error| CliError::new(Outcome::Failed, "internal", error.to_string()))??;
    let listening: Vec<String> =
        addresses.iter().map(|path| format!("unix:{}", path.display())).collect();
    session.ui.note(&format!("moss listens on {}, workspace {workspace}", listening.join(", ")));
    tell_supervisor(NotifyState::Ready);
    let shutdown = async {
        shutdown.await;
        tell_supervisor(NotifyState::Stopping);
    };
    moss_daemon::serve(started, sockets, shutdown)
        .await
        .map_err(|error| CliError::new(Outcome::Failed, "listener_broken", error.to_string()))?;
    Ok(Outcome::Ok)
}

/// Tells systemd, where it started the daemon with `Type=notify`.
fn tell_supervisor(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "cannot tell the supervisor (NOTIFY_SOCKET)");
    }
}

/// Is ready when somebody wants the daemon to end.
fn shutdown() -> std::io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

// === impl Address ===

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("unix:") {
            Some(path) if !path.is_empty() => Ok(Self(path.into())),
            _ => Err("expected unix:PATH".to_owned()),
        }
    }
}

// === impl CliError ===

impl From<BindError> for CliError {
    fn from(error: BindError) -> Self {
        let code = match &error {
            BindError::Taken(_) => "socket_taken",
            _ => "socket_unusable",
        };
        Self::new(Outcome::Failed, code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_unix_sockets() {
        assert_eq!("unix:/run/x.sock".parse(), Ok(Address("/run/x.sock".into())));
        for wrong in ["", "unix:", "/run/x.sock", "tcp:localhost:1"] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
    }
}
