//! The one thread that writes: collects records, commits them in groups, replies to whoever waits.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::sync::mpsc::Receiver;
use tokio::sync::oneshot;

use super::audit::Log;
use super::audit::pruning::{Pruning, PruningBounds};
use super::record::Record;
use super::{Durability, JournalError, QUEUE_RECORDS_MAX};

/// How many records are written without waiting for more.
const BATCH_RECORDS_DUE: usize = 512;
/// Most records that wait for a disk that refuses before awaited ones are refused for good. Batched
/// ones are not made meanwhile, so that those in the queue are all that come in addition.
const RETAINED_RECORDS_MAX: usize = QUEUE_RECORDS_MAX;
/// Longest time that a batched record waits for others.
const BATCH_WAIT: Duration = Duration::from_millis(200);

type ReplySender = oneshot::Sender<Result<(), JournalError>>;

/// What is asked of the writer.
pub(super) enum WriterMessage {
    /// Write a record; report when it is durable, if anybody waits.
    Record { time: Timestamp, record: Box<Record>, reply: Option<ReplySender> },
    /// Make everything so far durable.
    Flush(ReplySender),
}

/// What the writer and its callers share beside the queue.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// The last error of the writer, while it lasts.
    failure: Mutex<Option<JournalError>>,
    /// Whether the writer knows that there is something in the queue.
    is_announced: AtomicBool,
    is_closing: AtomicBool,
    /// How often records were brought to disk because somebody waited for that.
    syncs: AtomicU64,
}

/// What the thread has that alone writes the journal.
pub(super) struct JournalWriter {
    log: Log,
    pruning: Pruning,
    receiver: Receiver<WriterMessage>,
    signals: Arc<Signals>,
    /// The records, as lines of JSON, that are not on disk yet.
    lines: Vec<String>,
    replies: Vec<ReplySender>,
    due: Option<Instant>,
}

// === impl WriterMessage ===

impl WriterMessage {
    pub(super) const fn is_awaited(&self) -> bool {
        !matches!(self, Self::Record { reply: None, .. })
    }
}

// === impl Signals ===

impl Signals {
    pub(super) fn failure(&self) -> Option<JournalError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says that something was put into the queue. Returns whether the writer has to be woken.
    pub(super) fn announce(&self) -> bool {
        !self.is_announced.swap(true, Ordering::AcqRel)
    }

    pub(super) fn close(&self) {
        self.is_closing.store(true, Ordering::Release);
    }

    pub(super) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    fn set_failure(&self, error: Option<JournalError>) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }
}

// === impl JournalWriter ===

impl JournalWriter {
    pub(super) fn new(
        log: Log,
        bounds: PruningBounds,
        receiver: Receiver<WriterMessage>,
        signals: Arc<Signals>,
    ) -> Self {
        let (lines, replies, pruning) = (Vec::new(), Vec::new(), Pruning::new(bounds));
        Self { log, pruning, receiver, signals, lines, replies, due: None }
    }

    /// Runs until the journal is closed.
    pub(super) fn run(mut self) {
        while !self.signals.is_closing.load(Ordering::Acquire) {
            self.take_waiting();
            if self.is_due() {
                self.commit();
            } else {
                self.rest();
            }
        }
        self.receiver.close();
        // Ends when nobody holds a slot any more.
        while let Some(message) = self.receiver.blocking_recv() {
            self.take(message);
        }
        self.commit();
        if !self.lines.is_empty() {
            tracing::error!(records = self.lines.len(), "audit records are lost");
        }
    }

    /// Sleeps until something is due or announced.
    fn rest(&mut self) {
        if let Some(due) = self.due {
            std::thread::park_timeout(due.saturating_duration_since(Instant::now()));
            return;
        }
        // Whoever announces after this wakes the writer; whoever did before is seen in the queue.
        self.signals.is_announced.swap(false, Ordering::AcqRel);
        if self.receiver.is_empty() {
            std::thread::park();
        }
    }

    /// Takes what is queued already: waiters behind each other share one transaction.
    fn take_waiting(&mut self) {
        while self.lines.len() < QUEUE_RECORDS_MAX || self.signals.failure().is_some() {
            let Ok(message) = self.receiver.try_recv() else { return };
            self.take(message);
        }
    }

    fn take(&mut self, message: WriterMessage) {
        match message {
            WriterMessage::Record { time, record, reply } => self.take_record(time, &record, reply),
            WriterMessage::Flush(reply) => self.replies.push(reply),
        }
        self.due.get_or_insert_with(|| Instant::now() + BATCH_WAIT);
    }

    fn take_record(&mut self, time: Timestamp, record: &Record, reply: Option<ReplySender>) {
        let refused = if reply.is_some() && self.lines.len() >= RETAINED_RECORDS_MAX {
            self.signals.failure().map_or(Ok(()), Err)
        } else {
            Ok(())
        };
        match refused.and_then(|()| super::audit::line(time, record)) {
            Ok(json) => {
                self.lines.push(json);
                self.replies.extend(reply);
            }
            Err(error) => {
                tracing::error!(%error, "a record is not taken");
                if let Some(reply) = reply {
                    // Whoever asked may have gone.
                    let _ = reply.send(Err(error));
                }
            }
        }
    }

    fn is_due(&self) -> bool {
        !self.replies.is_empty()
            || self.due.is_some_and(|due| Instant::now() >= due)
            // A disk that refuses is not tried again for each record.
            || (self.lines.len() >= BATCH_RECORDS_DUE && self.signals.failure().is_none())
    }

    fn commit(&mut self) {
        let (awaited, rows) = (!self.replies.is_empty(), self.lines.len());
        let durability = if awaited { Durability::Durable } else { Durability::Batched };
        let written = self.log.append(self.lines.iter().map(String::as_str), durability);
        if awaited {
            self.signals.syncs.fetch_add(1, Ordering::Relaxed);
        }
        match &written {
            Ok(()) => {
                self.lines.clear();
                self.due = None;
            }
            Err(error) => {
                if self.signals.failure().is_none() {
                    tracing::error!(%error, "audit records wait for the disk");
                }
                self.due = Some(Instant::now() + BATCH_WAIT);
            }
        }
        self.signals.set_failure(written.clone().err());
        for reply in self.replies.drain(..) {
            let _ = reply.send(written.clone());
        }
        // Nobody waits for it.
        if written.is_ok() {
            self.pruning.look(&mut self.log, rows);
        }
    }
}
