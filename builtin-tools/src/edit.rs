//! Edits of one text file: opening it, checking what the caller has seen of it, finding the
//! smallest splices, proposing them.
//!
//! An edit is one span of the decoded text and the text that takes its place. Lines that both have
//! in common are left out of the proposal, so their bytes stay as they are.

use std::ops::Range;

use moss_sdk::context::Context;
use moss_sdk::edit::{ChangeKind, ChangeSet, Splice};
use moss_sdk::file::{Content, Text};
use moss_sdk::{ContentHash, ErrorCode, RelPath, ToolError};
use schemars::JsonSchema;
use serde::Serialize;

use crate::lines::{LineRange, LineSpan, Lines, without_line_end};

/// A text file that is about to be edited.
pub(crate) struct Target {
    pub(crate) path: RelPath,
    pub(crate) text: String,
    base: ContentHash,
}

/// The replacement of one span of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    /// The span, in bytes.
    pub(crate) range: Range<usize>,
    /// What takes its place.
    pub(crate) text: String,
    /// The lines that the span stands for.
    pub(crate) before: Option<LineSpan>,
    /// The lines that take their place.
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
    /// The lines in their place, as they are numbered now; absent where lines were only removed.
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
    /// Whether the file was written; false in a dry run.
    applied: bool,
}

// === impl Target ===

impl Target {
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
        let lines = Lines::new(&self.text);
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

    /// Proposes an edit.
    ///
    /// # Errors
    ///
    /// `NoChange` where nothing would change; what proposing can meet.
    pub(crate) async fn propose(self, cx: &Context, edit: Edit) -> Result<EditOutput, ToolError> {
        let splices = splices(&self.text, edit.range.clone(), &edit.text);
        if splices.is_empty() {
            let message = format!("{} already holds exactly this text there", self.path);
            return Err(ToolError::new(ErrorCode::NoChange, message)
                .hint("nothing needs to be done, or the new text is not what was meant"));
        }
        let Range { start, end } = edit.range;
        let after = [&self.text[..start], edit.text.as_str(), &self.text[end..]].concat();
        let kind = ChangeKind::Edit { base: self.base, splices };
        let applied = cx.propose(ChangeSet::one(self.path.clone(), kind)).await?;
        let hash = applied.files.first().and_then(|file| file.hash);
        Ok(EditOutput {
            path: self.path.to_string(),
            before: edit.before,
            after: edit.after,
            total_lines: Lines::new(&after).count(),
            hash,
            history: applied.history,
            applied: applied.history.is_some(),
        })
    }
}

// === impl Edit ===

impl Edit {
    /// Replaces whole lines: `removed` lines from line `first` on by new ones. Whether the file
    /// ends with a line end stays as it is, unless the new last line is empty: an empty line
    /// exists only through its line end.
    pub(crate) fn of_lines(text: &str, first: usize, removed: usize, new: &[&str]) -> Self {
        let lines = Lines::new(text);
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
            range: start..end,
            text: replacement,
            before: LineSpan::of(first, removed),
            after: LineSpan::of(first, new.len()),
        }
    }
}

/// Finds the splices that turn a span into a new text, where line ends compare equal. Lines that
/// both start or end with are left out; a line that takes the place of one line keeps its line end.
pub(crate) fn splices(text: &str, range: Range<usize>, new: &str) -> Vec<Splice> {
    let old: Vec<&str> = text[range.clone()].split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let head = old.iter().zip(&new).take_while(|(old, new)| same(old, new)).count();
    let tail_max = old.len().min(new.len()) - head;
    let tails = old.iter().rev().zip(new.iter().rev());
    let tail = tails.take(tail_max).take_while(|(old, new)| same(old, new)).count();
    let start = range.start + old[..head].concat().len();
    let (old, new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);

    let paired = old.len() == new.len()
        && old.iter().zip(new).all(|(old, new)| old.ends_with('\n') == new.ends_with('\n'));
    if !paired {
        let end = start + old.concat().len();
        return vec![Splice { range: start..end, text: new.concat() }];
    }
    let mut splices = Vec::new();
    let mut at = start;
    for (old, new) in old.iter().zip(new) {
        let (content, replacement) = (without_line_end(old), without_line_end(new));
        if content != replacement {
            let range = at..at + content.len();
            splices.push(Splice { range, text: replacement.to_owned() });
        }
        at += old.len();
    }
    splices
}

fn same(old: &str, new: &str) -> bool {
    old.ends_with('\n') == new.ends_with('\n') && without_line_end(old) == without_line_end(new)
}

#[cfg(test)]
mod tests;
