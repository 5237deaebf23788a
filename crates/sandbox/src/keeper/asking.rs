//! Ends a command that asks at a terminal of its own, where nobody can reply: with SIGTERM, and by SIGKILL after the grace
//! of its limits, as moss ends others.

use std::io;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::tree::ProcessTree;
use crate::ending::CommandLimit;
use crate::order::KeeperOrder;

/// How a command ends that asks.
pub(super) struct AskingEnd {
    grace: Duration,
    /// When it is killed, once it was to end.
    killed_at: Option<Instant>,
}

// === impl AskingEnd ===

impl AskingEnd {
    pub(super) fn of(order: &KeeperOrder) -> Self {
        Self { grace: Duration::from_millis(order.grace_ms), killed_at: None }
    }

    /// Sends SIGTERM to all processes where one of them has a terminal.
    pub(super) fn begin(&mut self, tree: ProcessTree) -> io::Result<Option<CommandLimit>> {
        if !tree.has_terminal()? {
            return Ok(None);
        }
        tree.signal(Signal::TERM)?;
        // One that asks again meanwhile has no more time.
        self.killed_at = self.killed_at.or_else(|| Instant::now().checked_add(self.grace));
        Ok(Some(CommandLimit::Input))
    }

    /// Whether the grace is over.
    pub(super) fn is_over(&self) -> bool {
        self.killed_at.is_some_and(|at| Instant::now() >= at)
    }
}
