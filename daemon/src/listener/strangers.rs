//! Connections that have shown no credential yet. Where there is no place for another one, the one
//! that has been silent for longest goes: whoever only holds places keeps nobody out.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::Peer;

/// The peers of a port that are not known yet, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Strangers(Mutex<VecDeque<Peer>>);

// === impl Strangers ===

impl Strangers {
    /// Notes that a peer came.
    pub(super) fn came(&self, peer: &Peer) {
        let mut strangers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        strangers.retain(Peer::is_stranger);
        strangers.push_back(peer.clone());
    }

    /// Sends the first one away. Returns `false` where everybody is known, or gone.
    pub(super) fn send_away(&self) -> bool {
        let mut strangers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(peer) = strangers.pop_front() {
            if peer.is_stranger() {
                peer.send_away();
                return true;
            }
        }
        false
    }
}
