//! Diagnostics of pyright: one JSON document. Lines and columns count from 0, in units of UTF-16.

use serde_json::Value;

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::{from_one, listed, severity_of, text_at};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

pub(crate) fn read(stdout: &str) -> LintReport {
    listed(stdout, "generalDiagnostics", ColumnUnit::Utf16, diagnostic)
}

fn diagnostic(found: &Value) -> CheckDiagnostic {
    let severity = severity_of(&text_at(found, "/severity")).unwrap_or(CheckSeverity::Error);
    let line = from_one(found, "/range/start/line", 0);
    let column = from_one(found, "/range/start/character", 0);
    let (path, message) = (text_at(found, "/file"), text_at(found, "/message"));
    CheckDiagnostic::at(&path, line, column, severity, "pyright", message)
        .until(from_one(found, "/range/end/line", 0), from_one(found, "/range/end/character", 0))
        .by_rule(Some(text_at(found, "/rule")))
}
