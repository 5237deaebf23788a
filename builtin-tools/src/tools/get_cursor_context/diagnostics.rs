//! What compilers and linters say of the file that has the focus.

use moss_sdk::editor::{Diagnostic, Position, Severity};
use schemars::JsonSchema;
use serde::Serialize;

/// Most diagnostics of one result.
const DIAGNOSTICS_MAX: usize = 50;

/// What a compiler or a linter says.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DiagnosticOutput {
    line: u32,
    column: u32,
    severity: Severity,
    message: String,
    /// Who says it, such as `rustc`.
    #[serde(skip_serializing_if = "String::is_empty")]
    source: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    code: String,
}

/// The diagnostics of a file, those nearest to the cursor first.
pub(super) fn diagnostics(mut said: Vec<Diagnostic>, cursor: Position) -> Vec<DiagnosticOutput> {
    said.sort_by_key(|one| (one.span.start.line.abs_diff(cursor.line), one.severity));
    said.into_iter()
        .take(DIAGNOSTICS_MAX)
        .map(|one| DiagnosticOutput {
            line: one.span.start.line.saturating_add(1),
            column: one.span.start.character.saturating_add(1),
            severity: one.severity,
            message: one.message,
            source: one.source,
            code: one.code,
        })
        .collect()
}
