//! Diagnostics of Biome in the format of reviewdog, `rdjson`: columns in characters. It does not say which
//! suggestions are safe.

use serde_json::Value;

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::{from_one, list_at, listed, severity_of, text_at};
use crate::diagnostic::{CheckDiagnostic, CheckFix, CheckSeverity, FixEdit, FixSafety};

pub(crate) fn read(stdout: &str) -> LintReport {
    listed(stdout, "diagnostics", ColumnUnit::Characters, diagnostic)
}

fn diagnostic(found: &Value) -> CheckDiagnostic {
    let path = text_at(found, "/location/path");
    let severity = severity_of(&text_at(found, "/severity")).unwrap_or(CheckSeverity::Error);
    let (start, end) = ("/location/range/start", "/location/range/end");
    let line = from_one(found, &format!("{start}/line"), 1);
    let column = from_one(found, &format!("{start}/column"), 1);
    let fixes = list_at(found, "/suggestions").iter().map(|suggestion| CheckFix {
        description: String::new(),
        safety: FixSafety::Unknown,
        edits: vec![FixEdit {
            path: path.clone(),
            line: from_one(suggestion, "/range/start/line", 1),
            column: from_one(suggestion, "/range/start/column", 1),
            end_line: from_one(suggestion, "/range/end/line", 1),
            end_column: from_one(suggestion, "/range/end/column", 1),
            new_text: text_at(suggestion, "/text"),
        }],
    });
    CheckDiagnostic {
        fixes: fixes.collect(),
        ..CheckDiagnostic::at(&path, line, column, severity, "biome", text_at(found, "/message"))
            .until(
                from_one(found, &format!("{end}/line"), 1),
                from_one(found, &format!("{end}/column"), 1),
            )
            .by_rule(Some(text_at(found, "/code/value")))
    }
}
