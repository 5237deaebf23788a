//! The daemon of this process, behind a pipe in memory.

use std::sync::Arc;

use tokio::io::DuplexStream;
use tokio::task::JoinHandle;
use tokio_stream::StreamExt as _;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{NeededTools, OpenError, RequestFailure, transport};
use moss_daemon::caller::{Access, Credentials};
use moss_daemon::setup::Setup;
use moss_daemon::start::Started;
use moss_daemon::state::Daemon;

/// How long a daemon of this process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostLifetime {
    /// For one command: it loads what that needs, and nothing changes meanwhile.
    Command,
    /// As long as a client of another protocol is connected: it follows its files.
    Connection,
}

/// A daemon that lives as long as one command, or as a connection.
#[derive(Debug)]
pub(super) struct InProcessDaemon {
    daemon: Arc<Daemon>,
    stop: CancellationToken,
    server: JoinHandle<Result<(), tonic::transport::Error>>,
}

/// A way into a daemon of this process that serves others as well, for one of those who may come in.
#[derive(Clone)]
pub(crate) struct Entrance {
    /// The daemon.
    pub(crate) daemon: Arc<Daemon>,
    /// Who comes in with which credential.
    pub(crate) access: Access,
    /// The credential that is shown.
    pub(crate) credential: String,
}

/// Serves one end of a pipe until `stop` is ready.
fn serve(
    daemon: &Arc<Daemon>,
    access: Access,
    end: DuplexStream,
    stop: CancellationToken,
) -> JoinHandle<Result<(), tonic::transport::Error>> {
    // The server would say goodbye to its one connection if no more could come.
    let connections =
        tokio_stream::once(Ok::<_, std::io::Error>(end)).chain(tokio_stream::pending());
    let daemon = Arc::clone(daemon);
    tokio::spawn(moss_daemon::grpc::serve(daemon, access, connections, stop.cancelled_owned()))
}

// === impl Entrance ===

impl Entrance {
    /// Opens a connection. It is served until the guard is dropped.
    pub(super) fn enter(&self) -> (DuplexStream, DropGuard) {
        let (near, far) = transport::pipe();
        let stop = CancellationToken::new();
        // It ends by itself once it is stopped and its last request has a response.
        drop(serve(&self.daemon, self.access.clone(), far, stop.clone()));
        (near, stop.drop_guard())
    }

    /// What is shown there. Nobody decides about confirmations this way.
    pub(super) fn credentials(&self) -> Credentials {
        Credentials { caller: self.credential.clone(), approver: String::new() }
    }
}

impl std::fmt::Debug for Entrance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Entrance")
    }
}

// === impl InProcessDaemon ===

impl InProcessDaemon {
    /// Starts it, for one command or for a client that stays. Returns our end of the pipe.
    pub(super) async fn start(
        setup: Setup,
        lifetime: HostLifetime,
    ) -> Result<(Self, DuplexStream, Credentials), OpenError> {
        let Started { daemon, credentials, .. } =
            transport::blocking(move || moss_daemon::start(&setup))
                .await
                .map_err(RequestFailure::broken)??;
        if lifetime == HostLifetime::Connection {
            moss_daemon::keep_current(&daemon);
        }
        let stop = CancellationToken::new();
        let (near, far) = transport::pipe();
        let server = serve(&daemon, Access::local(credentials.clone()), far, stop.clone());
        Ok((Self { daemon, stop, server }, near, credentials))
    }

    /// Loads plugins where they are needed.
    pub(super) async fn prepare(&self, need: NeededTools<'_>) {
        let needed = match need {
            NeededTools::Native => false,
            NeededTools::Plugins => true,
            NeededTools::Tool(name) => self
                .daemon
                .workspaces()
                .all(|workspace| workspace.installed.catalog.load().entry(name).is_err()),
        };
        if needed {
            moss_plugins::Plugins::load(Arc::clone(&self.daemon.plugins)).await;
        }
    }

    /// Ends it, once what it is writing is written.
    pub(super) async fn stop(self) {
        self.stop.cancel();
        moss_daemon::drain(&self.daemon).await;
        self.server.abort();
        // Aborted or ended: either way nothing of it holds the daemon any more.
        let _ = self.server.await;
    }
}
