//! How far a run of tests is, by what it has written so far.

mod lines;

use self::lines::ProgressLine;
use crate::framework::TestFramework;

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
            (
                TestFramework::Mocha,
                "running 5 tests\n✓ calc adds\nwritten by a test\n✗ calc is wrong\n○ calc later\n\
                 ‼ calc \"after all\" hook\n",
                "3 of 5, 2 failed",
            ),
            (
                TestFramework::Swift,
                "[3/7] Compiling Calc Calc.swift\n[1/2] Testing A.CalcTests/testAdds\n\
                 [2/2] Testing A.CalcTests/testWrong\nTest Case 'CalcTests.testWrong' started at 20:00\n\
                 /w/a.swift:8: error: CalcTests.testWrong : no\nTest Case 'CalcTests.testWrong' failed (0.01 seconds)\n",
                "2 of 2, 1 failed",
            ),
            (
                TestFramework::Swift,
                "◇ Test run started.\n◇ Test adds() started.\n✔ Test adds() passed after 0.001 seconds.\n\
                 ✘ Test wrong() recorded an issue at a.swift:12:5: no\n✘ Test wrong() failed after 0.001 seconds with 1 \
                 issue.\n➜ Test later() skipped.\n✔ Suite Sums passed after 0.001 seconds.\n\
                 ✘ Test run with 3 tests in 1 suite failed after 0.002 seconds with 1 issue.\n",
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
