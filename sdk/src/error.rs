//! How a tool says what went wrong: a stable code for programs, a message for people and models,
//! and a hint at the next step.
//!
//! Messages are lowercase, without a full stop, and never name the tool: the reader knows which
//! call failed.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// Hands every code to the macro `$each`, a row each: the variant, its word, how a call ends whose tool fails with it
/// (`Outcome` of `moss-dispatch`), and what plugins see of it (`error-code` of their contract). Whatever depends on
/// the code is made from these rows, so none is forgotten.
#[doc(hidden)]
#[macro_export]
macro_rules! error_codes {
    ($each:ident $($with:tt)*) => {
        $each! {
            $($with)*
            /// The arguments are well-formed but make no sense together.
            InvalidArguments "invalid_arguments" Invalid InvalidArguments;
            /// The path breaks the rules of workspace paths (`..`, NUL, trailing slash, too long …).
            InvalidPath "invalid_path" Failed InvalidPath;
            /// The path leads out of the workspace.
            OutsideWorkspace "outside_workspace" Failed InvalidPath;
            /// There is no such file, directory or entry.
            NotFound "not_found" Failed NotFound;
            /// The path exists already.
            AlreadyExists "already_exists" Failed AlreadyExists;
            /// The path is not a regular file.
            NotAFile "not_a_file" Failed NotAFile;
            /// The path is not a directory.
            NotADirectory "not_a_directory" Failed NotADirectory;
            /// The file is not text.
            Binary "binary" Failed Binary;
            /// The text cannot be read or written in the file's encoding without loss.
            Encoding "encoding" Failed Encoding;
            /// The file, the result or the change is larger than a limit.
            TooLarge "too_large" Failed TooLarge;
            /// A line number lies outside the file.
            OutOfRange "out_of_range" Failed OutOfRange;
            /// The searched text does not occur.
            NoMatch "no_match" Failed NoMatch;
            /// The searched text occurs more than once.
            Ambiguous "ambiguous" Failed Ambiguous;
            /// The change would leave everything as it is.
            NoChange "no_change" Failed NoChange;
            /// The change was made before: what it would write is there already.
            AlreadyApplied "already_applied" Failed NoChange;
            /// The lines that the change would replace are not as it says.
            Drift "drift" Failed Conflict;
            /// The file is not what the caller thought it was.
            Conflict "conflict" Failed Conflict;
            /// There were no tests, or none of those that were chosen ran.
            NoTests "no_tests" Failed Failed;
            /// What was to be tested could not be built or loaded.
            BuildFailed "build_failed" Failed Failed;
            /// What a program reports and how it ended contradict each other.
            Inconsistent "inconsistent" Failed Failed;
            /// A program that is needed is missing on the machine.
            NotInstalled "not_installed" Failed Failed;
            /// A limit other than size was reached.
            LimitExceeded "limit_exceeded" Failed LimitExceeded;
            /// Refused by policy or by a person.
            Denied "denied" Denied Denied;
            /// Needs a decision that nobody can make here.
            Unconfirmed "unconfirmed" Unconfirmed Denied;
            /// A program asked something and waited for a reply that nobody can give it.
            NeedsInput "needs_input" Failed Failed;
            /// The time of the call or of the plugin is over.
            Timeout "timeout" Timeout Timeout;
            /// The caller went away or cancelled.
            Cancelled "cancelled" Cancelled Cancelled;
            /// The operating system refused.
            Io "io" Failed Io;
            /// The plugin broke: trapped, or returned something that is not a result.
            PluginFailed "plugin_failed" Failed Failed;
            /// A defect of moss.
            Internal "internal" Failed Failed;
        }
    };
}

macro_rules! define {
    ($($(#[$doc:meta])* $code:ident $word:literal $outcome:ident $contract:ident;)*) => {
        /// What kind of failure it was. The wire form is the snake-case name; it never changes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$doc])* $code,)*
        }

        impl ErrorCode {
            /// Every code, for tables that must cover them all.
            pub const ALL: &[Self] = &[$(Self::$code),*];

            /// Returns the wire form, for example `already_exists`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $word,)*
                }
            }
        }
    };
}

error_codes!(define);

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
