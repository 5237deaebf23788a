//! Errors of PHPStan: one JSON object with lines, without columns.

use serde_json::Value;

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::{from_one, list_at, text_at, whole};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

pub(crate) fn read(stdout: &str) -> LintReport {
    whole(stdout, &["{"], ColumnUnit::Characters, |report, document| {
        // Errors without a file are about the run: a wrong configuration, a crash.
        let general: Vec<&str> =
            list_at(document, "/errors").iter().filter_map(Value::as_str).collect();
        if !general.is_empty() {
            report.problem = Some(general.join("\n"));
        }
        for (path, file) in document["files"].as_object().into_iter().flatten() {
            for message in list_at(file, "/messages") {
                report.push(diagnostic(message, path));
            }
        }
    })
}

fn diagnostic(message: &Value, path: &str) -> CheckDiagnostic {
    let text = match text_at(message, "/tip") {
        tip if tip.is_empty() => text_at(message, "/message"),
        tip => format!("{}\n{tip}", text_at(message, "/message")),
    };
    // What is found in a trait names the class that uses it behind the path.
    let path = path.split_once(" (in context of ").map_or(path, |(path, _)| path);
    let line = from_one(message, "/line", 1);
    CheckDiagnostic::at(path, line, 1, CheckSeverity::Error, "phpstan", text)
        .by_rule(Some(text_at(message, "/identifier")))
}
