//! The services for who runs in this process: a request goes through the checks of every other one, and
//! through no connection. What a connection limits beside them is limited here: how many requests are
//! open at once, and how long their headers are.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::{Body as HttpBody, Frame, SizeHint};
use moss_dispatch::poll_caught;
use moss_sdk::context::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::Status;
use tonic::body::Body;
use tonic::service::Routes;
use tower::{Layer as _, Service};

use super::auth::{Auth, AuthLayer};
use super::bodies::{Bodies, BodiesLayer};
use super::deadline::{DeadlineLayer, DeadlineService};
use moss_daemon::caller::Access;
use moss_daemon::state::Daemon;

/// What HTTP/2 counts for each header beside its name and value, in bytes.
const HEADER_EXTRA_BYTES: usize = 32;

/// The services of a daemon, for clients in its process. Clones share what they may have open at once, as
/// requests of one connection do.
#[derive(Clone)]
pub struct ProcessDoor(DeadlineService<OpenRequests<Auth<Bodies<Routes>>>>);

/// Holds the requests of a door to what one connection may have.
#[derive(Clone)]
struct OpenRequests<S> {
    inner: S,
    streams: Arc<Semaphore>,
    header_bytes_max: usize,
}

/// A response that counts as open until it was read or dropped.
struct OpenResponse {
    body: Body,
    _stream: Option<OwnedSemaphorePermit>,
}

/// How long headers are, as HTTP/2 counts them.
fn header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + HEADER_EXTRA_BYTES).sum()
}

// === impl ProcessDoor ===

impl ProcessDoor {
    /// Opens the services to who shows a credential of `access`. Clients that end drop their requests, and
    /// the daemon refuses new ones once it drains: there is nothing to close.
    pub fn new(daemon: &Arc<Daemon>, access: Access) -> Self {
        let limits = daemon.config().grpc.clone();
        let service = BodiesLayer::new(&limits).layer(super::services(daemon).prepare());
        let service = AuthLayer::new(access, Arc::clone(daemon)).layer(service);
        let (streams_max, bytes_max) = (limits.streams_max, limits.header_bytes_max);
        Self(DeadlineLayer.layer(OpenRequests::new(service, streams_max, bytes_max)))
    }
}

impl Service<Request<Body>> for ProcessDoor {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.0.call(request)
    }
}

impl std::fmt::Debug for ProcessDoor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProcessDoor")
    }
}

// === impl OpenRequests ===

impl<S> OpenRequests<S> {
    fn new(inner: S, streams_max: u32, header_bytes_max: u32) -> Self {
        let streams_max = usize::try_from(streams_max).unwrap_or(usize::MAX);
        let streams = Arc::new(Semaphore::new(streams_max.min(Semaphore::MAX_PERMITS)));
        let header_bytes_max = usize::try_from(header_bytes_max).unwrap_or(usize::MAX);
        Self { inner, streams, header_bytes_max }
    }
}

impl<S> Service<Request<Body>> for OpenRequests<S>
where
    S: Service<Request<Body>, Response = Response<Body>> + Clone + Send + 'static,
    S::Future: Send + Unpin,
    S::Error: Send,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<Body>, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if header_bytes(request.headers()) > self.header_bytes_max {
            let mut refused = Response::new(Body::empty());
            *refused.status_mut() = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
            return Box::pin(async move { Ok(refused) });
        }
        let (mut inner, streams) = (self.inner.clone(), Arc::clone(&self.streams));
        Box::pin(async move {
            // It is never closed; without a permit the request would only not be counted.
            let stream = streams.acquire_owned().await.ok();
            let mut response = inner.call(request);
            // A defect in one request must not take its client along, which may serve others.
            let ended = std::future::poll_fn(|cx| poll_caught(&mut response, cx)).await;
            let response = match ended {
                Ok(response) => response?,
                Err(_) => Status::internal("internal error: the request panicked").into_http(),
            };
            Ok(response.map(|body| Body::new(OpenResponse { body, _stream: stream })))
        })
    }
}

// === impl OpenResponse ===

impl HttpBody for OpenResponse {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_body_util::{BodyExt as _, Full};

    use super::*;

    type Responding = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn door(
        streams_max: u32,
        header_bytes_max: u32,
        respond: fn(Request<Body>) -> Response<Body>,
    ) -> impl Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future = Responding>
    {
        let inner = tower::service_fn(move |request: Request<Body>| -> Responding {
            Box::pin(async move { Ok(respond(request)) })
        });
        OpenRequests::new(inner, streams_max, header_bytes_max)
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_counts_until_it_is_read_or_dropped() {
        let text =
            |_: Request<Body>| Response::new(Body::new(Full::new(Bytes::from_static(b"text"))));
        let mut door = door(1, 100, text);
        let mut respond = || door.call(Request::new(Body::empty()));
        let first = respond().await.unwrap();
        let mut second = respond();
        let waited = tokio::time::timeout(Duration::from_secs(60), &mut second).await;
        waited.unwrap_err();
        first.into_body().collect().await.unwrap();
        drop(second.await.unwrap());
        respond().await.unwrap();
    }

    #[tokio::test]
    async fn headers_that_a_connection_would_refuse_are_refused() {
        let mut door = door(1, 100, |_| Response::new(Body::empty()));
        for (length, status) in
            [(60, StatusCode::OK), (70, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)]
        {
            let mut request = Request::new(Body::empty());
            request.headers_mut().insert("name", "x".repeat(length).parse().unwrap());
            assert_eq!(door.call(request).await.unwrap().status(), status, "{length}");
        }
    }

    #[tokio::test]
    async fn a_request_that_panics_ends_alone() {
        let mut door = door(1, 100, |request| match request.uri().path() {
            "/" => panic!("a defect"),
            _ => Response::new(Body::empty()),
        });
        let broken = door.call(Request::new(Body::empty())).await.unwrap();
        assert_eq!(broken.headers()["grpc-status"], "13");
        drop(broken);
        let mut next = Request::new(Body::empty());
        *next.uri_mut() = "/next".parse().unwrap();
        assert!(!door.call(next).await.unwrap().headers().contains_key("grpc-status"));
    }
}
