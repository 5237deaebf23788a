//! Who hears that the visible tools changed.

use rmcp::service::{Peer, RoleServer, SubscriptionSink};

/// Who hears that the visible tools changed.
pub(crate) enum ListListener {
    /// The client of a session.
    Session(Peer<RoleServer>),
    /// Who asked for it in a request.
    Subscription(SubscriptionSink),
}

// === impl ListListener ===

impl ListListener {
    /// Says so; `false` where nobody listens any more.
    pub(crate) async fn announce(&self) -> bool {
        match self {
            Self::Session(peer) => peer.notify_tool_list_changed().await.is_ok(),
            Self::Subscription(sink) => sink.notify_tool_list_changed().await.is_ok(),
        }
    }
}
