//! Findings of markdownlint-cli (`--json`, on standard error) and markdownlint-cli2 (lines, there too).

use serde_json::Value;

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::{from_one, number_at, severity_of, text_at, whole};
use crate::diagnostic::{CheckDiagnostic, CheckFix, CheckSeverity, FixEdit, FixSafety};

/// Reads the JSON of markdownlint-cli; it writes nothing where it finds nothing.
pub(crate) fn read(stderr: &str) -> LintReport {
    if stderr.trim().is_empty() {
        return LintReport::of(ColumnUnit::Utf16);
    }
    whole(stderr, &["["], ColumnUnit::Utf16, |report, list| {
        for found in list.as_array().into_iter().flatten() {
            report.push(diagnostic(found));
        }
    })
}

fn diagnostic(found: &Value) -> CheckDiagnostic {
    let (path, line) = (text_at(found, "/fileName"), from_one(found, "/lineNumber", 1));
    let severity = severity_of(&text_at(found, "/severity")).unwrap_or(CheckSeverity::Error);
    let message = match text_at(found, "/errorDetail") {
        detail if detail.is_empty() => text_at(found, "/ruleDescription"),
        detail => format!("{}: {detail}", text_at(found, "/ruleDescription")),
    };
    let column = from_one(found, "/errorRange/0", 1);
    let length = number_at(found, "/errorRange/1").and_then(|length| u64::try_from(length).ok());
    let fix = found.get("fixInfo").and_then(|fix| fix_of(fix, &path, line));
    CheckDiagnostic {
        fixes: fix.into_iter().collect(),
        ..CheckDiagnostic::at(&path, line, column, severity, "markdownlint", message)
            .until(line, column.saturating_add(length.unwrap_or(0)))
            .by_rule(Some(text_at(found, "/ruleNames/0")))
    }
}

/// A fix: characters of a line that are deleted, all of it where that is -1, and a text in their place.
fn fix_of(fix: &Value, path: &str, line: u64) -> Option<CheckFix> {
    let fix = Some(fix).filter(|fix| fix.is_object())?;
    let line = number_at(fix, "/lineNumber").map_or(line, |_| from_one(fix, "/lineNumber", 1));
    let column = from_one(fix, "/editColumn", 1);
    let (end_line, end_column) = match number_at(fix, "/deleteCount") {
        Some(..0) => (line + 1, 1),
        Some(count) => (line, column + u64::try_from(count).unwrap_or(0)),
        None => (line, column),
    };
    let new_text = text_at(fix, "/insertText");
    let edit = FixEdit { path: path.to_owned(), line, column, end_line, end_column, new_text };
    let description = String::new();
    Some(CheckFix { description, safety: FixSafety::Safe, edits: vec![edit] })
}

/// Reads `file:line:column error MD001/name message`, the column and the severity optional.
pub(crate) fn read_cli2(stderr: &str) -> LintReport {
    let mut report = LintReport::of(ColumnUnit::Utf16);
    stderr.lines().filter_map(cli2_line).for_each(|found| report.push(found));
    report
}

fn cli2_line(text: &str) -> Option<CheckDiagnostic> {
    let at = [" MD", " error MD", " warning MD"].iter().filter_map(|mark| text.find(mark)).min()?;
    let (place, rest) = (&text[..at], text[at..].trim_start());
    let mut parts = place.rsplitn(3, ':');
    let (last, before, file) = (parts.next()?, parts.next()?, parts.next());
    let last: u64 = last.parse().ok()?;
    let (file, line, column) = match (before.parse::<u64>(), file) {
        (Ok(line), Some(file)) => (file.to_owned(), line, last),
        _ => (place.rsplit_once(':')?.0.to_owned(), last, 1),
    };
    let (severity, rest) = match rest.split_once(' ') {
        Some((word, rest)) if severity_of(word).is_some() => (severity_of(word)?, rest),
        _ => (CheckSeverity::Error, rest),
    };
    let (names, message) = rest.split_once(' ')?;
    let rule = names.split('/').next().unwrap_or(names);
    let found = CheckDiagnostic::at(&file, line, column, severity, "markdownlint", message);
    Some(found.by_rule(Some(rule.to_owned())))
}
