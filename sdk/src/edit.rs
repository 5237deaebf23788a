//! How a tool proposes file changes. Nothing here is written: the host shows a change set as a
//! diff, lets the policy decide, and commits all of it or nothing.

mod splice;

use std::fmt;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;
use crate::path::RelPath;

pub use self::splice::{SpliceFault, splice};

/// The proposed file changes of one call; at most one change per path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeSet {
    /// The changes, in the order in which they are shown.
    pub changes: Vec<Change>,
}

/// One proposed change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Path relative to the workspace root.
    pub path: RelPath,
    /// What happens to it.
    pub kind: ChangeKind,
    /// How the locations of an edit were found, where they were searched for; none where they were
    /// named by number, and for all that is not an edit.
    pub matched: Option<Matched>,
}

/// How the locations of an edit were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matched {
    /// The weakest level at which one of the searched texts was found.
    pub level: MatchLevel,
    /// Lines that the edit changes or removes, or that alone determine its location, and that are
    /// not as the search claimed. Such an edit is never carried out without a person who has seen
    /// them.
    pub drift: Vec<Drift>,
}

/// How a searched text was found in a file: the nine levels of the specification, from the
/// strictest on. The wire form is the snake-case name.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum MatchLevel {
    /// Character for character; only line ends may differ.
    Exact,
    /// Lines are equal without the white space around them.
    LineTrimmed,
    /// Equal where every run of white space is one blank.
    WhitespaceNormalized,
    /// Lines are equal without indentation, and blank lines may be more or fewer.
    IndentFlexible,
    /// Equal once escape sequences of the search are undone.
    EscapeNormalized,
    /// Equal but for white space around the search as a whole.
    TrimmedBoundary,
    /// Equal once typographic characters are plain ones.
    UnicodeNormalized,
    /// First and last line are equal, those between are alike by 60 % at least.
    BlockAnchor,
    /// Every line is alike by 80 % at least.
    ContextAware,
}

/// A line of the file that is not the line that was searched for, in an edit that replaces it or
/// whose location it determines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drift {
    /// Its number in the file before the edit, from 1.
    pub line: u64,
    /// What the search said it was.
    pub expected: String,
    /// What the file has there.
    pub found: String,
}

/// What a change does to its file. `base` is the hash of the content that the tool looked at: if
/// the file has another one at commit, the change is a conflict and nothing is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// Makes a new UTF-8 file and its missing parent directories; the path must not exist.
    Create {
        /// The text with the line ends that it shall have.
        content: String,
    },
    /// Replaces the whole file by UTF-8 text, byte for byte; mode and ownership stay.
    Write {
        /// The content that is replaced.
        base: ContentHash,
        /// The text with the line ends that it shall have.
        content: String,
    },
    /// Replaces spans of a text file. Bytes outside the spans stay as they are.
    Edit {
        /// The content that the spans refer to.
        base: ContentHash,
        /// The replacements, in ascending order, without overlap.
        splices: Vec<Splice>,
    },
    /// Removes the file; parent directories stay.
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
    /// Makes a change set of one change of which nothing was searched for.
    pub fn one(path: RelPath, kind: ChangeKind) -> Self {
        Self { changes: vec![Change::new(path, kind)] }
    }
}

// === impl Change ===

impl Change {
    /// Makes a change of which nothing was searched for.
    pub fn new(path: RelPath, kind: ChangeKind) -> Self {
        Self { path, kind, matched: None }
    }
}

// === impl MatchLevel ===

impl MatchLevel {
    /// Every level, the strictest first.
    pub const ALL: [Self; 9] = [
        Self::Exact,
        Self::LineTrimmed,
        Self::WhitespaceNormalized,
        Self::IndentFlexible,
        Self::EscapeNormalized,
        Self::TrimmedBoundary,
        Self::UnicodeNormalized,
        Self::BlockAnchor,
        Self::ContextAware,
    ];

    /// Returns the wire form, for example `line_trimmed`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LineTrimmed => "line_trimmed",
            Self::WhitespaceNormalized => "whitespace_normalized",
            Self::IndentFlexible => "indent_flexible",
            Self::EscapeNormalized => "escape_normalized",
            Self::TrimmedBoundary => "trimmed_boundary",
            Self::UnicodeNormalized => "unicode_normalized",
            Self::BlockAnchor => "block_anchor",
            Self::ContextAware => "context_aware",
        }
    }

    /// Reads the wire form.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == text)
    }
}

impl fmt::Display for MatchLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_form_of_every_level_is_its_serde_name() {
        for level in MatchLevel::ALL {
            assert_eq!(serde_json::to_value(level).unwrap(), level.as_str());
            assert_eq!(MatchLevel::parse(level.as_str()), Some(level));
        }
        assert!(MatchLevel::ALL.is_sorted());
    }
}
