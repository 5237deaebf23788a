//! What single lines of each framework say of how far it is.

use serde_json::Value;

use crate::framework::TestFramework;
use crate::report::libtest;
use crate::report::{CaseOutcome, without_colours};

/// What a line says.
pub(super) enum ProgressLine {
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

// === impl TestFramework ===

impl TestFramework {
    /// What a line of its output says of how far it is.
    pub(super) fn progress(self, line: &str) -> Option<ProgressLine> {
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
            Self::Bats => tap(line),
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
            Self::Mocha => mocha(line),
            // It is counted by `count_signs`.
            Self::Rspec => None,
        }
    }
}

/// `1..240`, `ok 1 adds`, `not ok 2 is wrong`.
fn tap(line: &str) -> Option<ProgressLine> {
    match line.strip_prefix("1..") {
        Some(count) => Some(ProgressLine::Announced(count.parse().ok()?)),
        None if line.starts_with("not ok ") => Some(ProgressLine::Ended { failed: true }),
        None if line.starts_with("ok ") => Some(ProgressLine::Ended { failed: false }),
        None => None,
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

/// `running 240 tests`, then of each a sign and its title: what the reporter writes that moss gives to Mocha.
fn mocha(line: &str) -> Option<ProgressLine> {
    if let Some(rest) = line.strip_prefix("running ") {
        return Some(ProgressLine::Announced(rest.strip_suffix(" tests")?.parse().ok()?));
    }
    match line.split_once(' ')?.0 {
        "✓" | "○" => Some(ProgressLine::Ended { failed: false }),
        "✗" => Some(ProgressLine::Ended { failed: true }),
        // What fails before and after tests is not a test.
        "‼" => Some(ProgressLine::EndedTogether { done: 0, failed: 1 }),
        _ => None,
    }
}

/// `[17/240] Testing CalcTests.CalcTests/testAdds` and, behind all of these, what those wrote that failed: tests of
/// XCTest side by side. `✔ Test adds() passed after 0.001 seconds.`: those of Swift Testing, which come after.
fn swift(line: &str) -> Option<ProgressLine> {
    if let Some((step, _)) = line.strip_prefix('[').and_then(|line| line.split_once("] Testing ")) {
        let (done, total) = step.split_once('/')?;
        let (done, total) = (done.trim().parse().ok()?, total.parse().ok()?);
        return Some(ProgressLine::Of { done, total, failed: 0 });
    }
    if line.starts_with("Test Case ") {
        let failed = u64::from(line.contains("' failed ("));
        return (failed > 0).then_some(ProgressLine::EndedTogether { done: 0, failed });
    }
    let (mark, test) = line.split_once(" Test ")?;
    let is_test = !test.starts_with("run with ") && !test.starts_with("case ");
    match mark {
        "✔" if is_test && test.contains(" passed after ") => {
            Some(ProgressLine::Ended { failed: false })
        }
        "✘" if is_test && test.contains(" failed after ") => {
            Some(ProgressLine::Ended { failed: true })
        }
        "➜" | "↷" if is_test && test.contains(" skipped") => {
            Some(ProgressLine::Ended { failed: false })
        }
        _ => None,
    }
}
