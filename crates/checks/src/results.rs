//! What came of a run of tests: the report held against the exit status. Nothing is called passed that did
//! not run.

use schemars::JsonSchema;
use serde::Serialize;

use crate::coverage::{self, TestCoverage};
use crate::diagnostic::CheckDiagnostic;
use crate::framework::TestFramework;
use crate::report::junit::JunitNames;
use crate::report::{
    CaseOutcome, TestCase, TestReport, go_json, javascript, junit, libtest, rspec, unittest,
};
use crate::run::FinishedRun;
use crate::shortening::{ended, shortened};
use crate::source_paths::SourcePaths;

/// Most failures of one result.
const FAILURES_MAX: usize = 50;
/// Most errors of a build in one result.
const BUILD_ERRORS_MAX: usize = 50;
/// Most bytes of a message.
const MESSAGE_BYTES_MAX: usize = 2_000;
/// Most bytes of the end of what a test wrote.
const OUTPUT_BYTES_MAX: usize = 2_000;
/// Most lines of a stack.
const FRAMES_MAX: usize = 20;

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TestResults {
    /// How it ended.
    pub status: TestStatus,
    /// How many tests ended how.
    pub totals: TestTotals,
    /// What failed, up to 50 tests.
    pub failures: Vec<TestFailure>,
    /// Why something could not be built or loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<CheckDiagnostic>,
    /// Which lines ran, where that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<TestCoverage>,
    /// What else has to be known of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestStatus {
    /// Tests ran, and none failed.
    Passed,
    /// Tests failed.
    Failed,
    /// No test ran.
    NoTests,
    /// Something could not be built or loaded.
    BuildFailed,
    /// The report and the exit status contradict each other, or the report is not whole.
    Inconsistent,
    /// The program for it is missing.
    NotInstalled,
    /// It was ended before its end.
    Interrupted,
}

/// How many tests ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestTotals {
    /// Tests that passed.
    pub passed: u64,
    /// Tests of which an assertion failed.
    pub failed: u64,
    /// Tests that were left out.
    pub skipped: u64,
    /// Tests that could not run to their end.
    pub errored: u64,
}

/// A test that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestFailure {
    /// What runs it again as `testPattern`.
    pub id: String,
    /// The file, relative to the workspace root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Why it failed.
    pub message: String,
    /// What was expected, where the framework says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// The lines of the stack in files of the workspace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    /// The end of what it wrote.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output_tail: String,
}

/// Reads what a run left behind.
pub fn test_results(
    framework: TestFramework,
    paths: &SourcePaths,
    finished: &FinishedRun<'_>,
) -> TestResults {
    let report = framework.report(finished);
    let totals = TestTotals::of(&report.cases);
    let missing = framework.missing(finished);
    let (status, note) = match missing {
        Some(next) => (TestStatus::NotInstalled, Some(next)),
        None => framework.status(&report, totals, finished),
    };
    let bad = report.cases.iter().filter(|case| case.is_bad());
    let failures: Vec<_> = bad.take(FAILURES_MAX).map(|case| failure(case, paths)).collect();
    let more = (totals.failed + totals.errored).saturating_sub(failures.len() as u64);
    let more = (more > 0).then(|| format!("{more} more failures are not shown"));
    let diagnostics = report.build.into_iter().take(BUILD_ERRORS_MAX).map(|mut found| {
        found.path = paths.of_workspace(&found.path).unwrap_or(found.path);
        found.message = shortened(&found.message, MESSAGE_BYTES_MAX);
        found
    });
    let notes: Vec<String> = note.into_iter().chain(more).collect();
    TestResults {
        status,
        totals,
        failures,
        diagnostics: diagnostics.collect(),
        coverage: coverage::read(finished, paths),
        note: (!notes.is_empty()).then(|| notes.join("; ")),
    }
}

fn failure(case: &TestCase, paths: &SourcePaths) -> TestFailure {
    let (expected, actual) = compared(&case.message)
        .or_else(|| compared(&case.details))
        .map_or((None, None), |(expected, actual)| (Some(expected), Some(actual)));
    let file = case
        .file
        .as_deref()
        .map(|file| paths.of_workspace(file).unwrap_or_else(|| file.to_owned()));
    let stack = case.details.lines().filter_map(|line| paths.frame(line)).take(FRAMES_MAX);
    let short = |text: &str| shortened(text.trim(), MESSAGE_BYTES_MAX);
    TestFailure {
        id: case.id.clone(),
        file,
        line: case.line,
        message: match case.message.trim() {
            "" => ended(case.details.trim(), MESSAGE_BYTES_MAX),
            message => short(message),
        },
        expected: expected.as_deref().map(short),
        actual: actual.as_deref().map(short),
        stack: stack.collect(),
        output_tail: ended(case.output.trim(), OUTPUT_BYTES_MAX),
    }
}

/// What two labelled lines compare: those of Rust, Go's testify, Jest, JUnit and PHPUnit.
fn compared(text: &str) -> Option<(String, String)> {
    let labelled = |labels: &[&str]| {
        text.lines().find_map(|line| {
            let line = line.trim();
            labels
                .iter()
                .find_map(|label| line.strip_prefix(label))
                .map(|rest| rest.trim().to_owned())
        })
    };
    if let (Some(actual), Some(expected)) = (labelled(&["left:"]), labelled(&["right:"])) {
        return Some((expected, actual));
    }
    let expected = labelled(&["Expected:", "expected:", "- Expected:"])?;
    let actual = labelled(&["Received:", "Actual:", "actual:", "actual  :", "got:", "Got:"])?;
    Some((expected, actual))
}

// === impl TestCase ===

impl TestCase {
    pub(crate) fn is_bad(&self) -> bool {
        matches!(self.outcome, CaseOutcome::Failed | CaseOutcome::Errored)
    }
}

// === impl TestTotals ===

impl TestTotals {
    fn of(cases: &[TestCase]) -> Self {
        let count = |outcome| cases.iter().filter(|case| case.outcome == outcome).count() as u64;
        Self {
            passed: count(CaseOutcome::Passed),
            failed: count(CaseOutcome::Failed),
            skipped: count(CaseOutcome::Skipped),
            errored: count(CaseOutcome::Errored),
        }
    }

    /// How many there are of which somebody knows how they ended.
    pub fn all(self) -> u64 {
        self.passed + self.failed + self.skipped + self.errored
    }
}

// === impl TestFramework ===

impl TestFramework {
    fn report(self, finished: &FinishedRun<'_>) -> TestReport {
        let names = match self {
            Self::Pytest => JunitNames::Pytest,
            Self::Phpunit => JunitNames::Php,
            _ => JunitNames::Name,
        };
        match self {
            Self::Cargo => libtest::read(finished.stdout, finished.stderr),
            Self::Nextest => libtest::read_nextest(finished.stderr),
            Self::Unittest => unittest::read(finished.stderr),
            Self::Go => go_json::read(finished.stdout, finished.stderr),
            Self::Jest | Self::Vitest => of_files(finished, "json", javascript::read_jest),
            Self::Mocha => of_files(finished, "json", javascript::read_mocha),
            Self::Rspec => of_files(finished, "json", rspec::read),
            _ => of_files(finished, "xml", |text| junit::read(text, names)),
        }
    }

    /// What is missing on the machine, and what would bring it.
    fn missing(self, finished: &FinishedRun<'_>) -> Option<String> {
        let (stdout, stderr) = (finished.stdout, finished.stderr);
        let program = self.program_name();
        if finished.exit_code == Some(127) || stderr.contains("command not found") {
            return Some(format!("`{program}` is not installed: {}", self.install()));
        }
        let is_module = stderr.contains(&format!("No module named {program}"));
        let no_nextest = stderr.contains("no such command: `nextest`");
        if is_module || no_nextest {
            return Some(format!("{program} is not installed: {}", self.install()));
        }
        let no_gem = stderr.contains("Could not find") && stderr.contains("bundle install");
        if no_gem || stdout.contains("run `bundle install`") {
            return Some("gems of the project are not installed: run `bundle install`".to_owned());
        }
        None
    }

    fn program_name(self) -> &'static str {
        match self {
            Self::Nextest => "cargo-nextest",
            Self::Unittest => "python3",
            other => other.name(),
        }
    }

    /// The command that brings it. moss does not run it.
    fn install(self) -> &'static str {
        match self {
            Self::Cargo => "https://rustup.rs installs it",
            Self::Nextest => "`cargo install cargo-nextest --locked`",
            Self::Pytest => "`python3 -m pip install pytest` in the environment of the project",
            Self::Jest | Self::Vitest | Self::Mocha => {
                "`npm install` in the directory of the project"
            }
            Self::Phpunit => "`composer install` in the directory of the project",
            Self::Rspec => "`bundle install`, or `gem install rspec`",
            _ => "install it, and run this again",
        }
    }

    fn status(
        self,
        report: &TestReport,
        totals: TestTotals,
        finished: &FinishedRun<'_>,
    ) -> (TestStatus, Option<String>) {
        let Some(exit_code) = finished.exit_code else {
            return (TestStatus::Interrupted, Some("it was ended before its end".to_owned()));
        };
        let bad = totals.failed + totals.errored;
        let tail =
            || ended(format!("{}\n{}", finished.stdout, finished.stderr).trim(), MESSAGE_BYTES_MAX);
        let because = |why: String| Some(format!("{why}; it wrote at its end:\n{}", tail()));
        if report.is_build_failed {
            return (TestStatus::BuildFailed, report.build.is_empty().then(tail));
        }
        if self.found_none(totals, report, finished) {
            return (
                TestStatus::NoTests,
                Some("no test ran: look at `testFile` and `testPattern`".to_owned()),
            );
        }
        if let Some(problem) = &report.problem {
            return (TestStatus::Inconsistent, because(problem.clone()));
        }
        match (exit_code == 0, bad > 0) {
            (true, false) if totals.passed == 0 => (
                TestStatus::NoTests,
                Some(format!("all of the {} tests were skipped", totals.skipped)),
            ),
            (true, false) => (TestStatus::Passed, None),
            (false, true) => (TestStatus::Failed, None),
            (true, true) => {
                let why = format!("{bad} tests failed, and the exit status is 0");
                (TestStatus::Inconsistent, Some(why))
            }
            (false, false) => {
                let why = format!("the exit status is {exit_code}, and the report has no failure");
                (TestStatus::Inconsistent, because(why))
            }
        }
    }

    /// Whether it found no test at all.
    fn found_none(
        self,
        totals: TestTotals,
        report: &TestReport,
        finished: &FinishedRun<'_>,
    ) -> bool {
        if totals.all() > 0 {
            return false;
        }
        let (code, all) = (finished.exit_code, [finished.stdout, finished.stderr]);
        let says = |text: &str| all.iter().any(|output| output.contains(text));
        match self {
            Self::Pytest => code == Some(5),
            Self::Unittest => says("Ran 0 tests") || says("NO TESTS RAN"),
            Self::Jest => says("No tests found"),
            Self::Vitest => says("No test files found"),
            Self::Mocha => says("No test files found") || report.problem.is_none(),
            Self::Nextest => says("no tests to run"),
            Self::Ctest => says("No tests were found"),
            Self::Bun => says("0 test files") || says("did not match any test files"),
            Self::Deno => says("No test modules found"),
            Self::Phpunit => says("No tests executed"),
            _ => report.problem.is_none() && code == Some(0),
        }
    }
}

/// Reads all reports of an extension.
fn of_files(
    finished: &FinishedRun<'_>,
    extension: &str,
    read: impl Fn(&str) -> TestReport,
) -> TestReport {
    let mut all = TestReport::default();
    let mut is_there = false;
    for file in finished.reports {
        if file.name.rsplit_once('.').is_some_and(|(_, found)| found == extension) {
            is_there = true;
            all.add(read(&file.text));
        }
    }
    match is_there {
        true => all,
        false => TestReport::unreadable("it wrote no report"),
    }
}
