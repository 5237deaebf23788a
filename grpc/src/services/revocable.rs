//! What goes over a connection for a caller whose token can be revoked: after that nothing more, in
//! either direction, also of what had begun, and of what rests.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tonic::Status;
use tonic::body::Body;

use super::error;
use moss_dispatch::Caller;

/// How often moss looks whether a token is still in effect while a response rests.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// The body of a request or of a response.
pub(super) struct Revocable {
    body: Body,
    caller: Caller,
    is_response: bool,
    is_over: bool,
    /// When to look while a response rests; none before it did.
    looks: Option<Interval>,
}

// === impl Revocable ===

impl Revocable {
    /// The body of a request: its reader fails.
    pub(super) fn request(body: Body, caller: Caller) -> Body {
        Body::new(Self { body, caller, is_response: false, is_over: false, looks: None })
    }

    /// The body of a response: it ends with a status.
    pub(super) fn response(body: Body, caller: Caller) -> Body {
        Body::new(Self { body, caller, is_response: true, is_over: false, looks: None })
    }

    /// Waits until it was seen that the token is revoked, which takes a moment.
    fn poll_revoked(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let looks = self.looks.get_or_insert_with(|| {
            let mut looks = tokio::time::interval_at(Instant::now() + LOOK_INTERVAL, LOOK_INTERVAL);
            looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            looks
        });
        while looks.poll_tick(cx).is_ready() {
            if self.caller.is_revoked() {
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }

    fn refuse(&mut self) -> Result<Frame<Bytes>, Status> {
        self.is_over = true;
        let status = error::unauthenticated(&self.caller.revoked());
        if !self.is_response {
            return Err(status);
        }
        error::trailers(&status)
    }
}

impl HttpBody for Revocable {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Ready(Some(_)) if self.caller.is_revoked() => Poll::Ready(Some(self.refuse())),
            Poll::Pending if self.is_response => {
                std::task::ready!(self.poll_revoked(cx));
                Poll::Ready(Some(self.refuse()))
            }
            other => other,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.is_over || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
