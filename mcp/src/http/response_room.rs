//! How much of all responses may wait to be read: a client that asks and reads nothing must not fill the
//! memory. A response that does not fit is not kept; its request ends with an error.

use std::fmt;

use super::caller_share::{CallerShare, SharedUnits, TakenUnits};

/// Bytes of all responses that wait at once, in units of [`UNIT_BYTES`].
const UNITS_MAX: usize = (256 << 20) / UNIT_BYTES;
const UNIT_BYTES: usize = 4 << 10;
/// What takes no room: small responses are passed on whatever waits.
const FREE_BYTES: usize = 32 << 10;

/// The room for the responses of a port.
#[derive(Debug)]
pub(super) struct ResponseRooms(SharedUnits);

/// The room for those to one caller.
#[derive(Debug)]
pub(super) struct ResponseRoom(CallerShare);

/// There is no room for so many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoRoom(usize);

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the request was carried out, but its response of {} bytes does not fit next to others that \
             wait to be read: read those, and ask for less at once",
            self.0
        )
    }
}

// === impl ResponseRooms ===

impl Default for ResponseRooms {
    fn default() -> Self {
        Self(SharedUnits::new(UNITS_MAX))
    }
}

impl ResponseRooms {
    /// The room of a caller.
    pub(super) fn of(&self, caller: &str) -> ResponseRoom {
        ResponseRoom(self.0.of(caller))
    }
}

// === impl ResponseRoom ===

impl ResponseRoom {
    /// Takes room for so many bytes; none for a few.
    ///
    /// # Errors
    ///
    /// Where others that wait leave too little.
    pub(super) fn hold(&self, bytes: usize) -> Result<Option<TakenUnits>, NoRoom> {
        if bytes <= FREE_BYTES {
            return Ok(None);
        }
        self.0.take(bytes.div_ceil(UNIT_BYTES)).map(Some).ok_or(NoRoom(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::caller_share::SHARE_PARTS;
    use super::*;

    #[test]
    fn responses_are_bounded_but_for_small_ones() {
        let rooms = ResponseRooms::default();
        let half = UNITS_MAX / SHARE_PARTS * UNIT_BYTES;
        let alice = rooms.of("alice");
        let first = alice.hold(half).unwrap();
        assert!(first.is_some());
        assert_eq!(alice.hold(FREE_BYTES + 1).unwrap_err(), NoRoom(FREE_BYTES + 1));
        assert!(alice.hold(FREE_BYTES).unwrap().is_none());
        drop(first);
        assert!(alice.hold(half).unwrap().is_some());
    }
}
