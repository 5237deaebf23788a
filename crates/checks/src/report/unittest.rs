//! What `python -m unittest -v` writes to its standard error.

mod begun_tests;

use std::collections::BTreeSet;

use self::begun_tests::{BegunTest, BegunTests, TestVerdict, is_hook};
use super::{CaseOutcome, TestCase, TestReport, without_colours};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

/// What stands above and beneath the heading of a failure.
const RULE: &str = "======================================================================";
const THIN_RULE: &str = "----------------------------------------------------------------------";
/// Most lines between them: a name, what the part of a test is, a documentation.
const HEADING_LINES_MAX: usize = 8;

/// A test, or what prepares tests, under the heading of a failure.
struct UnittestFailure {
    case: TestCase,
    /// Whether it counts as a test: what prepares a class does not.
    is_test: bool,
}

/// What stands at the end of a run, behind the failures.
struct UnittestEnd<'a> {
    /// The index of the rule above it.
    at: usize,
    /// How many tests ran.
    total: u64,
    /// `FAILED (failures=1, skipped=2)`.
    verdict: &'a str,
}

/// Reads the standard error of a run.
pub(crate) fn read(stderr: &str) -> TestReport {
    let plain = without_colours(stderr);
    let lines: Vec<&str> = plain.lines().collect();
    let Some(end) = UnittestEnd::find(&lines) else {
        return TestReport::unreadable("the summary of unittest is missing");
    };
    let (failures, begin) = failures(&lines[..end.at]);
    let bad = end.counted("failures=") + end.counted("errors=");
    let mut report = TestReport::default();
    let is_whole = failures.len() as u64 >= bad;
    // What a test wrote may look like a failure: those of the run are the last.
    let more = failures.len().saturating_sub(usize::try_from(bad).unwrap_or(usize::MAX));
    let begin = begin.get(more).copied().unwrap_or(end.at);
    let mut run: BTreeSet<String> = BTreeSet::new();
    for UnittestFailure { case, is_test } in failures.into_iter().skip(more) {
        if is_test {
            run.insert(case.id.clone());
        }
        match case.id.strip_prefix("unittest.loader._FailedTest.") {
            Some(module) => {
                report.is_build_failed = true;
                report.build.push(not_loaded(module, &case));
            }
            None => report.push(case),
        }
    }
    if !is_whole {
        report.problem = Some(format!("the report counts {bad} failures and has not all of them"));
    }
    match [false, true].map(|has_nameless| BegunTests::read(&lines[..begin], has_nameless)) {
        [tests, _] if end.is_told(&tests, &run) => add(&mut report, &tests, &run),
        [_, tests] if end.is_told(&tests, &run) => add(&mut report, &tests, &run),
        [tests, _] => {
            let total = end.total;
            report.problem.get_or_insert(format!(
                "unittest counts {total} tests with `{}`, and its lines say otherwise",
                end.verdict
            ));
            add(&mut report, &tests, &run);
        }
    }
    report
}

/// Adds what passed, what was skipped and what should have failed.
fn add(report: &mut TestReport, run: &BegunTests, bad: &BTreeSet<String>) {
    for test in &run.tests {
        let id = id(&test.heading);
        match test.verdict {
            _ if bad.contains(&id) => {}
            Some(TestVerdict::Passed) => report.push(TestCase { id, ..TestCase::default() }),
            // As other frameworks count it: it did not pass.
            Some(TestVerdict::ExpectedFailure) => {
                let outcome = CaseOutcome::Skipped;
                report.push(TestCase { id, outcome, ..TestCase::default() });
            }
            Some(TestVerdict::UnexpectedSuccess) => {
                let message = "it was expected to fail and passed".to_owned();
                let outcome = CaseOutcome::Failed;
                report.push(TestCase { id, outcome, message, ..TestCase::default() });
            }
            Some(TestVerdict::Skipped | TestVerdict::Bad) | None => {}
        }
    }
    for _ in 0..run.skipped {
        report.push(TestCase { outcome: CaseOutcome::Skipped, ..TestCase::default() });
    }
}

fn not_loaded(module: &str, case: &TestCase) -> CheckDiagnostic {
    let named = format!("{}.py", module.replace('.', "/"));
    // The module is named from where tests are looked for, its file in the stack as it is.
    let (file, line) = file_of_python(&named, &case.details).unwrap_or((named.as_str(), 0));
    let said = case.message.rsplit("\n").find(|line| !line.starts_with(' ') && !line.is_empty());
    let message = said.unwrap_or(&case.message).to_owned();
    CheckDiagnostic::at(file, line, 0, CheckSeverity::Error, "load", message)
}

/// What looks like a failure, and the index of the line where each begins.
fn failures(lines: &[&str]) -> (Vec<UnittestFailure>, Vec<usize>) {
    let (mut failures, mut begin) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < lines.len() {
        let mut heading = lines.iter().skip(at + 2).take(HEADING_LINES_MAX);
        let is_one = lines[at] == RULE && heading.any(|line| *line == THIN_RULE);
        let found = if is_one { failure(lines, at + 1) } else { None };
        match found {
            Some((failure, next)) => {
                failures.push(failure);
                begin.push(at);
                at = next;
            }
            None => at += 1,
        }
    }
    (failures, begin)
}

// === impl UnittestEnd ===

impl<'a> UnittestEnd<'a> {
    /// Finds the last: tests may run tests of their own. What is written behind it, as by what runs when Python ends, is not
    /// of the tests.
    fn find(lines: &[&'a str]) -> Option<Self> {
        (1..lines.len()).rev().find_map(|at| {
            let (count, rest) = lines[at].strip_prefix("Ran ")?.split_once(" test")?;
            let is_end =
                lines[at - 1] == THIN_RULE && rest.trim_start_matches('s').starts_with(" in ");
            let total = count.parse().ok().filter(|_| is_end)?;
            let verdict = lines[at + 1..].iter().find(|line| {
                let word = line.split(" (").next();
                word.is_some_and(|word| ["OK", "FAILED", "NO TESTS RAN"].contains(&word))
            })?;
            Some(Self { at: at - 1, total, verdict })
        })
    }

    /// A count of the verdict; none is 0.
    fn counted(&self, word: &str) -> u64 {
        let counts = self.verdict.split_once('(').map_or("", |(_, counts)| counts);
        let found = counts.trim_end_matches(')').split(", ").find_map(|one| one.strip_prefix(word));
        found.and_then(|count| count.parse().ok()).unwrap_or(0)
    }

    /// Whether the lines of tests say how as many ended in each way as the verdict counts.
    fn is_told(&self, run: &BegunTests, bad: &BTreeSet<String>) -> bool {
        let count =
            |verdict| run.tests.iter().filter(|test| test.verdict == Some(verdict)).count() as u64;
        let all = run.tests.len() as u64;
        // Python 3.12.1 does not count tests that are skipped.
        let uncounted = run.again + count(TestVerdict::Skipped);
        let is_all = (all.saturating_sub(uncounted)..=all).contains(&self.total);
        let is_known = |test: &BegunTest| {
            test.verdict.is_some() || test.has_skipped_part || bad.contains(&id(&test.heading))
        };
        is_all
            && run.tests.iter().all(is_known)
            && run.skipped == self.counted("skipped=")
            && count(TestVerdict::ExpectedFailure) == self.counted("expected failures=")
            && count(TestVerdict::UnexpectedSuccess) == self.counted("unexpected successes=")
    }
}

/// A file as a traceback names it, and its line: `  File "/w/tests/a.py", line 3`.
fn file_of_python<'a>(file: &str, text: &'a str) -> Option<(&'a str, u64)> {
    text.lines().rev().filter_map(frame).find(|(found, _)| found.ends_with(file))
}

/// Reads one failure from its heading on. Returns where the next begins.
fn failure(lines: &[&str], start: usize) -> Option<(UnittestFailure, usize)> {
    let heading = lines[start];
    let rule = (start..lines.len()).find(|at| lines[*at] == THIN_RULE).unwrap_or(start);
    let end = (rule + 1..lines.len())
        .find(|at| lines[*at] == RULE || lines[*at] == THIN_RULE)
        .unwrap_or(lines.len());
    let body = &lines[rule + 1..end];
    let (outcome, rest) = match heading.split_once(": ") {
        Some(("FAIL", rest)) => (CaseOutcome::Failed, rest),
        Some(("ERROR", rest)) => (CaseOutcome::Errored, rest),
        _ => return None,
    };
    let details = body.join("\n").trim().to_owned();
    let frames: Vec<(&str, u64)> = body.iter().filter_map(|line| frame(line)).collect();
    let own = frames.iter().rev().find(|(file, _)| !file.contains("/unittest/"));
    let case = TestCase {
        id: id(rest),
        outcome,
        file: own.map(|(file, _)| (*file).to_owned()),
        line: own.map(|(_, line)| *line),
        message: exception(body),
        details,
        ..TestCase::default()
    };
    Some((UnittestFailure { case, is_test: !is_hook(rest) }, end))
}

/// `test_b (tests.test_a.TestA.test_b)`, and without the last part in older versions.
fn id(text: &str) -> String {
    let Some((name, class)) = text.split_once(" (") else { return text.to_owned() };
    let class = class.split(')').next().unwrap_or_default();
    let is_hook = name.starts_with("setUp") || name.starts_with("tearDown");
    match class.ends_with(&format!(".{name}")) || class.is_empty() || is_hook {
        true => class.to_owned(),
        false => format!("{class}.{name}"),
    }
}

/// `  File "a.py", line 3, in f`.
fn frame(line: &str) -> Option<(&str, u64)> {
    let (file, rest) = line.trim_start().strip_prefix("File \"")?.split_once('"')?;
    let number = rest.strip_prefix(", line ")?.split(',').next()?;
    Some((file, number.trim().parse().ok()?))
}

/// The lines from the last that stands at the margin and names an exception.
fn exception(body: &[&str]) -> String {
    let is_named = |line: &&str| {
        let name = line.split([':', ' ']).next().unwrap_or_default();
        let is_name = name.chars().all(|c| c.is_alphanumeric() || "._".contains(c));
        is_name && !name.is_empty() && !line.starts_with([' ', '\t']) && *name != *"Traceback"
    };
    let start = body.iter().position(is_named);
    let lines = start.map_or(&[][..], |start| &body[start..]);
    lines.join("\n").trim().to_owned()
}
