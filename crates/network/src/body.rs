//! Bodies on their way: counted against their limit, and never waited for without end.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use moss_plugin_host::services::{HttpBody, HttpError, Wait};
use tokio::time::Sleep;

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
    /// Runs while somebody waits for the next part.
    waiting: Option<Pin<Box<Sleep>>>,
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
        Ok(Self { body, count, read_timeout, waiting: None, has_failed: false })
    }

    fn poll_part(&mut self, cx: &mut Context<'_>) -> Poll<BodyFrame> {
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Ready(part) => {
                self.waiting = None;
                let part = part.map(|part| part.map_err(|error| super::explain(&error)));
                Poll::Ready(part.map(|part| part.and_then(|frame| self.count.take(frame))))
            }
            Poll::Pending => {
                let begin = || Box::pin(tokio::time::sleep(self.read_timeout));
                ready!(self.waiting.get_or_insert_with(begin).as_mut().poll(cx));
                Poll::Ready(Some(Err(HttpError::Timeout(Wait::Body))))
            }
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
