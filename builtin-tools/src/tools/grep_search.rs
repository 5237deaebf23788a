//! `grep_search`: the lines that a regular expression matches, over all files.

mod hits;
pub(crate) mod line_search;
mod pattern;

use moss_sdk::context::Context;
use moss_sdk::file::{SkippedTexts, VisitOptions, Visited};
use moss_sdk::{Effect, RelPath, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use self::hits::COUNTED_MAX;
use self::hits::{Hit, Hits};
use self::pattern::Pattern;
use crate::extent;
use crate::file_types::FileTypes;

/// Most matches of one result.
const LIMIT_MAX: u64 = 1_000;
/// How far one search goes.
const EXTENT: VisitOptions = VisitOptions { entries_max: extent::VISITED_MAX, bytes_max: 2 << 30 };

/// Matches of a result where nobody says.
pub(crate) const LIMIT_DEFAULT: u64 = 50;

fn default_limit() -> u64 {
    LIMIT_DEFAULT
}

/// Searches the text files of the workspace for a regular expression and returns the matching
/// lines, with two lines of context on either side: source before tests before documents before
/// vendored and generated files, then by path, then by line.
///
/// The syntax is that of Rust's `regex` crate, close to Perl's, without look-around and without
/// back-references; special characters in plain text need a backslash (`foo\(`). A match lies
/// within one line, unless the pattern says `\n`. What ignore files such as `.gitignore` name,
/// binary files and files that the policy closes are left out and counted in `skipped`. A line
/// that an earlier match shows as context is not shown again. To find files by name, use
/// file_search; to see more of a file, use read_file.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GrepSearch {
    /// The regular expression, such as `fn \w+_search` or `TODO|FIXME`.
    pattern: String,
    /// Searches only files of this type: a type name (`rust`, `py`) or an extension (`.rs`,
    /// `tsx`), several separated by commas. Default: every text file.
    file_type: Option<String>,
    /// Whether upper and lower case differ. Default: false.
    #[serde(default)]
    case_sensitive: bool,
    /// Most matches to return, up to 1,000; all are counted. Default: 50.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u64,
}

/// Lines that match.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GrepSearchOutput {
    /// The matches: source, tests, documents, vendored; then by path and line. A line with several
    /// matches is one.
    matches: Vec<Hit>,
    /// How many matches there are, those included that are not returned.
    total_matches: u64,
    /// How many files have a match.
    files_matched: u64,
    /// How many files were searched.
    files_searched: u64,
    /// Whether matches are missing because of a bound; `note` says which.
    truncated: bool,
    /// How many entries were not searched, by reason.
    skipped: SkippedTexts,
    /// What is missing, and how to see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Tool for GrepSearch {
    const NAME: &'static str = "grep_search";
    const TITLE: &'static str = "Search in files";
    const EFFECT: Effect = Effect::Read;
    type Output = GrepSearchOutput;

    async fn run(self, cx: Context) -> Result<GrepSearchOutput, ToolError> {
        let pattern = Pattern::compile(&self.pattern, self.case_sensitive)?;
        let types = self.file_type.as_deref().map(FileTypes::parse).transpose()?;
        let has_types = types.is_some();
        let limit = usize::try_from(self.limit.min(LIMIT_MAX)).expect("the bound is small");
        let hits = Hits::new(pattern, types, limit);
        let (hits, visited) = cx.visit(&RelPath::root(), EXTENT, hits).await?;
        Ok(output(hits, visited, has_types))
    }
}

fn output(hits: Hits, visited: Visited, has_types: bool) -> GrepSearchOutput {
    let missing = hits.total > hits.matches.len() as u64;
    GrepSearchOutput {
        note: note(&hits, &visited, has_types),
        total_matches: hits.total,
        files_matched: hits.files,
        files_searched: visited.files,
        truncated: missing || hits.is_counted_out() || visited.truncated,
        skipped: visited.skipped,
        matches: hits.matches,
    }
}

fn note(hits: &Hits, visited: &Visited, has_types: bool) -> Option<String> {
    let mut notes = Vec::new();
    let shown = hits.matches.len();
    if hits.is_counted_out() {
        notes.push(format!(
            "{shown} matches of more than {COUNTED_MAX}, where counting ended: make the pattern \
             more exact"
        ));
    } else if hits.total > shown as u64 {
        let total = hits.total;
        notes.push(format!(
            "{shown} of {total} matches: make the pattern more exact, give a `fileType`, or raise \
             `limit`"
        ));
    }
    if visited.truncated {
        let files = visited.files;
        notes.push(format!("the search ended at a bound after {files} files: the rest is unknown"));
    }
    if visited.files == 0 && has_types {
        notes.push("no file of the wanted types was found".to_owned());
    }
    if visited.skipped.unapproved > 0 {
        let files = visited.skipped.unapproved;
        notes.push(format!(
            "not searched because a confirmation is needed first: {files}; read_file asks for it"
        ));
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

#[cfg(test)]
mod tests;
