//! The events of a running call, for its watchers.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::confirmation::Confirmation;

/// Most bytes of output that wait for a slow reader.
const OUTPUT_BYTES_MAX: u32 = 1 << 20;

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
        /// What it takes of the bound while it waits to be read.
        room: OutputRoom,
    },
    /// It waits for a decision, or would have.
    ConfirmationNeeded(Arc<Confirmation>),
}

/// Bytes of output that wait for a reader: free again once the piece is dropped.
#[derive(Debug, Clone)]
pub struct OutputRoom {
    _held: Arc<OwnedSemaphorePermit>,
}

/// Where a call's events go; a unary call drops them.
#[derive(Debug, Clone, Default)]
pub struct Events(Option<EventQueue>);

/// Events that wait for a reader: so many, and so many bytes of output among them.
#[derive(Debug, Clone)]
struct EventQueue {
    sender: mpsc::Sender<Event>,
    output_bytes: Arc<Semaphore>,
}

// === impl Events ===

impl Events {
    /// Makes a channel that keeps at most so many events for a slow reader.
    pub fn channel(events_max: usize) -> (Self, mpsc::Receiver<Event>) {
        let (sender, receiver) = mpsc::channel(events_max);
        let output_bytes = Arc::new(Semaphore::new(OUTPUT_BYTES_MAX as usize));
        (Self(Some(EventQueue { sender, output_bytes })), receiver)
    }

    /// Sends an event that must arrive. A reader that is gone cancels the call in its own way.
    pub async fn send(&self, event: Event) {
        if let Some(queue) = &self.0 {
            let _ = queue.sender.send(event).await;
        }
    }

    /// Sends an event that may be lost on a slow reader.
    pub fn offer(&self, event: Event) {
        if let Some(queue) = &self.0 {
            let _ = queue.sender.try_send(event);
        }
    }

    /// Sends a piece of output, which may be lost on a slow reader as well.
    pub fn offer_output(&self, stream: &'static str, text: String) {
        let Some(queue) = &self.0 else { return };
        let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX).min(OUTPUT_BYTES_MAX);
        if let Ok(held) = Arc::clone(&queue.output_bytes).try_acquire_many_owned(bytes) {
            let room = OutputRoom { _held: Arc::new(held) };
            self.offer(Event::Output { stream, text, room });
        }
    }

    /// Whether somebody reads them.
    pub fn are_read(&self) -> bool {
        self.0.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_that_nobody_reads_takes_bounded_memory() {
        let (events, mut received) = Events::channel(256);
        let piece = "x".repeat(64 << 10);
        for _ in 0..256 {
            events.offer_output("stdout", piece.clone());
        }
        events.offer(Event::Started { call_id: "one".to_owned() });
        let mut waiting = 0;
        while let Ok(Event::Output { text, .. }) = received.try_recv() {
            waiting += text.len();
        }
        assert_eq!(waiting, OUTPUT_BYTES_MAX as usize);
        // Once it is read there is room again; a piece that is larger than all room takes all of it.
        events.offer_output("stdout", piece.repeat(40));
        assert!(
            matches!(received.try_recv(), Ok(Event::Output { text, .. }) if text.len() > 1 << 20)
        );
        events.offer_output("stderr", piece);
        assert!(matches!(received.try_recv(), Ok(Event::Output { stream: "stderr", .. })));
    }
}
