//! The JSON that moss's own reporter writes of the tests of Node.js.

use serde::Deserialize;

use super::{
    CaseOutcome, TestCase, TestReport, escaped, first_line, message_before_stack, milliseconds,
};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

/// What is said of a file that the report does not explain.
pub(crate) const FAILED_AS_A_WHOLE: &str =
    "the file failed as a whole: it could not be loaded, or ended its process";

/// How Node.js calls the failure of what runs before or after tests.
const HOOK_FAILED: &str = "hookFailed";
/// How it calls that of what did not run because something around it failed.
const CANCELLED: &str = "cancelledByParent";

#[derive(Debug, Deserialize)]
struct NodeReport {
    tests: Vec<NodeTest>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NodeTest {
    name: String,
    /// The tests that it is a part of, innermost first.
    within: Vec<String>,
    is_suite: bool,
    is_file: bool,
    file: Option<String>,
    line: Option<u64>,
    duration: Option<f64>,
    /// Whether it is filtered out, and with a suite each of its tests.
    #[serde(default)]
    is_not_chosen: bool,
    /// Whether it is skipped, or still to be done.
    is_left_out: bool,
    #[serde(default)]
    has_parts: bool,
    failure: Option<NodeFailure>,
}

#[derive(Debug, Deserialize)]
struct NodeFailure {
    /// What failed: the test, its parts, a hook.
    kind: Option<String>,
    text: String,
    expected: Option<String>,
    actual: Option<String>,
}

/// Reads what the reporter wrote; what is no JSON is the problem of the report.
pub(crate) fn read(text: &str) -> TestReport {
    let found: NodeReport = match serde_json::from_str(text) {
        Ok(found) => found,
        Err(error) => return TestReport::unreadable(format!("the report is not whole: {error}")),
    };
    let mut report = TestReport::default();
    for test in found.tests {
        let failure = test.failure.as_ref();
        let kind = failure.map(|failure| failure.kind.as_deref().unwrap_or_default());
        match kind {
            // The parts are enough.
            Some("subtestsFailed") => {}
            Some(CANCELLED) if test.is_not_chosen && test.is_suite => {}
            Some(HOOK_FAILED) if test.is_not_chosen => {
                report.failed_for_others.push(of_others(&test));
                // A suite is no test.
                if !test.is_suite {
                    report.push(case(test));
                }
            }
            Some(_) if test.is_file => {
                report.is_build_failed = true;
                report.build.push(not_loaded(&test.name));
            }
            None if test.is_file && !test.has_parts => report.files_without_tests += 1,
            None if test.is_file => {}
            None if test.is_suite && test.has_parts => report.prepared.push(id(&test)),
            // None of its tests was chosen.
            None if test.is_suite => {}
            _ => report.push(case(test)),
        }
    }
    report
}

/// What failed before or after tests that were not chosen.
fn of_others(test: &NodeTest) -> String {
    let said = test.failure.as_ref().map(|failure| message_before_stack(&failure.text));
    let said = first_line(&said.unwrap_or_default());
    let file = test.file.as_deref().unwrap_or_default();
    match file.rsplit('/').next() {
        Some("") | None => format!("`{}`: {said}", test.name),
        Some(file) => format!("`{}` in {file}: {said}", test.name),
    }
}

fn not_loaded(file: &str) -> CheckDiagnostic {
    CheckDiagnostic::at(file, 0, 0, CheckSeverity::Error, "load", FAILED_AS_A_WHOLE)
}

/// An expression that chooses a test: a part of a test runs only where that is chosen, too.
fn id(test: &NodeTest) -> String {
    let names = std::iter::once(&test.name).chain(&test.within);
    names.map(|name| escaped(name)).collect::<Vec<_>>().join("|")
}

fn case(test: NodeTest) -> TestCase {
    let outcome = match (&test.failure, test.is_left_out) {
        // Node.js 20 calls these skipped, and runs none of them.
        (_, true) if test.is_not_chosen => CaseOutcome::NotChosen,
        (_, true) => CaseOutcome::Skipped,
        (None, false) => CaseOutcome::Passed,
        // What fails before and after the tests of a suite is no test.
        (Some(_), false) if test.is_suite => CaseOutcome::Errored,
        (Some(_), false) => CaseOutcome::Failed,
    };
    let id = id(&test);
    let NodeTest { file, line, duration, failure, .. } = test;
    let mut case = TestCase {
        id,
        outcome,
        file,
        line,
        duration_ms: duration.and_then(|duration| milliseconds(duration / 1000.0)),
        ..TestCase::default()
    };
    if let Some(failure) = failure.filter(|_| case.is_bad()) {
        case.message = message_before_stack(&failure.text);
        case.details = failure.text;
        (case.expected, case.actual) = (failure.expected, failure.actual);
    }
    case
}
