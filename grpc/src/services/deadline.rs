//! The time that a request gives the daemon. A call ends by itself a little before it is over, in
//! its own words; what is still late is ended here. The transport would say CANCELLED, without a
//! reason.

use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http::{HeaderMap, Request, Response};
use moss_sdk::context::BoxFuture;
use tonic::body::Body;
use tower::{Layer, Service};

use super::error;
use moss_dispatch::CallError;

/// What a call leaves of its time for the response.
const RESPONSE_TIME_MAX: Duration = Duration::from_millis(20);
/// How much earlier than the transport a request is ended.
const LEAD: Duration = Duration::from_millis(1);

/// Ends every request at its `grpc-timeout`.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeadlineLayer;

/// The service behind a [`DeadlineLayer`].
#[derive(Debug, Clone)]
pub(super) struct DeadlineService<S>(S);

/// Returns when the call of a request must end; none where the request has all the time.
pub(super) fn of_call(headers: &HeaderMap) -> Option<Instant> {
    let timeout = timeout(headers)?;
    Instant::now().checked_add(timeout - RESPONSE_TIME_MAX.min(timeout / 10))
}

/// Reads `grpc-timeout`: a number and a unit.
fn timeout(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let amount: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(amount.saturating_mul(3600))),
        "M" => Some(Duration::from_secs(amount.saturating_mul(60))),
        "S" => Some(Duration::from_secs(amount)),
        "m" => Some(Duration::from_millis(amount)),
        "u" => Some(Duration::from_micros(amount)),
        "n" => Some(Duration::from_nanos(amount)),
        _ => None,
    }
}

// === impl DeadlineLayer ===

impl<S> Layer<S> for DeadlineLayer {
    type Service = DeadlineService<S>;

    fn layer(&self, inner: S) -> DeadlineService<S> {
        DeadlineService(inner)
    }
}

// === impl DeadlineService ===

impl<S> Service<Request<Body>> for DeadlineService<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let timeout = timeout(request.headers());
        let answer = self.0.call(request);
        let Some(after) = timeout else { return Box::pin(answer) };
        // The clock runs from here, not from the first look at the response.
        let answer = tokio::time::timeout(after.saturating_sub(LEAD), answer);
        Box::pin(async move {
            let late = |_| Ok(error::call(&CallError::Timeout { after, stays: None }).into_http());
            answer.await.unwrap_or_else(late)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_have_a_number_and_a_unit() {
        let read = |text: &str| {
            timeout(&HeaderMap::from_iter([(
                "grpc-timeout".parse().unwrap(),
                text.parse().unwrap(),
            )]))
        };
        for (text, milliseconds) in
            [("1H", 3_600_000), ("2M", 120_000), ("3S", 3000), ("4m", 4), ("5000u", 5)]
        {
            assert_eq!(read(text), Some(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "m", "5", "-5m", "5x", "1.5S", "99999999999999999999S", "5 m"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(of_call(&HeaderMap::new()), None);
    }

    #[tokio::test]
    async fn a_late_response_is_a_deadline_exceeded() {
        let never = tower::service_fn(|_: Request<Body>| {
            std::future::pending::<Result<Response<Body>, std::convert::Infallible>>()
        });
        let mut request = Request::new(Body::empty());
        request.headers_mut().insert("grpc-timeout", "5m".parse().unwrap());
        let answer = DeadlineLayer.layer(never).call(request).await.unwrap();
        assert_eq!(answer.headers()["grpc-status"], "4");
    }
}
