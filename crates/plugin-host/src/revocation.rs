//! Revoking what running calls of a plugin have: it stops them, wherever they are.

use std::sync::OnceLock;

use tokio_util::sync::CancellationToken;

use crate::error::PluginCallError;

/// Whether what a plugin has was revoked, and why.
#[derive(Debug, Default)]
pub(crate) struct Revocation {
    token: CancellationToken,
    why: OnceLock<String>,
}

// === impl Revocation ===

impl Revocation {
    /// Stops all calls, those that come later too. The first reason counts.
    pub(crate) fn revoke(&self, why: String) {
        // A reason that was there before stays.
        let _ = self.why.set(why);
        self.token.cancel();
    }

    pub(crate) fn has_happened(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Waits until it happens.
    pub(crate) async fn happened(&self) -> PluginCallError {
        self.token.cancelled().await;
        PluginCallError::Revoked(self.why.get().cloned().unwrap_or_default())
    }
}
