//! A call on its way.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use moss_sdk::context::BoxFuture;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::call::CallOutcome;
use crate::error::CallError;

type CallResult = Result<CallOutcome, CallError>;

/// A call on its way: it continues while this is polled, so that a short one needs no task of its
/// own. Dropping it cancels the call, whose rest (a write that must not be interrupted, its record)
/// then runs in the background.
pub struct RunningCall {
    rest: Option<BoxFuture<'static, CallResult>>,
    cancel: CancellationToken,
    runtime: Handle,
}

/// A call in a task of its own. Dropping it cancels the call.
#[derive(Debug)]
pub struct Background {
    task: JoinHandle<CallResult>,
    _cancel: DropGuard,
}

/// What polling a future comes to where it panics.
#[derive(Debug)]
pub struct Panicked;

/// Polls a future; a panic in it is its end, not that of whoever polls. It must not be polled
/// again after that.
pub fn poll_caught<T>(
    future: &mut (dyn Future<Output = T> + Send + Unpin),
    cx: &mut Context<'_>,
) -> Poll<Result<T, Panicked>> {
    // What the future shares with others stands behind locks whose poison is not looked at.
    let polled = std::panic::catch_unwind(AssertUnwindSafe(|| Pin::new(future).poll(cx)));
    match polled {
        Ok(poll) => poll.map(Ok),
        Err(_) => {
            tracing::error!("a call broke");
            Poll::Ready(Err(Panicked))
        }
    }
}

impl From<Panicked> for CallError {
    fn from(_: Panicked) -> Self {
        Self::Internal("internal error: the call panicked".to_owned())
    }
}

fn broken() -> CallResult {
    Err(Panicked.into())
}

// === impl RunningCall ===

impl RunningCall {
    /// Takes a call that has not begun. Belongs into a runtime.
    pub fn new(rest: BoxFuture<'static, CallResult>, cancel: CancellationToken) -> Self {
        Self { rest: Some(rest), cancel, runtime: Handle::current() }
    }

    /// Lets the call continue whether or not anybody looks at it.
    pub fn in_background(self) -> Background {
        let cancel = self.cancel.clone().drop_guard();
        Background { task: self.runtime.clone().spawn(self), _cancel: cancel }
    }
}

impl Future for RunningCall {
    type Output = CallResult;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<CallResult> {
        let Some(rest) = &mut self.rest else { return Poll::Ready(broken()) };
        // A defect in one call must not take its connection along, with the calls of others on it.
        let Poll::Ready(ended) = poll_caught(rest, cx) else { return Poll::Pending };
        let outcome = ended.unwrap_or_else(|_| broken());
        self.rest = None;
        Poll::Ready(outcome)
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if let Some(rest) = self.rest.take() {
            self.cancel.cancel();
            self.runtime.spawn(rest);
        }
    }
}

impl std::fmt::Debug for RunningCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("is_done", &self.rest.is_none()).finish_non_exhaustive()
    }
}

// === impl Background ===

impl Background {
    /// Waits for the end.
    ///
    /// # Errors
    ///
    /// Where the call could not run.
    pub async fn finish(&mut self) -> CallResult {
        (&mut self.task).await.unwrap_or_else(|error| {
            tracing::error!(%error, "a call's task broke");
            broken()
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    fn outcome() -> CallOutcome {
        CallOutcome {
            call_id: String::new(),
            tool: String::new(),
            result: Ok(String::new()),
            content: Vec::new(),
            changes: Vec::new(),
            digest: None,
            history: None,
            conflicts: Vec::new(),
            plugins: None,
            duration: std::time::Duration::ZERO,
        }
    }

    /// A call that begins, waits for its end to be allowed or cancelled, and reports its end.
    fn call(begun: oneshot::Sender<()>, ended: oneshot::Sender<bool>) -> RunningCall {
        let cancel = CancellationToken::new();
        let token = cancel.clone();
        let rest = async move {
            begun.send(()).unwrap();
            token.cancelled().await;
            tokio::task::yield_now().await;
            ended.send(token.is_cancelled()).unwrap();
            Ok(outcome())
        };
        RunningCall::new(Box::pin(rest), cancel)
    }

    #[tokio::test]
    async fn a_dropped_call_is_cancelled_and_comes_to_its_end() {
        for in_background in [false, true] {
            let (begun, mut has_begun) = oneshot::channel();
            let (ended, has_ended) = oneshot::channel();
            let mut running = call(begun, ended);
            if in_background {
                let background = running.in_background();
                has_begun.await.unwrap();
                drop(background);
            } else {
                tokio::select! {
                    biased;
                    _ = &mut running => panic!("nobody ended it"),
                    begun = &mut has_begun => begun.unwrap(),
                }
                drop(running);
            }
            assert!(has_ended.await.unwrap());
        }
    }

    #[tokio::test]
    async fn a_defect_is_an_error_of_its_call() {
        let defect = || -> CallResult { panic!("a defect, on purpose") };
        let rest = Box::pin(async move { defect() });
        let running = RunningCall::new(rest, CancellationToken::new());
        assert!(matches!(running.await, Err(CallError::Internal(_))));
    }
}
