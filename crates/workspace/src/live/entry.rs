//! What is known of one name in a directory: 64 bytes.

use std::time::SystemTime;

use moss_sdk::file::EntryKind;

use crate::file_mark::{FileMark, is_sure, nanoseconds};
use crate::handle::{Identity, Stat, time};

/// The number of a directory in the store.
pub(super) type DirectoryNumber = u32;

/// In place of the number of a directory that is not known.
pub(super) const NONE: DirectoryNumber = DirectoryNumber::MAX;

/// What is known of one name.
#[derive(Debug, Clone, Copy)]
pub(super) struct LiveEntry {
    pub(super) size_bytes: u64,
    pub(super) identity: Identity,
    pub(super) modified: SystemTime,
    changed: i64,
    changed_ns: u32,
    name_start: u32,
    /// The directory that it is.
    pub(super) child: DirectoryNumber,
    name_bytes: u16,
    pub(super) state: EntryState,
    flags: u8,
}

/// How a walk takes an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryState {
    /// Shown, as what it is.
    Listed(EntryKind),
    /// A directory that is shown and cannot be entered.
    Closed,
    /// Left out by an ignore file.
    Ignored,
    /// Not to be looked at, or not nameable.
    Unreadable,
}

/// It had other names when it was looked at.
const LINKED: u8 = 1;
/// It had been left alone for long enough when it was looked at.
const SURE: u8 = 2;

// === impl LiveEntry ===

impl LiveEntry {
    pub(super) fn new(stat: &Stat, is_ignored: bool, now: SystemTime) -> Self {
        let is_sure = is_sure(stat, now);
        let is_linked = stat.kind == EntryKind::File && stat.names > 1;
        Self {
            size_bytes: stat.size_bytes,
            identity: stat.identity,
            modified: stat.modified,
            changed: stat.changed.0,
            changed_ns: nanoseconds(stat),
            name_start: 0,
            child: NONE,
            name_bytes: 0,
            state: if is_ignored { EntryState::Ignored } else { EntryState::Listed(stat.kind) },
            flags: if is_linked { LINKED } else { 0 } | if is_sure { SURE } else { 0 },
        }
    }

    pub(super) fn unreadable() -> Self {
        Self {
            size_bytes: 0,
            identity: Identity { device: 0, inode: 0 },
            modified: SystemTime::UNIX_EPOCH,
            changed: 0,
            changed_ns: 0,
            name_start: 0,
            child: NONE,
            name_bytes: 0,
            state: EntryState::Unreadable,
            flags: 0,
        }
    }

    /// The same, with its name at so many bytes from a start.
    pub(super) fn named(self, name_start: u32, name_bytes: u16) -> Self {
        Self { name_start, name_bytes, ..self }
    }

    /// The same, with the name of another.
    pub(super) fn named_as(self, other: &Self) -> Self {
        self.named(other.name_start, other.name_bytes)
    }

    /// Where its name is.
    pub(super) fn name(&self) -> std::ops::Range<usize> {
        let start = self.name_start as usize;
        start..start + usize::from(self.name_bytes)
    }

    pub(super) fn is_file(&self) -> bool {
        self.state == EntryState::Listed(EntryKind::File)
    }

    pub(super) fn is_linked(&self) -> bool {
        self.flags & LINKED != 0
    }

    pub(super) fn mark(&self) -> FileMark {
        FileMark {
            identity: self.identity,
            size_bytes: self.size_bytes,
            modified: self.modified,
            changed: self.changed(),
            is_sure: self.is_sure(),
        }
    }

    pub(super) fn is_sure(&self) -> bool {
        self.flags & SURE != 0
    }

    /// When anything about it changed last.
    pub(super) fn changed(&self) -> (i64, u32) {
        (self.changed, self.changed_ns)
    }

    /// The same, as a time.
    pub(super) fn changed_time(&self) -> SystemTime {
        time(self.changed, i64::from(self.changed_ns))
    }

    /// Whether a scan takes it as it takes another one of the same name.
    pub(super) fn is_shaped_as(&self, other: &Self) -> bool {
        self.state == other.state && self.child == other.child
    }

    /// Whether it is a directory that could not be entered before, if it still cannot be.
    pub(super) fn is_still_closed(&self, before: &Self) -> bool {
        self.state == EntryState::Listed(EntryKind::Directory)
            && before.state == EntryState::Closed
            && self.identity == before.identity
    }

    /// Whether nothing speaks for another content than before.
    pub(super) fn is_as(&self, before: &Self) -> bool {
        before.is_sure()
            && self.state == before.state
            && self.identity == before.identity
            && self.size_bytes == before.size_bytes
            && self.modified == before.modified
            && self.changed() == before.changed()
    }
}
