//! Diagnostics of oxlint: one JSON document, columns in bytes.

use serde_json::Value;

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::{from_one, listed, number_at, severity_of, text_at};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

pub(crate) fn read(stdout: &str) -> LintReport {
    listed(stdout, "diagnostics", ColumnUnit::Bytes, diagnostic)
}

fn diagnostic(found: &Value) -> CheckDiagnostic {
    let severity = severity_of(&text_at(found, "/severity")).unwrap_or(CheckSeverity::Warning);
    let line = from_one(found, "/labels/0/span/line", 1);
    let column = from_one(found, "/labels/0/span/column", 1);
    let length = number_at(found, "/labels/0/span/length").unwrap_or(0);
    let message = match text_at(found, "/help") {
        help if help.is_empty() => text_at(found, "/message"),
        help => format!("{}\n{help}", text_at(found, "/message")),
    };
    let end = column.saturating_add(u64::try_from(length).unwrap_or(0));
    CheckDiagnostic::at(&text_at(found, "/filename"), line, column, severity, "oxlint", message)
        // One over several lines ends with its first one: how long that is, it does not say.
        .until(line, end)
        .by_rule(Some(text_at(found, "/code")))
}
