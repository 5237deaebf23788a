//! `delete_lines`: a range of lines less.

use std::num::NonZeroU64;

use moss_matching::lines::{LineIndex, LineRange};
use moss_sdk::context::Context;
use moss_sdk::{Effect, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::edit::{EditOutput, EditTarget, propose_lines};

/// Removes a range of whole lines from a text file, with their line ends.
///
/// Read the file first: if it changed since you read it, nothing is written and the error shows
/// the lines that stand there now. The lines below move up: when you make several edits, start
/// with the last one. To replace them with other lines, use replace_lines; to remove the whole
/// file, use delete_file.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DeleteLines {
    /// Path of the file, relative to the workspace root.
    path: String,
    /// First line to remove, counted from 1.
    start_line: NonZeroU64,
    /// Last line to remove, counted from 1, included; at least `startLine`, at most the number of
    /// lines of the file.
    end_line: NonZeroU64,
}

impl Tool for DeleteLines {
    const NAME: &'static str = "delete_lines";
    const TITLE: &'static str = "Delete lines";
    const EFFECT: Effect = Effect::Write;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] =
        &[("path", &["filePath", "file_path", "file"])];
    type Output = EditOutput;

    async fn run(self, cx: Context) -> Result<EditOutput, ToolError> {
        let range = LineRange::new(self.start_line, self.end_line)?;
        let target = EditTarget::open(&cx, &self.path).await?;
        target.check_numbers(&cx, range)?;
        let range = range.within(&LineIndex::new(&target.text), &target.path)?;
        propose_lines(&cx, target, range.first, range.count(), &[]).await
    }
}

#[cfg(test)]
mod tests;
