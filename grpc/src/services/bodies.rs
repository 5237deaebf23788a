//! Requests on their way: each has its length and its time to arrive, and those that are not whole yet have their
//! share of the memory, for one connection, for one named token and for all callers. Approvers have a share of their own.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use moss_dispatch::Reason;
use tokio::time::{Instant, Sleep};
use tonic::Status;
use tonic::body::Body;
use tower::{Layer, Service};

use super::error;
use crate::listener::Peer;
use moss_config::GrpcConfig;
use moss_dispatch::budget::{BudgetShare, Budgets};

/// What of each request needs no share: small ones are taken whatever waits.
const FREE_BYTES: usize = 4 * 1024;
/// What comes before each message: whether it is compressed, and its length.
const HEADER_BYTES: usize = 5;
/// Methods that take message after message: between two of them nothing is awaited.
const STREAMS: &[&str] = &[
    "/moss.v1.EditorService/Attach",
    "/moss.v1.BridgeService/Parse",
    "/moss.v1.BridgeService/Encode",
];

/// Holds the requests of one socket to their limits.
#[derive(Debug, Clone)]
pub(super) struct BodiesLayer(Arc<BodyBounds>);

/// The service behind a [`BodiesLayer`].
#[derive(Debug, Clone)]
pub(super) struct Bodies<S> {
    inner: S,
    bounds: Arc<BodyBounds>,
}

#[derive(Debug)]
struct BodyBounds {
    idle: Duration,
    total: Duration,
    message_bytes_max: usize,
    bytes_max: usize,
    connection_bytes_max: usize,
    arriving: Budgets,
}

/// Finds where messages end.
#[derive(Debug, Default)]
struct Framing {
    header: [u8; HEADER_BYTES],
    /// How much of the header is there.
    header_bytes: usize,
    /// How much of the message is there, and how long it is.
    message: Option<(usize, usize)>,
    /// How long the longest was so far.
    longest: usize,
}

/// A request on its way.
struct Arriving {
    body: Body,
    bounds: Arc<BodyBounds>,
    /// Of what the connection, the caller, and all of the role may hold.
    share: BudgetShare<3>,
    /// Whether one message follows the other.
    is_stream: bool,
    framing: Framing,
    /// How much of the request, or of the message of a stream, is there.
    open_bytes: usize,
    /// When it began to come, and when something came last.
    begun: Instant,
    came: Instant,
    /// Whether it was looked for again before a timer was set.
    is_awaited: bool,
    late: Option<Pin<Box<Sleep>>>,
}

// === impl BodiesLayer ===

impl BodiesLayer {
    pub(super) fn new(limits: &GrpcConfig) -> Self {
        Self(Arc::new(BodyBounds {
            idle: Duration::from_millis(limits.request_idle_ms),
            total: Duration::from_millis(limits.request_total_ms),
            message_bytes_max: limits.request_bytes_max,
            bytes_max: limits.arriving_bytes_max,
            connection_bytes_max: limits.connection_arriving_bytes_max,
            arriving: Budgets::default(),
        }))
    }
}

impl<S> Layer<S> for BodiesLayer {
    type Service = Bodies<S>;

    fn layer(&self, inner: S) -> Bodies<S> {
        Bodies { inner, bounds: Arc::clone(&self.0) }
    }
}

// === impl Bodies ===

impl<S> Service<Request<Body>> for Bodies<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (head, body) = request.into_parts();
        let bounds = &self.bounds;
        let (caller, connection_bytes_max) = (head.extensions.get(), bounds.connection_bytes_max);
        let [own, of_all] = bounds.arriving.shares(caller, bounds.bytes_max, connection_bytes_max);
        let of_connection = head.extensions.get::<Peer>().map(Peer::arriving).unwrap_or_default();
        let of_connection = (of_connection, connection_bytes_max);
        let share = BudgetShare::new([of_connection, own, of_all]);
        let is_stream = STREAMS.contains(&head.uri.path());
        let arriving = Arriving::new(body, Arc::clone(&self.bounds), share, is_stream);
        self.inner.call(Request::from_parts(head, Body::new(arriving)))
    }
}

/// Makes the status of a request for which one of its budgets has no room.
fn full(which: usize, bytes_max: [usize; 3]) -> Status {
    let whose = ["this connection", "this caller", "all callers"][which];
    let limit = ["connection_arriving_bytes_max", "arriving_bytes_max"][which.min(1)];
    let max = bytes_max[which];
    let message = format!(
        "incomplete requests of {whose} use {max} bytes already (grpc.{limit}); try \
         again later"
    );
    error::exhausted(Reason::RequestsFull, &message)
}

/// Makes the status of a request that is longer than one may be: tonic would name neither the limit's key
/// nor a reason.
fn too_large(bytes: usize, bytes_max: usize) -> Status {
    let message =
        format!("the request has {bytes} bytes; one may have {bytes_max} (grpc.request_bytes_max)");
    error::status(Reason::RequestTooLarge, &message, &[])
}

fn stalled() -> Status {
    let message =
        "the request did not arrive in time (grpc.request_idle_ms, grpc.request_total_ms)";
    error::status(Reason::SenderStalled, message, &[])
}

// === impl Framing ===

impl Framing {
    /// Takes the next bytes. Returns how much there is of a message that is not whole yet.
    fn take(&mut self, mut bytes: &[u8]) -> usize {
        while !bytes.is_empty() {
            match &mut self.message {
                None => {
                    let count = bytes.len().min(HEADER_BYTES - self.header_bytes);
                    let end = self.header_bytes + count;
                    self.header[self.header_bytes..end].copy_from_slice(&bytes[..count]);
                    (self.header_bytes, bytes) = (end, &bytes[count..]);
                    if end == HEADER_BYTES {
                        let [_, length @ ..] = self.header;
                        let length = u32::from_be_bytes(length) as usize;
                        self.message = Some((0, length));
                        self.longest = self.longest.max(length);
                    }
                }
                Some((there, length)) => {
                    let count = bytes.len().min(*length - *there);
                    *there += count;
                    bytes = &bytes[count..];
                }
            }
            if self.message.is_some_and(|(there, length)| there == length) {
                *self = Self { longest: self.longest, ..Self::default() };
            }
        }
        self.header_bytes + self.message.map_or(0, |(there, _)| there)
    }
}

// === impl Arriving ===

impl Arriving {
    fn new(body: Body, bounds: Arc<BodyBounds>, share: BudgetShare<3>, is_stream: bool) -> Self {
        let begun = Instant::now();
        Self {
            body,
            bounds,
            share,
            is_stream,
            framing: Framing::default(),
            open_bytes: 0,
            begun,
            came: begun,
            is_awaited: false,
            late: None,
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Status> {
        self.came = Instant::now();
        if self.is_stream && self.open_bytes == 0 {
            self.begun = self.came;
        }
        let open_bytes = self.framing.take(bytes);
        let (longest, max) = (self.framing.longest, self.bounds.message_bytes_max);
        if longest > max {
            return Err(too_large(longest, max));
        }
        self.open_bytes = match self.is_stream {
            true => open_bytes,
            false => self.open_bytes + bytes.len(),
        };
        if self.open_bytes > 0 && self.came - self.begun > self.bounds.total {
            return Err(stalled());
        }
        let bytes = self.open_bytes.saturating_sub(FREE_BYTES);
        self.share.hold(bytes).map_err(|which| full(which, self.share.bytes_max()))
    }

    /// Whether what has begun does not come on. Wakes up when it is.
    fn is_late(&mut self, cx: &mut Context<'_>) -> bool {
        if self.is_stream && self.open_bytes == 0 {
            return false;
        }
        let at = (self.came + self.bounds.idle).min(self.begun + self.bounds.total);
        let late = self.late.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at)));
        if late.deadline() != at {
            late.as_mut().reset(at);
        }
        late.as_mut().poll(cx).is_ready()
    }
}

impl HttpBody for Arriving {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        match Pin::new(&mut this.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                let taken = frame.data_ref().map_or(Ok(()), |bytes| this.take(bytes));
                Poll::Ready(Some(taken.map(|()| frame)))
            }
            // What came with the head is read a moment after it. A timer would wake another thread, and
            // so would a task that wakes itself.
            Poll::Pending if !this.is_awaited => {
                this.is_awaited = true;
                std::pin::pin!(tokio::task::yield_now()).poll(cx).map(|()| None)
            }
            Poll::Pending if this.is_late(cx) => Poll::Ready(Some(Err(stalled()))),
            other => other,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests;
