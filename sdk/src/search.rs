//! A search over the texts of a workspace, as a plugin asks for it, and what it found.

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextQuery {
    /// A regular expression in the syntax of the `regex` crate.
    pub pattern: String,
    /// Whether upper and lower case differ.
    pub case_sensitive: bool,
    /// Type names or extensions, separated by commas; none for every text file.
    pub file_types: Option<String>,
    /// Most lines to return; all are counted.
    pub lines_max: u32,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextQueryResult {
    /// The lines, in the order of [`ranking`](crate::ranking), then by number.
    pub lines: Vec<FoundLine>,
    /// How many lines match, those included that are not returned.
    pub total: u64,
    /// How many files have a match.
    pub files_matched: u64,
    /// How many files were searched.
    pub files_searched: u64,
    /// Whether lines are missing because of a bound.
    pub is_truncated: bool,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLine {
    /// The file, relative to the workspace.
    pub path: String,
    /// The number of the line, from 1; of a match over several, of the first one.
    pub number: u64,
    /// Where the first match starts, in characters, from 1.
    pub column: u64,
    /// The line without its end; of a long one, the part around the match.
    pub text: String,
}
