//! What keeps a call out for now: limits that others have used up.

/// The queue is full, or the share of it that one caller has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{waiting} calls{} wait already (calls.queued_max)", whose(.is_share))]
pub struct QueueFull {
    /// How many calls wait.
    pub waiting: usize,
    /// Whether only those of the caller are meant.
    pub is_share: bool,
}

/// What calls came with takes too much memory together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "what this call came with takes {bytes} bytes of memory and does not fit next to that of other \
     calls of the {role} that run or wait: {bytes_max} bytes (calls.caller_bytes_max); wait for some \
     of them to end, then call again; a call alone that has no room is sent in parts"
)]
pub struct TooMuch {
    /// How many bytes the call takes.
    pub bytes: usize,
    /// How many there may be.
    pub bytes_max: usize,
    /// The role whose calls share the limit: `caller` or `approver`.
    pub role: &'static str,
}

/// More questions wait than a limit allows, or they hold more memory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TooManyConfirmations {
    /// Their number is at a limit.
    #[error("{max} confirmations {whose} wait already ({limit})")]
    Pending {
        /// The number that may wait.
        max: usize,
        /// Whose limit it is, for the message.
        whose: &'static str,
        /// Configuration key of the limit, such as `calls.queued_max`.
        limit: &'static str,
    },
    /// What waits takes too much memory.
    #[error(
        "this effect of {bytes} bytes does not fit next to pending questions {whose}: {max} bytes ({limit}); \
         wait for decisions, or have an approver send the call with the digest of its dry run"
    )]
    Bytes {
        /// How many bytes the effect takes.
        bytes: usize,
        /// How many there may be.
        max: usize,
        /// Whose limit it is, for the message.
        whose: &'static str,
        /// Configuration key of the limit, such as `calls.queued_max`.
        limit: &'static str,
    },
}

fn whose(is_share: &bool) -> &'static str {
    if *is_share { " of this caller, half of what may," } else { "" }
}
