//! What planning an undo takes: memory, of which whoever asks for the plan has a share, and the time
//! that merges of files take together.

use std::cell::Cell;
use std::time::Duration;

use moss_sdk::RelPath;

use crate::error::Error;

/// How long the files of one undo are merged, all together.
const MERGING_MAX: Duration = Duration::from_secs(20);

/// What planning an undo may take.
#[derive(Clone, Copy)]
pub struct UndoBounds<'a> {
    /// Whether nobody waits for the plan any more.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    /// Holds so many bytes from now on, in place of those before. Where there is no room, the most that
    /// there may be.
    pub hold: &'a dyn Fn(u64) -> Result<(), u64>,
    /// How long files may be merged, all together.
    pub merging_max: Duration,
}

/// What planning an undo has taken.
#[derive(Clone)]
pub(super) struct UndoLoad<'a> {
    bounds: UndoBounds<'a>,
    /// Bytes of files that are planned already.
    pub(super) kept: u64,
    merging: Cell<Duration>,
}

// === impl UndoBounds ===

impl Default for UndoBounds<'_> {
    fn default() -> Self {
        Self { cancelled: &|| false, hold: &|_| Ok(()), merging_max: MERGING_MAX }
    }
}

// === impl UndoLoad ===

impl<'a> UndoLoad<'a> {
    pub(super) fn new(bounds: UndoBounds<'a>) -> Self {
        Self { bounds, kept: 0, merging: Cell::default() }
    }

    /// The same, with less time of its own for merges.
    pub(super) fn within(&self, merging_max: Duration) -> Self {
        let bounds = UndoBounds { merging_max, ..self.bounds };
        Self { bounds, kept: self.kept, merging: Cell::default() }
    }

    pub(super) fn cancelled(&self) -> &'a dyn Fn() -> bool {
        self.bounds.cancelled
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if (self.bounds.cancelled)() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Whether there is time for one more merge.
    pub(super) fn check_time(&self, path: &RelPath) -> Result<(), Error> {
        let max = self.bounds.merging_max;
        if self.merging.get() < max {
            return Ok(());
        }
        Err(Error::MergeTime { path: path.clone(), max })
    }

    /// Notes that a merge took so long.
    pub(super) fn spend(&self, time: Duration) {
        self.merging.set(self.merging.get().saturating_add(time));
    }

    /// How long merges have taken.
    pub(super) fn spent(&self) -> Duration {
        self.merging.get()
    }

    /// Holds so many bytes for the file that is being planned, beside those of the others.
    pub(super) fn hold(&self, bytes: usize) -> Result<(), Error> {
        let bytes = self.kept.saturating_add(bytes as u64);
        (self.bounds.hold)(bytes).map_err(|bytes_max| Error::Memory { bytes, bytes_max })
    }
}
