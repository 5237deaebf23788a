//! What `python -m unittest -v` writes to its standard error.

use std::collections::BTreeSet;

use super::{CaseOutcome, TestCase, TestReport};
use crate::diagnostic::{CheckDiagnostic, CheckSeverity};

/// What stands above and beneath the heading of a failure.
const RULE: &str = "======================================================================";
const THIN_RULE: &str = "----------------------------------------------------------------------";

/// A test, or what prepares tests, under the heading of a failure.
struct UnittestFailure {
    case: TestCase,
    /// Whether it counts as a test: what prepares a class does not.
    is_test: bool,
}

/// Reads the standard error of a run.
pub(crate) fn read(stderr: &str) -> TestReport {
    let mut report = TestReport::default();
    let lines: Vec<&str> = stderr.lines().collect();
    let Some(ran) = lines.iter().rev().find_map(|line| line.strip_prefix("Ran ")) else {
        return TestReport::unreadable("the summary of unittest is missing");
    };
    let total = ran.split(' ').next().and_then(|count| count.parse::<u64>().ok()).unwrap_or(0);
    let mut failures = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if lines[at] == RULE
            && lines
                .get(at + 2)
                .is_some_and(|line| *line == THIN_RULE || lines.get(at + 3) == Some(&THIN_RULE))
        {
            let (failure, next) = failure(&lines, at + 1);
            failures.extend(failure);
            at = next;
        } else {
            at += 1;
        }
    }
    let skipped = counted(stderr, "skipped=");
    let surprises = counted(stderr, "unexpected successes=");
    let mut run: BTreeSet<String> = BTreeSet::new();
    for UnittestFailure { case, is_test } in failures {
        let Some(module) = case.id.strip_prefix("unittest.loader._FailedTest.") else {
            if is_test {
                run.insert(case.id.clone());
            }
            report.push(case);
            continue;
        };
        // It counts as a test.
        run.insert(case.id.clone());
        report.is_build_failed = true;
        let file = format!("{}.py", module.replace('.', "/"));
        let line = line_of_python(&file, &case.details).unwrap_or(1);
        let said =
            case.message.rsplit("\n").find(|line| !line.starts_with(' ') && !line.is_empty());
        let message = said.unwrap_or(&case.message).to_owned();
        let severity = CheckSeverity::Error;
        report.build.push(CheckDiagnostic::at(&file, line, 1, severity, "load", message));
    }
    for _ in 0..skipped.min(1_000_000) {
        report.push(TestCase { outcome: CaseOutcome::Skipped, ..TestCase::default() });
    }
    let surprised = stderr.lines().filter_map(|line| line.strip_prefix("UNEXPECTED SUCCESS: "));
    let mut names = surprised.map(id);
    for _ in 0..surprises.min(100_000) {
        let message = "it was expected to fail and passed".to_owned();
        let id = names.next().unwrap_or_default();
        report.push(TestCase { id, outcome: CaseOutcome::Failed, message, ..TestCase::default() });
    }
    let others = run.len() as u64 + skipped + surprises;
    let mut passed = passed(&lines);
    for _ in 0..total.saturating_sub(others).min(1_000_000) {
        report.push(TestCase { id: passed.next().unwrap_or_default(), ..TestCase::default() });
    }
    report
}

/// The ids of tests that passed: `test_a (tests.test_a.A.test_a) ... ok`. A test that has a documentation is
/// named on the line before that.
fn passed<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
    let ended = lines.iter().enumerate().filter_map(|(at, line)| {
        let heading =
            line.strip_suffix(" ... ok").or_else(|| line.strip_suffix(" ... expected failure"))?;
        let is_name = |text: &&str| text.ends_with(')') && text.contains(" (");
        let before = at.checked_sub(1).map(|before| lines[before]);
        Some(heading).filter(is_name).or(before.filter(is_name))
    });
    ended.map(id)
}

/// The line of a file that a traceback names: `  File "/w/tests/a.py", line 3`.
fn line_of_python(file: &str, text: &str) -> Option<u64> {
    let mut frames = text.lines().rev().filter_map(frame);
    frames.find(|(found, _)| found.ends_with(file)).map(|(_, line)| line)
}

/// A count in the last line: `FAILED (failures=1, skipped=2)`.
fn counted(stderr: &str, word: &str) -> u64 {
    let last = stderr.trim_end().lines().next_back().unwrap_or_default();
    let found = last.split_once(word).map(|(_, rest)| rest.split([',', ')']).next());
    found.flatten().and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

/// Reads one failure from its heading on. Returns where the next begins.
fn failure(lines: &[&str], start: usize) -> (Option<UnittestFailure>, usize) {
    let heading = lines[start];
    let rule = (start..lines.len()).find(|at| lines[*at] == THIN_RULE).unwrap_or(start);
    let end = (rule + 1..lines.len())
        .find(|at| lines[*at] == RULE || lines[*at] == THIN_RULE)
        .unwrap_or(lines.len());
    let body = &lines[rule + 1..end];
    let (outcome, rest) = match heading.split_once(": ") {
        Some(("FAIL", rest)) => (CaseOutcome::Failed, rest),
        Some(("ERROR", rest)) => (CaseOutcome::Errored, rest),
        _ => return (None, rule + 1),
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
    let hooks = ["setUpClass ", "tearDownClass ", "setUpModule ", "tearDownModule "];
    let is_test = !hooks.iter().any(|hook| rest.starts_with(hook));
    (Some(UnittestFailure { case, is_test }), end)
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
