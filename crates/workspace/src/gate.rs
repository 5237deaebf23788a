//! What a walk over texts asks of its caller about entries.

use std::any::Any;
use std::sync::Arc;

use moss_sdk::RelPath;

use crate::buffers::Buffers;

/// What decides about the entries of a walk over texts. Several threads ask it at once.
#[derive(Clone, Copy)]
pub struct VisitGate<'a> {
    /// Whether a directory may be listed, by one of its paths.
    pub lists: &'a (dyn Fn(&RelPath) -> bool + Sync),
    /// Whether a file may be read, by its real path and by the one it is shown under.
    pub reads: &'a (dyn Fn(&RelPath, &RelPath) -> MayRead + Sync),
    /// Whether files that have other names besides are left out, as what may not be read.
    pub one_name: bool,
    /// Whether its large texts wait for none of those of others, who must not lock it out.
    pub is_apart: bool,
    /// What editors have not saved: it stands for the files.
    pub buffers: &'a dyn Buffers,
    /// Whether whoever waits for the walk has gone.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    /// What it decides by, where that can be named: what one gate was asked need not be asked another
    /// one of the same name.
    pub name: Option<&'a GateKey>,
}

/// What decides about the entries of a listing of a whole tree.
#[derive(Clone, Copy)]
pub struct ListingGate<'a> {
    /// Whether an entry may be shown, by one of its paths.
    pub lists: &'a dyn Fn(&RelPath) -> bool,
    /// Whether every entry may: then nobody is asked about each.
    pub lists_all: bool,
    /// Whether whoever waits for the listing has gone.
    pub cancelled: &'a dyn Fn() -> bool,
    /// As [`VisitGate::name`].
    pub name: Option<&'a GateKey>,
}

/// Names what a gate decides by: gates of the same name decide alike about every path, whenever they
/// are asked.
#[derive(Debug, Clone)]
pub struct GateKey {
    /// The rules, which never change. They are the same where this is the same one.
    pub rules: Arc<dyn Any + Send + Sync>,
    /// What else it looks at.
    pub facts: String,
}

// === impl GateKey ===

impl PartialEq for GateKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.rules, &other.rules) && self.facts == other.facts
    }
}

/// Whether a file may be read on a walk, where nobody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayRead {
    /// The policy allows it unasked.
    Yes,
    /// Somebody would have to be asked first.
    Unapproved,
    /// The policy denies it.
    No,
}
