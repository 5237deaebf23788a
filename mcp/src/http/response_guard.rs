//! What a request holds until its response is out and its handler has ended: room for its body, its id in a
//! session. Until the response is out, a slot for the session that it opens.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use http_body_util::combinators::BoxBody;
use rmcp::model::{ErrorCode, RequestId};
use serde_json::json;

use super::FrontResponse;
use super::caller_share::TakenUnits;
use super::refusal::HttpRefusal;
use super::response_room::{NoRoom, ResponseRoom};
use super::sessions::{OpenSession, OpeningSlot};
use crate::in_flight::InFlight;

/// The error of a response that has no room: a number that the protocol leaves to servers.
const NO_ROOM: ErrorCode = ErrorCode(-32_000);

/// What a request holds.
#[derive(Debug, Default)]
pub(super) struct ResponseGuard {
    hold: RequestHold,
    slot: Option<OpeningSlot>,
    /// Which request it is, where it is one.
    id: Option<RequestId>,
}

/// What is held as long as any part of a request is left: in a session its handler goes on when its connection
/// is gone.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestHold {
    _room: Option<Arc<TakenUnits>>,
    _id: Option<Arc<RunningId>>,
}

/// The id of a request that runs in a session.
#[derive(Debug)]
struct RunningId(InFlight, RequestId);

/// A response that gives back what its request held.
struct GuardedBody {
    inner: BoxBody<Bytes, Infallible>,
    guard: ResponseGuard,
    room: ResponseRoom,
    /// What the part that was handed over last takes.
    held: Option<TakenUnits>,
    /// A part had no room: nothing comes after the error.
    is_over: bool,
}

// === impl ResponseGuard ===

impl ResponseGuard {
    /// Holds the room of a body.
    pub(super) fn holding(room: TakenUnits) -> Self {
        let hold = RequestHold { _room: Some(Arc::new(room)), _id: None };
        Self { hold, slot: None, id: None }
    }

    /// What its handler holds, too.
    pub(super) fn hold(&self) -> RequestHold {
        self.hold.clone()
    }

    /// Notes which request it is.
    pub(super) fn is_for(&mut self, id: &RequestId) {
        self.id = Some(id.clone());
    }

    /// Holds a slot until the session is counted itself.
    pub(super) fn opens(&mut self, slot: OpeningSlot) {
        self.slot = Some(slot);
    }

    /// Gives the slot back: the session is counted itself, or did not begin.
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
        let running = RunningId(session.in_flight.clone(), id.clone());
        self.hold = RequestHold { _id: Some(Arc::new(running)), ..self.hold() };
        Ok(())
    }

    /// Ties all of it to a response, which takes room as far as it is handed over.
    pub(super) fn around(
        self,
        response: Response<BoxBody<Bytes, Infallible>>,
        room: ResponseRoom,
    ) -> FrontResponse {
        let guarded =
            |inner| GuardedBody { inner, guard: self, room, held: None, is_over: false }.boxed();
        response.map(guarded)
    }

    /// The error that stands for a response.
    fn error(&self, full: NoRoom) -> String {
        let error = json!({ "code": NO_ROOM, "message": full.to_string() });
        json!({ "jsonrpc": "2.0", "id": self.id, "error": error }).to_string()
    }
}

// === impl RunningId ===

impl Drop for RunningId {
    fn drop(&mut self) {
        let Self(in_flight, id) = self;
        in_flight.forget(id);
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
        let this = &mut *self;
        if this.is_over {
            return Poll::Ready(None);
        }
        // More is asked for once what was handed over before has left.
        this.held = None;
        let Some(Ok(frame)) = ready!(Pin::new(&mut this.inner).poll_frame(cx)) else {
            return Poll::Ready(None);
        };
        // What has a known length is an error, and small: results come as events.
        let is_event = this.inner.size_hint().exact().is_none();
        let bytes = frame.data_ref().filter(|_| is_event).map_or(0, Bytes::len);
        let frame = match this.room.hold(bytes) {
            Ok(held) => {
                this.held = held;
                frame
            }
            Err(full) => {
                this.is_over = true;
                let event = format!("data: {}\n\n", this.guard.error(full));
                Frame::data(Bytes::from(event))
            }
        };
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.is_over || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
