//! SARIF 2.1.0, as any tool may write it.

mod context;

use serde_json::Value;

use self::context::SarifRun;
use super::LintReport;
use super::column::{ColumnUnit, LINE_END, edit_of_bytes};
use super::fields::{document, from_one, list_at, number_at, severity_of, text_at};
use crate::diagnostic::{CheckDiagnostic, CheckFix, CheckSeverity, FixEdit, FixSafety};

/// Kinds of results that say that nothing is wrong.
const FINE: [&str; 2] = ["pass", "notApplicable"];
/// Kinds of results that say what somebody should know, or look at.
const NOTABLE: [&str; 3] = ["informational", "open", "review"];
/// States of suppressions with which a result is still one.
const UNSETTLED: [&str; 2] = ["underReview", "rejected"];

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
        let context = SarifRun::new(run);
        for result in list_at(run, "/results").iter().filter(|result| is_finding(result)) {
            report.push(diagnostic(&context, result, source));
        }
        report.problem = report.problem.take().or_else(|| failure(run));
    }
    report
}

/// Whether a result says that something is, or may be, wrong now.
fn is_finding(result: &Value) -> bool {
    let suppressions = list_at(result, "/suppressions");
    let is_unsettled = |one: &Value| UNSETTLED.contains(&text_at(one, "/status").as_str());
    let is_suppressed = !suppressions.is_empty() && !suppressions.iter().any(is_unsettled);
    let is_gone = text_at(result, "/baselineState") == "absent";
    !is_suppressed && !is_gone && !FINE.contains(&text_at(result, "/kind").as_str())
}

/// Why a run could not do its work, as it says itself.
fn failure(run: &Value) -> Option<String> {
    let invocations = || list_at(run, "/invocations").iter();
    let mut notified = invocations().flat_map(|one| {
        let of = |pointer| list_at(one, pointer).iter();
        of("/toolExecutionNotifications").chain(of("/toolConfigurationNotifications"))
    });
    let error = notified.find(|one| one["level"] == "error");
    let message = error.map(|one| text_at(one, "/message/text")).filter(|text| !text.is_empty());
    message.or_else(|| {
        let failed = invocations().find(|one| one["executionSuccessful"] == false)?;
        let why = text_at(failed, "/exitCodeDescription");
        Some(match why.is_empty() {
            true => "its report says that it did not succeed (`executionSuccessful` is false)"
                .to_owned(),
            false => why,
        })
    })
}

fn diagnostic(run: &SarifRun<'_>, result: &Value, source: &str) -> CheckDiagnostic {
    let null = Value::Null;
    let location = result.pointer("/locations/0/physicalLocation").unwrap_or(&null);
    let path = run.artifact(&location["artifactLocation"]);
    let region = &location["region"];
    let at = |field: &str| from_one(region, field, 1);
    let mut message = run.message(result);
    // Only the text says in which line that is.
    if let Some(offset) = character_offset(region) {
        message = format!("at character {} of the file: {message}", offset.saturating_add(1));
    }
    let end_line = number_at(region, "/endLine").map_or(at("/startLine"), |_| at("/endLine"));
    let end_column =
        number_at(region, "/endColumn").map_or(at("/startColumn"), |_| at("/endColumn"));
    let (line, column) = (at("/startLine"), at("/startColumn"));
    let fixes = list_at(result, "/fixes").iter().filter_map(|fix| fix_of(run, fix));
    let found = CheckDiagnostic::at(&path, line, column, severity(run, result), source, message);
    CheckDiagnostic {
        fixes: fixes.collect(),
        ..found.until(end_line, end_column).by_rule(Some(run.rule_id(result)))
    }
}

/// Where a region begins that has neither lines nor bytes, in characters of the file from 0.
fn character_offset(region: &Value) -> Option<i64> {
    let has_line = number_at(region, "/startLine").is_some();
    number_at(region, "/charOffset").filter(|offset| *offset >= 0 && !has_line)
}

fn severity(run: &SarifRun<'_>, result: &Value) -> CheckSeverity {
    if NOTABLE.contains(&text_at(result, "/kind").as_str()) {
        return CheckSeverity::Info;
    }
    let own = result.get("level").map(|_| text_at(result, "/level"));
    let level = own.or_else(|| run.default_level(result));
    level.and_then(|level| severity_of(&level)).unwrap_or(CheckSeverity::Warning)
}

/// A fix; none where one of its edits cannot be placed.
fn fix_of(run: &SarifRun<'_>, fix: &Value) -> Option<CheckFix> {
    let mut edits = Vec::new();
    for change in list_at(fix, "/artifactChanges") {
        let path = run.artifact(&change["artifactLocation"]);
        for replacement in list_at(change, "/replacements") {
            edits.push(edit_of(&path, replacement)?);
        }
    }
    let description = text_at(fix, "/description/text");
    Some(CheckFix { description, safety: FixSafety::Unknown, edits })
}

/// An edit by lines or by bytes; none by characters of the whole file, or where it would replace something that only the
/// tool can read.
fn edit_of(path: &str, replacement: &Value) -> Option<FixEdit> {
    let region = replacement.get("deletedRegion")?;
    let new_text = match replacement.get("insertedContent") {
        None => String::new(),
        Some(content) => content.get("text")?.as_str()?.to_owned(),
    };
    if number_at(region, "/startLine").is_none() {
        let number = |pointer| number_at(region, pointer).and_then(|at| u64::try_from(at).ok());
        let start = number("/byteOffset")?;
        let end = start.checked_add(number("/byteLength").unwrap_or(0))?;
        return Some(edit_of_bytes(path, start, end, new_text));
    }
    let at = |pointer: &str| from_one(region, pointer, 1);
    let end_line = number_at(region, "/endLine").map_or(at("/startLine"), |_| at("/endLine"));
    // Without a last column a region goes to the end of its last line.
    let end_column = number_at(region, "/endColumn").map_or(LINE_END, |_| at("/endColumn"));
    let (line, column) = (at("/startLine"), at("/startColumn"));
    let is_ordered = (line, column) <= (end_line, end_column);
    let path = path.to_owned();
    is_ordered.then_some(FixEdit { path, line, column, end_line, end_column, new_text })
}
