//! Bodies on their way: counted against their limit, and never waited for without end.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use moss_plugin_host::services::{HttpBody, HttpError, Wait};
use tokio::time::{Instant, Sleep, sleep};

/// A body that is sent.
pub(super) struct Upload {
    /// The lock is never contended: it makes a body that belongs to one thread one of all.
    body: Mutex<HttpBody>,
    count: BytesLeft,
}

/// A body that is received.
pub(super) struct Received {
    body: reqwest::Body,
    count: BytesLeft,
    read_timeout: Duration,
    /// Since when somebody waits for the next part.
    waits_since: Option<Instant>,
    /// Ends when that may be for too long. It outlives parts: bodies come in as small ones as a server likes.
    timer: Option<Pin<Box<Sleep>>>,
    has_failed: bool,
}

/// What may still come.
struct BytesLeft {
    left: u64,
    exceeded: HttpError,
}

type BodyFrame = Option<Result<Frame<Bytes>, HttpError>>;

// === impl BytesLeft ===

impl BytesLeft {
    fn take(&mut self, frame: Frame<Bytes>) -> Result<Frame<Bytes>, HttpError> {
        let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
        self.left = self.left.checked_sub(bytes).ok_or_else(|| self.exceeded.clone())?;
        Ok(frame)
    }
}

// === impl Upload ===

impl Upload {
    pub(super) fn new(body: HttpBody, bytes_max: u64) -> Self {
        let exceeded = HttpError::RequestTooLarge(bytes_max);
        Self { body: Mutex::new(body), count: BytesLeft { left: bytes_max, exceeded } }
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<BodyFrame> {
        let Self { body, count } = &mut *self;
        let body = body.get_mut().unwrap_or_else(PoisonError::into_inner);
        let part = ready!(Pin::new(body).poll_frame(cx));
        Poll::Ready(part.map(|part| part.and_then(|frame| count.take(frame))))
    }

    fn size_hint(&self) -> SizeHint {
        self.body.lock().unwrap_or_else(PoisonError::into_inner).size_hint()
    }
}

// === impl Received ===

impl Received {
    /// Takes over a body that is not already known to be too large.
    pub(super) fn new(
        body: reqwest::Body,
        bytes_max: u64,
        read_timeout: Duration,
    ) -> Result<Self, HttpError> {
        let exceeded = HttpError::ResponseTooLarge(bytes_max);
        if body.size_hint().lower() > bytes_max {
            return Err(exceeded);
        }
        let count = BytesLeft { left: bytes_max, exceeded };
        Ok(Self { body, count, read_timeout, waits_since: None, timer: None, has_failed: false })
    }

    fn poll_part(&mut self, cx: &mut Context<'_>) -> Poll<BodyFrame> {
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Ready(part) => {
                self.waits_since = None;
                let part = part.map(|part| part.map_err(|error| super::explain(&error)));
                Poll::Ready(part.map(|part| part.and_then(|frame| self.count.take(frame))))
            }
            Poll::Pending => {
                ready!(self.poll_timeout(cx));
                Poll::Ready(Some(Err(HttpError::Timeout(Wait::Body))))
            }
        }
    }

    fn poll_timeout(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let since = *self.waits_since.get_or_insert_with(Instant::now);
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(self.read_timeout)));
        loop {
            ready!(timer.as_mut().poll(cx));
            let left = self.read_timeout.saturating_sub(since.elapsed());
            if left.is_zero() {
                return Poll::Ready(());
            }
            // It began before an earlier part.
            *timer = Box::pin(sleep(left));
        }
    }
}

impl Body for Received {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<BodyFrame> {
        if self.has_failed {
            return Poll::Ready(None);
        }
        let part = ready!(self.poll_part(cx));
        self.has_failed = matches!(part, Some(Err(_)));
        Poll::Ready(part)
    }

    fn is_end_stream(&self) -> bool {
        self.has_failed || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body_util::BodyExt as _;

    use super::*;

    /// So many parts, each a while after the one before it, and no end.
    struct Dripping {
        left: u32,
        next: Pin<Box<Sleep>>,
    }

    const WHILE: Duration = Duration::from_secs(2);

    impl Body for Dripping {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            if self.left == 0 {
                return Poll::Pending;
            }
            ready!(self.next.as_mut().poll(cx));
            self.left -= 1;
            self.next = Box::pin(sleep(WHILE));
            Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"x")))))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_is_waited_for_from_part_to_part() {
        let dripping = Dripping { left: 10, next: Box::pin(sleep(WHILE)) };
        let body = reqwest::Body::wrap(dripping);
        let mut received = Received::new(body, 100, WHILE + WHILE / 2).unwrap();
        for _ in 0..10 {
            assert!(received.frame().await.unwrap().is_ok());
        }
        let stopped = received.frame().await.unwrap();
        assert_eq!(stopped.unwrap_err(), HttpError::Timeout(Wait::Body));
    }
}
