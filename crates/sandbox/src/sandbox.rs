//! The door through which commands run: found once, then shared.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::{OnceCell, mpsc};
use tokio::task::spawn_blocking;

use crate::command::SandboxedCommand;
#[cfg(not(target_os = "linux"))]
use crate::elsewhere::CommandGroups;
use crate::error::SandboxError;
#[cfg(target_os = "linux")]
use crate::groups::CommandGroups;
use crate::means::Means;
use crate::output::OutputChunk;
use crate::running::{self, RunningCommand};
use crate::tier::{LauncherKind, SandboxReport, Tier};
use crate::{private, probe};

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
        std::thread::spawn(private::remove_left);
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
        let inner = Arc::clone(&self.inner);
        let start = move || {
            let groups = inner.groups.get().and_then(Option::as_ref);
            inner.means.spawn(&command, groups)
        };
        let started = spawn_blocking(start).await;
        let (kept, preparation) =
            started.map_err(|error| io::Error::other(error.to_string()))??;
        running::start(kept, preparation, output).await
    }
}
