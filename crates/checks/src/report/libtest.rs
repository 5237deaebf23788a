//! What `cargo test` writes: lines of tests, what failing ones wrote, errors of the compiler.
//!
//! Tests may write such lines, too. So each program is held to the counts at its end, and its end to the
//! count at its beginning.

use super::{CaseOutcome, TestCase, TestReport};
use crate::lint_output::rustc_text;

/// What one test program wrote, as far as it was read.
#[derive(Debug, Default)]
struct TestProgram<'a> {
    /// How many tests it said it would run.
    announced: u64,
    cases: Vec<TestCase>,
    /// What failing tests wrote, by name.
    sections: Vec<(&'a str, Vec<&'a str>)>,
    /// The list of those that failed.
    failed: Vec<&'a str>,
    phase: ProgramPhase,
    /// Programs whose beginning and end lie between those of this one: real ones, where this one never ends.
    inner: Vec<TestReport>,
}

/// How far a test program is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ProgramPhase {
    #[default]
    Running,
    /// What failing tests wrote.
    Sections,
    /// The names of those that failed.
    Names,
}

/// How many tests of a program ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProgramCounts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

/// Reads the standard output and error of a run.
pub(crate) fn read(stdout: &str, stderr: &str) -> TestReport {
    let mut report = built(stderr);
    let mut open: Vec<TestProgram<'_>> = Vec::new();
    for line in stdout.lines() {
        if let Some(announced) = announced(line)
            && open.last().is_none_or(|program| program.phase == ProgramPhase::Running)
        {
            open.push(TestProgram { announced, ..TestProgram::default() });
            continue;
        }
        let counts = ProgramCounts::of(line);
        let ends = counts.and_then(|counts| {
            open.iter().rposition(|program| program.ends_with(counts)).map(|at| (at, counts))
        });
        match ends {
            Some((at, counts)) => {
                // What began in it and did not end was written by its tests.
                let written = open.split_off(at + 1).into_iter().flat_map(|inner| inner.cases);
                let mut program = open.pop().unwrap_or_default();
                program.cases.extend(written);
                let ended = program.ended(counts);
                match open.last_mut() {
                    Some(around) => around.inner.push(ended),
                    None => report.add(ended),
                }
            }
            None => {
                if let Some(program) = open.last_mut() {
                    program.read(line);
                }
            }
        }
    }
    for program in open {
        let (announced, seen) = (program.announced, program.cases.len() as u64);
        report.problem = Some(format!(
            "{} of {announced} tests did not end: a test ended the whole program",
            announced.saturating_sub(seen)
        ));
        program.cases.into_iter().for_each(|case| report.push(case));
        program.inner.into_iter().for_each(|inner| report.add(inner));
    }
    report
}

/// What cargo says of the build.
pub(crate) fn built(stderr: &str) -> TestReport {
    let signs = [
        "could not compile",
        "failed to parse manifest",
        "failed to load manifest",
        "failed to run custom build command",
        "failed to select a version",
        "requires rustc",
        "is not supported by the following package",
    ];
    let mut errors = stderr.lines().filter_map(|line| line.strip_prefix("error: "));
    TestReport {
        build: rustc_text::read(stderr),
        is_build_failed: errors.any(|error| signs.iter().any(|sign| error.contains(sign))),
        ..TestReport::default()
    }
}

/// Returns the number in `running 3 tests`; none of another line.
pub(crate) fn announced(line: &str) -> Option<u64> {
    let (count, rest) = line.strip_prefix("running ")?.split_once(' ')?;
    matches!(rest, "test" | "tests").then(|| count.parse().ok())?
}

/// `test a::b ... ok`, `test a::b - should panic ... FAILED`, `test src/lib.rs - f (line 3) ... ok`.
pub(crate) fn case(line: &str) -> Option<TestCase> {
    let rest = line.strip_prefix("test ")?;
    let (name, verdict) = rest.rsplit_once(" ... ")?;
    let (verdict, _) = verdict.split_once([' ', ',', '<']).unwrap_or((verdict, ""));
    let outcome = match verdict {
        "ok" => CaseOutcome::Passed,
        "FAILED" => CaseOutcome::Failed,
        "ignored" => CaseOutcome::Skipped,
        _ => return None,
    };
    // How it is run is not in the list of those that failed.
    let modes = [" - should panic", " - compile fail", " - compile"];
    let name = modes.iter().find_map(|mode| name.strip_suffix(mode)).unwrap_or(name);
    Some(named(name, outcome))
}

fn named(name: &str, outcome: CaseOutcome) -> TestCase {
    let documented = name.split_once(" - ").filter(|(file, _)| file.ends_with(".rs"));
    let file = documented.map(|(file, _)| file.to_owned());
    let line = documented.and_then(|(_, rest)| {
        let (_, line) = rest.rsplit_once("(line ")?;
        line.split(')').next()?.parse().ok()
    });
    TestCase { id: name.to_owned(), outcome, file, line, ..TestCase::default() }
}

// === impl ProgramCounts ===

impl ProgramCounts {
    /// `test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s`.
    fn of(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("test result: ")?;
        let number = |word: &str| {
            let (before, _) = rest.split_once(word)?;
            before.rsplit([' ', ';']).next()?.parse::<u64>().ok()
        };
        let measured = number(" measured").unwrap_or_default();
        Some(Self {
            passed: number(" passed")?.saturating_add(measured),
            failed: number(" failed")?,
            ignored: number(" ignored")?,
        })
    }

    fn all(self) -> u64 {
        self.passed.saturating_add(self.failed).saturating_add(self.ignored)
    }
}

// === impl TestProgram ===

impl<'a> TestProgram<'a> {
    /// Whether these are its own counts, and not what a test wrote.
    fn ends_with(&self, counts: ProgramCounts) -> bool {
        let is_listed = match self.phase {
            ProgramPhase::Running => counts.failed == 0,
            ProgramPhase::Sections => false,
            ProgramPhase::Names => self.failed.len() as u64 == counts.failed,
        };
        counts.all() == self.announced && is_listed
    }

    fn read(&mut self, line: &'a str) {
        match self.phase {
            ProgramPhase::Running if line == "failures:" => self.phase = ProgramPhase::Sections,
            ProgramPhase::Running => self.cases.extend(case(line)),
            ProgramPhase::Sections | ProgramPhase::Names if line == "failures:" => {
                self.failed.clear();
                self.phase = ProgramPhase::Names;
            }
            ProgramPhase::Names if line.is_empty() => {}
            ProgramPhase::Names if line.starts_with("    ") => self.failed.push(line.trim()),
            ProgramPhase::Sections | ProgramPhase::Names => {
                self.phase = ProgramPhase::Sections;
                let name =
                    line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"));
                match (name, self.sections.last_mut()) {
                    (Some(name), _) => self.sections.push((name, Vec::new())),
                    (None, Some((_, lines))) => lines.push(line),
                    (None, None) => {}
                }
            }
        }
    }

    /// Its tests: those that failed by their list, others by their lines, as many as it counts.
    fn ended(self, counts: ProgramCounts) -> TestReport {
        let mut report = TestReport::default();
        for (outcome, count) in
            [(CaseOutcome::Passed, counts.passed), (CaseOutcome::Skipped, counts.ignored)]
        {
            let mut cases = self.cases.iter().filter(|case| case.outcome == outcome);
            for _ in 0..count.min(1_000_000) {
                let unnamed = || TestCase { outcome, ..TestCase::default() };
                report.push(cases.next().cloned().unwrap_or_else(unnamed));
            }
        }
        for name in &self.failed {
            let mut case = named(name.trim_end_matches(" - should panic"), CaseOutcome::Failed);
            if let Some((_, lines)) = self.sections.iter().find(|(section, _)| section == name) {
                explain(&mut case, lines);
            }
            report.push(case);
        }
        report
    }
}

/// Finds where and why a test panicked.
pub(crate) fn explain(case: &mut TestCase, lines: &[&str]) {
    case.output = lines.join("\n").trim().to_owned();
    let Some(at) = lines.iter().position(|line| line.contains(" panicked at ")) else {
        let starts = ["Error: ", "error", "note: test did not panic"];
        let said = lines.iter().find(|line| starts.iter().any(|start| line.starts_with(start)));
        let last = || lines.iter().rev().find(|line| !line.trim().is_empty());
        case.message = said.or_else(last).copied().unwrap_or_default().to_owned();
        return;
    };
    let location = lines[at].rsplit(" panicked at ").next().unwrap_or_default();
    let mut parts = location.trim_end_matches(':').rsplitn(3, ':');
    let (_, line, file) = (parts.next(), parts.next(), parts.next());
    // A test in documentation says where it stands; its panic counts the lines of the test alone.
    if let (None, Some(Ok(line)), Some(file)) = (case.line, line.map(str::parse), file) {
        (case.file, case.line) = (Some(file.to_owned()), Some(line));
    }
    let ends = |line: &&&str| !line.starts_with("note: ") && !line.starts_with("stack backtrace:");
    let message: Vec<&str> = lines[at + 1..].iter().take_while(ends).copied().collect();
    case.message = message.join("\n").trim().to_owned();
    case.details.clone_from(&case.output);
}
