//! Findings of ruff: one JSON object on each line, columns in characters.
//!
//! Lines of a notebook are those of one of its cells. Where a cell stands in the file only its JSON says: so what is
//! found there names cell and line, stands at the beginning of the file, and has no fixes.

use serde_json::Value;

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::{from_one, lines, list_at, number_at, severity_of, text_at};
use crate::diagnostic::{CheckDiagnostic, CheckFix, CheckSeverity, FixEdit, FixSafety};

pub(crate) fn read(stdout: &str) -> LintReport {
    lines(stdout, ColumnUnit::Characters, |report, line| report.push(diagnostic(line)))
}

fn diagnostic(found: &Value) -> CheckDiagnostic {
    let path = text_at(found, "/filename");
    let code = text_at(found, "/code");
    // Versions before 0.12 name no severity, and no code where something does not parse.
    let severity = severity_of(&text_at(found, "/severity")).unwrap_or(match code.as_str() {
        "" | "invalid-syntax" => CheckSeverity::Error,
        _ => CheckSeverity::Warning,
    });
    let (line, column) =
        (from_one(found, "/location/row", 1), from_one(found, "/location/column", 1));
    let message = text_at(found, "/message");
    if let Some(cell) = number_at(found, "/cell") {
        let message = format!("cell {cell}, line {line}, column {column}: {message}");
        return CheckDiagnostic::at(&path, 1, 1, severity, "ruff", message).by_rule(Some(code));
    }
    let fix = found.get("fix").filter(|fix| fix.is_object()).map(|fix| fix_of(fix, &path));
    CheckDiagnostic {
        fixes: fix.into_iter().collect(),
        ..CheckDiagnostic::at(&path, line, column, severity, "ruff", message)
            .until(
                from_one(found, "/end_location/row", 1),
                from_one(found, "/end_location/column", 1),
            )
            .by_rule(Some(code))
    }
}

fn fix_of(fix: &Value, path: &str) -> CheckFix {
    let edit = |edit: &Value| FixEdit {
        path: path.to_owned(),
        line: from_one(edit, "/location/row", 1),
        column: from_one(edit, "/location/column", 1),
        end_line: from_one(edit, "/end_location/row", 1),
        end_column: from_one(edit, "/end_location/column", 1),
        new_text: text_at(edit, "/content"),
    };
    CheckFix {
        description: text_at(fix, "/message"),
        safety: match text_at(fix, "/applicability").as_str() {
            "safe" => FixSafety::Safe,
            "unsafe" => FixSafety::Unsafe,
            _ => FixSafety::Unknown,
        },
        edits: list_at(fix, "/edits").iter().map(edit).collect(),
    }
}
