//! Fields of JSON that tools write: each may be missing, or be something else in another version.

use serde_json::Value;

use super::LintReport;
use super::column::ColumnUnit;
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

/// The text at a JSON pointer; empty if missing. A number counts as its digits.
pub(crate) fn text_at(value: &Value, pointer: &str) -> String {
    match value.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// The number at a JSON pointer.
pub(crate) fn number_at(value: &Value, pointer: &str) -> Option<i64> {
    value.pointer(pointer).and_then(Value::as_i64)
}

/// A line or a column at a JSON pointer that counts from `base`, from 1; 1 if missing.
pub(crate) fn from_one(value: &Value, pointer: &str, base: i64) -> u64 {
    let number = number_at(value, pointer).unwrap_or(base).saturating_add(1 - base);
    u64::try_from(number).unwrap_or(1).max(1)
}

/// The list at a JSON pointer; empty if missing.
pub(crate) fn list_at<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A severity by the word that tools use for it.
pub(crate) fn severity_of(word: &str) -> Option<CheckSeverity> {
    Some(match word.to_ascii_lowercase().as_str() {
        "error" | "fatal" | "fatal error" | "critical" | "blocker" => CheckSeverity::Error,
        "warning" | "warn" | "major" | "performance" | "portability" => CheckSeverity::Warning,
        "note" | "info" | "information" | "minor" | "notice" => CheckSeverity::Info,
        "style" | "hint" | "help" | "convention" | "refactor" | "none" | "ignore" => {
            CheckSeverity::Hint
        }
        _ => return None,
    })
}

/// Reads an output that is one JSON document, with what other programs write before and behind it.
pub(crate) fn document(output: &str, opens: &[&str]) -> Result<Value, String> {
    let starts = opens.iter().filter_map(|open| start_of_line(output, open));
    let Some(start) = starts.min() else {
        return Err("its output is not JSON".to_owned());
    };
    let mut values = serde_json::Deserializer::from_str(&output[start..]).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) if error.is_eof() => Err("its output is not whole".to_owned()),
        Some(Err(error)) => Err(format!("its output is not JSON: {error}")),
        None => Err("its output is not JSON".to_owned()),
    }
}

/// Reads an output that is one JSON document, as [`document()`] finds it.
pub(crate) fn whole(
    output: &str,
    opens: &[&str],
    unit: ColumnUnit,
    read: impl FnOnce(&mut LintReport, &Value),
) -> LintReport {
    match document(output, opens) {
        Ok(document) => {
            let mut report = LintReport::of(unit);
            read(&mut report, &document);
            report
        }
        Err(problem) => LintReport::unreadable(problem),
    }
}

/// Reads an output that is one JSON object, which lists under a key what was found.
pub(crate) fn listed(
    output: &str,
    key: &str,
    unit: ColumnUnit,
    diagnostic: impl Fn(&Value) -> CheckDiagnostic,
) -> LintReport {
    whole(output, &["{"], unit, |report, document| {
        if !document[key].is_array() {
            report.problem = Some(format!("its output has no `{key}`"));
        }
        for found in document[key].as_array().into_iter().flatten() {
            report.push(diagnostic(found));
        }
    })
}

/// Reads an output that has one JSON object on each line; other lines are passed over, and an object that
/// is not whole is a problem.
pub(crate) fn lines(
    output: &str,
    unit: ColumnUnit,
    mut read: impl FnMut(&mut LintReport, &Value),
) -> LintReport {
    let mut report = LintReport::of(unit);
    let mut broken = 0_u64;
    for line in output.lines().filter(|line| line.starts_with('{')) {
        match serde_json::from_str::<Value>(line) {
            Ok(value) => read(&mut report, &value),
            Err(_) => broken += 1,
        }
    }
    if broken > 0 {
        report.problem = Some(format!("{broken} lines of its output are not whole JSON"));
    }
    report
}

/// Where a line begins with a text.
fn start_of_line(output: &str, open: &str) -> Option<usize> {
    let mut starts = output.match_indices(open).map(|(at, _)| at);
    starts.find(|at| *at == 0 || output.as_bytes()[at - 1] == b'\n')
}
