//! `reapply`: a past change applied again to the current files.

mod again;
mod hunk_match;
mod hunks;

use std::time::Duration;

use moss_sdk::context::{Applied, Context, ProposalOutcome};
use moss_sdk::edit::{Change, ChangeKind, ChangeSet, Drift, MatchLevel, Matched, Retention};
use moss_sdk::file::{Content, FileSnapshot, Text};
use moss_sdk::history::{PastAction, PastQuery, Recalled, RecalledContent, RecalledFile};
use moss_sdk::{ContentHash, Effect, ErrorCode, RelPath, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::again::{Again, again, hunk_count};
use crate::edit::{Stale, until_fresh};

/// After this long a shortest diff is no longer sought; a longer one is just as right.
const SEARCH_TIME_MAX: Duration = Duration::from_millis(500);
/// Most files of which an error shows why they are in the way.
const FILES_SHOWN_MAX: usize = 10;
/// How many changes are looked through for the one that an undo reverted.
const CHANGES_LOOKED_AT_MAX: usize = 100;
/// Most changes that an undo reverted and that an error names.
const UNDONE_SHOWN_MAX: usize = 10;
/// The encoding in which new files are stored.
const UTF_8: &str = "UTF-8";

/// Reapplies a past change to the current content of the files: after an undo, or after the files
/// were overwritten.
///
/// Changes are counted from the newest as diff_history lists them without `path`; an undo is a
/// change too, so what was undone last is `index` 1. Lines that were changed together are searched
/// for in the file as it is now, also where white space differs or lines are only alike; where that
/// fails, the whole file is merged with the content in the history. What cannot be reapplied is
/// named by file and lines, and then nothing is written. A file that the change created is created
/// again if it is gone; one that it deleted is deleted if its content is still the same. To undo a
/// change, ask the user to undo it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Reapply {
    /// Which change: how many are newer. Default: 0, the newest.
    #[serde(default)]
    index: usize,
}

/// What was made again.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReapplyOutput {
    /// The number of the past change in the workspace's history.
    reapplied: u64,
    /// The tool that made it then.
    tool: String,
    /// What became of each of its files.
    files: Vec<ReappliedFile>,
    /// The number of the new change in the workspace's history.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<u64>,
    /// Whether the files were written; false in a dry run.
    applied: bool,
}

/// What became of one file.
#[derive(Debug, Serialize, JsonSchema)]
struct ReappliedFile {
    /// Its path, relative to the workspace root.
    path: String,
    /// How the change got there.
    how: ReapplyMethod,
    /// The weakest level at which one of the locations was found, where they were searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    match_level: Option<MatchLevel>,
    /// Lines that are replaced and are not what they were then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    drift: Vec<Drift>,
    /// Groups of lines that were changed.
    hunks_applied: usize,
    /// Groups of lines that were as the change had left them already.
    hunks_already_there: usize,
    /// The hash of its content now; none where it is gone or was left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<ContentHash>,
}

/// How a change got into a file again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ReapplyMethod {
    /// The file held what it held then, and gets exactly what it got then.
    Exact,
    /// Its locations were searched for and found.
    Matched,
    /// The lines of the whole file were merged.
    Merged,
    /// The file is made again.
    Created,
    /// The file is deleted again.
    Deleted,
    /// Nothing had to be done.
    AlreadyThere,
}

/// What is to be done to one file.
struct ReapplyStep {
    path: RelPath,
    again: Again,
    /// The change to propose; none where the file is left alone.
    kind: Option<ChangeKind>,
}

impl Tool for Reapply {
    const NAME: &'static str = "reapply";
    const TITLE: &'static str = "Make a past change again";
    const EFFECT: Effect = Effect::Write;
    type Output = ReapplyOutput;

    async fn run(self, cx: Context) -> Result<ReapplyOutput, ToolError> {
        let recalled = cx.recall(self.index).await.map_err(with_hint)?;
        let (steps, applied) = until_fresh(async || {
            let mut steps = steps(&cx, &recalled).await?;
            Ok(match cx.propose(proposal(&mut steps)).await? {
                ProposalOutcome::Applied(applied) => Ok((steps, applied)),
                ProposalOutcome::Stale(error) => Err(Stale(error)),
            })
        })
        .await?;
        Ok(ReapplyOutput {
            reapplied: recalled.number,
            tool: recalled.tool,
            files: steps.into_iter().map(|step| step.into_file(&applied)).collect(),
            history: applied.history,
            applied: applied.history.is_some(),
        })
    }
}

/// Finds out what becomes of each file now.
async fn steps(cx: &Context, recalled: &Recalled) -> Result<Vec<ReapplyStep>, ToolError> {
    let mut steps = Vec::with_capacity(recalled.files.len());
    let mut refusals = Vec::new();
    for file in &recalled.files {
        if cx.is_cancelled() {
            return Err(cancelled());
        }
        match step(cx, file).await? {
            Ok(step) => steps.push(step),
            Err(why) => refusals.push(format!("{}: {why}", file.path)),
        }
    }
    if !refusals.is_empty() {
        return Err(refused(recalled, refusals));
    }
    if steps.iter().all(|step| step.kind.is_none()) {
        return Err(already_there(cx, recalled).await);
    }
    Ok(steps)
}

fn proposal(steps: &mut [ReapplyStep]) -> ChangeSet {
    let changes = steps.iter_mut().filter_map(|step| {
        let change = Change::new(step.path.clone(), step.kind.take()?);
        Some(Change { matched: step.again.matched.clone(), ..change })
    });
    ChangeSet { changes: changes.collect() }
}

/// Finds out what is to be done to one file; says why nothing can be.
async fn step(cx: &Context, file: &RecalledFile) -> Result<Result<ReapplyStep, String>, ToolError> {
    let today = match cx.read(&file.path).await {
        Ok(today) => Some(today),
        Err(error) if error.code == ErrorCode::NotFound => None,
        Err(error) => return Err(error),
    };
    let step = |again, kind| ReapplyStep { path: file.path.clone(), again, kind };
    let hash = today.as_ref().map(|today| today.hash);
    if hash == hash_of(&file.after) {
        return Ok(Ok(step(Again::there(hunks_of(file)), None)));
    }
    let done = |how| Again { how, made: 1, ..Again::there(0) };
    Ok(match (file.action, today) {
        (PastAction::Create, None) => whole(&file.after).map(|content| {
            step(done(ReapplyMethod::Created), Some(ChangeKind::Create { content }))
        }),
        (PastAction::Create, Some(_)) => {
            Err("it was made then, and is there today with another content".to_owned())
        }
        (PastAction::Delete, Some(today)) if hash == hash_of(&file.before) => {
            let kind = ChangeKind::Delete { base: today.hash, retention: Retention::Recoverable };
            Ok(step(done(ReapplyMethod::Deleted), Some(kind)))
        }
        (PastAction::Delete, _) => {
            Err("it was deleted then, and exists today with another content".to_owned())
        }
        (PastAction::Modify, None) => Err("it was changed then, and is gone today".to_owned()),
        (PastAction::Modify, Some(today)) => {
            modified(cx, file, today).await?.map(|(again, kind)| step(again, kind))
        }
    })
}

/// Makes the change of a file again that is there.
async fn modified(
    cx: &Context,
    file: &RecalledFile,
    today: FileSnapshot,
) -> Result<Result<(Again, Option<ChangeKind>), String>, ToolError> {
    let base = today.hash;
    if Some(base) == hash_of(&file.before)
        && let Ok(content) = whole(&file.after)
    {
        let matched = Some(Matched { level: MatchLevel::Exact, drift: Vec::new() });
        let again =
            Again { how: ReapplyMethod::Exact, matched, made: hunks_of(file), ..Again::there(0) };
        return Ok(Ok((again, Some(ChangeKind::Write { base, content }))));
    }
    let texts = text(&file.before)
        .and_then(|before| Ok((before.text.clone(), text(&file.after)?.text.clone())));
    let (before, after) = match texts {
        Ok(texts) => texts,
        Err(why) => return Ok(Err(why)),
    };
    let Content::Text(Text { text: today, .. }) = today.content else {
        return Ok(Err("it is not a text file today".to_owned()));
    };
    let watched = cx.clone();
    let make = move || again(&before, &after, &today, &|| watched.is_cancelled());
    let made = cx.compute(make).await?;
    if cx.is_cancelled() {
        return Err(cancelled());
    }
    Ok(made.map(|again| {
        let splices = again.splices.clone();
        let kind = (again.how != ReapplyMethod::AlreadyThere)
            .then_some(ChangeKind::Edit { base, splices });
        (again, kind)
    }))
}

/// Into how many groups of lines a change falls; one where that cannot be determined.
fn hunks_of(file: &RecalledFile) -> usize {
    match (text(&file.before), text(&file.after)) {
        (Ok(before), Ok(after)) => hunk_count(&before.text, &after.text).max(1),
        _ => 1,
    }
}

fn hash_of(content: &Option<RecalledContent>) -> Option<ContentHash> {
    content.as_ref().map(|content| content.hash)
}

/// A content of the past as text.
fn text(content: &Option<RecalledContent>) -> Result<&Text, String> {
    match content.as_ref().and_then(|content| content.content.as_ref()) {
        Some(Content::Text(text)) => Ok(text),
        Some(Content::Binary) => Err("it was not a text file then".to_owned()),
        None => Err("the history no longer has its content of then".to_owned()),
    }
}

/// A content of the past, to be written as it was.
fn whole(content: &Option<RecalledContent>) -> Result<String, String> {
    let Text { text, form } = text(content)?;
    if form.encoding != UTF_8 {
        let encoding = &form.encoding;
        return Err(format!("it was stored as {encoding} then, and a new file would be {UTF_8}"));
    }
    Ok(if form.bom { format!("\u{feff}{text}") } else { text.clone() })
}

fn refused(recalled: &Recalled, mut refusals: Vec<String>) -> ToolError {
    let more = refusals.len().saturating_sub(FILES_SHOWN_MAX);
    refusals.truncate(FILES_SHOWN_MAX);
    if more > 0 {
        refusals.push(format!("{more} more files"));
    }
    let message = format!(
        "change {} cannot be reapplied as a whole, and nothing was written:\n{}",
        recalled.number,
        refusals.join("\n")
    );
    ToolError::new(ErrorCode::Conflict, message)
        .hint("see it with diff_history, read the files, and make the change again")
}

/// Says that there is nothing to do, and which change was probably meant: one that an undo took
/// back.
async fn already_there(cx: &Context, recalled: &Recalled) -> ToolError {
    let message = format!("every file is as change {} left it already", recalled.number);
    let error = ToolError::new(ErrorCode::NoChange, message);
    let query = PastQuery::newest(CHANGES_LOOKED_AT_MAX);
    let Ok(past) = cx.past(query).await else { return error };
    let newest = past.changes.first().map(|newest| (newest.number, &newest.undo_of));
    let undo = Some((recalled.number, &recalled.undo_of))
        .filter(|(_, undo_of)| !undo_of.is_empty())
        .or(newest);
    let Some((number, undo_of)) = undo else { return error };
    let places: Vec<String> = undo_of
        .iter()
        .take(UNDONE_SHOWN_MAX)
        .filter_map(|undone| {
            let index = past.changes.iter().position(|change| change.number == *undone)?;
            Some(format!("change {undone} with the index {index}"))
        })
        .collect();
    if places.is_empty() {
        return error;
    }
    error.hint(format!("change {number} is an undo; it undid {}", places.join(", ")))
}

fn cancelled() -> ToolError {
    ToolError::new(ErrorCode::Cancelled, "cancelled before anything was proposed")
}

fn with_hint(error: ToolError) -> ToolError {
    match error.code {
        ErrorCode::NotFound => error.hint("diff_history lists the changes, the newest first"),
        _ => error,
    }
}

// === impl ReapplyStep ===

impl ReapplyStep {
    fn into_file(self, applied: &Applied) -> ReappliedFile {
        let Again { how, matched, made, there, .. } = self.again;
        let is_of = |path: &RelPath| *path == self.path;
        let hash = applied.files.iter().find(|file| is_of(&file.path)).and_then(|file| file.hash);
        let (match_level, drift) =
            matched.map_or((None, Vec::new()), |matched| (Some(matched.level), matched.drift));
        ReappliedFile {
            path: self.path.to_string(),
            how,
            match_level,
            drift,
            hunks_applied: made,
            hunks_already_there: there,
            hash,
        }
    }
}

#[cfg(test)]
mod tests;
