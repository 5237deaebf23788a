//! `replace_lines`: new lines in place of a range of lines.

use std::num::NonZeroU64;

use moss_matching::lines::{LineIndex, LineRange, refuse_gutter, split};
use moss_sdk::context::Context;
use moss_sdk::{Effect, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::edit::{EditOutput, EditTarget, propose_lines};

/// Replaces a range of whole lines of a text file by new lines; there may be more or fewer of them.
///
/// Read the file first: if it changed since you read it, nothing is written and the error shows
/// the lines that stand there now. Lines outside the range, the file's encoding and its line ends
/// stay as they are. Edits shift the numbers of the lines below: when you make several, start with
/// the last one. Use replace_text when you know the old text but not its line numbers.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReplaceLines {
    /// Path of the file, relative to the workspace root.
    path: String,
    /// First line to replace, counted from 1.
    start_line: NonZeroU64,
    /// Last line to replace, counted from 1, included; at least `startLine`, at most the number of
    /// lines of the file.
    end_line: NonZeroU64,
    /// The new lines, without line numbers. A line end after the last one makes no difference. The
    /// empty text removes the range; `\n` leaves one empty line.
    new_text: String,
}

impl Tool for ReplaceLines {
    const NAME: &'static str = "replace_lines";
    const TITLE: &'static str = "Replace lines";
    const EFFECT: Effect = Effect::Write;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("path", &["filePath", "file_path", "file"]),
        ("newText", &["newLines", "content", "code", "text", "replacement"]),
    ];
    type Output = EditOutput;

    async fn run(self, cx: Context) -> Result<EditOutput, ToolError> {
        let range = LineRange::new(self.start_line, self.end_line)?;
        refuse_gutter(&self.new_text, "newText")?;
        let target = EditTarget::open(&cx, &self.path).await?;
        target.check_numbers(&cx, range)?;
        let range = range.within(&LineIndex::new(&target.text), &target.path)?;
        let new = split(&self.new_text);
        propose_lines(&cx, target, range.first, range.count(), &new).await
    }
}

#[cfg(test)]
mod tests;
