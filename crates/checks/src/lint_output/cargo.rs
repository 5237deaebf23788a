//! Messages of rustc and clippy, as cargo writes them: one JSON object on each line.

use std::collections::HashSet;

use serde_json::Value;

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::{from_one, lines, list_at, text_at};
use crate::diagnostic::{CheckDiagnostic, CheckFix, CheckSeverity, FixEdit, FixSafety};

/// How deep macros are followed to where they are used.
const EXPANSIONS_MAX: usize = 32;

/// Reads an output. What the library and its tests have in common is reported once.
pub(crate) fn read(stdout: &str) -> LintReport {
    let mut seen = HashSet::new();
    let mut homeless = None;
    let mut report = lines(stdout, ColumnUnit::Characters, |report, line| {
        if line.get("reason").and_then(Value::as_str) != Some("compiler-message") {
            return;
        }
        let Some(message) = line.get("message") else { return };
        let Some(severity) = severity(message) else { return };
        match diagnostic(message, severity) {
            Some(found) => {
                let key = (found.path.clone(), found.line, found.column, found.message.clone());
                if seen.insert((key, found.code.clone())) {
                    report.push(found);
                }
            }
            None if severity == CheckSeverity::Error && !is_summary(message) => {
                homeless.get_or_insert_with(|| text_at(message, "/message"));
            }
            None => {}
        }
    });
    report.problem = report.problem.or(homeless);
    report
}

fn severity(message: &Value) -> Option<CheckSeverity> {
    Some(match text_at(message, "/level").as_str() {
        "error" | "error: internal compiler error" => CheckSeverity::Error,
        "warning" => CheckSeverity::Warning,
        "note" => CheckSeverity::Info,
        "help" => CheckSeverity::Hint,
        _ => return None,
    })
}

/// What only counts the messages before it.
fn is_summary(message: &Value) -> bool {
    text_at(message, "/message").starts_with("aborting due to")
}

fn diagnostic(message: &Value, severity: CheckSeverity) -> Option<CheckDiagnostic> {
    let spans = list_at(message, "/spans");
    let primary = spans.iter().find(|span| span["is_primary"] == true).or(spans.first())?;
    let place = used(primary);
    let label = text_at(primary, "/label");
    let mut text = text_at(message, "/message");
    if !label.is_empty() && !text.contains(&label) {
        text = format!("{text}: {label}");
    }
    let code = text_at(message, "/code/code");
    let source = if code.starts_with("clippy::") { "clippy" } else { "rustc" };
    let (line, column) = (from_one(place, "/line_start", 1), from_one(place, "/column_start", 1));
    let found =
        CheckDiagnostic::at(&text_at(place, "/file_name"), line, column, severity, source, text)
            .until(from_one(place, "/line_end", 1), from_one(place, "/column_end", 1))
            .by_rule(Some(code));
    Some(CheckDiagnostic { fixes: fixes(message), ..found })
}

/// Where a macro of another crate is used in this one.
fn used(span: &Value) -> &Value {
    let mut span = span;
    for _ in 0..EXPANSIONS_MAX {
        let file = span["file_name"].as_str().unwrap_or_default();
        let is_own = !file.starts_with(['/', '<']);
        match span.pointer("/expansion/span") {
            Some(outer) if !is_own => span = outer,
            _ => break,
        }
    }
    span
}

fn fixes(message: &Value) -> Vec<CheckFix> {
    list_at(message, "/children").iter().flat_map(suggested).collect()
}

/// The fixes that a help suggests: one where its parts belong together, several where each is for the same
/// place.
fn suggested(help: &Value) -> Vec<CheckFix> {
    let replaces = |span: &&Value| span["suggested_replacement"].is_string();
    let spans: Vec<&Value> = list_at(help, "/spans").iter().filter(replaces).collect();
    let safety = spans.iter().map(|span| safety(span)).max_by_key(|safety| *safety as u8);
    let Some(safety) = safety else { return Vec::new() };
    let edits: Vec<FixEdit> = spans.iter().map(|span| edit(span)).collect();
    let description = text_at(help, "/message");
    let start = |edit: &FixEdit| (edit.line, edit.column);
    let is_one = edits.iter().enumerate().all(|(at, edit)| {
        edits[..at].iter().all(|other| other.path != edit.path || start(other) != start(edit))
    });
    let fix = |edits| CheckFix { description: description.clone(), safety, edits };
    match is_one {
        true => vec![fix(edits)],
        false => edits.into_iter().map(|edit| fix(vec![edit])).collect(),
    }
}

fn safety(span: &Value) -> FixSafety {
    match text_at(span, "/suggestion_applicability").as_str() {
        "MachineApplicable" => FixSafety::Safe,
        "MaybeIncorrect" | "HasPlaceholders" => FixSafety::Unsafe,
        _ => FixSafety::Unknown,
    }
}

fn edit(span: &Value) -> FixEdit {
    FixEdit {
        path: text_at(span, "/file_name"),
        line: from_one(span, "/line_start", 1),
        column: from_one(span, "/column_start", 1),
        end_line: from_one(span, "/line_end", 1),
        end_column: from_one(span, "/column_end", 1),
        new_text: text_at(span, "/suggested_replacement"),
    }
}
