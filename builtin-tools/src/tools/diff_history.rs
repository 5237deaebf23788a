//! `diff_history`: past changes with their diffs.

use jiff::Timestamp;
use moss_sdk::context::Context;
use moss_sdk::edit::MatchLevel;
use moss_sdk::history::{PastAction, PastChange, PastDiff, PastFile, PastQuery};
use moss_sdk::{ContentHash, Effect, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Changes shown where the call does not say.
const CHANGES_DEFAULT: usize = 10;
/// Most changes of one result.
const CHANGES_MAX: usize = 100;
/// Most bytes of diff of one result.
const DIFF_BYTES_MAX: usize = 48_000;

/// Shows what was changed through moss in this workspace, newest first: when, by which tool, which
/// files, with unified diffs.
///
/// Undone changes stay listed, followed by the undo that reverted them. Changes made by other
/// programs are not in here. One call returns up to 100 changes and 48,000 bytes of diffs; a diff
/// that is cut says so. To see a file as it is now, use read_file.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DiffHistory {
    /// Only changes of this file, relative to the workspace root; files that are gone have a
    /// history too. Default: all files.
    path: Option<String>,
    /// How many changes to show, 1 to 100. Default: 10.
    #[serde(default = "changes_default")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
    /// Only the change with this number of the history, however old it is. Default: all changes.
    #[schemars(extend("x-extra" = true))]
    history: Option<u64>,
}

/// What was changed before, by whom, and how it looked.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DiffHistoryOutput {
    /// The changes, newest first.
    changes: Vec<CallChange>,
    /// Whether there are older changes that `limit` left out.
    truncated: bool,
    /// What else there is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// What one call changed.
#[derive(Debug, Serialize, JsonSchema)]
struct CallChange {
    /// Its number in the workspace's history.
    history: u64,
    /// When, in UTC, to the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    /// The tool that made it.
    tool: String,
    /// Who called: `caller`, or `approver` for a person.
    caller: String,
    /// The number of the change that this one undid, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo_of: Option<u64>,
    /// The numbers of all changes that this one undid, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undoes: Vec<u64>,
    /// The numbers of the changes that undid this one, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undone_by: Vec<u64>,
    /// Each file that it changed.
    files: Vec<ChangedFile>,
}

/// What happened to one file.
#[derive(Debug, Serialize, JsonSchema)]
struct ChangedFile {
    /// Its path, relative to the workspace root.
    path: String,
    /// What became of the file.
    action: PastAction,
    /// Lines that are new or changed.
    lines_added: u64,
    /// Lines that are gone or changed.
    lines_removed: u64,
    /// How the location of an edit was found, where it was searched for: `exact`, or weaker.
    #[serde(skip_serializing_if = "Option::is_none")]
    match_level: Option<MatchLevel>,
    /// The hash of its content before; none where there was no file, or it may not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash_before: Option<ContentHash>,
    /// The hash of its content after; none where there is no file, or it may not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash_after: Option<ContentHash>,
    /// The change as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    /// Why there is no `diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff_missing: Option<Missing>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Missing {
    /// The contents are no longer kept.
    Forgotten,
    /// The policy does not let the caller read this file.
    Denied,
    /// The diffs before it fill the result: ask for fewer changes, or for one `path`.
    TooLong,
}

impl Tool for DiffHistory {
    const NAME: &'static str = "diff_history";
    const TITLE: &'static str = "Show past changes";
    const EFFECT: Effect = Effect::Read;
    type Output = DiffHistoryOutput;

    async fn run(self, cx: Context) -> Result<DiffHistoryOutput, ToolError> {
        let path = self.path.as_deref().map(|path| cx.path(path)).transpose()?;
        let query = PastQuery {
            path,
            number: self.history,
            changes_max: self.limit.clamp(1, CHANGES_MAX),
            diff_bytes_max: DIFF_BYTES_MAX,
        };
        let past = cx.past(query.clone()).await?;
        let note = past.changes.is_empty().then(|| match (self.history, query.path) {
            (Some(number), _) => {
                format!("there is no such change {number}, or it is kept no longer")
            }
            (None, Some(path)) => format!("nothing was changed in {path} through moss"),
            (None, None) => "nothing was changed through moss yet".to_owned(),
        });
        Ok(DiffHistoryOutput {
            changes: past.changes.into_iter().map(CallChange::from).collect(),
            truncated: past.has_more,
            note,
        })
    }
}

const fn changes_default() -> usize {
    CHANGES_DEFAULT
}

// === impl CallChange ===

impl From<PastChange> for CallChange {
    fn from(change: PastChange) -> Self {
        let time = Timestamp::try_from(change.at).ok();
        Self {
            history: change.number,
            time: time.map(|time| format!("{time:.0}")),
            tool: change.tool,
            caller: change.caller,
            undo_of: match change.undo_of[..] {
                [number] => Some(number),
                _ => None,
            },
            undoes: change.undo_of,
            undone_by: change.undone_by,
            files: change.files.into_iter().map(ChangedFile::from).collect(),
        }
    }
}

// === impl ChangedFile ===

impl From<PastFile> for ChangedFile {
    fn from(file: PastFile) -> Self {
        let (diff, diff_missing) = match file.diff {
            PastDiff::Shown(diff) => (Some(diff), None),
            PastDiff::Forgotten => (None, Some(Missing::Forgotten)),
            PastDiff::Denied => (None, Some(Missing::Denied)),
            PastDiff::TooLong => (None, Some(Missing::TooLong)),
        };
        Self {
            path: file.path.to_string(),
            action: file.action,
            lines_added: file.lines_added,
            lines_removed: file.lines_removed,
            match_level: file.match_level,
            hash_before: file.before,
            hash_after: file.after,
            diff,
            diff_missing,
        }
    }
}

#[cfg(test)]
mod tests;
