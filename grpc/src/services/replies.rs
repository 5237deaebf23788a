//! Replies that wait to be read: each that is not small has its share of the memory, for its connection
//! and for all callers, from when it is written as bytes until the last of them has left. Approvers
//! have a share of their own. What fits neither is not kept: its request ends with an error.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{Extensions, Request, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use moss_dispatch::{Caller, Reason};
use prost::Message;
use tonic::Status;
use tonic::body::Body;
use tower::{Layer, Service};

use super::error;
use crate::listener::{Peer, UnreadReplies, UnreadReply};
use moss_daemon::state::Daemon;
use moss_dispatch::budget::BudgetShare;

/// What of each reply needs no share: small ones are kept whatever waits.
const FREE_BYTES: usize = 32 * 1024;
/// How much of a reply is handed to the transport at once: the transport keeps all of what it got.
const PART_BYTES: usize = 64 * 1024;
/// Methods that say themselves which of their replies are not small ([`marked`]), so that nothing is done
/// for the others: what is called most.
const MARKING: &[&str] = &["/moss.v1.ToolService/CallTool"];

/// A reply that is not small, in the extensions of its response.
#[derive(Debug, Clone, Copy)]
struct NotSmall;

/// Holds the replies of connections to their limits.
#[derive(Debug, Clone)]
pub(super) struct RepliesLayer(pub(super) Arc<Daemon>);

/// The service behind a [`RepliesLayer`].
#[derive(Debug, Clone)]
pub(super) struct Replies<S> {
    inner: S,
    daemon: Arc<Daemon>,
}

/// Where the replies to one request have their share.
#[derive(Debug, Clone)]
pub(super) struct ReplyRoom {
    daemon: Arc<Daemon>,
    caller: Option<Caller>,
    unread: Option<UnreadReplies>,
}

/// The share of one reply.
#[derive(Debug)]
pub(super) struct ReplyShare {
    _share: BudgetShare<3>,
    _unread: Option<UnreadReply>,
}

/// A response to come.
pub(super) struct RespondingReplies<F> {
    responding: F,
    room: ReplyRoom,
    is_marking: bool,
}

/// Bytes of a reply, with its share.
struct HeldReply {
    bytes: Bytes,
    _share: ReplyShare,
}

/// A response whose replies have their share.
struct ReplyBody {
    body: Body,
    room: ReplyRoom,
    /// What was looked at before anybody asked for it.
    first: Option<Option<Result<Frame<Bytes>, Status>>>,
    /// What is left of a reply that is handed over in parts.
    left: Bytes,
    is_over: bool,
}

/// Makes a response, marked where it is not small.
pub(super) fn marked<M: Message>(reply: M) -> tonic::Response<M> {
    let is_small = reply.encoded_len() <= FREE_BYTES;
    let mut response = tonic::Response::new(reply);
    if !is_small {
        response.extensions_mut().insert(NotSmall);
    }
    response
}

// === impl RepliesLayer ===

impl<S> Layer<S> for RepliesLayer {
    type Service = Replies<S>;

    fn layer(&self, inner: S) -> Replies<S> {
        Replies { inner, daemon: Arc::clone(&self.0) }
    }
}

// === impl Replies ===

impl<S> Service<Request<Body>> for Replies<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Unpin,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = RespondingReplies<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let room = ReplyRoom::new(&self.daemon, request.extensions());
        let is_marking = MARKING.contains(&request.uri().path());
        RespondingReplies { responding: self.inner.call(request), room, is_marking }
    }
}

// === impl RespondingReplies ===

impl<F, E> Future for RespondingReplies<F>
where
    F: Future<Output = Result<Response<Body>, E>> + Unpin,
{
    type Output = Result<Response<Body>, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = ready!(Pin::new(&mut self.responding).poll(cx))?;
        let is_small = self.is_marking && response.extensions().get::<NotSmall>().is_none();
        if is_small || response.body().is_end_stream() {
            return Poll::Ready(Ok(response));
        }
        let (head, body) = response.into_parts();
        let mut body = ReplyBody {
            body,
            room: self.room.clone(),
            first: None,
            left: Bytes::new(),
            is_over: false,
        };
        // A client that reads nothing never asks for it. As bytes it can be counted.
        let first = match Pin::new(&mut body.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => match body.hold(frame) {
                Ok(frame) => Some(Some(Ok(frame))),
                Err(full) => return Poll::Ready(Ok(full.into_http())),
            },
            Poll::Ready(other) => Some(other),
            Poll::Pending => None,
        };
        body.first = first;
        Poll::Ready(Ok(Response::from_parts(head, Body::new(body))))
    }
}

// === impl ReplyRoom ===

impl ReplyRoom {
    /// Where the replies to a request with these extensions have their share.
    pub(super) fn new(daemon: &Arc<Daemon>, extensions: &Extensions) -> Self {
        Self {
            daemon: Arc::clone(daemon),
            caller: extensions.get::<Caller>().cloned(),
            unread: extensions.get::<Peer>().map(|peer| peer.unread().clone()),
        }
    }

    /// Takes the share of a reply; none for a small one.
    ///
    /// # Errors
    ///
    /// Which limit it does not fit into.
    pub(super) fn hold(&self, bytes: usize) -> Result<Option<ReplyShare>, Status> {
        if bytes <= FREE_BYTES {
            return Ok(None);
        }
        let config = self.daemon.config();
        let limits = &config.grpc;
        let of_connection =
            self.unread.as_ref().map(|unread| unread.held().clone()).unwrap_or_default();
        let connection_bytes_max = limits.connection_replies_bytes_max;
        let (replies, bytes_max) = (&self.daemon.replies, limits.replies_bytes_max);
        let [own, of_all] = replies.shares(self.caller.as_ref(), bytes_max, connection_bytes_max);
        let mut share = BudgetShare::new([(of_connection, connection_bytes_max), own, of_all]);
        share.hold(bytes).map_err(|which| full(bytes, which, share.bytes_max()))?;
        let unread = self.unread.as_ref().map(UnreadReplies::wait);
        Ok(Some(ReplyShare { _share: share, _unread: unread }))
    }
}

/// Makes the status of a reply for which there is no room. Nothing says to try again: what was asked for
/// was done.
fn full(bytes: usize, which: usize, bytes_max: [usize; 3]) -> Status {
    let whose = ["this connection", "this caller", "all callers"][which];
    let limit = ["connection_replies_bytes_max", "replies_bytes_max"][which.min(1)];
    let max = bytes_max[which];
    let message = format!(
        "the request was carried out, but its reply of {bytes} bytes does not fit next to others of \
         {whose} that wait to be read: {max} bytes (grpc.{limit}); read those, and ask for less at once"
    );
    error::status(Reason::RepliesFull, &message, &[])
}

// === impl ReplyBody ===

impl ReplyBody {
    /// Counts what comes next, and keeps of it what is handed over later.
    fn hold(&mut self, frame: Frame<Bytes>) -> Result<Frame<Bytes>, Status> {
        let bytes = match frame.into_data() {
            Ok(bytes) => bytes,
            Err(trailers) => return Ok(trailers),
        };
        let Some(share) = self.room.hold(bytes.len())? else { return Ok(Frame::data(bytes)) };
        self.left = Bytes::from_owner(HeldReply { bytes, _share: share });
        Ok(Frame::data(self.next_part()))
    }

    fn next_part(&mut self) -> Bytes {
        let bytes = self.left.len().min(PART_BYTES);
        self.left.split_to(bytes)
    }

    /// Ends a stream of replies of which the next has no room.
    fn end(&mut self, full: &Status) -> Result<Frame<Bytes>, Status> {
        self.is_over = true;
        error::trailers(full)
    }
}

impl HttpBody for ReplyBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        if let Some(first) = this.first.take() {
            return Poll::Ready(first);
        }
        if !this.left.is_empty() {
            // The transport asks for more once the client has taken what was before.
            if let Some(unread) = &this.room.unread {
                unread.took();
            }
            return Poll::Ready(Some(Ok(Frame::data(this.next_part()))));
        }
        if this.is_over {
            return Poll::Ready(None);
        }
        let next = ready!(Pin::new(&mut this.body).poll_frame(cx));
        let Some(Ok(frame)) = next else { return Poll::Ready(next) };
        Poll::Ready(Some(this.hold(frame).or_else(|full| this.end(&full))))
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.left.is_empty() && (self.is_over || self.body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

// === impl HeldReply ===

impl AsRef<[u8]> for HeldReply {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
