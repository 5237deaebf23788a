//! A call on its way.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use moss_sdk::context::BoxFuture;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{CallError, CallOutcome};

type Outcome = Result<CallOutcome, CallError>;

/// A call on its way: it goes on while this is polled, so that a short one needs no task of its
/// own. Dropping it cancels the call, whose rest (a write that must not be broken off, its record)
/// then runs in the background.
pub struct Running {
    rest: Option<BoxFuture<'static, Outcome>>,
    cancel: CancellationToken,
    runtime: Handle,
}

/// A call in a task of its own. Dropping it cancels the call.
#[derive(Debug)]
pub struct Background {
    task: JoinHandle<Outcome>,
    _cancel: DropGuard,
}

fn broken() -> Outcome {
    Err(CallError::Internal("the call broke; this is a defect of moss".to_owned()))
}

// === impl Running ===

impl Running {
    /// Takes a call that has not begun. Belongs into a runtime.
    pub(super) fn new(rest: BoxFuture<'static, Outcome>, cancel: CancellationToken) -> Self {
        Self { rest: Some(rest), cancel, runtime: Handle::current() }
    }

    /// Lets the call go on whether or not anybody looks at it.
    pub fn in_background(self) -> Background {
        let cancel = self.cancel.clone().drop_guard();
        Background { task: self.runtime.clone().spawn(self), _cancel: cancel }
    }
}

impl Future for Running {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let Some(rest) = &mut self.rest else { return Poll::Ready(broken()) };
        // A defect in one call must not take its connection along, with the calls of others on it.
        let polled = std::panic::catch_unwind(AssertUnwindSafe(|| rest.as_mut().poll(cx)));
        let outcome = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(outcome)) => outcome,
            Err(_) => {
                tracing::error!("a call broke");
                broken()
            }
        };
        self.rest = None;
        Poll::Ready(outcome)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(rest) = self.rest.take() {
            self.cancel.cancel();
            self.runtime.spawn(rest);
        }
    }
}

impl std::fmt::Debug for Running {
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
    pub async fn finish(&mut self) -> Outcome {
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
            changes: Vec::new(),
            digest: None,
            history: None,
            duration: std::time::Duration::ZERO,
        }
    }

    /// A call that begins, waits for its end to be allowed or cancelled, and tells of its end.
    fn call(begun: oneshot::Sender<()>, ended: oneshot::Sender<bool>) -> Running {
        let cancel = CancellationToken::new();
        let token = cancel.clone();
        let rest = async move {
            begun.send(()).unwrap();
            token.cancelled().await;
            tokio::task::yield_now().await;
            ended.send(token.is_cancelled()).unwrap();
            Ok(outcome())
        };
        Running::new(Box::pin(rest), cancel)
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
        let defect = || -> Outcome { panic!("a defect, on purpose") };
        let rest = Box::pin(async move { defect() });
        let running = Running::new(rest, CancellationToken::new());
        assert!(matches!(running.await, Err(CallError::Internal(_))));
    }
}
