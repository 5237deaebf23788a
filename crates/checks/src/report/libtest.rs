//! What `cargo test` and `cargo nextest` write: lines of tests, what failing ones wrote, errors of the
//! compiler.

use super::{CaseOutcome, TestCase, TestReport};
use crate::lint_output::rustc_text;

/// Reads the standard output and error of a run.
pub(crate) fn read(stdout: &str, stderr: &str) -> TestReport {
    let mut report = built(stderr);
    let mut announced: u64 = 0;
    let mut first_of_binary = 0;
    for line in stdout.lines() {
        if let Some(count) = line.strip_prefix("running ") {
            let count = count.split(' ').next().and_then(|count| count.parse::<u64>().ok());
            announced = count.unwrap_or_default();
            first_of_binary = report.cases.len();
        } else if let Some(rest) = line.strip_prefix("test result: ") {
            let seen = (report.cases.len() - first_of_binary) as u64;
            report.count(rest, seen);
            announced = 0;
        } else if let Some(case) = case(line) {
            report.push(case);
        }
    }
    let seen = (report.cases.len() - first_of_binary) as u64;
    if announced > 0 && seen <= announced {
        report.problem = Some(format!(
            "{} of {announced} tests did not end: a test ended the whole program",
            announced.saturating_sub(seen)
        ));
    }
    report.add_outputs(stdout);
    report
}

/// What cargo says of the build.
fn built(stderr: &str) -> TestReport {
    let signs = [
        "error: could not compile",
        "error: failed to parse manifest",
        "error: no matching package",
    ];
    TestReport {
        build: rustc_text::read(stderr),
        is_build_failed: signs.iter().any(|sign| stderr.contains(sign)),
        ..TestReport::default()
    }
}

/// Reads what `cargo nextest run` wrote to its standard error.
pub(crate) fn read_nextest(stderr: &str) -> TestReport {
    let mut report = built(stderr);
    let mut has_summary = false;
    for line in stderr.lines().map(str::trim_start) {
        has_summary |= line.starts_with("Summary [");
        let Some((word, rest)) = line.split_once(" [") else { continue };
        let outcome = match word.trim() {
            "PASS" | "LEAK" | "SLOW" => CaseOutcome::Passed,
            "FAIL" | "LEAK-FAIL" => CaseOutcome::Failed,
            "TIMEOUT" | "ABORT" | "SIGSEGV" | "SIGABRT" | "XFAIL" => CaseOutcome::Errored,
            "SKIP" => CaseOutcome::Skipped,
            _ => continue,
        };
        let Some((_, name)) = rest.split_once(']') else { continue };
        let id = name.split_whitespace().next_back().unwrap_or_default().to_owned();
        // A slow test is listed while it runs, and a failed one again in the summary.
        report.cases.retain(|case| case.id != id || word.trim() == "SLOW");
        if !report.cases.iter().any(|case| case.id == id) {
            report.push(TestCase { id, outcome, ..TestCase::default() });
        }
    }
    if !has_summary && !report.is_build_failed {
        report.problem = Some("the summary of nextest is missing".to_owned());
    }
    report.add_nextest_outputs(stderr);
    report
}

/// `test a::b ... ok`, `test a::b - should panic ... FAILED`, `test src/lib.rs - f (line 3) ... ok`.
fn case(line: &str) -> Option<TestCase> {
    let rest = line.strip_prefix("test ")?;
    let (name, verdict) = rest.rsplit_once(" ... ")?;
    let (verdict, _) = verdict.split_once([' ', ',', '<']).unwrap_or((verdict, ""));
    let outcome = match verdict {
        "ok" => CaseOutcome::Passed,
        "FAILED" => CaseOutcome::Failed,
        "ignored" => CaseOutcome::Skipped,
        _ => return None,
    };
    let id = name.trim_end_matches(" - should panic").to_owned();
    let documented = id.split_once(" - ").filter(|(file, _)| file.ends_with(".rs"));
    let file = documented.map(|(file, _)| file.to_owned());
    let line = documented.and_then(|(_, rest)| {
        let (_, line) = rest.rsplit_once("(line ")?;
        line.trim_end_matches(')').parse().ok()
    });
    Some(TestCase { id, outcome, file, line, ..TestCase::default() })
}

// === impl TestReport ===

impl TestReport {
    /// Holds the cases to the counts of a binary: a test may write into its own line.
    fn count(&mut self, rest: &str, seen: u64) {
        let number = |word: &str| {
            let (before, _) = rest.split_once(word)?;
            before.trim_end().rsplit([' ', ';']).next()?.parse::<u64>().ok()
        };
        let (Some(passed), Some(failed)) = (number(" passed"), number(" failed")) else { return };
        let ignored = number(" ignored").unwrap_or_default();
        let of_binary = self.cases.len().saturating_sub(usize::try_from(seen).unwrap_or_default());
        let known = |outcome: CaseOutcome, cases: &[TestCase]| {
            cases[of_binary..].iter().filter(|case| case.outcome == outcome).count() as u64
        };
        for (outcome, wanted) in [
            (CaseOutcome::Passed, passed),
            (CaseOutcome::Failed, failed),
            (CaseOutcome::Skipped, ignored),
        ] {
            for _ in known(outcome, &self.cases)..wanted.min(1_000_000) {
                self.push(TestCase { outcome, ..TestCase::default() });
            }
        }
    }

    /// Adds to failed tests what panics say: nextest shows them by the name of their thread.
    fn add_nextest_outputs(&mut self, stderr: &str) {
        let lines: Vec<&str> = stderr.lines().map(str::trim_start).collect();
        for case in self.cases.iter_mut().filter(|case| case.is_bad()) {
            let thread = format!("thread '{}'", case.id);
            let Some(start) = lines.iter().position(|line| line.starts_with(&thread)) else {
                continue;
            };
            let ends = |line: &&str| {
                line.is_empty() || line.starts_with("stderr ") || line.starts_with("note: ")
            };
            let end = lines[start..].iter().position(ends).map_or(lines.len(), |end| start + end);
            explain(case, &lines[start..end]);
        }
    }

    /// Adds to failed tests what they wrote.
    fn add_outputs(&mut self, stdout: &str) {
        let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
        for line in stdout.lines() {
            let name =
                line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"));
            match name {
                Some(name) => sections.push((name, Vec::new())),
                None if line == "failures:" || line.starts_with("test result: ") => {
                    sections.push(("", Vec::new()));
                }
                None => {
                    if let Some((_, lines)) = sections.last_mut() {
                        lines.push(line);
                    }
                }
            }
        }
        let mut used: Vec<bool> = vec![false; sections.len()];
        for case in self.cases.iter_mut().filter(|case| case.outcome == CaseOutcome::Failed) {
            let of_case = |(place, (name, _)): &(usize, &(&str, Vec<&str>))| {
                !used[*place] && !name.is_empty() && *name == case.id
            };
            let Some((place, (_, lines))) = sections.iter().enumerate().find(of_case) else {
                continue;
            };
            used[place] = true;
            explain(case, lines);
        }
    }
}

/// Finds where and why a test panicked.
fn explain(case: &mut TestCase, lines: &[&str]) {
    case.output = lines.join("\n").trim().to_owned();
    let Some(at) = lines.iter().position(|line| line.contains(" panicked at ")) else {
        let error = lines.iter().find(|line| line.starts_with("Error: "));
        case.message = error.copied().unwrap_or_default().to_owned();
        return;
    };
    let location = lines[at].rsplit(" panicked at ").next().unwrap_or_default();
    let mut parts = location.trim_end_matches(':').rsplitn(3, ':');
    let (_, line, file) = (parts.next(), parts.next(), parts.next());
    case.line = line.and_then(|line| line.parse().ok());
    case.file = case.line.and(file).map(str::to_owned);
    let ends = |line: &&&str| !line.starts_with("note: ") && !line.starts_with("stack backtrace:");
    let message: Vec<&str> = lines[at + 1..].iter().take_while(ends).copied().collect();
    case.message = message.join("\n").trim().to_owned();
    case.details.clone_from(&case.output);
}
