//! `insert_line`: new lines between the lines of a file.

use std::num::NonZeroU64;

use moss_matching::lines::{LineIndex, LineRange, number, refuse_gutter, split};
use moss_sdk::context::Context;
use moss_sdk::{Effect, ErrorCode, RelPath, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::edit::{EditOutput, EditTarget, propose_lines};

/// Inserts one or more lines into a text file, before a line or at its end.
///
/// Read the file first: if it changed since you read it, nothing is written and the error shows
/// the lines that stand there now. Existing lines are not changed; those below move down: when you
/// make several edits, start with the last one. To change lines, use replace_lines; to make a new
/// file, use create_file.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct InsertLine {
    /// Path of the file, relative to the workspace root.
    path: String,
    /// The line before which the text goes, counted from 1: `1` inserts at the top; in a file of N
    /// lines, N+1 appends at the end.
    line: NonZeroU64,
    /// The lines to insert, without line numbers. A line end after the last one makes no
    /// difference. The empty text inserts one empty line.
    text: String,
}

impl Tool for InsertLine {
    const NAME: &'static str = "insert_line";
    const TITLE: &'static str = "Insert lines";
    const EFFECT: Effect = Effect::Write;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("path", &["filePath", "file_path", "file"]),
        ("text", &["content", "code", "lineText", "insertText", "value"]),
    ];
    type Output = EditOutput;

    async fn run(self, cx: Context) -> Result<EditOutput, ToolError> {
        refuse_gutter(&self.text, "text")?;
        let target = EditTarget::open(&cx, &self.path).await?;
        let line = number(self.line);
        target.check_numbers(&cx, LineRange { first: line, last: line })?;
        let count = LineIndex::new(&target.text).count();
        if line > count.saturating_add(1) {
            return Err(past_the_end(&target.path, line, count));
        }
        let new = if self.text.is_empty() { vec![""] } else { split(&self.text) };
        propose_lines(&cx, target, line, 0, &new).await
    }
}

fn past_the_end(path: &RelPath, line: usize, count: usize) -> ToolError {
    let message = format!("cannot insert before line {line}: {path} has {count} lines");
    ToolError::new(ErrorCode::OutOfRange, message)
        .hint(format!("use line {} to append at the end", count + 1))
}

#[cfg(test)]
mod tests;
