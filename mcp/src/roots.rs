//! Which directories a client works in, where it says.

use std::time::Duration;

use rmcp::service::{Peer, RoleServer};

use crate::fault::CallFault;

/// How long a client may take to name its roots.
const ROOTS_WAIT_MAX: Duration = Duration::from_secs(5);
/// Most roots of a client that are looked at.
const ROOTS_MAX: usize = 64;

/// Asks a client for its roots, where it has some. One that responds with an error has none.
///
/// # Errors
///
/// Where it takes too long: another directory would be a guess, and edits of another project.
#[expect(
    deprecated,
    reason = "revisions before 2026-07-28 have roots, and their clients send them"
)]
pub(crate) async fn of(peer: &Peer<RoleServer>) -> Result<Vec<String>, CallFault> {
    let has_roots = peer.peer_info().is_some_and(|info| info.capabilities.roots.is_some());
    if !has_roots {
        return Ok(Vec::new());
    }
    match tokio::time::timeout(ROOTS_WAIT_MAX, peer.list_roots()).await {
        Ok(Ok(listed)) => {
            Ok(listed.roots.into_iter().take(ROOTS_MAX).map(|root| root.uri).collect())
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "the client did not name its roots");
            Ok(Vec::new())
        }
        Err(_) => {
            let wait_s = ROOTS_WAIT_MAX.as_secs();
            let message =
                format!("the client did not name its roots (`roots/list`) within {wait_s} s");
            Err(CallFault::new("roots_missing", message)
                .hint("send the call again; or have the client start `moss mcp --workspace DIR`"))
        }
    }
}
