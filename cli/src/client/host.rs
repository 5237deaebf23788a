//! The daemon of this process, behind the door that its services have for such clients.

use std::sync::Arc;

use super::{NeededTools, OpenError, RequestFailure, transport};
use moss_daemon::caller::{Access, Credentials};
use moss_daemon::setup::Setup;
use moss_daemon::start::Started;
use moss_daemon::state::Daemon;
use moss_grpc::ProcessDoor;

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
}

/// A way into a daemon of this process that serves others as well, for one of those who may come in.
#[derive(Clone)]
pub(crate) struct Entrance {
    /// Serves the calls of this process, and stops with it.
    pub(crate) daemon: Arc<Daemon>,
    /// Who comes in with which credential.
    pub(crate) access: Access,
    /// The credential that is shown.
    pub(crate) credential: String,
    /// The name of the workspace that requests go to.
    pub(crate) workspace: String,
}

// === impl Entrance ===

impl Entrance {
    /// Opens the way into the daemon, with this access.
    pub(super) fn enter(&self) -> ProcessDoor {
        ProcessDoor::new(&self.daemon, self.access.clone())
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
    /// Starts it, for one command or for a client that stays.
    pub(super) async fn start(
        setup: Setup,
        lifetime: HostLifetime,
    ) -> Result<(Self, ProcessDoor, Credentials), OpenError> {
        let Started { daemon, credentials, .. } =
            transport::blocking(move || moss_daemon::start(&setup))
                .await
                .map_err(RequestFailure::broken)??;
        if lifetime == HostLifetime::Connection {
            moss_daemon::keep_current(&daemon);
        }
        let door = ProcessDoor::new(&daemon, Access::local(credentials.clone()));
        Ok((Self { daemon }, door, credentials))
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
        moss_daemon::drain(&self.daemon).await;
    }
}
