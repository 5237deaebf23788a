//! Offenses of RuboCop: one JSON object, columns in characters, the last one included.

use serde_json::Value;

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::{from_one, list_at, severity_of, text_at, whole};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

pub(crate) fn read(stdout: &str) -> LintReport {
    whole(stdout, &["{"], ColumnUnit::Characters, |report, document| {
        for file in list_at(document, "/files") {
            let path = text_at(file, "/path");
            for offense in list_at(file, "/offenses") {
                report.push(diagnostic(offense, &path));
            }
        }
    })
}

fn diagnostic(offense: &Value, path: &str) -> CheckDiagnostic {
    let severity = severity_of(&text_at(offense, "/severity")).unwrap_or(CheckSeverity::Warning);
    let line = from_one(offense, "/location/start_line", 1);
    let column = from_one(offense, "/location/start_column", 1);
    let end_column = from_one(offense, "/location/last_column", 1) + 1;
    CheckDiagnostic::at(path, line, column, severity, "rubocop", text_at(offense, "/message"))
        .until(from_one(offense, "/location/last_line", 1), end_column)
        .by_rule(Some(text_at(offense, "/cop_name")))
}
