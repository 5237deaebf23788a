//! How a tool proposes file changes. Nothing here is written: the host shows a change set as a
//! diff, lets the policy decide, and commits all of it or nothing.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;
use crate::path::RelPath;

/// The proposed file changes of one call; at most one change per path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeSet {
    /// The changes, in the order in which they are shown.
    pub changes: Vec<Change>,
}

/// One proposed change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: RelPath,
    /// What happens to it.
    pub kind: ChangeKind,
}

/// What a change does to its file. `base` is the hash of the content that the tool looked at: if
/// the file has another one at commit, the change is a conflict and nothing is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// Makes a new UTF-8 file and its missing parent directories; the path must not exist.
    Create {
        /// The whole text.
        content: String,
    },
    /// Replaces the whole file by UTF-8 text, byte for byte; mode and ownership stay.
    Write {
        /// The content that is replaced.
        base: ContentHash,
        /// The whole text.
        content: String,
    },
    /// Replaces spans of a text file. Bytes outside the spans stay as they are.
    Edit {
        /// The content that the spans refer to.
        base: ContentHash,
        /// The replacements, in ascending order, without overlap.
        splices: Vec<Splice>,
    },
    /// Removes the file.
    Delete {
        /// The content that is removed.
        base: ContentHash,
        /// How much of it stays in history.
        retention: Retention,
    },
}

/// A replacement of one span of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    /// The span: byte offsets in the decoded text of the file, see `file::Text`.
    pub range: Range<usize>,
    /// The new text. Line ends in it become those of the file around the span.
    pub text: String,
}

/// Whether a deleted file can be brought back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retention {
    /// History keeps the content: undo brings the file back.
    Recoverable,
    /// History keeps only the record that the file was there.
    Permanent,
}

// === impl ChangeSet ===

impl ChangeSet {
    /// Makes a change set of one change.
    pub fn one(path: RelPath, kind: ChangeKind) -> Self {
        Self { changes: vec![Change { path, kind }] }
    }
}
