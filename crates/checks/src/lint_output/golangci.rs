//! Issues of golangci-lint, of its first and of its second version: one JSON object, columns in bytes.

use serde_json::Value;

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::{document, from_one, list_at, severity_of, text_at};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

pub(crate) fn read(stdout: &str) -> LintReport {
    let document = match document(stdout, &["{\"Issues\"", "{"]) {
        Ok(document) => document,
        Err(problem) => return LintReport::unreadable(problem),
    };
    let mut report = LintReport::of(ColumnUnit::Bytes);
    let error = text_at(&document, "/Report/Error");
    if !error.is_empty() {
        report.problem = Some(error);
    }
    for issue in list_at(&document, "/Issues") {
        report.push(diagnostic(issue));
    }
    report
}

fn diagnostic(issue: &Value) -> CheckDiagnostic {
    let linter = text_at(issue, "/FromLinter");
    let severity = severity_of(&text_at(issue, "/Severity")).unwrap_or(match linter.as_str() {
        "typecheck" => CheckSeverity::Error,
        _ => CheckSeverity::Warning,
    });
    let path = text_at(issue, "/Pos/Filename");
    let (line, column) = (from_one(issue, "/Pos/Line", 1), from_one(issue, "/Pos/Column", 1));
    let text = text_at(issue, "/Text");
    CheckDiagnostic::at(&path, line, column, severity, "golangci-lint", text).by_rule(Some(linter))
}
