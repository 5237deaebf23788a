//! A connection whose client must read: one that takes nothing for too long, or too long for all that waits,
//! is closed, and what waits for it with it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// How long a client may take nothing of what is written for it.
const STALL_MAX: Duration = Duration::from_secs(30);
/// How long it may be until all of it was taken.
const READ_MAX: Duration = Duration::from_secs(600);

/// A stream that fails where its client does not read.
pub(super) struct WatchedStream<S> {
    inner: S,
    /// Set while a write waits.
    stalls: Option<Pin<Box<Sleep>>>,
    /// Since when something waits, whatever was taken of it.
    waits_since: Option<Instant>,
}

// === impl WatchedStream ===

impl<S> WatchedStream<S> {
    pub(super) fn new(inner: S) -> Self {
        Self { inner, stalls: None, waits_since: None }
    }

    /// Passes on how a write went; fails one that has waited for too long.
    fn watch<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalls = None;
            return written;
        }
        let since = *self.waits_since.get_or_insert_with(Instant::now);
        let until = (Instant::now() + STALL_MAX).min(since + READ_MAX);
        let stalls = self.stalls.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        match stalls.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WatchedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.watch(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, slices);
        self.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        if flushed.is_ready() {
            self.waits_since = None;
        }
        self.watch(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_is_given_up() {
        let (near, far) = tokio::io::duplex(16);
        let mut stream = WatchedStream::new(near);
        stream.write_all(&[0; 16]).await.unwrap();
        let error = stream.write_all(&[0; 1]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(far);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_a_little_now_and_then_has_its_time() {
        let (near, mut far) = tokio::io::duplex(16);
        let mut stream = WatchedStream::new(near);
        let begun = Instant::now();
        let reads = tokio::spawn(async move {
            let mut now_and_then = tokio::time::interval(STALL_MAX / 2);
            loop {
                now_and_then.tick().await;
                far.read_u8().await.unwrap();
            }
        });
        let error = stream.write_all(&[0; 1_000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let waited = begun.elapsed();
        assert!(waited >= READ_MAX && waited < READ_MAX + STALL_MAX, "{waited:?}");
        reads.abort();
    }
}
