//! Errors of the TypeScript compiler: `file(line,column): error TS2322: message`, columns in units of
//! UTF-16. What explains an error follows, indented.

use super::LintReport;
use super::column::ColumnUnit;
use super::fields::severity_of;
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

/// Most bytes of an error with what explains it.
const MESSAGE_BYTES_MAX: usize = 8_000;

pub(crate) fn read(stdout: &str) -> LintReport {
    let mut report = LintReport::of(ColumnUnit::Utf16);
    for line in stdout.lines() {
        if let Some(found) = diagnostic(line) {
            report.push(found);
        } else if line.starts_with("  ")
            && let Some(last) = report.found.last_mut()
            && last.message.len() + line.len() < MESSAGE_BYTES_MAX
        {
            last.message.push('\n');
            last.message.push_str(line.trim_end());
        } else if let Some((code, message)) =
            line.strip_prefix("error ").and_then(|text| text.split_once(": "))
            && code.starts_with("TS")
        {
            // About the configuration: `error TS18003: No inputs were found`.
            report.problem.get_or_insert_with(|| format!("{code}: {message}"));
        }
    }
    report
}

fn diagnostic(text: &str) -> Option<CheckDiagnostic> {
    if text.starts_with(' ') {
        return None;
    }
    // A name may have parentheses: the place is before the first `): `.
    let (place, rest) = text.split_once("): ")?;
    let (file, place) = place.rsplit_once('(')?;
    let (line, column) = place.split_once(',')?;
    let (word, rest) = rest.split_once(' ')?;
    let (code, message) = rest.split_once(": ")?;
    let severity = severity_of(word).unwrap_or(CheckSeverity::Error);
    let (line, column) = (line.parse().ok()?, column.parse().ok()?);
    let found = CheckDiagnostic::at(file, line, column, severity, "tsc", message);
    Some(found.by_rule(Some(code.to_owned())))
}
