//! What shows that a regular file is the one that was read, without reading it again.

use std::time::SystemTime;

use crate::handle::{Identity, Stat};

/// A file that changed so short a time before it was looked at may have changed again since, without
/// another time or size.
const UNSURE_S: i64 = 2;

/// What is known of one regular file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileMark {
    /// Which file it is.
    pub identity: Identity,
    /// Size of its content, in bytes.
    pub size_bytes: u64,
    /// When its content changed last.
    pub modified: SystemTime,
    /// When anything about it changed last, in seconds and nanoseconds.
    pub changed: (i64, u32),
    /// Whether it had been left alone for long enough when it was looked at: otherwise it may have
    /// another content by now under the same times and size.
    pub is_sure: bool,
}

/// Whether a file had been left alone for long enough when it was looked at.
pub(crate) fn is_sure(stat: &Stat, now: SystemTime) -> bool {
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    i64::try_from(now).is_ok_and(|now| stat.changed.0 < now - UNSURE_S)
}

/// The part of a second of when anything about a file changed last.
pub(crate) fn nanoseconds(stat: &Stat) -> u32 {
    u32::try_from(stat.changed.1).unwrap_or_default()
}

// === impl FileMark ===

impl FileMark {
    /// What is known of a file that was just looked at.
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            identity: stat.identity,
            size_bytes: stat.size_bytes,
            modified: stat.modified,
            changed: (stat.changed.0, nanoseconds(stat)),
            is_sure: is_sure(stat, SystemTime::now()),
        }
    }
}
