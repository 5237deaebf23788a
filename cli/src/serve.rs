//! `moss serve`.

mod mcp_port;

use std::path::{Path, PathBuf};

use moss_daemon::setup::Setup;
use moss_daemon::start::Started;
use moss_grpc::address::{Address, HostPort};
use moss_grpc::listener::{self, BindError, Guard, Inherited, Socket, SocketLink};
use moss_grpc::metrics_endpoint::{self, Endpoint};
use moss_workspace::{dirs::Dirs, name_of_root};
use sd_notify::NotifyState;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use self::mcp_port::McpPort;
use super::Session;
use super::error::CliError;
use moss_dispatch::Outcome;

/// What is listened on, before there is a daemon: one field for each kind of port, and its name in
/// [`OpenedPorts::names`].
struct OpenedPorts {
    sockets: Vec<Socket>,
    mcp: Option<McpPort>,
    metrics: Option<Endpoint>,
}

/// Serve the workspace to editors, models and other commands
///
/// Stops on `moss stop`, SIGTERM or Ctrl-C: running calls get time to finish, pending questions are withdrawn.
#[derive(Debug, clap::Args)]
pub(super) struct ServeArgs {
    /// Listen on unix:PATH or tcp:HOST:PORT; repeatable
    ///
    /// Unless a Unix socket is named or inherited, also on the default socket:
    /// `moss/moss.sock` in XDG_RUNTIME_DIR. A port needs `--token-file` or a token that `moss
    /// token create` made, and `--tls-cert` and `--tls-key` where other machines can reach it. Port 0
    /// picks a free port.
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<Address>,

    /// Serve the workspace in DIR as well, with its own policy, plugins and history; repeatable
    ///
    /// `moss call grep_search … --all-workspaces` searches them as one.
    #[arg(long, value_name = "DIR")]
    also: Vec<PathBuf>,
    /// Serve the Model Context Protocol at http://HOST:PORT/mcp, to who shows a caller's credential
    ///
    /// As with other ports: `--token-file` or a token that `moss token create` made, and `--tls-cert` and
    /// `--tls-key` where other machines can reach it. /mcp/SET has the tools of a set. With `--also` a client
    /// works in the first workspace, or in the one that its header `Moss-Workspace: DIR` names.
    #[arg(long, value_name = "HOST:PORT")]
    mcp: Option<HostPort>,

    /// Another host name by which clients and pages reach the port of --mcp; repeatable
    #[arg(long, value_name = "NAME", requires = "mcp")]
    mcp_host: Vec<String>,

    /// Expose metrics for Prometheus at http://HOST:PORT/metrics, on loopback only
    #[arg(long, value_name = "HOST:PORT")]
    metrics: Option<HostPort>,

    /// Send a span of every call to an OpenTelemetry collector, over OTLP/gRPC
    #[arg(long, value_name = "http://HOST:PORT", env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    #[arg(hide_env_values = true)]
    traces: Option<String>,

    /// Load the plugins of another list as well
    #[arg(long, value_name = "FILE")]
    plugins: Vec<PathBuf>,

    /// Read limits from FILE instead of the user's config.toml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Apply another admin policy in addition to /etc/moss/policy.toml
    #[arg(long, value_name = "FILE")]
    admin_policy: Vec<PathBuf>,

    /// Stop when standard input ends
    ///
    /// For programs that start moss: as long as they hold the other end of the pipe it serves, and
    /// no daemon stays behind when they are killed.
    #[arg(long)]
    stop_with_stdin: bool,
}

pub(super) async fn run(
    args: ServeArgs,
    inherited: Inherited,
    session: &Session,
) -> Result<Outcome, CliError> {
    let remote = &session.global.remote;
    if remote.server.is_some() {
        let message =
            "`moss serve` starts a daemon, and --server (MOSS_SERVER) names a running one";
        return Err(CliError::invalid(message));
    }
    super::memory::give_back_as_it_grows();
    let setup = setup(&args, session)?;
    // Before anything is opened: a signal that comes early must not be lost.
    let shutdown = shutdown(args.stop_with_stdin)?;
    // Next: a second daemon fails before it touches anything.
    let guard = if args.mcp.is_some() || needs_guard(&args.listen, &inherited) {
        remote.guard(&setup.dirs)?
    } else {
        if !setup.secrets.is_empty() {
            session.ui.note("no port is opened: the token and the certificates are for ports only");
        }
        None
    };
    let opened = OpenedPorts::open(args, inherited, guard.as_ref(), &setup.dirs.socket()).await?;
    let _link = link(&opened.sockets, &setup.dirs);
    let roots: Vec<_> = setup.workspaces.iter().map(|root| name_of_root(root)).collect();
    let workspace = roots.join(", ");
    let started = tokio::task::spawn_blocking(move || moss_daemon::start(&setup))
        .await
        .map_err(|error| CliError::new(Outcome::Failed, "internal", error.to_string()))??;
    if let Some(guard) = &guard {
        check_tokens(guard, &started, session)?;
    }
    let names = opened.names();
    let OpenedPorts { sockets, mcp, metrics } = opened;
    let mcp = mcp.map(|port| port.open(&started));
    session.ui.note(&format!("moss listens on {names}, workspace {workspace}"));
    notify_supervisor(NotifyState::Ready);
    let shutdown = async {
        shutdown.await;
        notify_supervisor(NotifyState::Stopping);
    };
    let served = moss_grpc::serve(started, sockets, metrics, shutdown).await;
    if let Some(port) = mcp {
        port.close().await;
    }
    served.map_err(|error| CliError::new(Outcome::Failed, "listener_broken", error.to_string()))?;
    Ok(Outcome::Ok)
}

/// What the daemon starts with.
fn setup(args: &ServeArgs, session: &Session) -> Result<Setup, CliError> {
    let workspaces = workspaces(session.root()?, &args.also)?;
    Ok(Setup {
        plugin_lists: args.plugins.clone(),
        config_file: args.config.clone(),
        admin_policies: args.admin_policy.clone(),
        secrets: session.global.remote.secrets(),
        // The standard takes an empty variable for none.
        collector: args.traces.clone().filter(|collector| !collector.is_empty()),
        ..session.setup_for(workspaces)?
    })
}

/// The workspace of the session and those of `--also`, each once.
fn workspaces(own: PathBuf, also: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut workspaces = vec![own];
    for directory in also {
        let root = directory.canonicalize().map_err(|error| {
            CliError::invalid(format!("--also {}: {error}", directory.display()))
        })?;
        if !workspaces.contains(&root) {
            workspaces.push(root);
        }
    }
    Ok(workspaces)
}

/// Refuses secrets that open more than they should, or longer.
fn check_tokens(guard: &Guard, started: &Started, session: &Session) -> Result<(), CliError> {
    let refused =
        |message: String| Err(CliError::new(Outcome::Failed, "credential_invalid", message));
    if guard.tokens.hands_out(&started.credentials) {
        return refused(
            "--token-file names the approver's credential: anyone who has it could resolve \
             confirmations; name another file"
                .to_owned(),
        );
    }
    if let Some(token) = guard.tokens.named_in(&started.tokens) {
        return refused(format!(
            "a token file holds the secret of the token `{}`, which opens ports by itself and could \
             not be revoked so: leave the option out, or name another file",
            token.name
        ));
    }
    if guard.tokens.lack_a_caller() && started.tokens.list()?.is_empty() {
        session.ui.note("nobody can use the port: `moss token create NAME` makes a token for it");
    }
    Ok(())
}

fn needs_guard(addresses: &[Address], inherited: &Inherited) -> bool {
    inherited.has_tcp() || addresses.iter().any(|address| matches!(address, Address::Tcp(_)))
}

/// Binds what was named and takes over what was passed on. Without a Unix socket among them the
/// default one comes first: commands and decisions of people go over it.
async fn sockets(
    mut addresses: Vec<Address>,
    inherited: Inherited,
    guard: Option<&Guard>,
    default: &Path,
) -> Result<Vec<Socket>, BindError> {
    let is_unix = |address: &Address| matches!(address, Address::Unix(_));
    if !inherited.has_unix() && !addresses.iter().any(is_unix) {
        addresses.insert(0, Address::Unix(default.to_owned()));
    }
    let mut sockets = inherited.adopt(guard)?;
    for address in &addresses {
        sockets.push(listener::bind(address, guard).await?);
    }
    Ok(sockets)
}

/// Has the default socket found from where commands look that do not know the runtime directory.
fn link(sockets: &[Socket], dirs: &Dirs) -> Option<SocketLink> {
    let (default, other) = (dirs.socket(), dirs.socket_without_runtime());
    let is_default =
        |socket: &Socket| matches!(socket, Socket::Unix(socket) if socket.path() == default);
    if default == other || !sockets.iter().any(is_default) {
        return None;
    }
    SocketLink::make(&other, &default).unwrap_or_else(|error| {
        tracing::warn!(%error, "commands without XDG_RUNTIME_DIR do not find this daemon");
        None
    })
}

/// Notifies systemd, where it started the daemon with `Type=notify`.
fn notify_supervisor(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "cannot notify the supervisor (NOTIFY_SOCKET)");
    }
}

/// Is ready when somebody wants the daemon to end.
fn shutdown(with_stdin: bool) -> std::io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let stdin_end = with_stdin.then(stdin_end).transpose()?;
    Ok(async move {
        let ended = async {
            match stdin_end {
                Some(end) => drop(end.await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            () = ended => {}
        }
    })
}

/// Is dropped when standard input has ended or cannot be read.
fn stdin_end() -> std::io::Result<oneshot::Receiver<()>> {
    let (sender, end) = oneshot::channel();
    // A thread of its own: the runtime would wait for it when the daemon ends for another reason.
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let _held = sender;
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
    })?;
    Ok(end)
}

// === impl OpenedPorts ===

impl OpenedPorts {
    /// Opens what was named and takes over what was passed on.
    async fn open(
        args: ServeArgs,
        inherited: Inherited,
        guard: Option<&Guard>,
        default: &Path,
    ) -> Result<Self, CliError> {
        let sockets = sockets(args.listen, inherited, guard, default).await?;
        let mcp = match &args.mcp {
            Some(host) => Some(McpPort::bind(host, args.mcp_host, guard).await?),
            None => None,
        };
        let metrics = match &args.metrics {
            Some(host) => Some(metrics_endpoint::bind(host).await?),
            None => None,
        };
        Ok(Self { sockets, mcp, metrics })
    }

    /// Returns what people read of them, in one line.
    fn names(&self) -> String {
        let mut names: Vec<String> = self.sockets.iter().map(ToString::to_string).collect();
        names.extend(self.mcp.as_ref().map(ToString::to_string));
        names.extend(self.metrics.as_ref().map(ToString::to_string));
        names.join(", ")
    }
}

// === impl CliError ===

impl From<BindError> for CliError {
    fn from(error: BindError) -> Self {
        let code = match &error {
            BindError::Taken(_) => "socket_taken",
            BindError::Unguarded => "credential_missing",
            BindError::Exposed { .. } | BindError::MetricsExposed(_) => "connection_exposed",
            _ => "socket_unusable",
        };
        let outcome = match &error {
            BindError::Unguarded | BindError::Exposed { .. } | BindError::MetricsExposed(_) => {
                Outcome::Invalid
            }
            _ => Outcome::Failed,
        };
        Self::new(outcome, code, error.to_string())
    }
}
