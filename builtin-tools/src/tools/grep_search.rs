//! `grep_search`: the lines that a regular expression matches, over all files.

mod finder;
mod found;
mod hits;
pub(crate) mod line_search;
mod page;
mod pattern;
mod required;
mod scope;

use moss_ranking::FileTypes;
use moss_sdk::context::Context;
use moss_sdk::file::{SkippedTexts, VisitOptions, Visited};
use moss_sdk::{Effect, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use self::found::COUNTED_MAX;
use self::found::Hit;
use self::hits::Hits;
use self::page::{FileCount, HitPage, HitView};
use self::pattern::Pattern;
use self::scope::GrepScope;
use crate::extent;
use crate::result_page::PageSize;

/// Most matches of one result.
pub(crate) const LIMIT_MAX: u64 = 1_000;
/// How far one search goes: over all texts, as what is read of them depends on what an index knows.
const EXTENT: VisitOptions = VisitOptions { entries_max: extent::VISITED_MAX, bytes_max: u64::MAX };

/// Matches of a result where nobody says.
pub(crate) const LIMIT_DEFAULT: u64 = 50;
/// Most matches that are passed over.
const OFFSET_MAX: u64 = 1_000;
/// Most lines shown on either side of a match.
const CONTEXT_MAX: u64 = 10;

fn default_context() -> u64 {
    2
}

/// Searches the text files of the workspace for a regular expression and returns the matching
/// lines, with two lines of context on either side: source before tests before documents before
/// vendored and generated files, then by path, then by line.
///
/// The syntax is that of Rust's `regex` crate, close to Perl's, without look-around and without
/// back-references; special characters in plain text need a backslash (`foo\(`). A match lies
/// within one line, unless the pattern says `\n`. What ignore files such as `.gitignore` name,
/// binary files and files that the policy closes are left out and counted in `skipped`. A line
/// that an earlier match shows as context is not shown again. Without a `limit` above 50 a result has no more than 24,000
/// bytes; `note` says the `offset` to continue with. To find files by name, use file_search; to see more of a
/// file, use read_file.
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
    /// Most matches to return, up to 1,000; all are counted. Default: 50. Up to 50, as far as 24,000
    /// bytes hold them.
    #[schemars(with = "u64", range(min = 1, max = 1000), extend("default" = LIMIT_DEFAULT))]
    #[serde(default)]
    limit: Option<u64>,
    /// Searches only here: a file, a directory, or wildcards over paths (`*.test.ts`,
    /// `src/**/*.rs`). Default: the whole workspace.
    #[schemars(extend("x-extra" = true))]
    path: Option<String>,
    /// Lines to show before and after each match, up to 10. Default: 2.
    #[serde(default = "default_context")]
    #[schemars(range(max = 10), extend("x-extra" = true))]
    context: u64,
    /// What to return: `matches`, the lines; `files`, the paths of files with a match; `counts`, the
    /// same with the number of matches in each. Default: `matches`.
    #[serde(default)]
    #[schemars(extend("x-extra" = true))]
    output: HitView,
    /// Whether a match may go over line ends, with `.` for a line end, too. Default: false.
    #[serde(default)]
    #[schemars(extend("x-extra" = true))]
    multiline: bool,
    /// Matches, or files, to pass over before the first that is returned, up to 1,000; that of the next page is
    /// this one plus the number of those returned. Default: 0.
    #[serde(default)]
    #[schemars(range(max = 1000), extend("x-extra" = true))]
    offset: u64,
}

/// Lines that match, or files or counts instead.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GrepSearchOutput {
    /// The matches: source, tests, documents, vendored; then by path and line. A line with several
    /// matches is one. Empty where files or counts were asked for.
    matches: Vec<Hit>,
    /// The paths of files with a match, where they were asked for, in the same order.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<String>>,
    /// How many matches each file has, where that was asked for, in the same order.
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<Vec<FileCount>>,
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
        let pattern = Pattern::compile(&self.pattern, self.case_sensitive, self.multiline)?;
        let types = self.file_type.as_deref().map(FileTypes::parse).transpose()?;
        let has_types = types.is_some();
        let small = |number: u64| usize::try_from(number).expect("the bound is small");
        let page = HitPage {
            view: self.output,
            offset: small(self.offset.min(OFFSET_MAX)),
            size: PageSize::of(self.limit, LIMIT_DEFAULT, LIMIT_MAX),
            context_lines: small(self.context.min(CONTEXT_MAX)),
        };
        let scope = GrepScope::of(&cx, self.path.as_deref()).await?;
        let (hits, visited) = scope.search(&cx, Hits::new(pattern, types, page)).await?;
        Ok(output(hits, visited, page, has_types))
    }
}

fn output(hits: Hits, visited: Visited, page: HitPage, has_types: bool) -> GrepSearchOutput {
    GrepSearchOutput {
        note: note(&hits, &visited, page, has_types),
        total_matches: hits.total,
        files_matched: hits.files,
        files_searched: visited.files,
        truncated: hits.found() > (page.offset + hits.shown()) as u64
            || hits.is_counted_out
            || visited.truncated,
        skipped: visited.skipped,
        files: (page.view == HitView::Files)
            .then(|| hits.counts.iter().map(|file| file.path.clone()).collect()),
        counts: (page.view == HitView::Counts).then_some(hits.counts),
        matches: hits.matches,
    }
}

fn note(hits: &Hits, visited: &Visited, page: HitPage, has_types: bool) -> Option<String> {
    let mut notes = Vec::new();
    let (shown, found) = (hits.shown(), hits.found());
    let what = if page.view == HitView::Matches { "matches" } else { "files" };
    let (first, next) = (page.offset + 1, page.offset + shown);
    let more = match found > next as u64 {
        true if next as u64 <= OFFSET_MAX => extent::continued(next),
        true => ": make the pattern more exact, or give a `fileType` or a `path`".to_owned(),
        false => String::new(),
    };
    if hits.is_counted_out {
        notes.push(format!(
            "more than {COUNTED_MAX} matches, where counting ended: make the pattern more exact"
        ));
        if shown > 0 {
            notes.push(format!("{what} {first} to {next}{more}"));
        }
    } else if page.offset > 0 && shown > 0 {
        notes.push(format!("{what} {first} to {next} of {found}{more}"));
    } else if page.offset > 0 {
        notes.push(format!("there are {found} {what}: `offset` passes over all of them"));
    } else if found > shown as u64 {
        notes.push(format!(
            "{shown} of {found} {what}: make the pattern more exact, give a `fileType` or a `path`, \
             raise `limit`, or continue with `offset` {next}"
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
