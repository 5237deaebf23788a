//! What a call returns: the guest's texts, read once into typed values. Anything that does not
//! read is refused here.

use std::time::Duration;

use moss_sdk::content::ContentPart;
use moss_sdk::{ContentHash, ErrorCode, RelPath, ToolError};
use serde_json::{Value, json};

use crate::bindings::{tools, types};
use crate::error::PluginCallError;
use crate::guest_json;
use crate::limits::{EDITS_MAX, LimitReached};
use moss_sdk::deceptive::quoted;

/// What a successful call returned.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginOutcome {
    /// The output: always an object.
    pub output: Value,
    /// What is shown beside it, in order.
    pub content: Vec<ContentPart>,
    /// The proposed edits, in order.
    pub edits: Vec<PluginEdit>,
    /// What the call used.
    pub usage: CallUsage,
}

/// What a call used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallUsage {
    /// From the setup of the instance to its end.
    pub duration: Duration,
    /// The most bytes that all memories of the guest had together.
    pub peak_memory_bytes: usize,
}

/// One proposed change. A file has one, or several replacements that do not overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginEdit {
    /// Makes a new file; the path must not exist.
    Create {
        /// Path relative to the workspace root.
        path: RelPath,
        /// The whole text of the new file.
        content: String,
    },
    /// Replaces the whole text of a file.
    Write {
        /// Path relative to the workspace root.
        path: RelPath,
        /// The content that the plugin looked at.
        expected: Option<ContentHash>,
        /// The whole text that the file has then.
        content: String,
    },
    /// Replaces a text that must occur exactly once.
    ReplaceText {
        /// Path relative to the workspace root.
        path: RelPath,
        /// The text to replace; never empty.
        old_text: String,
        /// The text that replaces it.
        new_text: String,
    },
    /// Removes a file recoverably.
    Delete {
        /// Path relative to the workspace root.
        path: RelPath,
        /// The content that the plugin looked at.
        expected: Option<ContentHash>,
    },
}

/// How the output of a tool becomes an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputForm {
    /// It is one already.
    Object,
    /// It becomes the key `result` of one.
    Wrapped,
}

/// Reads what a guest returned, beside what it shows.
pub(crate) fn read(
    outcome: tools::Outcome,
    form: OutputForm,
    shown_bytes: usize,
    output_bytes_max: usize,
) -> Result<(Value, Vec<PluginEdit>), PluginCallError> {
    if outcome.edits.len() > EDITS_MAX {
        return Err(PluginCallError::Limit(LimitReached::Edits));
    }
    let bytes =
        shown_bytes + outcome.output.len() + outcome.edits.iter().map(edit_bytes).sum::<usize>();
    if bytes > output_bytes_max {
        return Err(PluginCallError::Limit(LimitReached::Output(output_bytes_max)));
    }
    let output = guest_json::read(&outcome.output)
        .map_err(|why| PluginCallError::Result(format!("the output {why}")))?;
    let output = match form {
        OutputForm::Wrapped => json!({ "result": output }),
        OutputForm::Object if output.is_object() => output,
        OutputForm::Object => {
            return Err(PluginCallError::Result(
                "the output is not the declared object".to_owned(),
            ));
        }
    };
    let edits = outcome.edits.into_iter().map(PluginEdit::read).collect::<Result<_, _>>()?;
    Ok((output, edits))
}

/// Reads the error that a guest returned.
pub(crate) fn read_error(error: &types::Error) -> PluginCallError {
    let message = match quoted(&error.message) {
        message if message.trim().is_empty() => "the plugin failed without a message".to_owned(),
        message => message,
    };
    let hint = error.hint.as_deref().map(quoted).filter(|hint| !hint.trim().is_empty());
    let error = ToolError::new(error.code.into(), message);
    PluginCallError::Failed(ToolError { hint, ..error })
}

fn edit_bytes(edit: &tools::Edit) -> usize {
    match edit {
        tools::Edit::Create(edit) => edit.path.len() + edit.content.len(),
        tools::Edit::Write(edit) => edit.path.len() + edit.content.len(),
        tools::Edit::ReplaceText(edit) => {
            edit.path.len() + edit.old_text.len() + edit.new_text.len()
        }
        tools::Edit::Delete(edit) => edit.path.len(),
    }
}

fn read_path(path: &str) -> Result<RelPath, PluginCallError> {
    match RelPath::parse(path) {
        Ok(path) if path.is_root() => Err(PluginCallError::Result(
            "an edit names the workspace itself, not a file".to_owned(),
        )),
        Ok(path) => Ok(path),
        Err(error) => Err(PluginCallError::Result(format!("an edit names {}", error.message))),
    }
}

fn read_hash(hash: Option<String>) -> Result<Option<ContentHash>, PluginCallError> {
    hash.map(|hash| hash.parse()).transpose().map_err(|error| {
        PluginCallError::Result(format!("the expected hash of an edit is {error}"))
    })
}

// === impl PluginEdit ===

impl PluginEdit {
    fn read(edit: tools::Edit) -> Result<Self, PluginCallError> {
        Ok(match edit {
            tools::Edit::Create(edit) => {
                Self::Create { path: read_path(&edit.path)?, content: edit.content }
            }
            tools::Edit::Write(edit) => Self::Write {
                path: read_path(&edit.path)?,
                expected: read_hash(edit.expected_hash)?,
                content: edit.content,
            },
            tools::Edit::ReplaceText(edit) if edit.old_text.is_empty() => {
                let path = read_path(&edit.path)?;
                return Err(PluginCallError::Result(format!("an edit of {path} replaces no text")));
            }
            tools::Edit::ReplaceText(edit) => Self::ReplaceText {
                path: read_path(&edit.path)?,
                old_text: edit.old_text,
                new_text: edit.new_text,
            },
            tools::Edit::Delete(edit) => Self::Delete {
                path: read_path(&edit.path)?,
                expected: read_hash(edit.expected_hash)?,
            },
        })
    }

    /// Returns the file that it changes.
    pub fn path(&self) -> &RelPath {
        match self {
            Self::Create { path, .. }
            | Self::Write { path, .. }
            | Self::ReplaceText { path, .. }
            | Self::Delete { path, .. } => path,
        }
    }
}

impl From<types::ErrorCode> for ErrorCode {
    fn from(code: types::ErrorCode) -> Self {
        match code {
            types::ErrorCode::InvalidArguments => Self::InvalidArguments,
            types::ErrorCode::InvalidPath => Self::InvalidPath,
            types::ErrorCode::NotFound => Self::NotFound,
            types::ErrorCode::AlreadyExists => Self::AlreadyExists,
            types::ErrorCode::NotAFile => Self::NotAFile,
            types::ErrorCode::NotADirectory => Self::NotADirectory,
            types::ErrorCode::Binary => Self::Binary,
            types::ErrorCode::Encoding => Self::Encoding,
            types::ErrorCode::TooLarge => Self::TooLarge,
            types::ErrorCode::OutOfRange => Self::OutOfRange,
            types::ErrorCode::NoMatch => Self::NoMatch,
            types::ErrorCode::Ambiguous => Self::Ambiguous,
            types::ErrorCode::NoChange => Self::NoChange,
            types::ErrorCode::Conflict => Self::Conflict,
            types::ErrorCode::LimitExceeded => Self::LimitExceeded,
            types::ErrorCode::Denied => Self::Denied,
            types::ErrorCode::Timeout => Self::Timeout,
            types::ErrorCode::Cancelled => Self::Cancelled,
            types::ErrorCode::Io => Self::Io,
            types::ErrorCode::Unavailable | types::ErrorCode::Failed => Self::PluginFailed,
        }
    }
}
