//! What an index says about itself.

use crate::problem::IndexProblem;

/// What an index can do at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexState {
    /// It knows some documents; others have to be read, or it was not reported yet which there are.
    Building,
    /// It knows all documents.
    Ready,
    /// It is not kept. Searches read everything.
    Off(IndexProblem),
}

/// An index at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexStatus {
    /// What it can do.
    pub state: IndexState,
    /// How many documents there are.
    pub documents: u64,
    /// How many of them it knows, those included that are no text or cannot be read.
    pub indexed: u64,
    /// How many of them are no text.
    pub binary: u64,
    /// Size of its files.
    pub disk_bytes: u64,
    /// Memory that it takes, roughly.
    pub memory_bytes: u64,
    /// How many segments it has.
    pub segments: u64,
    /// Counts what was reported to it of documents.
    pub generation: u64,
    /// What went wrong last, for the log: results were right all the same.
    pub problem: Option<IndexProblem>,
}
