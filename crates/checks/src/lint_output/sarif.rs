//! SARIF 2.1.0, as any tool may write it.

use serde_json::Value;

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::{document, from_one, list_at, number_at, severity_of, text_at};
use crate::diagnostic::{CheckDiagnostic, CheckFix, CheckSeverity, FixEdit, FixSafety};

pub(crate) fn read(stdout: &str, source: &str) -> LintReport {
    let document = match document(stdout, &["{"]) {
        Ok(document) => document,
        Err(problem) => return LintReport::unreadable(problem),
    };
    if !document["runs"].is_array() {
        return LintReport::unreadable("its output has no `runs`: it is not SARIF");
    }
    let runs = list_at(&document, "/runs");
    // The default of the standard. A document is read in the unit of its first run.
    let unit = match runs.first().map(|run| text_at(run, "/columnKind")).as_deref() {
        Some("unicodeCodePoints") => ColumnUnit::Characters,
        _ => ColumnUnit::Utf16,
    };
    let mut report = LintReport::of(unit);
    for run in runs {
        for result in list_at(run, "/results") {
            if result["suppressions"].as_array().is_none_or(Vec::is_empty) {
                report.push(diagnostic(result, source));
            }
        }
        report.problem = report.problem.take().or_else(|| failure(run));
    }
    report
}

/// Why a run could not do its work, as it says itself.
fn failure(run: &Value) -> Option<String> {
    let invocations = list_at(run, "/invocations").iter();
    let mut told = invocations.flat_map(|one| {
        let of = |pointer| list_at(one, pointer).iter();
        of("/toolExecutionNotifications").chain(of("/toolConfigurationNotifications"))
    });
    told.find(|one| one["level"] == "error").map(|one| text_at(one, "/message/text"))
}

fn diagnostic(result: &Value, source: &str) -> CheckDiagnostic {
    let place = "/locations/0/physicalLocation";
    let at = |field: &str| from_one(result, &format!("{place}/region/{field}"), 1);
    let path = path_of(&text_at(result, &format!("{place}/artifactLocation/uri")));
    let severity = match result.get("level") {
        None => CheckSeverity::Warning,
        Some(_) => severity_of(&text_at(result, "/level")).unwrap_or(CheckSeverity::Warning),
    };
    let rule = match text_at(result, "/ruleId") {
        id if id.is_empty() => text_at(result, "/rule/id"),
        id => id,
    };
    let found = CheckDiagnostic::at(
        &path,
        at("startLine"),
        at("startColumn"),
        severity,
        source,
        text_at(result, "/message/text"),
    );
    let (end_line, end_column) = end(result, &format!("{place}/region"));
    CheckDiagnostic {
        fixes: list_at(result, "/fixes").iter().map(fix_of).collect(),
        ..found.until(end_line, end_column).by_rule(Some(rule))
    }
}

/// The end of a region: of its first line where it names no last one.
fn end(value: &Value, region: &str) -> (u64, u64) {
    let has = |field: &str| number_at(value, &format!("{region}/{field}")).is_some();
    let at = |field: &str| from_one(value, &format!("{region}/{field}"), 1);
    let line = if has("endLine") { at("endLine") } else { at("startLine") };
    (line, if has("endColumn") { at("endColumn") } else { at("startColumn") })
}

fn fix_of(fix: &Value) -> CheckFix {
    let of_change = |change: &Value| -> Vec<FixEdit> {
        let path = path_of(&text_at(change, "/artifactLocation/uri"));
        let edit = |replacement: &Value| {
            let (end_line, end_column) = end(replacement, "/deletedRegion");
            FixEdit {
                path: path.clone(),
                line: from_one(replacement, "/deletedRegion/startLine", 1),
                column: from_one(replacement, "/deletedRegion/startColumn", 1),
                end_line,
                end_column,
                new_text: text_at(replacement, "/insertedContent/text"),
            }
        };
        list_at(change, "/replacements").iter().map(edit).collect()
    };
    CheckFix {
        description: text_at(fix, "/description/text"),
        safety: FixSafety::Unknown,
        edits: list_at(fix, "/artifactChanges").iter().flat_map(of_change).collect(),
    }
}

/// The path that a URI names.
fn path_of(uri: &str) -> String {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let escaped = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escaped {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}
