//! `delete_file`: a file less, kept in history unless it must not be.

use moss_sdk::context::Context;
use moss_sdk::edit::{ChangeKind, ChangeSet, Retention};
use moss_sdk::{Effect, ErrorCode, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Deletes one file of the workspace, text or binary. Directories are not deleted.
///
/// History keeps the content, so that the deletion can be undone, unless `permanent` is true. To
/// remove some lines only, use delete_lines.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DeleteFile {
    /// Path of the file, relative to the workspace root.
    path: String,
    /// Whether to keep no copy of the content: the deletion can then not be undone.
    /// Default: false.
    #[serde(default)]
    permanent: bool,
}

/// What became of the file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DeleteFileOutput {
    /// The file, relative to the workspace root.
    path: String,
    /// The size that it had, in bytes.
    size_bytes: u64,
    /// Whether its content is gone for good.
    permanent: bool,
    /// The number of the deletion in the workspace's history.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<u64>,
    /// Whether the file was deleted; false in a dry run.
    applied: bool,
    /// How to bring the file back.
    #[serde(skip_serializing_if = "Option::is_none")]
    restore: Option<String>,
}

impl Tool for DeleteFile {
    const NAME: &'static str = "delete_file";
    const TITLE: &'static str = "Delete file";
    const EFFECT: Effect = Effect::Write;
    type Output = DeleteFileOutput;

    async fn run(self, cx: Context) -> Result<DeleteFileOutput, ToolError> {
        let path = cx.path(&self.path)?;
        let file = cx.digest(&path).await.map_err(with_hint)?;
        let retention = if self.permanent { Retention::Permanent } else { Retention::Recoverable };
        let kind = ChangeKind::Delete { base: file.hash, retention };
        let applied = cx.propose(ChangeSet::one(path.clone(), kind)).await?.applied()?;
        let restorable = applied.history.filter(|_| !self.permanent);
        Ok(DeleteFileOutput {
            path: path.to_string(),
            size_bytes: file.size_bytes,
            permanent: self.permanent,
            history: applied.history,
            applied: applied.history.is_some(),
            restore: restorable
                .map(|number| format!("undo history entry {number}: moss history undo {number}")),
        })
    }
}

fn with_hint(error: ToolError) -> ToolError {
    match error.code {
        ErrorCode::NotAFile => error.hint("only regular files can be deleted, one per call"),
        _ => error,
    }
}

#[cfg(test)]
mod tests;
