//! What reports of tests say, in one shape.

pub(crate) mod go_json;
pub(crate) mod javascript;
pub(crate) mod junit;
pub(crate) mod libtest;
pub(crate) mod node;
pub(crate) mod rspec;
pub(crate) mod swift;
pub(crate) mod trx;
pub(crate) mod unittest;
pub(crate) mod xml;

use crate::diagnostic::CheckDiagnostic;

/// Most tests of a report; what is beyond is only counted.
const CASES_MAX: usize = 200_000;

/// One test as a report shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TestCase {
    /// What runs it again.
    pub(crate) id: String,
    pub(crate) outcome: CaseOutcome,
    /// What its file may be called, by package or module, where no path says it: the likeliest first.
    pub(crate) sources: Vec<String>,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u64>,
    /// Why it failed, in short.
    pub(crate) message: String,
    /// All that is said of the failure: stack, comparison.
    pub(crate) details: String,
    /// What was expected, where the framework says so by itself.
    pub(crate) expected: Option<String>,
    /// What was there instead of `expected`.
    pub(crate) actual: Option<String>,
    /// What the test itself wrote.
    pub(crate) output: String,
    pub(crate) duration_ms: Option<u64>,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum CaseOutcome {
    #[default]
    Passed,
    /// What it asserts is not so.
    Failed,
    /// It could not run to its end.
    Errored,
    Skipped,
    /// It was filtered out, and the framework reports it all the same: it counts for nothing.
    NotChosen,
}

/// All that a report says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TestReport {
    pub(crate) cases: Vec<TestCase>,
    /// Why something could not be built or loaded.
    pub(crate) build: Vec<CheckDiagnostic>,
    /// Whether something was not built or loaded, also where nobody says where.
    pub(crate) is_build_failed: bool,
    /// Ids of what was prepared for tests and did not fail, where the report has them.
    pub(crate) prepared: Vec<String>,
    /// What was prepared for tests that were not chosen, ran all the same and failed: its name and what it said.
    pub(crate) failed_for_others: Vec<String>,
    /// How many files ended well and declare no test.
    pub(crate) files_without_tests: u64,
    /// What of the report is missing or cannot be read.
    pub(crate) problem: Option<String>,
}

// === impl TestReport ===

impl TestReport {
    /// A report that cannot be read.
    pub(crate) fn unreadable(problem: impl Into<String>) -> Self {
        Self { problem: Some(problem.into()), ..Self::default() }
    }

    pub(crate) fn push(&mut self, case: TestCase) {
        if self.cases.len() < CASES_MAX {
            self.cases.push(case);
        } else {
            self.problem = Some(format!("there are more than {CASES_MAX} tests"));
        }
    }

    /// Adds another report of the same run.
    pub(crate) fn add(&mut self, other: Self) {
        other.cases.into_iter().for_each(|case| self.push(case));
        self.build.extend(other.build);
        self.prepared.extend(other.prepared);
        self.failed_for_others.extend(other.failed_for_others);
        self.is_build_failed |= other.is_build_failed;
        self.files_without_tests += other.files_without_tests;
        self.problem = self.problem.take().or(other.problem);
    }
}

/// Seconds as reports write them, in milliseconds.
pub(crate) fn milliseconds(seconds: f64) -> Option<u64> {
    let is_sane = seconds.is_finite() && (0.0..1e9).contains(&seconds);
    // In range: checked before.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "in range: checked"
    )]
    is_sane.then(|| (seconds * 1000.0).round() as u64)
}

/// A name as an expression that matches it and nothing else, in the dialects that test frameworks have.
pub(crate) fn escaped(name: &str) -> String {
    let mut expression = String::with_capacity(name.len());
    for c in name.chars() {
        if "\\^$.*+?()[]{}|/".contains(c) {
            expression.push('\\');
        }
        expression.push(c);
    }
    expression
}

/// The line of a file that a text names first, by the file's own name: `calc.test.js:4:82`.
pub(crate) fn line_in(file: &str, text: &str) -> Option<u64> {
    position_in(file, text).map(|(line, _)| line)
}

/// The line of a file that a text names first, with the column, 0 where the text has none.
pub(crate) fn position_in(file: &str, text: &str) -> Option<(u64, u64)> {
    let name = file.rsplit('/').next().filter(|name| !name.is_empty())?;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(name) {
        let is_whole = before.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '-');
        if let Some(numbers) = after.strip_prefix(':').filter(|_| is_whole)
            && let Some(found) = position(numbers)
        {
            return Some(found);
        }
        rest = after;
    }
    None
}

/// The line and the column that a text begins with: `4:82)`; the column is 0 where it has none.
pub(crate) fn position(text: &str) -> Option<(u64, u64)> {
    let end = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (line, rest) = text.split_at(end(text));
    let column = rest.strip_prefix([':', ',']).map_or("", |rest| &rest[..end(rest)]);
    Some((line.parse().ok()?, column.parse().unwrap_or(0)))
}

/// A text without the sequences that colour it.
pub(crate) fn without_colours(text: &str) -> String {
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

/// What stands before the stack of JavaScript.
pub(crate) fn message_before_stack(details: &str) -> String {
    let lines = details.lines().take_while(|line| !line.trim_start().starts_with("at "));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The first line that is not blank.
pub(crate) fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}
