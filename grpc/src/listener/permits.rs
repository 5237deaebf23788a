//! The slots of a socket: a bounded number for everybody, and a few more that only approvers keep,
//! so that callers who hold all the others keep no approver out.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::line_pace::LinePace;
use super::peer::{Peer, Peers};

/// Slots of each socket beyond `grpc.connections_max`, for approvers.
pub(super) const RESERVE: usize = 16;
/// The part of the slots that one named token holds at most: one in so many.
const SHARE_PARTS: usize = 4;
/// How long a slot takes at most to be free that a stranger is sent away from: much more than it
/// takes on a busy machine, since whoever waits for it may be the approver.
const FREED_WAIT_MAX: Duration = Duration::from_secs(30);

/// The slots of one socket, and who has them.
#[derive(Debug)]
pub(super) struct ConnectionPermits {
    open: Arc<Semaphore>,
    reserve: Arc<Semaphore>,
    peers: Arc<Peers>,
    lines: SlotLines,
}

/// What is logged where slots are missing.
#[derive(Debug, Default)]
struct SlotLines {
    closed: LinePace,
    reserved: LinePace,
    refused: LinePace,
}

// === impl ConnectionPermits ===

impl ConnectionPermits {
    pub(super) fn new(connections_max: usize) -> Self {
        let share = (connections_max / SHARE_PARTS).max(1);
        Self {
            open: Arc::new(Semaphore::new(connections_max)),
            reserve: Arc::new(Semaphore::new(RESERVE)),
            peers: Arc::new(Peers::new(share)),
            lines: SlotLines::default(),
        }
    }

    /// Lets a client in while there is a slot, or one that becomes free since a stranger is sent
    /// away. Where there is neither, it gets a slot that only an approver keeps.
    pub(super) fn admit(
        &self,
        is_remote: bool,
    ) -> Option<(Peer, impl Future<Output = Option<OwnedSemaphorePermit>> + Send + use<>)> {
        for (places, is_reserved) in [(&self.open, false), (&self.reserve, true)] {
            let place = Arc::clone(places).try_acquire_owned().ok();
            if place.is_none() && !self.peers.send_away(is_reserved) {
                continue;
            }
            if place.is_none() {
                self.lines.note_closed();
            } else if is_reserved {
                self.lines.note_reserved();
            }
            let peer = self.peers.came(is_remote, is_reserved);
            let (places, leaves) = (Arc::clone(places), peer.leaves());
            return Some((peer, async move {
                if place.is_some() {
                    return place;
                }
                // Who is sent away while it waits has no width from those behind it.
                tokio::select! {
                    biased;
                    () = leaves => None,
                    freed = tokio::time::timeout(FREED_WAIT_MAX, places.acquire_owned()) => {
                        freed.ok()?.ok()
                    }
                }
            }));
        }
        self.lines.note_refused();
        None
    }
}

// === impl SlotLines ===

impl SlotLines {
    fn note_closed(&self) {
        if let Some(left_out) = self.closed.due() {
            tracing::warn!(
                left_out,
                "closed a connection without a credential: another connection needs its slot \
                 (grpc.connections_max)"
            );
        }
    }

    fn note_reserved(&self) {
        if let Some(left_out) = self.reserved.due() {
            tracing::warn!(
                left_out,
                "all connections are in use: the next one is for an approver \
                 (grpc.connections_max)"
            );
        }
    }

    fn note_refused(&self) {
        if let Some(left_out) = self.refused.due() {
            tracing::warn!(left_out, "refused a connection: too many (grpc.connections_max)");
        }
    }
}
