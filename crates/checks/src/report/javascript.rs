//! The JSON of Jest, which Vitest has as well, and that of Mocha.

use serde::Deserialize;
use serde_json::Value;

use super::{CaseOutcome, TestCase, TestReport, first_line, milliseconds};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestReport {
    test_results: Vec<JestFile>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestFile {
    #[serde(default)]
    name: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    assertion_results: Vec<JestTest>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestTest {
    #[serde(default)]
    full_name: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    failure_messages: Vec<String>,
    location: Option<JestLocation>,
    duration: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct JestLocation {
    line: u64,
}

#[derive(Debug, Deserialize)]
struct MochaReport {
    tests: Vec<MochaTest>,
    #[serde(default)]
    pending: Vec<Value>,
    #[serde(default)]
    failures: Vec<MochaTest>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MochaTest {
    #[serde(default)]
    full_title: String,
    file: Option<String>,
    duration: Option<f64>,
    #[serde(default)]
    err: Value,
}

/// Reads what Jest or Vitest wrote.
pub(crate) fn read_jest(text: &str) -> TestReport {
    let found: JestReport = match serde_json::from_str(text) {
        Ok(found) => found,
        Err(error) => return TestReport::unreadable(format!("the report is not whole: {error}")),
    };
    let mut report = TestReport::default();
    for file in found.test_results {
        let has_failed = file.assertion_results.iter().any(|test| test.status == "failed");
        if file.status == "failed" && !has_failed {
            report.is_build_failed = true;
            report.build.push(not_loaded(&file));
        }
        for test in file.assertion_results {
            report.push(jest_case(&file.name, test));
        }
    }
    report
}

fn jest_case(file: &str, test: JestTest) -> TestCase {
    let outcome = match test.status.as_str() {
        "passed" => CaseOutcome::Passed,
        "failed" => CaseOutcome::Failed,
        _ => CaseOutcome::Skipped,
    };
    let details = without_colours(&test.failure_messages.join("\n"));
    TestCase {
        id: test.full_name.trim().to_owned(),
        outcome,
        file: Some(file.to_owned()),
        line: stack_line(file, &details).or(test.location.map(|location| location.line)),
        message: message(&details),
        details,
        output: String::new(),
        duration_ms: test.duration.and_then(|duration| milliseconds(duration / 1000.0)),
    }
}

/// What stands before the stack.
fn message(details: &str) -> String {
    let lines = details.lines().take_while(|line| !line.trim_start().starts_with("at "));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The line of a file that a stack names first.
fn stack_line(file: &str, details: &str) -> Option<u64> {
    let (_, rest) = details.split_once(&format!("{file}:"))?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn not_loaded(file: &JestFile) -> CheckDiagnostic {
    let details = without_colours(&file.message);
    let line = stack_line(&file.name, &details).unwrap_or(1);
    CheckDiagnostic::at(&file.name, line, 1, CheckSeverity::Error, "load", message(&details))
}

/// Reads what Mocha wrote.
pub(crate) fn read_mocha(text: &str) -> TestReport {
    // What tests write may come before it where it goes to the standard output.
    let found: MochaReport = match serde_json::from_str(text) {
        Ok(found) => found,
        Err(error) => return TestReport::unreadable(format!("the report is not whole: {error}")),
    };
    let mut report = TestReport::default();
    let is_pending = |test: &MochaTest| {
        found.pending.iter().any(|one| {
            one["fullTitle"] == test.full_title.as_str()
                && one["file"].as_str() == test.file.as_deref()
        })
    };
    for test in &found.tests {
        let skipped = is_pending(test);
        report.push(mocha_case(test, skipped));
    }
    // What fails before and after tests is no test of its own there.
    for hook in &found.failures {
        let is_test = found.tests.iter().any(|test| test.full_title == hook.full_title);
        if !is_test {
            report.push(TestCase { outcome: CaseOutcome::Errored, ..mocha_case(hook, false) });
        }
    }
    report
}

fn mocha_case(test: &MochaTest, skipped: bool) -> TestCase {
    let text = |key: &str| test.err[key].as_str().unwrap_or_default().to_owned();
    let (message, details) = (text("message"), text("stack"));
    let has_failed = test.err.as_object().is_some_and(|err| !err.is_empty());
    let outcome = match (has_failed, skipped) {
        (true, _) => CaseOutcome::Failed,
        (false, true) => CaseOutcome::Skipped,
        (false, false) => CaseOutcome::Passed,
    };
    let file = test.file.clone();
    TestCase {
        id: test.full_title.clone(),
        outcome,
        line: file.as_deref().and_then(|file| stack_line(file, &details)),
        file,
        message: if message.is_empty() { first_line(&details) } else { message },
        details,
        output: String::new(),
        duration_ms: test.duration.and_then(|duration| milliseconds(duration / 1000.0)),
    }
}

/// A text without the sequences that colour it.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = match after.strip_prefix('[') {
            Some(sequence) => {
                let end = sequence.find(|c: char| c.is_ascii_alphabetic());
                end.map_or("", |end| &sequence[end + 1..])
            }
            None => after,
        };
    }
    plain.push_str(rest);
    plain
}
