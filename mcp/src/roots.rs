//! Which directories a client works in, where it says.

use std::time::Duration;

use rmcp::service::{Peer, RoleServer};

/// How long a client may take to name its roots.
const ROOTS_WAIT_MAX: Duration = Duration::from_secs(2);
/// Most roots of a client that are looked at.
const ROOTS_MAX: usize = 64;

/// Asks a client for its roots, where it has some. One that takes too long has none.
#[expect(
    deprecated,
    reason = "revisions before 2026-07-28 have roots, and their clients send them"
)]
pub(crate) async fn of(peer: &Peer<RoleServer>) -> Vec<String> {
    let has_roots = peer.peer_info().is_some_and(|info| info.capabilities.roots.is_some());
    if !has_roots {
        return Vec::new();
    }
    match tokio::time::timeout(ROOTS_WAIT_MAX, peer.list_roots()).await {
        Ok(Ok(listed)) => listed.roots.into_iter().take(ROOTS_MAX).map(|root| root.uri).collect(),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the client did not name its roots");
            Vec::new()
        }
        Err(_) => {
            tracing::warn!("the client did not name its roots in time");
            Vec::new()
        }
    }
}
