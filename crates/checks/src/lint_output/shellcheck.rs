//! Comments of ShellCheck, `json1`: one JSON object, columns in characters, a tab being one.

use serde_json::Value;

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::{from_one, list_at, severity_of, text_at, whole};
use crate::diagnostic::{CheckDiagnostic, CheckFix, CheckSeverity, FixEdit, FixSafety};

pub(crate) fn read(stdout: &str) -> LintReport {
    whole(stdout, &["{"], ColumnUnit::Characters, |report, document| {
        for comment in list_at(document, "/comments") {
            report.push(diagnostic(comment));
        }
    })
}

fn diagnostic(comment: &Value) -> CheckDiagnostic {
    let path = text_at(comment, "/file");
    let severity = severity_of(&text_at(comment, "/level")).unwrap_or(CheckSeverity::Warning);
    let edit = |edit: &Value| FixEdit {
        path: path.clone(),
        line: from_one(edit, "/line", 1),
        column: from_one(edit, "/column", 1),
        end_line: from_one(edit, "/endLine", 1),
        end_column: from_one(edit, "/endColumn", 1),
        new_text: text_at(edit, "/replacement"),
    };
    let edits: Vec<FixEdit> = list_at(comment, "/fix/replacements").iter().map(edit).collect();
    let fix = (!edits.is_empty()).then(|| CheckFix {
        description: String::new(),
        safety: FixSafety::Unknown,
        edits,
    });
    let (line, column) = (from_one(comment, "/line", 1), from_one(comment, "/column", 1));
    let message = text_at(comment, "/message");
    CheckDiagnostic {
        fixes: fix.into_iter().collect(),
        ..CheckDiagnostic::at(&path, line, column, severity, "shellcheck", message)
            .until(from_one(comment, "/endLine", 1), from_one(comment, "/endColumn", 1))
            .by_rule(Some(format!("SC{}", text_at(comment, "/code"))))
    }
}
