//! Errors of mypy: one JSON object on each line. Columns count from 0, those of syntax errors from 1.

use serde_json::Value;

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::{from_one, lines, number_at, severity_of, text_at};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

pub(crate) fn read(stdout: &str) -> LintReport {
    lines(stdout, ColumnUnit::Characters, |report, line| report.push(diagnostic(line)))
}

fn diagnostic(found: &Value) -> CheckDiagnostic {
    let code = text_at(found, "/code");
    let base = i64::from(code == "syntax");
    let severity = severity_of(&text_at(found, "/severity")).unwrap_or(CheckSeverity::Error);
    let message = match text_at(found, "/hint") {
        hint if hint.is_empty() => text_at(found, "/message"),
        hint => format!("{}\n{hint}", text_at(found, "/message")),
    };
    let path = text_at(found, "/file");
    let (line, column) = (from_one(found, "/line", 1), from_one(found, "/column", base));
    let at =
        CheckDiagnostic::at(&path, line, column, severity, "mypy", message).by_rule(Some(code));
    match (number_at(found, "/end_line"), number_at(found, "/end_column")) {
        (Some(_), Some(_)) => {
            at.until(from_one(found, "/end_line", 1), from_one(found, "/end_column", base))
        }
        _ => at,
    }
}
