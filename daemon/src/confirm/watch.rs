//! Following questions as they come and end.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::broadcast;

use super::Confirmations;
use moss_dispatch::Confirmation;

/// Which questions a watcher follows: those of one workspace, by its root directory, or all.
pub type WatchScope = Option<String>;

/// Follows questions while it lives.
#[derive(Debug)]
pub struct ConfirmationWatch {
    confirmations: Arc<Confirmations>,
    scope: WatchScope,
    changes: broadcast::Receiver<Arc<Confirmation>>,
    backlog: VecDeque<Arc<Confirmation>>,
}

// === impl Confirmations ===

impl Confirmations {
    /// Starts to follow: first what waits, then every change.
    pub fn watch(self: &Arc<Self>, scope: WatchScope) -> ConfirmationWatch {
        let mut inner = self.lock();
        let changes = self.changes.subscribe();
        let backlog =
            inner.pending.iter().map(|waiting| Arc::clone(&waiting.confirmation)).collect();
        inner.watchers.push(scope.clone());
        drop(inner);
        ConfirmationWatch { confirmations: Arc::clone(self), scope, changes, backlog }
    }

    /// Whether somebody follows the questions of a workspace and could decide.
    pub fn is_watched(&self, workspace: &str) -> bool {
        self.lock()
            .watchers
            .iter()
            .any(|scope| scope.as_deref().is_none_or(|watched| watched == workspace))
    }
}

// === impl ConfirmationWatch ===

impl ConfirmationWatch {
    /// Returns the next change; after a lag, what waits now.
    pub async fn next(&mut self) -> Arc<Confirmation> {
        loop {
            let confirmation = self.next_of_all().await;
            let workspace = &confirmation.question.workspace;
            if self.scope.as_ref().is_none_or(|watched| watched == workspace) {
                return confirmation;
            }
        }
    }

    async fn next_of_all(&mut self) -> Arc<Confirmation> {
        loop {
            if let Some(confirmation) = self.backlog.pop_front() {
                return confirmation;
            }
            match self.changes.recv().await {
                Ok(confirmation) => return confirmation,
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    self.backlog = self.confirmations.pending().into();
                }
                // The registry holds the sender for as long as this watch holds the registry.
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

impl Drop for ConfirmationWatch {
    fn drop(&mut self) {
        let mut inner = self.confirmations.lock();
        if let Some(index) = inner.watchers.iter().position(|scope| *scope == self.scope) {
            inner.watchers.swap_remove(index);
        }
    }
}
