//! Which of the matches a search returns, and in which form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::result_page::PageSize;

/// How many matches a file has.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FileCount {
    /// The file, relative to the workspace root.
    pub(super) path: String,
    /// How many matches it has.
    pub(super) matches: u64,
}

/// What is returned of matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum HitView {
    #[default]
    Matches,
    Files,
    Counts,
}

/// Which of the matches are returned, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct HitPage {
    pub(super) view: HitView,
    /// So many matches or files are passed over.
    pub(super) offset: usize,
    /// How many of them are returned.
    pub(super) size: PageSize,
    /// Lines shown before and after a match.
    pub(super) context_lines: usize,
}
