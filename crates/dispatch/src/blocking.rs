//! Work that waits for the disk or takes the processor, on threads for it: the daemon continues
//! meanwhile.

use moss_sdk::{ErrorCode, ToolError};

use crate::caller::Caller;
use crate::places::RolePlaces;

/// The work panicked. The log has more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("internal error: a task panicked")]
pub struct Broken;

/// Runs work on a thread of its own. It continues where nobody waits for it any more.
///
/// # Errors
///
/// Where it panics: a defect.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Broken> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "a blocking task panicked");
        Broken
    })
}

/// As [`blocking`], for work that takes the processor: as much of it at once as the
/// caller's role, and its token, have places.
///
/// # Errors
///
/// Where it panics: a defect.
pub async fn heavy<T: Send + 'static>(
    (places, caller): (&RolePlaces, Option<&Caller>),
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Broken> {
    let place = places.acquire(caller).await;
    blocking(move || {
        let done = work();
        drop(place);
        done
    })
    .await
}

impl From<Broken> for ToolError {
    fn from(broken: Broken) -> Self {
        Self::new(ErrorCode::Internal, broken.to_string())
    }
}
