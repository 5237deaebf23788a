//! Work that waits for the disk or takes the processor, on threads for it: the daemon continues
//! meanwhile.

use std::sync::Arc;

use moss_sdk::{ErrorCode, ToolError};
use tokio::sync::Semaphore;

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

/// As [`blocking`], for work that takes the processor: as much of it at once as there are slots.
///
/// # Errors
///
/// Where it panics: a defect.
pub async fn heavy<T: Send + 'static>(
    places: &Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Broken> {
    let place = Arc::clone(places).acquire_owned().await;
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
