//! What came of a run of tests: the report held against the exit status. Nothing is called passed that did
//! not run.

mod failure;
mod merged;
mod unloaded;
mod verdict;

pub use self::failure::{SlowTest, TestFailure, Unselectable};

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::comparison::ComparedValues;
use crate::coverage::{self, TestCoverage};
use crate::diagnostic::CheckDiagnostic;
use crate::framework::TestFramework;
use crate::jvm_names;
use crate::named_sources;
use crate::report::junit::PytestNodes;
use crate::report::{
    CaseOutcome, TestCase, TestReport, go_json, javascript, junit, libtest, node, rspec, swift,
    trx, unittest,
};
use crate::run::FinishedRun;
use crate::shortening::{ended, shortened};
use crate::source_paths::{SourcePaths, StackFrame};

/// Most failures of one result.
const FAILURES_MAX: usize = 50;
/// Most errors of a build in one result.
const BUILD_ERRORS_MAX: usize = 50;
/// Most bytes of a message.
const MESSAGE_BYTES_MAX: usize = 2_000;
/// Most bytes of the end of what a test wrote.
const OUTPUT_BYTES_MAX: usize = 2_000;
/// A stream of which something is left out has at least so many bytes.
const OUTPUT_BYTES_MIN_CUT: usize = 16 << 20;
/// Most sources that are looked for by their packages or modules.
const SOURCE_NAMES_MAX: usize = 5_000;
/// Most lines of a stack.
const FRAMES_MAX: usize = 20;
/// Most slow tests of one result, and how long each takes at least.
const SLOWEST_MAX: usize = 5;
const SLOW_MS_MIN: u64 = 1_000;

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TestResults {
    /// Decided by report and exit status together.
    pub status: TestStatus,
    /// How many tests ended how.
    pub totals: TestTotals,
    /// What failed, up to 50 tests.
    pub failures: Vec<TestFailure>,
    /// Why something could not be built or loaded. Its tests did not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<CheckDiagnostic>,
    /// Up to 5 tests that took a second or longer, the slowest first, where the report has times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<SlowTest>,
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
    /// At least one test failed.
    Failed,
    /// Not a single test ran, and nothing failed to build.
    NoTests,
    /// Nothing ran, because something could not be built or loaded.
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
    /// Tests that ran to their end without a failure.
    pub passed: u64,
    /// Tests of which an assertion failed.
    pub failed: u64,
    /// Tests that were left out, or failed as they were expected to.
    pub skipped: u64,
    /// Tests that could not run to their end.
    pub errored: u64,
}

/// Reads what a run left behind.
pub fn test_results(
    framework: TestFramework,
    paths: &SourcePaths,
    finished: &FinishedRun<'_>,
) -> TestResults {
    let report = framework.report(finished);
    let totals = TestTotals::of(&report.cases);
    let (status, note) = match framework.missing(totals, finished) {
        Some(next) => (TestStatus::NotInstalled, Some(next)),
        None => framework.status(&report, totals, finished),
    };
    let bad = report.cases.iter().filter(|case| case.is_bad()).take(FAILURES_MAX);
    let failures: Vec<_> = bad.map(|case| framework.failure(case, paths)).collect();
    let slowest = slowest(&report.cases);
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
        slowest,
        coverage: coverage::read(finished, paths),
        note: (!notes.is_empty()).then(|| notes.join("; ")),
    }
}

fn slowest(cases: &[TestCase]) -> Vec<SlowTest> {
    let timed = cases.iter().filter_map(|case| Some((case.duration_ms?, &case.id)));
    let mut slow: Vec<_> =
        timed.filter(|(duration_ms, id)| *duration_ms >= SLOW_MS_MIN && !id.is_empty()).collect();
    slow.sort_by_key(|(duration_ms, _)| std::cmp::Reverse(*duration_ms));
    let slow = slow.into_iter().take(SLOWEST_MAX);
    slow.map(|(duration_ms, id)| SlowTest { id: shortened(id, MESSAGE_BYTES_MAX), duration_ms })
        .collect()
}

/// The ids of tests that passed in a run, and of what was prepared for them, for who asks whether what failed before does so
/// again. Those of tests in documentation are there without their lines, too, where all of them passed.
pub fn passed_tests(framework: TestFramework, finished: &FinishedRun<'_>) -> BTreeSet<String> {
    let report = framework.report(finished);
    let unnumbered = |case: &TestCase| framework.unnumbered_id(&case.id).map(str::to_owned);
    let bad = report.cases.iter().filter(|case| case.is_bad());
    let bad: BTreeSet<String> =
        bad.flat_map(|case| unnumbered(case).into_iter().chain([case.id.clone()])).collect();
    let passed = report.cases.iter().filter(|case| case.outcome == CaseOutcome::Passed);
    let names = passed.flat_map(|case| {
        let prepared = framework.prepared_for(&case.id);
        framework.ids(&case.id).into_iter().chain(prepared)
    });
    let names = names.chain(report.prepared.iter().cloned());
    // What did not run may be the one that failed before, where several have one id.
    let is_left_out =
        |case: &&TestCase| matches!(case.outcome, CaseOutcome::Skipped | CaseOutcome::NotChosen);
    let left_out = report.cases.iter().filter(is_left_out);
    let left_out: BTreeSet<String> = left_out.flat_map(|case| framework.ids(&case.id)).collect();
    names.filter(|id| !id.is_empty() && !bad.contains(id) && !left_out.contains(id)).collect()
}

/// What a run names of its sources that is no path: of Maven and Gradle by package and name, of Swift Testing by module
/// and name; nothing of other frameworks.
pub fn source_names(framework: TestFramework, finished: &FinishedRun<'_>) -> BTreeSet<String> {
    let mut names = match framework {
        TestFramework::Maven | TestFramework::Gradle => coverage::source_names(finished),
        TestFramework::Swift => BTreeSet::new(),
        _ => return BTreeSet::new(),
    };
    for case in framework.report(finished).cases.into_iter().filter(TestCase::is_bad) {
        let frames = case.details.lines().filter_map(named_sources::frame_name);
        names.extend(frames.map(|(name, _)| name));
        names.extend(case.sources);
    }
    names.into_iter().take(SOURCE_NAMES_MAX).collect()
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
        let nodes = match self {
            Self::Pytest => PytestNodes::read(finished.stdout),
            _ => PytestNodes::default(),
        };
        let junit = |text: &str| junit::read(text, self, &nodes);
        let mut report = match self {
            Self::Cargo => libtest::read(finished.stdout, finished.stderr),
            Self::Unittest => unittest::read(finished.stderr),
            Self::Go => go_json::read(finished.stdout, finished.stderr),
            Self::Jest | Self::Vitest => of_files(finished, "json", javascript::read_jest),
            Self::Mocha => of_files(finished, "json", javascript::read_mocha),
            Self::Node => of_files(finished, "json", node::read),
            Self::Rspec => of_files(finished, "json", rspec::read),
            Self::Dotnet => of_files(finished, "trx", trx::read),
            _ => of_files(finished, "xml", junit),
        };
        report.problem = report.problem.or_else(|| finished.left_out.map(ToOwned::to_owned));
        report.add_build(self.build_errors(finished));
        if self == Self::Node {
            unloaded::explain_node(&mut report.build, finished.stdout);
        }
        if self == Self::Swift {
            swift::explain(&mut report, finished.stdout);
        }
        let is_cut = |text: &str| finished.is_cut && text.len() >= OUTPUT_BYTES_MIN_CUT;
        if self.report_in_output(finished).is_some_and(is_cut) {
            report.problem = Some(
                "what it wrote is longer than 16 MiB, so that the report in it is not whole"
                    .to_owned(),
            );
        }
        report
    }

    /// All ids that a test may have where it fails.
    fn ids(self, id: &str) -> Vec<String> {
        let mut ids = vec![id.to_owned()];
        if matches!(self, Self::Maven | Self::Gradle) {
            ids.extend(jvm_names::failing_ids(self, id));
        }
        ids.extend(self.unnumbered_id(id).map(str::to_owned));
        ids
    }

    /// What was prepared for a test that ran, by the ids that it has where it fails: classes and modules, suites.
    fn prepared_for(self, id: &str) -> Vec<String> {
        match self {
            Self::Unittest => id.match_indices('.').map(|(at, _)| id[..at].to_owned()).collect(),
            Self::Mocha => {
                let suites = id.match_indices(' ');
                suites.map(|(at, _)| javascript::mocha_suite(&id[..at])).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Its output, where that is its report.
    fn report_in_output<'a>(self, finished: &FinishedRun<'a>) -> Option<&'a str> {
        match self {
            Self::Cargo | Self::Go => Some(finished.stdout),
            Self::Unittest => Some(finished.stderr),
            _ => None,
        }
    }

    /// What is known of a failed test, for who has to fix it.
    fn failure(self, case: &TestCase, paths: &SourcePaths) -> TestFailure {
        let short = |text: &str| shortened(text.trim(), MESSAGE_BYTES_MAX);
        let frames: Vec<StackFrame> =
            case.details.lines().filter_map(|line| paths.frame(line)).collect();
        let compared = ComparedValues::find(&case.message)
            .or_else(|| ComparedValues::find(&case.details).filter(|_| case.expected.is_none()));
        let (expected, actual) = match (&case.expected, &case.actual, compared) {
            (Some(expected), Some(actual), _) => (Some(expected.clone()), Some(actual.clone())),
            (_, _, Some(found)) => (Some(found.expected), Some(found.actual)),
            (_, _, None) => (None, None),
        };
        let (file, line) = self.location(case, &frames, paths);
        TestFailure {
            id: case.id.clone(),
            unselectable: case.id.is_empty().then_some(Unselectable::NoSelector),
            file,
            line,
            message: match case.message.trim() {
                "" => ended(case.details.trim(), MESSAGE_BYTES_MAX),
                message => short(message),
            },
            expected: expected.as_deref().map(short),
            actual: actual.as_deref().map(short),
            stack: frames.into_iter().map(|frame| short(&frame.text)).take(FRAMES_MAX).collect(),
            output_tail: ended(case.output.trim(), OUTPUT_BYTES_MAX),
            duration_ms: case.duration_ms,
            flaky: false,
            project: None,
        }
    }

    /// Where a test failed: in its own file where the stack passes that, else where the stack is nearest to
    /// the failure.
    fn location(
        self,
        case: &TestCase,
        frames: &[StackFrame],
        paths: &SourcePaths,
    ) -> (Option<String>, Option<u64>) {
        let file = case.file.as_deref();
        let file = file.map(|file| paths.of_workspace(file).unwrap_or_else(|| file.to_owned()));
        let mut names = case.sources.iter();
        let file = file.or_else(|| names.find_map(|name| paths.source(name)).cloned());
        // Python names the innermost last.
        let is_last = matches!(self, Self::Pytest | Self::Unittest);
        let nearest = |frames: &mut dyn DoubleEndedIterator<Item = &StackFrame>| match is_last {
            true => frames.next_back().cloned(),
            false => frames.next().cloned(),
        };
        match &file {
            Some(file) => {
                let own = nearest(&mut frames.iter().filter(|frame| frame.path == *file));
                (Some(file.clone()), own.map(|frame| frame.line).or(case.line))
            }
            None => {
                let frame = nearest(&mut frames.iter());
                let line = frame.as_ref().map(|frame| frame.line).or(case.line);
                (frame.map(|frame| frame.path), line)
            }
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
        let is_one = file.name.rsplit_once('.').is_some_and(|(_, found)| found == extension);
        if is_one && !coverage::is_profile(&file.name) {
            is_there = true;
            all.add(read(&file.text));
        }
    }
    match is_there {
        true => all,
        false => TestReport::unreadable("it wrote no report"),
    }
}
