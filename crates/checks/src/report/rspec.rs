//! The JSON of RSpec.

use serde::Deserialize;

use super::{CaseOutcome, TestCase, TestReport, first_line, milliseconds};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

#[derive(Debug, Deserialize)]
struct RspecReport {
    examples: Vec<RspecExample>,
    #[serde(default)]
    messages: Vec<String>,
    #[serde(default)]
    summary: RspecSummary,
}

#[derive(Debug, Default, Deserialize)]
struct RspecSummary {
    #[serde(default)]
    errors_outside_of_examples_count: u64,
}

#[derive(Debug, Deserialize)]
struct RspecExample {
    /// Its place: `./spec/a_spec.rb[1:1]`.
    #[serde(default)]
    id: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    full_description: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    file_path: String,
    line_number: Option<u64>,
    run_time: Option<f64>,
    exception: Option<RspecException>,
}

#[derive(Debug, Deserialize)]
struct RspecException {
    #[serde(default)]
    message: String,
    #[serde(default)]
    backtrace: Option<Vec<String>>,
}

/// Reads the JSON of RSpec; what is no JSON is the problem of the report.
pub(crate) fn read(text: &str) -> TestReport {
    let found: RspecReport = match serde_json::from_str(text) {
        Ok(found) => found,
        Err(error) => return TestReport::unreadable(format!("the report is not whole: {error}")),
    };
    let mut report = TestReport::default();
    if found.summary.errors_outside_of_examples_count > 0 {
        report.is_build_failed = true;
        for message in &found.messages {
            if let Some(problem) = outside(message) {
                report.build.push(problem);
            }
        }
    }
    found.examples.into_iter().for_each(|example| report.push(case(example)));
    report
}

/// What failed before the first example, such as a file that cannot be loaded.
fn outside(message: &str) -> Option<CheckDiagnostic> {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let location = lines.iter().find_map(|line| line.strip_prefix("# "))?;
    let mut parts = location.split(':');
    let (file, line) = (parts.next()?, parts.next()?.parse().ok()?);
    let text = lines.get(1..lines.len() - 1).unwrap_or_default().join("\n");
    Some(CheckDiagnostic::at(
        file.trim_start_matches("./"),
        line,
        0,
        CheckSeverity::Error,
        "load",
        text,
    ))
}

fn case(example: RspecExample) -> TestCase {
    let outcome = match example.status.as_str() {
        "passed" => CaseOutcome::Passed,
        "failed" => CaseOutcome::Failed,
        _ => CaseOutcome::Skipped,
    };
    let exception =
        example.exception.unwrap_or(RspecException { message: String::new(), backtrace: None });
    let backtrace = exception.backtrace.unwrap_or_default();
    let file = example.file_path.trim_start_matches("./").to_owned();
    let in_stack = backtrace.iter().find_map(|frame| {
        let (_, rest) = frame.split_once(&format!("{file}:"))?;
        rest.split(':').next()?.parse().ok()
    });
    let message = exception.message.trim().to_owned();
    // Without a name of its own it is called by what it expects, which RSpec does not know before it ran.
    let is_nameless = ["is expected to ", "is expected not to ", "should ", "example at "]
        .iter()
        .any(|start| example.description.starts_with(start));
    TestCase {
        id: match is_nameless && example.id.ends_with(']') {
            true => example.id,
            false => example.full_description,
        },
        outcome,
        line: in_stack.or(example.line_number),
        file: Some(file),
        message: if message.is_empty() { first_line(&backtrace.join("\n")) } else { message },
        details: backtrace.join("\n"),
        duration_ms: example.run_time.and_then(milliseconds),
        ..TestCase::default()
    }
}
