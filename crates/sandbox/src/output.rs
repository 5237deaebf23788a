//! What a command writes, handed on as it comes.
//!
//! A test runner writes a line or two for each test. To wake for each of them costs the command more than the line:
//! every write has to wake a thread of moss, which then needs a core as well. So where many small pieces come one after
//! the other, moss lets them gather for a moment, and does not even watch the pipe meanwhile. A command that is talked to,
//! such as a language server or one in a terminal, is read at once: somebody waits for each of its replies.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

/// Most bytes of one chunk of output.
pub const OUTPUT_CHUNK_BYTES_MAX: usize = 64 << 10;
/// A piece of fewer bytes is a small one.
const SMALL_BYTES: usize = 1 << 10;
/// A piece of as many bytes comes from a program that writes much: it is not made to wait.
const LARGE_BYTES: usize = 16 << 10;
/// So many small pieces are handed on at once before any gather.
const SMALL_MAX: u32 = 32;
/// For how long they gather.
const GATHERING: Duration = Duration::from_millis(10);

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputChunk {
    /// Where it was written.
    pub stream: OutputStream,
    /// At most [`OUTPUT_CHUNK_BYTES_MAX`] of them, and at least one.
    pub bytes: Vec<u8>,
}

/// Where a command writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputStream {
    /// Descriptor 1, its standard output.
    Stdout,
    /// Descriptor 2, its standard error.
    Stderr,
}

/// How many bytes each stream had so far.
pub(crate) type OutputCounts = Arc<[AtomicU64; 2]>;

/// Hands on one stream.
#[derive(Debug)]
pub(crate) struct OutputPump {
    stream: OutputStream,
    output: mpsc::Sender<OutputChunk>,
    counts: OutputCounts,
    /// Whether the command has ended: what it wrote need not gather any more.
    ended: watch::Receiver<bool>,
    /// For how long small pieces gather; none where each is handed on at once.
    gathering: Option<Duration>,
}

// === impl OutputPump ===

impl OutputPump {
    pub(crate) fn new(
        stream: OutputStream,
        output: mpsc::Sender<OutputChunk>,
        counts: &OutputCounts,
        ended: &watch::Sender<bool>,
    ) -> Self {
        let (counts, ended) = (Arc::clone(counts), ended.subscribe());
        Self { stream, output, counts, ended, gathering: Some(GATHERING) }
    }

    /// As this one, of a command that is talked to or is not.
    pub(crate) fn of_dialogue(self, is_dialogue: bool) -> Self {
        Self { gathering: self.gathering.filter(|_| !is_dialogue), ..self }
    }

    /// Hands on all that is written, until nobody can write any more.
    pub(crate) async fn run(mut self, mut from: pipe::Receiver) {
        let mut buffer = vec![0; OUTPUT_CHUNK_BYTES_MAX];
        let mut small = 0_u32;
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            self.hand_on(&buffer[..count]).await;
            small = match count {
                ..SMALL_BYTES => small.saturating_add(1),
                LARGE_BYTES.. => 0,
                _ => small,
            };
            if let Some(gathering) = self.gathering.filter(|_| small > SMALL_MAX) {
                // What was a pipe is one still.
                let Ok(again) = self.gathered(from, gathering).await else { return };
                from = again;
            }
        }
    }

    async fn hand_on(&self, bytes: &[u8]) {
        self.counts[self.stream as usize].fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let chunk = OutputChunk { stream: self.stream, bytes: bytes.to_vec() };
        // Nobody may want it any more; it is read all the same, so that the command goes on.
        let _ = self.output.send(chunk).await;
    }

    /// Waits a moment, in which what is written wakes nobody.
    async fn gathered(
        &mut self,
        from: pipe::Receiver,
        gathering: Duration,
    ) -> io::Result<pipe::Receiver> {
        let from = from.into_nonblocking_fd()?;
        // Without a sender the command has ended, too.
        let _ = timeout(gathering, self.ended.wait_for(|has_ended| *has_ended)).await;
        pipe::Receiver::from_owned_fd_unchecked(from)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    struct Pumped {
        writer: io::PipeWriter,
        chunks: mpsc::Receiver<OutputChunk>,
        counts: OutputCounts,
        ended: watch::Sender<bool>,
        task: tokio::task::JoinHandle<()>,
    }

    fn pumped(gathering: Option<Duration>) -> Pumped {
        let (reader, writer) = io::pipe().unwrap();
        let (sender, chunks) = mpsc::channel(16);
        let (counts, ended) = (OutputCounts::default(), watch::Sender::new(false));
        let pump = OutputPump::new(OutputStream::Stderr, sender, &counts, &ended);
        let reader = pipe::Receiver::from_owned_fd(reader.into()).unwrap();
        let task = tokio::spawn(OutputPump { gathering, ..pump }.run(reader));
        Pumped { writer, chunks, counts, ended, task }
    }

    impl Pumped {
        async fn next(&mut self) -> Vec<u8> {
            self.chunks.recv().await.expect("there is more").bytes
        }
    }

    #[tokio::test]
    async fn small_pieces_gather_after_many_of_them_and_until_the_command_has_ended() {
        let mut pumped = pumped(Some(HOUR));
        for _ in 0..=SMALL_MAX {
            pumped.writer.write_all(b"one\n").unwrap();
            assert_eq!(pumped.next().await, b"one\n");
        }
        for piece in ["a", "b", "c"] {
            pumped.writer.write_all(piece.as_bytes()).unwrap();
        }
        assert!(pumped.chunks.try_recv().is_err());
        pumped.ended.send_replace(true);
        assert_eq!(pumped.next().await, b"abc");
        pumped.writer.write_all(b"d").unwrap();
        assert_eq!(pumped.next().await, b"d");
        drop(pumped.writer);
        assert_eq!(pumped.chunks.recv().await, None);
        pumped.task.await.unwrap();
        assert_eq!(pumped.counts[1].load(Ordering::Relaxed), 4 * u64::from(SMALL_MAX + 1) + 4);
    }

    #[tokio::test]
    async fn who_writes_much_does_not_wait() {
        let mut pumped = pumped(Some(HOUR));
        for _ in 0..3 {
            for _ in 0..SMALL_MAX {
                pumped.writer.write_all(b"one\n").unwrap();
                assert_eq!(pumped.next().await, b"one\n");
            }
            pumped.writer.write_all(&[b'x'; LARGE_BYTES]).unwrap();
            assert_eq!(pumped.next().await.len(), LARGE_BYTES);
        }
    }

    #[tokio::test]
    async fn what_gathers_comes_by_itself() {
        let mut pumped = pumped(Some(Duration::from_millis(1)));
        for _ in 0..3 * SMALL_MAX {
            pumped.writer.write_all(b"one\n").unwrap();
            assert_eq!(pumped.next().await, b"one\n");
        }
    }
    #[tokio::test]
    async fn who_is_talked_to_is_read_at_once() {
        let mut pumped = pumped(None);
        for _ in 0..3 * SMALL_MAX {
            pumped.writer.write_all(b"one\n").unwrap();
            assert_eq!(pumped.next().await, b"one\n");
        }
        let (ended, (sender, _)) = (watch::Sender::new(false), mpsc::channel(1));
        let new = || {
            let counts = OutputCounts::default();
            OutputPump::new(OutputStream::Stdout, sender.clone(), &counts, &ended)
        };
        assert_eq!(new().of_dialogue(true).gathering, None);
        assert_eq!(new().of_dialogue(false).gathering, Some(GATHERING));
    }
}
