//! `create_file`: a new file, or new content for a whole file.

use moss_matching::lines::LineIndex;
use moss_sdk::context::Context;
use moss_sdk::edit::{ChangeKind, ChangeSet};
use moss_sdk::file::{Content, FileSnapshot};
use moss_sdk::{ContentHash, Effect, ErrorCode, RelPath, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::edit::{check_seen, check_written_out};

/// Creates a text file with the given content, in UTF-8, with its missing parent directories.
///
/// An existing file is left alone unless `overwrite` is true; then its whole content is
/// replaced. To change a part of a file, use replace_text or replace_lines.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CreateFile {
    /// Path of the file, relative to the workspace root.
    path: String,
    /// The whole content, written as it is; end it with a line end. May be empty.
    content: String,
    /// Whether to replace the content of an existing file. If you have read the file
    /// and it changed since, nothing is written. Default: false.
    #[serde(default)]
    overwrite: bool,
}

/// What became of the file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CreateFileOutput {
    /// The file, relative to the workspace root.
    path: String,
    /// Whether there was a file before.
    overwritten: bool,
    /// How many lines the file has now.
    total_lines: usize,
    /// Size of the content in bytes.
    size_bytes: usize,
    /// The hash of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<ContentHash>,
    /// The number of the change in the workspace's history.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<u64>,
    /// Whether the file was written; false in a dry run.
    applied: bool,
}

impl Tool for CreateFile {
    const NAME: &'static str = "create_file";
    const TITLE: &'static str = "Create file";
    const EFFECT: Effect = Effect::Write;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] =
        &[("path", &["filePath", "file_path", "file"]), ("content", &["text", "code", "body"])];
    type Output = CreateFileOutput;

    async fn run(self, cx: Context) -> Result<CreateFileOutput, ToolError> {
        let path = cx.path(&self.path)?;
        let present = self.present(&cx, &path).await?;
        let mut output = CreateFileOutput {
            path: path.to_string(),
            overwritten: present.is_some(),
            total_lines: LineIndex::new(&self.content).count(),
            size_bytes: self.content.len(),
            hash: None,
            history: None,
            applied: false,
        };
        let kind = match present {
            None => ChangeKind::Create { content: self.content },
            Some(base) => ChangeKind::Write { base, content: self.content },
        };
        let applied = cx.propose(ChangeSet::one(path, kind)).await?.applied()?;
        output.hash = applied.files.first().and_then(|file| file.hash);
        output.history = applied.history;
        output.applied = applied.history.is_some();
        Ok(output)
    }
}

// === impl CreateFile ===

impl CreateFile {
    /// Looks for a file in the way; returns the content to overwrite.
    async fn present(
        &self,
        cx: &Context,
        path: &RelPath,
    ) -> Result<Option<ContentHash>, ToolError> {
        let snapshot = match cx.read(path).await {
            Ok(snapshot) => snapshot,
            Err(error) if error.code == ErrorCode::NotFound => return Ok(None),
            Err(error) if error.code == ErrorCode::TooLarge && !self.overwrite => {
                return Err(exists(path));
            }
            Err(error) => return Err(error),
        };
        if holds(&snapshot, &self.content) {
            let message = format!("{path} already has exactly this content");
            return Err(ToolError::new(ErrorCode::NoChange, message));
        }
        if !self.overwrite {
            return Err(exists(path));
        }
        check_seen(cx, path, snapshot.hash)?;
        if let Content::Text(text) = &snapshot.content {
            check_written_out(&text.text, &self.content)?;
        }
        Ok(Some(snapshot.hash))
    }
}

fn exists(path: &RelPath) -> ToolError {
    ToolError::new(ErrorCode::AlreadyExists, format!("{path} exists already"))
        .hint("change it with replace_text, or replace all of it with overwrite = true")
}

/// Whether a file has exactly these bytes.
fn holds(snapshot: &FileSnapshot, content: &str) -> bool {
    let Content::Text(text) = &snapshot.content else { return false };
    let bom = if text.form.bom { "\u{feff}" } else { "" };
    text.form.encoding == "UTF-8" && content.strip_prefix(bom) == Some(text.text.as_str())
}

#[cfg(test)]
mod tests;
