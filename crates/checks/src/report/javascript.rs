//! The JSON of Jest, which Vitest has as well, and that of Mocha.

use serde::Deserialize;
use serde_json::Value;

use super::{
    CaseOutcome, TestCase, TestReport, escaped, first_line, line_in, message_before_stack,
    milliseconds, position_in, without_colours,
};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JestReport {
    test_results: Vec<JestFile>,
    num_total_tests: Option<u64>,
    #[serde(default)]
    was_interrupted: bool,
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
    #[serde(default)]
    failure_details: Vec<Value>,
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
    failures: Vec<MochaTest>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MochaTest {
    #[serde(default)]
    full_title: String,
    file: Option<String>,
    duration: Option<f64>,
    /// Whether it was left out.
    #[serde(default)]
    pending: bool,
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
    let read = report.cases.len() as u64;
    if found.was_interrupted {
        report.problem = Some("the run was interrupted".to_owned());
    } else if let Some(total) = found.num_total_tests.filter(|total| *total != read) {
        report.problem = Some(format!("the report counts {total} tests and lists {read}"));
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
    let compared = |key: &str| {
        let result = test.failure_details.iter().map(|detail| &detail["matcherResult"][key]);
        result.filter(|value| !value.is_null()).map(json_text).next()
    };
    TestCase {
        id: escaped(test.full_name.trim()),
        outcome,
        sources: Vec::new(),
        file: Some(file.to_owned()),
        line: line_in(file, &details).or(test.location.map(|location| location.line)),
        message: message_before_stack(&details),
        details,
        expected: compared("expected"),
        actual: compared("actual"),
        output: String::new(),
        duration_ms: test.duration.and_then(|duration| milliseconds(duration / 1000.0)),
    }
}

/// A value of a comparison as it reads: texts without quotes.
fn json_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn not_loaded(file: &JestFile) -> CheckDiagnostic {
    let details = without_colours(&file.message);
    let found = babel_position(&file.name, &details).or_else(|| position_in(&file.name, &details));
    let (line, column) = found.unwrap_or_default();
    let said = details.trim().trim_start_matches("● Test suite failed to run").trim_start();
    // Before that Jest says what one may do about files that are no JavaScript.
    let said = said.split_once("Details:\n").map_or(said, |(_, details)| details.trim_start());
    CheckDiagnostic::at(
        &file.name,
        line,
        column,
        CheckSeverity::Error,
        "load",
        message_before_stack(said),
    )
}

/// Where Babel cannot parse a file: `/w/a.test.js: Unexpected token (3:0)`. Its columns count from 0.
fn babel_position(file: &str, text: &str) -> Option<(u64, u64)> {
    let named = format!("{file}: ");
    text.lines().filter(|line| line.contains(&named)).find_map(|line| {
        let (_, numbers) = line.trim_end().strip_suffix(')')?.rsplit_once('(')?;
        let (line, column) = numbers.split_once(':')?;
        Some((line.parse().ok()?, column.parse::<u64>().ok()?.saturating_add(1)))
    })
}

/// Reads what Mocha wrote.
pub(crate) fn read_mocha(text: &str) -> TestReport {
    let found: MochaReport = match serde_json::from_str(text) {
        Ok(found) => found,
        Err(error) => return TestReport::unreadable(format!("the report is not whole: {error}")),
    };
    let mut report = TestReport::default();
    found.tests.iter().for_each(|test| report.push(mocha_case(test)));
    // What fails before and after tests is no test of its own there.
    for hook in &found.failures {
        let is_test = found.tests.iter().any(|test| test.full_title == hook.full_title);
        if !is_test {
            report.push(TestCase { outcome: CaseOutcome::Errored, ..mocha_case(hook) });
        }
    }
    report
}

fn mocha_case(test: &MochaTest) -> TestCase {
    let text = |key: &str| test.err[key].as_str().unwrap_or_default().to_owned();
    let (message, details) = (text("message"), text("stack"));
    let has_failed = test.err.as_object().is_some_and(|err| !err.is_empty());
    let outcome = match (has_failed, test.pending) {
        (true, _) => CaseOutcome::Failed,
        (false, true) => CaseOutcome::Skipped,
        (false, false) => CaseOutcome::Passed,
    };
    let file = test.file.clone();
    let compared = |key: &str| test.err.get(key).filter(|value| !value.is_null()).map(json_text);
    TestCase {
        id: mocha_id(&test.full_title),
        outcome,
        sources: Vec::new(),
        line: file.as_deref().and_then(|file| line_in(file, &details)),
        file,
        message: if message.is_empty() { first_line(&details) } else { message },
        details,
        expected: compared("expected"),
        actual: compared("actual"),
        output: String::new(),
        duration_ms: test.duration.and_then(|duration| milliseconds(duration / 1000.0)),
    }
}

/// What runs a test again, or the suite whose hook failed: `calc "before all" hook for "never"`. A hook of all tests has
/// no name.
fn mocha_id(title: &str) -> String {
    let hooks = ["before all", "before each", "after all", "after each"];
    let is_of_all = |hook: &&str| title.starts_with(&format!("\"{hook}\" hook"));
    if hooks.iter().any(is_of_all) {
        return String::new();
    }
    let suite = hooks.iter().find_map(|hook| title.split_once(&format!(" \"{hook}\" hook")));
    suite.map_or_else(|| escaped(title), |(suite, _)| mocha_suite(&escaped(suite)))
}

/// What chooses the tests of a suite: no title of a test begins and ends like it.
pub(crate) fn mocha_suite(escaped: &str) -> String {
    format!("^{escaped} ")
}

/// What Mocha writes where a file cannot be loaded: then there is no report.
pub(crate) fn mocha_not_loaded(stderr: &str) -> Option<CheckDiagnostic> {
    let (_, said) = stderr.split_once("Exception during run: ")?;
    let said = without_colours(said);
    let own = said.lines().find_map(|line| {
        let line = line.trim();
        let location = line.strip_prefix("at ").and_then(|line| line.rsplit('(').next());
        let location = location.unwrap_or(line).trim_end_matches(')');
        let location = location.strip_prefix("file://").unwrap_or(location);
        let is_own = location.starts_with('/') && !location.contains("/node_modules/");
        let mut parts = location.rsplitn(3, ':');
        let last = parts.next()?.parse::<u64>().ok()?;
        let before = parts.next()?;
        // A file with a line, or with a line and a column.
        let (file, line, column) = match before.parse::<u64>() {
            Ok(line) => (parts.next()?, line, last),
            Err(_) => (location.rsplit_once(':')?.0, last, 0),
        };
        is_own.then(|| (file.to_owned(), line, column))
    });
    let (file, line, column) = own.unwrap_or_default();
    Some(CheckDiagnostic::at(
        &file,
        line,
        column,
        CheckSeverity::Error,
        "load",
        message_before_stack(&said),
    ))
}
