//! What a compiler, a linter or a parser says of a place in a file: one shape for all of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that is wrong, or might be better, in a file. Lines and columns count from 1; columns are
/// characters. What nobody says of a location is missing: it is 0 here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckDiagnostic {
    /// The file, relative to the workspace root.
    pub path: String,
    /// Counts from 1.
    #[serde(skip_serializing_if = "is_unknown")]
    pub line: u64,
    /// Where in the line.
    #[serde(skip_serializing_if = "is_unknown")]
    pub column: u64,
    /// The line of its end.
    #[serde(skip_serializing_if = "is_unknown")]
    pub end_line: u64,
    /// Behind the last character in the last line.
    #[serde(skip_serializing_if = "is_unknown")]
    pub end_column: u64,
    /// How bad it is.
    pub severity: CheckSeverity,
    /// The rule: `E0308`, `F401`, `no-unused-vars`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Who says it: `clippy`, `ruff`, `syntax`.
    pub source: String,
    /// As the tool words it, cut to a bound.
    pub message: String,
    /// How it can be fixed, as far as the tool knows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<CheckFix>,
}

/// How bad a diagnostic is, the worst first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CheckSeverity {
    /// It does not work.
    Error,
    /// It is probably wrong.
    Warning,
    /// It is worth knowing.
    Info,
    /// It might be nicer.
    Hint,
}

/// A way to fix a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckFix {
    /// What it does, where the tool says so.
    pub description: String,
    /// Whether it keeps what the code means.
    pub safety: FixSafety,
    /// What is replaced, all of it or nothing.
    pub edits: Vec<FixEdit>,
}

/// Whether a fix keeps what the code means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FixSafety {
    /// The tool applies it unasked.
    Safe,
    /// It may change what the code does.
    Unsafe,
    /// The tool does not say.
    Unknown,
}

/// One replacement of a fix. Lines and columns count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FixEdit {
    /// The file, relative to the workspace root.
    pub path: String,
    /// The line of the first character that is replaced, from 1.
    pub line: u64,
    /// The first character that is replaced, from 1 in its line.
    pub column: u64,
    /// The line of the last character that is replaced.
    pub end_line: u64,
    /// Behind the last character that is replaced.
    pub end_column: u64,
    /// What stands there afterwards.
    pub new_text: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_unknown(number: &u64) -> bool {
    *number == 0
}

// === impl CheckSeverity ===

impl CheckSeverity {
    /// Its name, as results have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
            Self::Hint => "hint",
        }
    }
}

// === impl CheckDiagnostic ===

impl CheckDiagnostic {
    /// A diagnostic at one location, without code and fixes; 0 where nobody says in which line, or where in it.
    pub fn at(
        path: &str,
        line: u64,
        column: u64,
        severity: CheckSeverity,
        source: &str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            path: path.to_owned(),
            line,
            column,
            end_line: line,
            end_column: column,
            severity,
            code: None,
            source: source.to_owned(),
            message: message.into(),
            fixes: Vec::new(),
        }
    }

    /// Where it is, as far as that is known: `a.py:8:3`, `a.py:8`, `a.py`.
    pub fn location(&self) -> String {
        let numbers = [self.line, self.column].into_iter().take_while(|number| *number > 0);
        numbers.fold(self.path.clone(), |before, number| format!("{before}:{number}"))
    }

    /// As this, with the location behind its last character.
    pub(crate) fn until(self, end_line: u64, end_column: u64) -> Self {
        let is_behind = (end_line, end_column) >= (self.line, self.column);
        match is_behind {
            true => Self { end_line, end_column, ..self },
            false => self,
        }
    }

    /// As this, with the rule that says it.
    pub(crate) fn by_rule(self, code: Option<String>) -> Self {
        Self { code: code.filter(|code| !code.is_empty()), ..self }
    }
}
