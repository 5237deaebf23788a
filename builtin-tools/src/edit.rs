//! Edits of one text file: opening it, checking what the caller has seen of it, proposing the
//! smallest splices, and again where the file changed before anybody saw them.
//!
//! An edit is one span of the decoded text and the text that replaces it. Lines that both have
//! in common are left out of the proposal, so their bytes stay as they are.

use moss_matching::lines::{LineIndex, LineRange, LineSpan};
use moss_matching::{placeholder, splices};
use moss_sdk::context::{Applied, Context, ProposalOutcome};
use moss_sdk::edit::{Change, ChangeKind, ChangeSet, Drift, MatchLevel, Matched, Splice, splice};
use moss_sdk::file::{Content, Text};
use moss_sdk::{ContentHash, ErrorCode, RelPath, ToolError};
use schemars::JsonSchema;
use serde::Serialize;
use similar::DiffOp;

use crate::line_ops::{line_ops, lines_of};

/// How often an edit is made anew for a file that changed meanwhile. Each time another edit was made: so
/// many processes that edit one file at once all come through.
const ATTEMPTS_MAX: usize = 16;

/// A text file that is about to be edited.
pub(crate) struct EditTarget {
    pub(crate) path: RelPath,
    pub(crate) text: String,
    base: ContentHash,
}

/// What becomes of a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    /// The replacements, in ascending order.
    pub(crate) splices: Vec<Splice>,
    /// How the locations were found, where they were searched for.
    pub(crate) matched: Option<Matched>,
    /// The lines that the edit stands for; none where there are several locations.
    pub(crate) before: Option<LineSpan>,
    /// The lines that replace them.
    pub(crate) after: Option<LineSpan>,
}

/// What an edit did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct EditOutput {
    /// The file, relative to the workspace root.
    path: String,
    /// The lines that were changed or removed, as they were numbered before; absent where lines
    /// were only added.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<LineSpan>,
    /// The replacement lines, as they are numbered now; absent where lines were only removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<LineSpan>,
    /// How many lines the file has after the edit.
    total_lines: usize,
    /// The hash of the file's content after the edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<ContentHash>,
    /// The number of the change in the workspace's history.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<u64>,
    /// How the text that was searched for was found: `exact`, or the level at which it is the same
    /// or similar. What is written keeps the file's own white space and the like.
    #[serde(skip_serializing_if = "Option::is_none")]
    match_level: Option<MatchLevel>,
    /// Lines that were replaced and were not as the search claimed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    drift: Vec<Drift>,
    /// Whether the file was written; false in a dry run.
    applied: bool,
}

// === impl EditTarget ===

impl EditTarget {
    /// Reads a text file for an edit.
    ///
    /// # Errors
    ///
    /// `Binary` for anything but text; what reading can meet.
    pub(crate) async fn open(cx: &Context, path: &str) -> Result<Self, ToolError> {
        let path = cx.path(path)?;
        let snapshot = cx.read(&path).await?;
        match snapshot.content {
            Content::Text(Text { text, .. }) => Ok(Self { path, text, base: snapshot.hash }),
            Content::Binary => {
                Err(ToolError::new(ErrorCode::Binary, format!("{path} is not a text file"))
                    .hint("only text can be edited"))
            }
        }
    }

    /// Refuses line numbers that the caller took from another version of the file, and shows what
    /// stands there now.
    ///
    /// # Errors
    ///
    /// `Conflict` where the file is not what the caller read last.
    pub(crate) fn check_numbers(&self, cx: &Context, range: LineRange) -> Result<(), ToolError> {
        if cx.last_read(&self.path).is_none_or(|seen| seen == self.base) {
            return Ok(());
        }
        let lines = LineIndex::new(&self.text);
        let excerpt = lines.excerpt(range.first..=range.last);
        let (path, count) = (&self.path, lines.count());
        let message = if excerpt.text.is_empty() {
            format!("{path} changed since it was read; it has {count} lines now")
        } else {
            let text = excerpt.text;
            format!("{path} changed since it was read; it has {count} lines now, there:{text}")
        };
        let hint = if excerpt.complete {
            // The caller now sees every line it named: a retry is an informed one.
            cx.note_read(&self.path, self.base);
            "compare these lines with what should change, then retry with the right numbers"
        } else {
            "read the file again, then retry with the new numbers"
        };
        Err(ToolError::new(ErrorCode::Conflict, message).hint(hint))
    }

    /// Refuses to replace the whole of a file that is not what the caller has read last.
    ///
    /// # Errors
    ///
    /// `Conflict`.
    pub(crate) fn check_whole(&self, cx: &Context) -> Result<(), ToolError> {
        check_seen(cx, &self.path, self.base)
    }

    /// Proposes an edit; none where the file changed before anybody saw it.
    ///
    /// # Errors
    ///
    /// `NoChange` where nothing would change; what proposing can meet.
    pub(crate) async fn propose(
        &self,
        cx: &Context,
        edit: Edit,
    ) -> Result<Result<EditOutput, Stale>, ToolError> {
        if edit.splices.is_empty() {
            let message = format!("{} already has exactly this text there", self.path);
            return Err(ToolError::new(ErrorCode::NoChange, message)
                .hint("nothing needs to be done, or the new text is not what was meant"));
        }
        let after = splice(&self.text, &edit.splices).map_err(|fault| {
            let message = format!("splice {} {}", fault.position, fault.reason);
            ToolError::new(ErrorCode::Internal, message)
        })?;
        let kind = ChangeKind::Edit { base: self.base, splices: edit.splices };
        let matched = edit.matched;
        let change = Change { path: self.path.clone(), kind, matched: matched.clone() };
        let applied = match cx.propose(ChangeSet { changes: vec![change] }).await? {
            ProposalOutcome::Applied(applied) => applied,
            ProposalOutcome::Stale(error) => return Ok(Err(Stale(error))),
        };
        let output = EditOutput {
            before: edit.before,
            after: edit.after,
            match_level: matched.as_ref().map(|matched| matched.level),
            drift: matched.map(|matched| matched.drift).unwrap_or_default(),
            ..EditOutput::of_new(&self.path, &after)
        };
        Ok(Ok(output.with(applied)))
    }
}

// === impl EditOutput ===

impl EditOutput {
    /// Describes a file that gets its first lines.
    pub(crate) fn of_new(path: &RelPath, text: &str) -> Self {
        let total_lines = LineIndex::new(text).count();
        Self {
            path: path.to_string(),
            before: None,
            after: LineSpan::of(1, total_lines),
            total_lines,
            hash: None,
            history: None,
            match_level: None,
            drift: Vec::new(),
            applied: false,
        }
    }

    /// Adds what became of the proposal.
    pub(crate) fn with(mut self, applied: Applied) -> Self {
        self.hash = applied.files.first().and_then(|file| file.hash);
        self.history = applied.history;
        self.applied = applied.history.is_some();
        self
    }

    /// Where the replacement is in the edited file; none where nothing is left of it.
    pub(crate) const fn after(&self) -> Option<LineSpan> {
        self.after
    }
}

/// Refuses to replace the whole of a file that holds something else than the caller has read last.
///
/// # Errors
///
/// `Conflict`.
pub(crate) fn check_seen(cx: &Context, path: &RelPath, now: ContentHash) -> Result<(), ToolError> {
    if cx.last_read(path).is_none_or(|seen| seen == now) {
        return Ok(());
    }
    let message = format!("{path} changed since it was read");
    Err(ToolError::new(ErrorCode::Conflict, message)
        .hint("read it again, then write it with its new content in mind"))
}

/// Refuses to replace a whole file by one in which a line stands for lines left out.
///
/// # Errors
///
/// `InvalidArguments`.
pub(crate) fn check_written_out(old: &str, new: &str) -> Result<(), ToolError> {
    let Some(line) = placeholder(old, new) else { return Ok(()) };
    let message = format!("the new text has a placeholder for lines that it leaves out: `{line}`");
    Err(ToolError::new(ErrorCode::InvalidArguments, message).hint(
        "write every line out, or change only the lines that differ; \
         if the line itself is meant, use insert_line",
    ))
}

/// A file changed before anybody was shown what an edit would do.
pub(crate) struct Stale(pub(crate) ToolError);

/// Makes an edit, and makes it anew where a file changed meanwhile.
///
/// # Errors
///
/// What an attempt meets; `Conflict` where a file changed again each time.
pub(crate) async fn until_fresh<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, ToolError>
where
    F: Future<Output = Result<Result<T, Stale>, ToolError>>,
{
    for number in 1.. {
        match attempt().await? {
            Ok(done) => return Ok(done),
            Err(Stale(error)) if number == ATTEMPTS_MAX => return Err(error),
            Err(Stale(_)) => {}
        }
    }
    unreachable!("the attempts are bounded")
}

/// Proposes to put new lines in place of `removed` lines from line `first` on. Where the file
/// changes meanwhile and these lines only move, they are replaced where they are then.
///
/// # Errors
///
/// As [`EditTarget::propose`]; `Conflict` where more than their number changed.
pub(crate) async fn propose_lines(
    cx: &Context,
    mut target: EditTarget,
    mut first: usize,
    removed: usize,
    new: &[&str],
) -> Result<EditOutput, ToolError> {
    let mut attempt = 1;
    loop {
        let edit = Edit::of_lines(&target.text, first, removed, new);
        let Stale(error) = match target.propose(cx, edit).await? {
            Ok(output) => return Ok(output),
            Err(stale) => stale,
        };
        let now = EditTarget::open(cx, target.path.as_str()).await?;
        let moved = moved(&target.text, &now.text, first, removed);
        first = moved.filter(|_| attempt < ATTEMPTS_MAX).ok_or(error)?;
        target = now;
        attempt += 1;
    }
}

/// Returns where lines stand in a later version of a text; none where they, or the lines right
/// before and after them, are not the same there.
fn moved(old: &str, new: &str, first: usize, count: usize) -> Option<usize> {
    let (old, new) = (lines_of(old), lines_of(new));
    let start = first.saturating_sub(2);
    let end = (first + count).min(old.len());
    line_ops(&old, &new).into_iter().find_map(|op| match op {
        DiffOp::Equal { old_index, new_index, len } => {
            let (starts, ends) = (old_index <= start, end <= old_index + len);
            // At an end of the file there is no line beyond, and there must be none then.
            let keeps_start = first > 1 || new_index == 0;
            let keeps_end = first + count <= old.len() || new_index + len == new.len();
            (starts && ends && keeps_start && keeps_end).then(|| first - old_index + new_index)
        }
        _ => None,
    })
}

// === impl Edit ===

impl Edit {
    /// Replaces whole lines: `removed` lines from line `first` on by new ones. Whether the file
    /// ends with a line end stays as it is, unless the new last line is empty: an empty line
    /// exists only through its line end.
    pub(crate) fn of_lines(text: &str, first: usize, removed: usize, new: &[&str]) -> Self {
        let lines = LineIndex::new(text);
        let (mut start, end) = (lines.start(first), lines.start(first + removed));
        let mut replacement: String = new.iter().flat_map(|line| [*line, "\n"]).collect();
        let ends_open = !text.is_empty() && !text.ends_with('\n');
        if ends_open && first + removed > lines.count() {
            match new.last() {
                Some(last) if !last.is_empty() => drop(replacement.pop()),
                None if first > 1 && !lines.line(first - 1).is_empty() => {
                    start = lines.start(first - 1) + lines.line(first - 1).len();
                }
                _ => {}
            }
            if first > lines.count() {
                replacement.insert(0, '\n');
            }
        }
        Self {
            splices: splices(text, start..end, &replacement),
            matched: None,
            before: LineSpan::of(first, removed),
            after: LineSpan::of(first, new.len()),
        }
    }
}

#[cfg(test)]
mod tests;
