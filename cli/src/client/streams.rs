//! What follows a call or confirmations: wire streams with our errors.

use moss_proto::v1;
use moss_proto::v1::stream_call_tool_response::Event;
use tonic::Streaming;

use super::RequestFailure;

/// The events of a call. Dropping it cancels the call.
#[derive(Debug)]
pub(crate) struct Calling(pub(super) Streaming<v1::StreamCallToolResponse>);

/// Confirmations as they come and go.
#[derive(Debug)]
pub(crate) struct Watching(pub(super) Streaming<v1::WatchConfirmationsResponse>);

/// Changes of a catalog.
#[derive(Debug)]
pub(crate) struct WatchingTools(pub(super) Streaming<v1::WatchToolsResponse>);

// === impl Calling ===

impl Calling {
    /// Returns the next event; the last one is the result.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`]: the call could not run, or the daemon is gone.
    pub(crate) async fn next(&mut self) -> Result<Event, RequestFailure> {
        loop {
            let message = self.0.message().await.map_err(|status| RequestFailure::from(&status))?;
            match message {
                Some(v1::StreamCallToolResponse { event: Some(event) }) => return Ok(event),
                // An event of a newer daemon.
                Some(v1::StreamCallToolResponse { event: None }) => {}
                None => return Err(RequestFailure::incomplete("result")),
            }
        }
    }
}

// === impl Watching ===

impl Watching {
    /// Returns the next confirmation that is new or was decided; none when the daemon stops.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`].
    pub(crate) async fn next(&mut self) -> Result<Option<v1::Confirmation>, RequestFailure> {
        let message = self.0.message().await.map_err(|status| RequestFailure::from(&status))?;
        Ok(message.and_then(|message| message.confirmation))
    }
}

// === impl WatchingTools ===

impl WatchingTools {
    /// Waits for the next change; `false` once the stream has ended.
    pub(crate) async fn next(&mut self) -> bool {
        matches!(self.0.message().await, Ok(Some(_)))
    }
}
