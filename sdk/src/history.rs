//! What a tool can see of past changes.

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Serialize;

use crate::edit::MatchLevel;
use crate::file::Content;
use crate::hash::ContentHash;
use crate::path::RelPath;

/// Which past changes to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastQuery {
    /// Only changes of this file, by any of its names; none for all changes.
    pub path: Option<RelPath>,
    /// Only the change with this number; none for all changes.
    pub number: Option<u64>,
    /// Most changes to return, the newest first.
    pub changes_max: usize,
    /// Most bytes of diff over all of them.
    pub diff_bytes_max: usize,
}

/// Past changes, the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Past {
    /// At most as many as were asked for.
    pub changes: Vec<PastChange>,
    /// Whether there are older ones.
    pub has_more: bool,
}

/// What one call changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastChange {
    /// Its stable number in the workspace's history; they rise, with gaps.
    pub number: u64,
    /// When it was made, by the wall clock.
    pub at: SystemTime,
    /// The tool that made it.
    pub tool: String,
    /// Name of the credential that called.
    pub caller: String,
    /// The numbers of the changes that it undid, the newest first; none where it is no undo.
    pub undo_of: Vec<u64>,
    /// The numbers of the changes that undid it, the newest first.
    pub undone_by: Vec<u64>,
    /// What happened to each file.
    pub files: Vec<PastFile>,
}

/// What a change did to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastFile {
    /// Path relative to the workspace root.
    pub path: RelPath,
    /// What became of the file between the two contents.
    pub action: PastAction,
    /// The content before; none where there was no file, or the caller may not read it.
    pub before: Option<ContentHash>,
    /// The content after; none where there is no file, or the caller may not read it.
    pub after: Option<ContentHash>,
    /// Lines that are new or changed.
    pub lines_added: u64,
    /// Lines that are gone or changed.
    pub lines_removed: u64,
    /// How the locations of an edit were found; none where nothing was searched for.
    pub match_level: Option<MatchLevel>,
    /// A unified diff, or why it is missing.
    pub diff: PastDiff,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PastAction {
    /// There was no file before.
    Create,
    /// There was a file before and after; the content differs.
    Modify,
    /// There is no file any more.
    Delete,
}

/// A diff of the past, or why it is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastDiff {
    /// The diff; where the bound cut it, it says so at its end.
    Shown(String),
    /// The contents are no longer kept.
    Forgotten,
    /// The policy does not let the caller read the file.
    Denied,
    /// The diffs before it are as long as the bound allows.
    TooLong,
}

/// One past change with the contents of its files: what it takes to make it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recalled {
    /// Its stable number in the workspace's history.
    pub number: u64,
    /// The tool that made it.
    pub tool: String,
    /// The numbers of the changes that it undid, the newest first; none where it is no undo.
    pub undo_of: Vec<u64>,
    /// What happened to each file.
    pub files: Vec<RecalledFile>,
}

/// What a change did to one file, with the contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecalledFile {
    /// The file, by its real path.
    pub path: RelPath,
    /// What became of the file between the two contents.
    pub action: PastAction,
    /// The content before; none where there was no file.
    pub before: Option<RecalledContent>,
    /// The content after; none where there was no file.
    pub after: Option<RecalledContent>,
}

/// A content of the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecalledContent {
    /// The hash of its bytes.
    pub hash: ContentHash,
    /// What it was; none where it is no longer kept.
    pub content: Option<Content>,
}

// === impl PastQuery ===

impl PastQuery {
    /// Asks for so many of the newest changes, of all files and without their diffs.
    pub fn newest(changes_max: usize) -> Self {
        Self { path: None, number: None, changes_max, diff_bytes_max: 0 }
    }
}
