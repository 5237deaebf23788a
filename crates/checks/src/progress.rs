//! How far a run of tests is, by what it has written so far.

use serde_json::Value;

use crate::framework::TestFramework;
use crate::report::libtest;
use crate::report::{CaseOutcome, without_colours};

/// Longest line that is looked at, in bytes; the rest of it is passed over.
const LINE_BYTES_MAX: usize = 16 << 10;

/// How many tests have ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EndedTests {
    /// Tests that have ended.
    pub done: u64,
    /// Tests in all, where that is known by now.
    pub total: Option<u64>,
    /// Tests that have ended and failed.
    pub failed: u64,
}

/// Counts tests while they run. What it counts is shown while one waits; what came of the run is read from
/// its report.
#[derive(Debug)]
pub struct TestProgress {
    framework: TestFramework,
    counts: EndedTests,
    /// The beginning of a line that has not ended, of each stream.
    lines: [String; 2],
    /// How far the line of signs of RSpec is.
    signs: SignLine,
}

/// A line with a sign for each test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum SignLine {
    /// Nothing but what tests write has come in this line.
    #[default]
    Awaited,
    /// Signs were counted in it.
    Begun,
    /// It has ended: what follows is for people.
    Over,
}

/// What a line says.
enum ProgressLine {
    Ended {
        failed: bool,
    },
    /// Several tests of a file.
    EndedTogether {
        done: u64,
        failed: u64,
    },
    /// More tests that will run.
    Announced(u64),
    /// So many of so many have ended.
    Of {
        done: u64,
        total: u64,
        failed: u64,
    },
}

// === impl EndedTests ===

impl EndedTests {
    /// `17 of 240, 2 failed`.
    pub fn text(self) -> String {
        let done = match self.total.filter(|total| *total >= self.done) {
            Some(total) => format!("{} of {total}", self.done),
            None => format!("{} tests", self.done),
        };
        match self.failed {
            0 => done,
            failed => format!("{done}, {failed} failed"),
        }
    }
}

// === impl TestProgress ===

impl TestProgress {
    /// Nothing has ended yet.
    pub fn new(framework: TestFramework) -> Self {
        Self {
            framework,
            counts: EndedTests::default(),
            lines: Default::default(),
            signs: SignLine::default(),
        }
    }

    /// Reads on in the standard output. Returns the counts where they are others than before.
    pub fn read_stdout(&mut self, text: &str) -> Option<EndedTests> {
        self.read(0, text)
    }

    /// Reads on in the standard error. Returns the counts where they are others than before.
    pub fn read_stderr(&mut self, text: &str) -> Option<EndedTests> {
        self.read(1, text)
    }

    fn read(&mut self, stream: usize, text: &str) -> Option<EndedTests> {
        let before = self.counts;
        let mut rest = text;
        while let Some((line, after)) = rest.split_once('\n') {
            self.begin(stream, line);
            self.count_signs(stream);
            let line = std::mem::take(&mut self.lines[stream]);
            self.end_signs(stream, &line);
            self.count(&line);
            rest = after;
        }
        self.begin(stream, rest);
        self.count_signs(stream);
        (self.counts != before).then_some(self.counts)
    }

    fn begin(&mut self, stream: usize, text: &str) {
        let line = &mut self.lines[stream];
        let room = LINE_BYTES_MAX.saturating_sub(line.len());
        line.push_str(&text[..text.floor_char_boundary(room)]);
    }

    fn count(&mut self, line: &str) {
        let counts = &mut self.counts;
        match self.framework.progress(line) {
            None => {}
            Some(ProgressLine::Ended { failed }) => {
                counts.done += 1;
                counts.failed += u64::from(failed);
            }
            Some(ProgressLine::EndedTogether { done, failed }) => {
                counts.done = counts.done.saturating_add(done);
                counts.failed = counts.failed.saturating_add(failed);
            }
            Some(ProgressLine::Announced(more)) => {
                counts.total = Some(counts.total.unwrap_or_default().saturating_add(more));
            }
            Some(ProgressLine::Of { done, total, failed }) => {
                counts.done = done;
                counts.total = Some(total);
                counts.failed = counts.failed.saturating_add(failed);
            }
        }
    }

    /// Counts the signs of a line that has not ended: RSpec writes one for each test, and all in one line but for what
    /// tests write.
    fn count_signs(&mut self, stream: usize) {
        let is_counted = self.framework == TestFramework::Rspec && stream == 0;
        let line = &mut self.lines[stream];
        let signs = line.len() - line.trim_start_matches(['.', 'F', '*']).len();
        if !is_counted || self.signs == SignLine::Over || signs == 0 {
            return;
        }
        self.signs = SignLine::Begun;
        self.counts.done += signs as u64;
        self.counts.failed += line[..signs].bytes().filter(|sign| *sign == b'F').count() as u64;
        line.drain(..signs);
    }

    /// A line has ended, of which so much is left.
    fn end_signs(&mut self, stream: usize, rest: &str) {
        if stream == 0 && self.signs == SignLine::Begun {
            self.signs = if rest.is_empty() { SignLine::Over } else { SignLine::Awaited };
        }
    }
}

// === impl TestFramework ===

impl TestFramework {
    fn progress(self, line: &str) -> Option<ProgressLine> {
        let ended = |failed| Some(ProgressLine::Ended { failed });
        match self {
            Self::Cargo => cargo(line),
            Self::Nextest => nextest(line),
            Self::Pytest => pytest(line),
            Self::Unittest => match line.rsplit_once(" ... ")?.1 {
                "ok" | "expected failure" | "unexpected success" => ended(false),
                "FAIL" | "ERROR" => ended(true),
                verdict if verdict.starts_with("skipped ") => ended(false),
                _ => None,
            },
            Self::Go => go(line),
            Self::Vitest => vitest(line),
            Self::Node => match line.trim_start().chars().next()? {
                '✔' | '﹣' => ended(false),
                '✖' => ended(true),
                _ => None,
            },
            Self::Jest => match line.trim_start().chars().next()? {
                '✓' | '○' | '✎' => ended(false),
                '✕' => ended(true),
                _ => None,
            },
            Self::Bun => match line.split_once(") ")?.0 {
                "(pass" | "(skip" | "(todo" => ended(false),
                "(fail" => ended(true),
                _ => None,
            },
            Self::Deno => {
                let (_, verdict) = line.rsplit_once(" ... ")?;
                match verdict.split(' ').next()? {
                    "ok" | "ignored" if !line.starts_with(' ') => ended(false),
                    "FAILED" if !line.starts_with(' ') => ended(true),
                    _ => None,
                }
            }
            Self::Ctest => {
                let (of, rest) = line.trim_start().split_once(" Test ")?;
                let (done, total) = of.split_once('/')?;
                let has_failed = rest.contains("***") && !rest.contains("(Disabled)");
                Some(ProgressLine::Of {
                    done: done.parse().ok()?,
                    total: total.parse().ok()?,
                    failed: u64::from(has_failed),
                })
            }
            Self::Bats => match line.strip_prefix("1..") {
                Some(count) => Some(ProgressLine::Announced(count.parse().ok()?)),
                None if line.starts_with("not ok ") => ended(true),
                None if line.starts_with("ok ") => ended(false),
                None => None,
            },
            Self::Maven => maven(line),
            Self::Swift => swift(line),
            Self::Phpunit => phpunit(line),
            Self::Gradle => match line.rsplit_once(' ')? {
                (test, "PASSED" | "SKIPPED") if test.contains(" > ") => ended(false),
                (test, "FAILED") if test.contains(" > ") => ended(true),
                _ => None,
            },
            Self::Dotnet => match line.strip_prefix("  ")?.split_once(' ')? {
                ("Passed" | "Skipped", _) => ended(false),
                ("Failed", _) => ended(true),
                _ => None,
            },
            // RSpec is counted by `count_signs`. Mocha writes one report at a time, and that at its end.
            Self::Rspec | Self::Mocha => None,
        }
    }
}

fn cargo(line: &str) -> Option<ProgressLine> {
    if let Some(case) = libtest::case(line) {
        return Some(ProgressLine::Ended { failed: case.outcome == CaseOutcome::Failed });
    }
    libtest::announced(line).map(ProgressLine::Announced)
}

/// `        PASS [   0.005s] (17/240) crate tests::a`, `    Starting 240 tests across 3 binaries`.
fn nextest(line: &str) -> Option<ProgressLine> {
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix("Starting ") {
        return Some(ProgressLine::Announced(rest.split(' ').next()?.parse().ok()?));
    }
    let (word, _) = line.split_once(" [")?;
    match word.trim_end() {
        "PASS" | "LEAK" => Some(ProgressLine::Ended { failed: false }),
        "FAIL" | "TIMEOUT" | "ABORT" | "SIGSEGV" | "SIGABRT" => {
            Some(ProgressLine::Ended { failed: true })
        }
        _ => None,
    }
}

/// `tests/a.py::test_a PASSED`, `[gw0] FAILED tests/a.py::test_a`, or a letter for each test of a file where the
/// project wants it short: `tests/a.py ..F.`. Before that `collected 240 items / 3 deselected / 237 selected`.
fn pytest(line: &str) -> Option<ProgressLine> {
    let line = line.trim_end();
    if let Some(total) = pytest_total(line) {
        return Some(ProgressLine::Announced(total));
    }
    let ended = |verdict: &str| match verdict {
        "PASSED" | "SKIPPED" | "XFAIL" | "XPASS" => Some(ProgressLine::Ended { failed: false }),
        "FAILED" | "ERROR" => Some(ProgressLine::Ended { failed: true }),
        _ => None,
    };
    if let Some((_, rest)) = line.strip_prefix("[gw").and_then(|rest| rest.split_once("] ")) {
        return ended(rest.split(' ').next()?);
    }
    if line.contains("::") {
        // Behind a test that was left out stands why.
        let is_left_out = line.contains(" SKIPPED (") || line.contains(" XFAIL (");
        return ended(if is_left_out { "SKIPPED" } else { line.rsplit(' ').next()? });
    }
    let letters = match line.split_once(' ') {
        Some((file, letters)) if file.ends_with(".py") => letters,
        _ => line,
    };
    let is_whole = !letters.is_empty() && letters.chars().all(|letter| ".FEsxX".contains(letter));
    is_whole.then(|| ProgressLine::EndedTogether {
        done: letters.len() as u64,
        failed: letters.chars().filter(|letter| "FE".contains(*letter)).count() as u64,
    })
}

/// How many tests pytest is going to run.
fn pytest_total(line: &str) -> Option<u64> {
    let first = |text: &str| text.split(' ').next()?.parse().ok();
    if let Some((_, items)) = line.split_once(" workers [").or_else(|| line.split_once(" worker ["))
    {
        return first(items);
    }
    let counts = line.strip_prefix("collecting ... ").unwrap_or(line).strip_prefix("collected ")?;
    match counts.strip_suffix(" selected") {
        Some(counts) => counts.rsplit(' ').next()?.parse().ok(),
        None => first(counts),
    }
}

fn go(line: &str) -> Option<ProgressLine> {
    // Most events are output.
    if line.contains("\"Action\":\"output\"") || !line.starts_with('{') {
        return None;
    }
    let event: Value = serde_json::from_str(line).ok()?;
    event["Test"].as_str().filter(|test| !test.contains('/'))?;
    match event["Action"].as_str()? {
        "pass" | "skip" => Some(ProgressLine::Ended { failed: false }),
        "fail" => Some(ProgressLine::Ended { failed: true }),
        _ => None,
    }
}

/// ` ❯ calc.test.js (5 tests | 2 failed | 1 skipped) 14ms`, ` ✓ a.test.js (3 tests) 2ms`.
fn vitest(line: &str) -> Option<ProgressLine> {
    let plain = without_colours(line);
    let line = plain.trim_start();
    if !line.starts_with(['✓', '❯']) {
        return None;
    }
    let (_, counts) = line.split_once(" (")?;
    let (counts, _) = counts.split_once(')')?;
    let number = |word: &str| {
        let part = counts.split(" | ").find(|part| part.contains(word))?;
        part.split(' ').next()?.parse::<u64>().ok()
    };
    Some(ProgressLine::EndedTogether {
        done: number(" test")?,
        failed: number(" failed").unwrap_or_default(),
    })
}

/// `[INFO] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in CalcTest`.
fn maven(line: &str) -> Option<ProgressLine> {
    let (_, counts) = line.split_once("Tests run: ")?;
    if !counts.contains("Time elapsed") {
        return None;
    }
    let number = |label: &str| {
        let rest = if label.is_empty() { counts } else { counts.split_once(label)?.1 };
        rest.split(',').next()?.trim().parse::<u64>().ok()
    };
    let failed = number("Failures: ")?.saturating_add(number("Errors: ")?);
    Some(ProgressLine::EndedTogether { done: number("")?, failed })
}

/// `..F.S   63 / 240 ( 26%)`: a sign for each test, and how many have ended.
fn phpunit(line: &str) -> Option<ProgressLine> {
    let (signs, counts) = line.split_once(' ')?;
    let is_whole = !signs.is_empty() && signs.chars().all(|sign| ".FEWRSINDP".contains(sign));
    let (counts, _) = counts.split_once(" (").filter(|_| is_whole)?;
    let (done, total) = counts.split_once(" / ")?;
    Some(ProgressLine::Of {
        done: done.trim().parse().ok()?,
        total: total.trim().parse().ok()?,
        failed: signs.chars().filter(|sign| "FE".contains(*sign)).count() as u64,
    })
}

/// `Test Case 'CalcTests.testAdds' passed (0.001 seconds)`.
fn swift(line: &str) -> Option<ProgressLine> {
    let rest = line.strip_prefix("Test Case ")?;
    match rest.contains("' passed (") || rest.contains("' failed (") {
        true => Some(ProgressLine::Ended { failed: rest.contains("' failed (") }),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In any pieces it counts the same.
    fn counted(framework: TestFramework, (stdout, stderr): (&str, &str), expected: &str) {
        let mut progress = TestProgress::new(framework);
        for piece in stdout.split_inclusive(' ') {
            progress.read_stdout(piece);
        }
        for piece in stderr.split_inclusive('.') {
            progress.read_stderr(piece);
        }
        assert_eq!(progress.counts.text(), expected, "{framework:?}");
        let mut progress = TestProgress::new(framework);
        for letter in stdout.chars() {
            progress.read_stdout(letter.encode_utf8(&mut [0; 4]));
        }
        if stderr.is_empty() {
            assert_eq!(progress.counts.text(), expected, "{framework:?}, letter by letter");
        }
    }

    #[test]
    fn ended_tests_are_counted_as_they_end() {
        for (framework, stdout, stderr, expected) in [
            (
                TestFramework::Cargo,
                "running 3 tests\ntest a ... ok\ntest b ... FAILED\n",
                "",
                "2 of 3, 1 failed",
            ),
            (
                TestFramework::Pytest,
                "collecting ... collected 240 items\n\na.py::test_a PASSED\na.py::test_b[x y] FAILED\n\
                 a.py::test_c SKIPPED (not now)\na.py::test_d \n",
                "",
                "3 of 240, 1 failed",
            ),
            (
                TestFramework::Pytest,
                "collected 24 items / 4 deselected / 20 selected\n\na.py ..F.s\nb/c.py .E\n..x\n\
                 === FAILURES ===\nFAILED a.py::test_b - assert\n",
                "",
                "10 of 20, 2 failed",
            ),
            (
                TestFramework::Pytest,
                "4 workers [8 items]\n\na.py::test_a \n[gw1] PASSED a.py::test_a \n[gw0] ERROR a.py::test_b \n",
                "",
                "2 of 8, 1 failed",
            ),
            (TestFramework::Unittest, "", "test_a (t.A.test_a) ... ok\n", "1 tests"),
            (
                TestFramework::Go,
                "{\"Action\":\"run\",\"Test\":\"TestA\"}\n{\"Action\":\"fail\",\"Test\":\"TestA\"}\n\
                 {\"Action\":\"fail\",\"Package\":\"p\"}\n",
                "",
                "1 tests, 1 failed",
            ),
            (
                TestFramework::Vitest,
                " ❯ calc.test.js (5 tests | 2 failed | 1 skipped) 14ms\n ✓ a.test.js (3 tests) 2ms\n",
                "",
                "8 tests, 2 failed",
            ),
            (TestFramework::Bats, "1..4\nok 1 adds\nnot ok 2 is wrong\n", "", "2 of 4, 1 failed"),
            (
                TestFramework::Ctest,
                "1/6 Test #1: adds ......   Passed    0.00 sec\n2/6 Test #2: b .....***Failed    0.00 sec\n",
                "",
                "2 of 6, 1 failed",
            ),
            (
                TestFramework::Maven,
                "[INFO] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in A\n\
                 [INFO] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0\n",
                "",
                "3 tests, 1 failed",
            ),
        ] {
            counted(framework, (stdout, stderr), expected);
        }
    }

    #[test]
    fn signs_and_lines_of_further_frameworks_are_counted() {
        for (framework, stdout, expected) in [
            (
                TestFramework::Rspec,
                "\n.F*written by a test\n*.F.\n\nFailures:\n\n  1) Calc is wrong\n     Failure/Error: no\n",
                "7 tests, 2 failed",
            ),
            (
                TestFramework::Phpunit,
                "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\n..F...E 7 / 9 ( 77%)\n.S      9 / 9 (100%)\n\n\
                 Time: 00:00.047, Memory: 10.00 MB\n",
                "9 of 9, 2 failed",
            ),
            (
                TestFramework::Gradle,
                "> Task :test\n\nCalcTest > adds() PASSED\n\nCalcTest > nested > is wrong FAILED\n    \
                 org.opentest4j.AssertionFailedError at CalcTest.java:12\n\nCalcTest > later() SKIPPED\n\n\
                 > Task :test FAILED\n3 tests completed, 1 failed, 1 skipped\n",
                "3 tests, 1 failed",
            ),
            (
                TestFramework::Dotnet,
                "  Passed A.CalcTests.Adds [2 ms]\n  Failed A.CalcTests.IsWrong [11 ms]\n  Error Message:\n   \
                 Assert.Equal() Failure\n  Skipped A.CalcTests.Later [1 ms]\n",
                "3 tests, 1 failed",
            ),
        ] {
            counted(framework, (stdout, ""), expected);
        }
    }

    #[test]
    fn a_line_without_end_is_held_in_bounds() {
        let mut progress = TestProgress::new(TestFramework::Cargo);
        for _ in 0..100 {
            assert_eq!(progress.read_stdout(&"x".repeat(10_000)), None);
        }
        assert!(progress.lines[0].len() <= LINE_BYTES_MAX);
    }
}
