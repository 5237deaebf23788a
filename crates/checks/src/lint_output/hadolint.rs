//! Findings of hadolint: one JSON list.

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::{document, from_one, severity_of, text_at};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

pub(crate) fn read(stdout: &str) -> LintReport {
    let list = match document(stdout, &["["]) {
        Ok(list) => list,
        Err(problem) => return LintReport::unreadable(problem),
    };
    let mut report = LintReport::of(ColumnUnit::Characters);
    for found in list.as_array().into_iter().flatten() {
        let severity = severity_of(&text_at(found, "/level")).unwrap_or(CheckSeverity::Warning);
        let (line, column) = (from_one(found, "/line", 1), from_one(found, "/column", 1));
        let (file, message) = (text_at(found, "/file"), text_at(found, "/message"));
        let at = CheckDiagnostic::at(&file, line, column, severity, "hadolint", message);
        report.push(at.by_rule(Some(text_at(found, "/code"))));
    }
    report
}
