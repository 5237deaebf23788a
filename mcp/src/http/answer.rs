//! What a request holds until its response is out: room for its body, its id in a session, a slot for
//! the session that it opens.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::StatusCode;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use rmcp::model::RequestId;

use super::body::TakenRoom;
use super::refusal::HttpRefusal;
use super::sessions::{OpenSession, OpeningSlot};
use crate::in_flight::InFlight;

/// What a request holds.
#[derive(Debug, Default)]
pub(super) struct AnswerGuard {
    _room: Option<TakenRoom>,
    slot: Option<OpeningSlot>,
    answers: Option<(InFlight, RequestId)>,
}

/// A response that gives back what its request held.
pub(super) struct GuardedBody {
    inner: BoxBody<Bytes, Infallible>,
    _guard: AnswerGuard,
}

// === impl AnswerGuard ===

impl AnswerGuard {
    /// Holds the room of a body.
    pub(super) fn holding(room: TakenRoom) -> Self {
        Self { _room: Some(room), slot: None, answers: None }
    }

    /// Holds a slot until the session is counted itself.
    pub(super) fn opens(&mut self, slot: OpeningSlot) {
        self.slot = Some(slot);
    }

    /// Gives the slot back: the session is counted itself, or there is none.
    pub(super) fn has_opened(&mut self) {
        self.slot = None;
    }

    /// Holds the id of a request of a session.
    pub(super) fn answers(
        &mut self,
        session: &OpenSession,
        id: &RequestId,
    ) -> Result<(), HttpRefusal> {
        session
            .in_flight
            .take(id)
            .map_err(|why| HttpRefusal::new(StatusCode::BAD_REQUEST, why.message(id)))?;
        self.answers = Some((session.in_flight.clone(), id.clone()));
        Ok(())
    }

    /// Ties all of it to a response.
    pub(super) fn around(self, inner: BoxBody<Bytes, Infallible>) -> GuardedBody {
        GuardedBody { inner, _guard: self }
    }
}

impl Drop for AnswerGuard {
    fn drop(&mut self) {
        if let Some((in_flight, id)) = &self.answers {
            in_flight.forget(id);
        }
    }
}

// === impl GuardedBody ===

impl Body for GuardedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
