//! Messages of ESLint: one JSON list of files, columns and offsets of fixes in units of UTF-16. Files with
//! messages come with their text, so that offsets can be turned into lines and columns.

use serde_json::Value;

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::{document, from_one, list_at, number_at, text_at};
use crate::diagnostic::{CheckDiagnostic, CheckFix, CheckSeverity, FixEdit, FixSafety};

/// What ESLint says of a file that its configuration leaves out: that is no failure of a run.
const EXCLUDED: &[&str] = &[
    "no matching configuration was supplied",
    "because of a matching ignore pattern",
    "File ignored by default",
];

/// Where each line of a text begins, in units of UTF-16 from 0.
struct Utf16Lines(Vec<u64>);

pub(crate) fn read(stdout: &str) -> LintReport {
    let files = match document(stdout, &["["]) {
        Ok(files) => files,
        Err(problem) => return LintReport::unreadable(problem),
    };
    let mut report = LintReport::of(ColumnUnit::Utf16);
    for file in files.as_array().into_iter().flatten() {
        let path = text_at(file, "/filePath");
        let source = file.get("source").and_then(Value::as_str).map(Utf16Lines::of);
        let mut is_checked = true;
        for message in list_at(file, "/messages") {
            // That it did not look at a file is no finding.
            let text = text_at(message, "/message");
            if text_at(message, "/ruleId").is_empty() && text.starts_with("File ignored ") {
                match EXCLUDED.iter().any(|sign| text.contains(sign)) {
                    true => report.excluded.push((path.clone(), text)),
                    false => report.problem = Some(format!("it did not check {path}: {text}")),
                }
                is_checked = false;
                continue;
            }
            report.push(diagnostic(message, &path, source.as_ref()));
        }
        report.checked.extend(is_checked.then_some(path));
    }
    report
}

fn diagnostic(message: &Value, path: &str, source: Option<&Utf16Lines>) -> CheckDiagnostic {
    let severity = match (number_at(message, "/severity"), message["fatal"] == true) {
        (_, true) | (Some(2), _) => CheckSeverity::Error,
        _ => CheckSeverity::Warning,
    };
    let (line, column) = (from_one(message, "/line", 1), from_one(message, "/column", 1));
    let text = text_at(message, "/message");
    let at = CheckDiagnostic::at(path, line, column, severity, "eslint", text)
        .by_rule(Some(text_at(message, "/ruleId")));
    let at = match number_at(message, "/endLine") {
        Some(_) => at.until(from_one(message, "/endLine", 1), from_one(message, "/endColumn", 1)),
        None => at,
    };
    let fix = |fix: &Value, description: String, safety: FixSafety| {
        let edits = vec![source?.edit(fix, path)?];
        Some(CheckFix { description, safety, edits })
    };
    let own = message.get("fix").and_then(|own| fix(own, String::new(), FixSafety::Safe));
    let suggested = list_at(message, "/suggestions")
        .iter()
        .filter_map(|one| fix(one.get("fix")?, text_at(one, "/desc"), FixSafety::Unsafe));
    CheckDiagnostic { fixes: own.into_iter().chain(suggested).collect(), ..at }
}

// === impl Utf16Lines ===

impl Utf16Lines {
    /// Offsets do not count the byte-order mark that a text begins with.
    fn of(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut starts = vec![0];
        let mut at = 0;
        for c in text.chars() {
            at += c.len_utf16() as u64;
            if c == '\n' {
                starts.push(at);
            }
        }
        Self(starts)
    }

    /// The line and the column of an offset, both from 1.
    fn position(&self, offset: u64) -> (u64, u64) {
        let line = self.0.partition_point(|start| *start <= offset).max(1);
        (line as u64, offset - self.0[line - 1] + 1)
    }

    fn edit(&self, fix: &Value, path: &str) -> Option<FixEdit> {
        let offset = |pointer| number_at(fix, pointer).and_then(|at| u64::try_from(at).ok());
        let (start, end) = (offset("/range/0")?, offset("/range/1")?);
        let ((line, column), (end_line, end_column)) = (self.position(start), self.position(end));
        let new_text = text_at(fix, "/text");
        Some(FixEdit { path: path.to_owned(), line, column, end_line, end_column, new_text })
    }
}
