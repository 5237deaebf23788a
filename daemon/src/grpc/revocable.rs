//! What goes over a connection for a caller whose token can be revoked: after that nothing more, in
//! either direction, also of what had begun.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tonic::Status;
use tonic::body::Body;

use super::error;
use crate::caller::Caller;

/// The body of a request or of a response.
pub(super) struct Revocable {
    body: Body,
    caller: Caller,
    is_response: bool,
    is_over: bool,
}

// === impl Revocable ===

impl Revocable {
    /// The body of a request: its reader fails.
    pub(super) fn request(body: Body, caller: Caller) -> Body {
        Body::new(Self { body, caller, is_response: false, is_over: false })
    }

    /// The body of a response: it ends with a status.
    pub(super) fn response(body: Body, caller: Caller) -> Body {
        Body::new(Self { body, caller, is_response: true, is_over: false })
    }

    fn refuse(&mut self) -> Result<Frame<Bytes>, Status> {
        self.is_over = true;
        let status = error::unauthenticated(&self.caller.revoked());
        if !self.is_response {
            return Err(status);
        }
        let mut trailers = HeaderMap::new();
        status.add_header(&mut trailers)?;
        Ok(Frame::trailers(trailers))
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
