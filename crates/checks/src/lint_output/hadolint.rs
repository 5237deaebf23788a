//! Findings of hadolint: one JSON list.

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::{from_one, severity_of, text_at, whole};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

/// What it says of a configuration that it cannot read: then it goes on without one, and ends as if all were well.
const NO_CONFIGURATION: &str = "Error parsing your config file";

pub(crate) fn read(stdout: &str, stderr: &str) -> LintReport {
    whole(stdout, &["["], ColumnUnit::Characters, |report, list| {
        if stderr.contains(NO_CONFIGURATION) {
            report.problem =
                Some("it cannot read its configuration, and checked without it".to_owned());
        }
        for found in list.as_array().into_iter().flatten() {
            let severity = severity_of(&text_at(found, "/level")).unwrap_or(CheckSeverity::Warning);
            let (line, column) = (from_one(found, "/line", 1), from_one(found, "/column", 1));
            let (file, message) = (text_at(found, "/file"), text_at(found, "/message"));
            let at = CheckDiagnostic::at(&file, line, column, severity, "hadolint", message);
            report.push(at.by_rule(Some(text_at(found, "/code"))));
        }
    })
}
