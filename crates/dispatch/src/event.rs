//! The events of a running call, for its watchers.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::confirmation::Confirmation;

/// The events of a running call.
#[derive(Debug, Clone)]
pub enum Event {
    /// It has a name.
    Started {
        /// Id of the call, as in the journal.
        call_id: String,
    },
    /// How far it is.
    Progress(moss_sdk::context::Progress),
    /// Text that is not part of its result.
    Output {
        /// `stdout`, `stderr` or `log`.
        stream: &'static str,
        /// What was written since the piece before.
        text: String,
    },
    /// It waits for a decision, or would have.
    ConfirmationNeeded(Arc<Confirmation>),
}

/// Where a call's events go; a unary call drops them.
#[derive(Debug, Clone, Default)]
pub struct Events(Option<mpsc::Sender<Event>>);

// === impl Events ===

impl Events {
    /// Makes a channel that keeps at most so many events for a slow reader.
    pub fn channel(events_max: usize) -> (Self, mpsc::Receiver<Event>) {
        let (sender, receiver) = mpsc::channel(events_max);
        (Self(Some(sender)), receiver)
    }

    /// Sends an event that must arrive. A reader that is gone cancels the call in its own way.
    pub async fn send(&self, event: Event) {
        if let Some(sender) = &self.0 {
            let _ = sender.send(event).await;
        }
    }

    /// Sends an event that may be lost on a slow reader.
    pub fn offer(&self, event: Event) {
        if let Some(sender) = &self.0 {
            let _ = sender.try_send(event);
        }
    }
}
