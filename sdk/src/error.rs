//! How a tool says what went wrong: a stable code for programs, a message for people and models,
//! and a hint at the next step.
//!
//! Messages are lowercase, without a full stop, and never name the tool: the reader knows which
//! call failed.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// What kind of failure it was. The wire form is the snake-case name; it never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorCode {
    /// The arguments are well-formed but make no sense together.
    InvalidArguments,
    /// The path breaks the rules of workspace paths (`..`, NUL, trailing slash, too long …).
    InvalidPath,
    /// The path leads out of the workspace.
    OutsideWorkspace,
    /// There is no such file, directory or entry.
    NotFound,
    /// The path exists already.
    AlreadyExists,
    /// The path is not a regular file.
    NotAFile,
    /// The path is not a directory.
    NotADirectory,
    /// The file is not text.
    Binary,
    /// The text cannot be read or written in the file's encoding without loss.
    Encoding,
    /// The file, the result or the change is larger than a limit.
    TooLarge,
    /// A line number lies outside the file.
    OutOfRange,
    /// The searched text does not occur.
    NoMatch,
    /// The searched text occurs more than once.
    Ambiguous,
    /// The change would leave everything as it is.
    NoChange,
    /// The change was made before: what it would write is there already.
    AlreadyApplied,
    /// The lines that the change would replace are not as it says.
    Drift,
    /// The file is not what the caller thought it was.
    Conflict,
    /// There were no tests, or none of those that were chosen ran.
    NoTests,
    /// What was to be tested could not be built or loaded.
    BuildFailed,
    /// What a program reports and how it ended contradict each other.
    Inconsistent,
    /// A program that is needed is missing on the machine.
    NotInstalled,
    /// A limit other than size was reached.
    LimitExceeded,
    /// Refused by policy or by a person.
    Denied,
    /// Needs a decision that nobody can make here.
    Unconfirmed,
    /// A program asked something and waited for a reply that nobody can give it.
    NeedsInput,
    /// The time of the call or of the plugin is over.
    Timeout,
    /// The caller went away or cancelled.
    Cancelled,
    /// The operating system refused.
    Io,
    /// The plugin broke: trapped, or returned something that is not a result.
    PluginFailed,
    /// A defect of moss.
    Internal,
}

/// The failure of a tool, written so that a model can correct itself from the text alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub struct ToolError {
    /// What kind of failure.
    pub code: ErrorCode,
    /// What went wrong, and where.
    pub message: String,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// By what the host knows an error of its own again. A tool that words it anew keeps it.
    #[serde(skip)]
    pub mark: Option<ErrorMark>,
}

/// Distinguishes one error from all others of this process. It is neither serialized nor shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorMark(u64);

// === impl ErrorCode ===

impl ErrorCode {
    /// Every code, for tables that must cover them all.
    pub const ALL: &[Self] = &[
        Self::InvalidArguments,
        Self::InvalidPath,
        Self::OutsideWorkspace,
        Self::NotFound,
        Self::AlreadyExists,
        Self::NotAFile,
        Self::NotADirectory,
        Self::Binary,
        Self::Encoding,
        Self::TooLarge,
        Self::OutOfRange,
        Self::NoMatch,
        Self::Ambiguous,
        Self::NoChange,
        Self::AlreadyApplied,
        Self::Drift,
        Self::Conflict,
        Self::NoTests,
        Self::BuildFailed,
        Self::Inconsistent,
        Self::NotInstalled,
        Self::LimitExceeded,
        Self::Denied,
        Self::Unconfirmed,
        Self::NeedsInput,
        Self::Timeout,
        Self::Cancelled,
        Self::Io,
        Self::PluginFailed,
        Self::Internal,
    ];

    /// Returns the wire form, for example `already_exists`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid_arguments",
            Self::InvalidPath => "invalid_path",
            Self::OutsideWorkspace => "outside_workspace",
            Self::NotFound => "not_found",
            Self::AlreadyExists => "already_exists",
            Self::NotAFile => "not_a_file",
            Self::NotADirectory => "not_a_directory",
            Self::Binary => "binary",
            Self::Encoding => "encoding",
            Self::TooLarge => "too_large",
            Self::OutOfRange => "out_of_range",
            Self::NoMatch => "no_match",
            Self::Ambiguous => "ambiguous",
            Self::NoChange => "no_change",
            Self::AlreadyApplied => "already_applied",
            Self::Drift => "drift",
            Self::Conflict => "conflict",
            Self::NoTests => "no_tests",
            Self::BuildFailed => "build_failed",
            Self::Inconsistent => "inconsistent",
            Self::NotInstalled => "not_installed",
            Self::LimitExceeded => "limit_exceeded",
            Self::Denied => "denied",
            Self::Unconfirmed => "unconfirmed",
            Self::NeedsInput => "needs_input",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Io => "io",
            Self::PluginFailed => "plugin_failed",
            Self::Internal => "internal",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

// === impl ErrorMark ===

impl ErrorMark {
    /// Makes a mark that no other error has.
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

// === impl ToolError ===

impl ToolError {
    /// Makes an error of a kind, with what went wrong and where.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, mark: None }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_form_of_every_code_is_its_serde_name() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }

    #[test]
    fn a_mark_distinguishes_errors_and_is_not_serialized() {
        let plain = ToolError::new(ErrorCode::Denied, "no");
        let marked = ToolError { mark: Some(ErrorMark::unique()), ..plain.clone() };
        assert_ne!(marked, ToolError { mark: Some(ErrorMark::unique()), ..plain.clone() });
        let written = serde_json::to_value(&marked).unwrap();
        assert_eq!(written, serde_json::json!({ "code": "denied", "message": "no" }));
        assert_eq!(serde_json::from_value::<ToolError>(written).unwrap(), plain);
    }
}
