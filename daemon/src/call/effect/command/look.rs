//! How a file looks from outside, before a command and after it. Pure.

use std::time::{Duration, SystemTime};

use moss_sdk::file::{Entry, EntryKind};

/// How a file looks from outside. A program can give it its old time, and not the time of that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileLook {
    pub(super) is_file: bool,
    pub(super) size_bytes: Option<u64>,
    pub(super) modified: Option<SystemTime>,
    pub(super) changed: Option<SystemTime>,
}

// === impl FileLook ===

impl FileLook {
    /// How an entry of a listing looks.
    pub(super) fn of(entry: &Entry) -> Self {
        let Entry { kind, size_bytes, modified, changed, .. } = *entry;
        Self { is_file: kind == EntryKind::File, size_bytes, modified, changed }
    }

    /// The size of a file whose content can be read.
    pub(super) fn file_bytes(&self) -> Option<u64> {
        self.size_bytes.filter(|_| self.is_file)
    }

    /// Whether a program has written it, or only given it a time.
    pub(super) fn is_retimed(&self, now: &Self) -> bool {
        self.file_bytes().is_some()
            && self.file_bytes() == now.file_bytes()
            && self.modified != now.modified
    }

    /// Whether it has looked so for a while.
    pub(super) fn is_settled(&self, now: SystemTime, after: Duration) -> bool {
        let age = self.changed.and_then(|changed| now.duration_since(changed).ok());
        age.is_some_and(|age| age > after)
    }
}
