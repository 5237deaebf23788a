//! The door through which commands run: found once, then shared.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{OnceCell, mpsc};
use tokio::task::spawn_blocking;

use crate::bound_sockets::is_socket;
use crate::command::SandboxedCommand;
#[cfg(not(target_os = "linux"))]
use crate::elsewhere::CommandGroups;
use crate::error::SandboxError;
#[cfg(target_os = "linux")]
use crate::groups::CommandGroups;
use crate::means::Means;
use crate::output::OutputChunk;
use crate::running::{self, Kept, Preparation, RunningCommand};
use crate::running_snapshots::LooseFiles;
use crate::tier::{LauncherKind, SandboxReport, Tier};
use crate::{private, probe};

/// How often a command is started at most where others move what is to be covered, or hidden sockets come and go.
const STARTS_MAX: usize = 4;
/// How many of these have all mounts.
const COVERED_STARTS: usize = 2;
/// Longest time after which a start that failed is followed by another one.
const STARTS_FOR: Duration = Duration::from_secs(5);

/// The door through which commands run, as good as this machine allows. Clones share it.
#[derive(Debug, Clone)]
pub struct Sandbox {
    inner: Arc<Inner>,
}

/// How a sandbox is looked for.
#[derive(Debug, Clone)]
pub struct SandboxOptions {
    /// moss's own program, which calls [`keeper`](crate::keeper()) first of all.
    pub program: PathBuf,
    /// No better tier is used.
    pub tier_max: Tier,
    /// What may make the namespaces of the full tier: the first that works.
    pub launchers: &'static [LauncherKind],
}

#[derive(Debug)]
struct Inner {
    report: SandboxReport,
    means: Means,
    /// Looked for when there is a command; none where none were delegated.
    groups: OnceCell<Option<CommandGroups>>,
}

// === impl Sandbox ===

impl Sandbox {
    /// Tries each tier with a command that tries to get out, the best first.
    pub async fn detect(options: SandboxOptions) -> Self {
        let SandboxOptions { program, tier_max, launchers } = options;
        // Nobody waits for it: where this process ends first, the next one goes on.
        let _ = std::thread::Builder::new().spawn(private::remove_left);
        let (report, means) = probe::detect(program, tier_max, launchers).await;
        Self { inner: Arc::new(Inner { report, means, groups: OnceCell::new() }) }
    }

    /// The best tier that works here.
    pub fn tier(&self) -> Tier {
        self.inner.report.tier
    }

    /// What was found, and what would raise the tier.
    pub fn report(&self) -> &SandboxReport {
        &self.inner.report
    }

    /// Starts a command. What it writes goes to `output` as it comes: a channel that is full slows
    /// the command down, without a receiver it is discarded.
    ///
    /// # Errors
    ///
    /// Where it is not run. Nothing is left of it then.
    pub async fn start(
        &self,
        command: SandboxedCommand,
        output: mpsc::Sender<OutputChunk>,
    ) -> Result<RunningCommand, SandboxError> {
        let found = self.tier();
        if found < command.tier_min {
            let report = Box::new(self.inner.report.clone());
            return Err(SandboxError::Tier { found, needed: command.tier_min, report });
        }
        let Inner { means, groups, .. } = &*self.inner;
        groups.get_or_init(|| probe::find_groups(means)).await;
        let command = Arc::new(command);
        let workspace = command.files.workspace.clone();
        let (began, mut is_compared) = (Instant::now(), false);
        let loose = |is_compared| match is_compared {
            true => LooseFiles::of(&workspace),
            false => LooseFiles::default(),
        };
        for starts in 1..STARTS_MAX {
            let (hidden, started) = match self.spawn(&command, loose(is_compared)).await {
                Ok((kept, preparation)) => {
                    let hidden = preparation.hidden_sockets.clone();
                    (hidden, running::start(kept, preparation, output.clone()).await)
                }
                Err(error) => (Vec::new(), Err(error)),
            };
            if began.elapsed() > STARTS_FOR {
                return started;
            }
            let may_be_loose = loose(true).may_be();
            is_compared |= match &started {
                // Others make more than can be protected: that is compared.
                Err(SandboxError::TooManyMounts(_)) if may_be_loose => true,
                // They moved away what was to be covered: it may be there at the next start.
                Err(SandboxError::Setup(_) | SandboxError::Io(_)) if may_be_loose => {
                    starts >= COVERED_STARTS
                }
                // Bubblewrap takes it for an error that one of them is gone.
                Err(SandboxError::Setup(_)) if hidden.iter().any(|path| !is_socket(path)) => false,
                _ => return started,
            };
        }
        let (kept, preparation) = self.spawn(&command, loose(is_compared)).await?;
        running::start(kept, preparation, output).await
    }

    /// Starts the keeper of a command.
    async fn spawn(
        &self,
        command: &Arc<SandboxedCommand>,
        loose: LooseFiles,
    ) -> Result<(Kept, Preparation), SandboxError> {
        let (inner, command) = (Arc::clone(&self.inner), Arc::clone(command));
        let spawn = move || {
            let groups = inner.groups.get().and_then(Option::as_ref);
            let sockets = inner.means.sockets(&command);
            inner.means.spawn(&command, (sockets, &loose), groups)
        };
        spawn_blocking(spawn).await.map_err(|error| io::Error::other(error.to_string()))?
    }
}
