//! What is to be said to a server: a queue of messages, bounded in number and in bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

use crate::fault::ServerFault;
use crate::framing::frame;

/// Most messages that wait to be written: a server that reads nothing is left.
const OUTGOING_MAX: usize = 1_024;
/// Most bytes of them; a single one may have more.
const OUTGOING_BYTES_MAX: usize = 64 << 20;

/// The end of the queue at which messages are put in.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing {
    messages: mpsc::Sender<Vec<u8>>,
    waiting_bytes: Arc<AtomicUsize>,
}

/// The end at which they are taken out.
#[derive(Debug)]
pub(crate) struct WaitingMessages {
    messages: mpsc::Receiver<Vec<u8>>,
    waiting_bytes: Arc<AtomicUsize>,
}

/// Makes a bounded queue of messages to a server, and its two ends.
pub(crate) fn outgoing() -> (Outgoing, WaitingMessages) {
    let (sender, receiver) = mpsc::channel(OUTGOING_MAX);
    let waiting_bytes = Arc::new(AtomicUsize::new(0));
    let outgoing = Outgoing { messages: sender, waiting_bytes: Arc::clone(&waiting_bytes) };
    (outgoing, WaitingMessages { messages: receiver, waiting_bytes })
}

// === impl Outgoing ===

impl Outgoing {
    /// Puts a message in.
    ///
    /// # Errors
    ///
    /// `Broken` where too much waits already, `Ended` where nobody takes it out any more.
    pub(crate) fn say(&self, message: &str) -> Result<(), ServerFault> {
        let message = frame(message.as_bytes());
        let length = message.len();
        let waiting = self.waiting_bytes.fetch_add(length, Ordering::Relaxed);
        if waiting > 0 && waiting + length > OUTGOING_BYTES_MAX {
            self.waiting_bytes.fetch_sub(length, Ordering::Relaxed);
            let message = format!("it reads nothing: {waiting} bytes of messages wait");
            return Err(ServerFault::Broken(message));
        }
        let refused = self.messages.try_send(message).map_err(|error| match error {
            mpsc::error::TrySendError::Closed(_) => ServerFault::Ended,
            mpsc::error::TrySendError::Full(_) => {
                ServerFault::Broken(format!("it reads nothing: {OUTGOING_MAX} messages wait"))
            }
        });
        if refused.is_err() {
            self.waiting_bytes.fetch_sub(length, Ordering::Relaxed);
        }
        refused
    }
}

// === impl WaitingMessages ===

impl WaitingMessages {
    /// Writes what is to be said; returns once nobody says anything any more, or nobody listens.
    pub(crate) async fn write(mut self, mut to: impl AsyncWrite + Unpin) -> std::io::Result<()> {
        while let Some(message) = self.messages.recv().await {
            to.write_all(&message).await?;
            to.flush().await?;
            self.waiting_bytes.fetch_sub(message.len(), Ordering::Relaxed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_waits_is_bounded_in_bytes_and_in_number() {
        let (large, (say, waiting)) = ("x".repeat(OUTGOING_BYTES_MAX / 2), outgoing());
        say.say(&large).unwrap();
        let fault = say.say(&large).unwrap_err().to_string();
        assert!(fault.contains("it reads nothing") && fault.contains("bytes"), "{fault}");
        say.say("small").unwrap();
        drop(say.clone());
        let writing = tokio::spawn(waiting.write(tokio::io::sink()));
        while say.waiting_bytes.load(Ordering::Relaxed) > 0 {
            tokio::task::yield_now().await;
        }
        say.say(&large).unwrap();
        drop(say);
        writing.await.unwrap().unwrap();

        let (say, waiting) = outgoing();
        // A single message may be larger.
        say.say(&"x".repeat(OUTGOING_BYTES_MAX + 1)).unwrap();
        drop(waiting);
        assert!(say.say("").unwrap_err().to_string().contains("reads nothing"));
        let (say, _waiting) = outgoing();
        (0..OUTGOING_MAX).for_each(|_| say.say("").unwrap());
        assert!(say.say("").unwrap_err().to_string().contains("1024 messages"));
    }
}
