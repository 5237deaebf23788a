//! Bodies of requests, bounded in size, in time and together.

use std::fmt::Display;
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use http::StatusCode;
use http_body::Body;
use http_body_util::BodyExt as _;

use super::caller_share::{CallerShare, SharedUnits, TakenUnits};
use super::refusal::HttpRefusal;
use crate::lines::LINE_BYTES_MAX;
use crate::overlong::{self, HEAD_BYTES};

/// How long a body may take to come.
const BODY_WAIT_MAX: Duration = Duration::from_secs(60);
/// Bytes of all bodies that are held at once, in units of [`UNIT_BYTES`].
const UNITS_MAX: usize = 4 * LINE_BYTES_MAX / UNIT_BYTES;
const UNIT_BYTES: usize = 4 * 1024;

/// Room for the bodies of requests that have no response yet: what they carry is held as long.
#[derive(Debug)]
pub(super) struct BodyRooms(SharedUnits);

/// The room for those of one caller.
#[derive(Debug)]
pub(super) struct BodyRoom(CallerShare);

// === impl BodyRooms ===

impl Default for BodyRooms {
    fn default() -> Self {
        Self(SharedUnits::new(UNITS_MAX))
    }
}

impl BodyRooms {
    /// The room of a caller.
    pub(super) fn of(&self, caller: &str) -> BodyRoom {
        BodyRoom(self.0.of(caller))
    }
}

// === impl BodyRoom ===

impl BodyRoom {
    /// Reads a body to its end; one that says that it is too long is not begun.
    pub(super) async fn read<B>(&self, body: B) -> Result<(Vec<u8>, TakenUnits), HttpRefusal>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: Display,
    {
        if body.size_hint().lower() > LINE_BYTES_MAX as u64 {
            return Err(too_long(&[]));
        }
        let read = tokio::time::timeout(BODY_WAIT_MAX, self.read_all(body)).await;
        read.unwrap_or_else(|_| {
            let message = format!(
                "the body did not come within {} s: send the request again, or less at once",
                BODY_WAIT_MAX.as_secs()
            );
            Err(HttpRefusal::new(StatusCode::REQUEST_TIMEOUT, message))
        })
    }

    async fn read_all<B>(&self, mut body: B) -> Result<(Vec<u8>, TakenUnits), HttpRefusal>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: Display,
    {
        let mut bytes = Vec::new();
        let mut taken = self.take(1)?;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                let message = format!("the body was interrupted: {error}; send the request again");
                HttpRefusal::new(StatusCode::BAD_REQUEST, message)
            })?;
            let Ok(data) = frame.into_data() else { continue };
            if bytes.len() + data.remaining() > LINE_BYTES_MAX {
                // What follows is not read.
                let missing = HEAD_BYTES.saturating_sub(bytes.len()).min(data.len());
                bytes.extend_from_slice(&data[..missing]);
                return Err(too_long(&bytes));
            }
            bytes.extend_from_slice(&data);
            let units = bytes.len().div_ceil(UNIT_BYTES);
            if let Some(more) = units.checked_sub(taken.count()).filter(|more| *more > 0) {
                taken.merge(self.take(more)?);
            }
        }
        Ok((bytes, taken))
    }

    fn take(&self, units: usize) -> Result<TakenUnits, HttpRefusal> {
        self.0.take(units).ok_or_else(|| {
            let message = "too many bytes of requests are under way: try again in a moment";
            HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, message)
        })
    }
}

/// Why a body is not read, or no further than `head`.
fn too_long(head: &[u8]) -> HttpRefusal {
    HttpRefusal::too_large(overlong::response(LINE_BYTES_MAX, head, &[]))
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;

    use super::super::caller_share::SHARE_PARTS;
    use super::*;

    async fn status(room: &BodyRoom, bytes: usize) -> Option<u16> {
        let read = room.read(Full::from(vec![b'x'; bytes])).await;
        read.err().map(|refusal| refusal.response().status().as_u16())
    }

    #[tokio::test]
    async fn the_error_of_a_body_that_turns_out_too_long_has_the_id_of_its_request() {
        let rooms = BodyRooms::default();
        let begun = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"x":""#;
        let body = begun.to_owned() + &"x".repeat(LINE_BYTES_MAX);
        // A body whose frames are mapped does not say how long it is.
        let body = Full::<Bytes>::from(body).map_frame(|frame| frame);
        assert_eq!(body.size_hint().lower(), 0);
        let refusal = rooms.of("alice").read(body).await.err().unwrap();
        let body = refusal.response().into_body().collect().await.unwrap().to_bytes();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["id"], "a", "{body}");
    }

    #[tokio::test]
    async fn bodies_are_bounded_each_and_together() {
        let rooms = BodyRooms::default();
        let room = rooms.of("alice");
        let (bytes, taken) = room.read(Full::from(vec![b'x'; 10_000])).await.unwrap();
        assert_eq!((bytes.len(), taken.count()), (10_000, 3));
        assert_eq!(status(&room, LINE_BYTES_MAX + 1).await, Some(413));
        let others = room.take(UNITS_MAX / SHARE_PARTS - 4).unwrap();
        assert_eq!(status(&rooms.of("bob"), LINE_BYTES_MAX).await, None);
        assert_eq!(status(&room, UNIT_BYTES).await, None);
        assert_eq!(status(&room, UNIT_BYTES + 1).await, Some(503));
        drop((others, taken));
        assert_eq!(status(&room, LINE_BYTES_MAX).await, None);
    }
}
