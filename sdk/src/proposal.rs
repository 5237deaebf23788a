//! What becomes of changes that a tool proposes.

use crate::error::ToolError;
use crate::hash::ContentHash;
use crate::path::RelPath;

/// What became of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposalOutcome {
    /// The changes are made, or in a dry run would be.
    Applied(Applied),
    /// A file is no longer what the changes were made for, and nobody was shown them yet: they may
    /// be made anew for what it holds now. The error is for a tool that does not.
    Stale(ToolError),
}

/// What became of proposed changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The number in the workspace's history; none in a dry run, where nothing was written.
    pub history: Option<u64>,
    /// The files after the change, in the order of the change set.
    pub files: Vec<AppliedFile>,
}

/// One file after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedFile {
    /// Path relative to the workspace root.
    pub path: RelPath,
    /// The hash of its new content; none where it was deleted.
    pub hash: Option<ContentHash>,
}

// === impl ProposalOutcome ===

impl ProposalOutcome {
    /// Returns the changes that were made.
    ///
    /// # Errors
    ///
    /// `Conflict` where a file changed meanwhile.
    pub fn applied(self) -> Result<Applied, ToolError> {
        match self {
            Self::Applied(applied) => Ok(applied),
            Self::Stale(error) => Err(error),
        }
    }
}
