//! How much of all responses may wait to be read: a client that asks and reads nothing must not fill the
//! memory. A response that does not fit is not kept; its request ends with an error.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of all responses that wait at once, in units of [`UNIT_BYTES`].
const UNITS_MAX: usize = (256 << 20) / UNIT_BYTES;
const UNIT_BYTES: usize = 4 << 10;
/// The part of them that one caller has at most: one in so many.
const SHARE_PARTS: usize = 2;
/// What takes no room: small responses are passed on whatever waits.
const FREE_BYTES: usize = 32 << 10;

/// The room for the responses of a port.
#[derive(Debug)]
pub(super) struct ResponseRooms {
    all: Arc<Semaphore>,
    callers: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// The room for those to one caller.
#[derive(Debug)]
pub(super) struct ResponseRoom {
    all: Arc<Semaphore>,
    own: Arc<Semaphore>,
}

/// The room that one response takes until it is dropped.
#[derive(Debug)]
pub(super) struct HeldRoom {
    _all: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
}

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
        Self { all: Arc::new(Semaphore::new(UNITS_MAX)), callers: Mutex::default() }
    }
}

impl ResponseRooms {
    /// The room of a caller.
    pub(super) fn of(&self, caller: &str) -> ResponseRoom {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        // Callers for whom nothing waits are forgotten on the way.
        callers.retain(|name, own| name == caller || Arc::strong_count(own) > 1);
        let new = || Arc::new(Semaphore::new(UNITS_MAX / SHARE_PARTS));
        let own = Arc::clone(callers.entry(caller.to_owned()).or_insert_with(new));
        ResponseRoom { all: Arc::clone(&self.all), own }
    }
}

// === impl ResponseRoom ===

impl ResponseRoom {
    /// Takes room for so many bytes; none for a few.
    ///
    /// # Errors
    ///
    /// Where others that wait leave too little.
    pub(super) fn hold(&self, bytes: usize) -> Result<Option<HeldRoom>, NoRoom> {
        if bytes <= FREE_BYTES {
            return Ok(None);
        }
        let units = u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX);
        let take = |room: &Arc<Semaphore>| Arc::clone(room).try_acquire_many_owned(units);
        let full = |_| NoRoom(bytes);
        let own = take(&self.own).map_err(full)?;
        Ok(Some(HeldRoom { _all: take(&self.all).map_err(full)?, _own: own }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_bounded_for_each_caller_and_together() {
        let rooms = ResponseRooms::default();
        let half = UNITS_MAX / SHARE_PARTS * UNIT_BYTES;
        let (alice, bob, carol) = (rooms.of("alice"), rooms.of("bob"), rooms.of("carol"));
        let first = alice.hold(half).unwrap();
        assert!(first.is_some());
        // Whichever connection it comes over.
        assert_eq!(rooms.of("alice").hold(FREE_BYTES + 1).unwrap_err(), NoRoom(FREE_BYTES + 1));
        assert!(alice.hold(FREE_BYTES).unwrap().is_none());
        let _other = bob.hold(half).unwrap();
        carol.hold(half).unwrap_err();
        drop(first);
        carol.hold(half).unwrap();
    }

    #[test]
    fn callers_for_whom_nothing_waits_are_forgotten() {
        let rooms = ResponseRooms::default();
        let held = rooms.of("alice").hold(FREE_BYTES + 1).unwrap();
        for number in 0..100 {
            rooms.of(&number.to_string());
        }
        let names: Vec<_> = rooms.callers.lock().unwrap().keys().cloned().collect();
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(names.iter().any(|name| name == "alice"), "{names:?}");
        drop(held);
    }
}
