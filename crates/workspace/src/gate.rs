//! What a walk over texts asks of its caller about entries.

use moss_sdk::RelPath;

use crate::buffers::Buffers;

/// What decides about the entries of a walk over texts. Several threads ask it at once.
#[derive(Clone, Copy)]
pub struct VisitGate<'a> {
    /// Whether a directory may be listed, by one of its paths.
    pub lists: &'a (dyn Fn(&RelPath) -> bool + Sync),
    /// Whether a file may be read, by its real path and by the one it is shown under.
    pub reads: &'a (dyn Fn(&RelPath, &RelPath) -> MayRead + Sync),
    /// What editors have not saved: it stands for the files.
    pub buffers: &'a dyn Buffers,
    /// Whether whoever waits for the walk has gone.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// Whether a file may be read on a walk, where nobody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayRead {
    /// It may.
    Yes,
    /// Somebody would have to be asked first.
    Unapproved,
    /// It may not.
    No,
}
