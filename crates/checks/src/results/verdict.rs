//! How a run ended: what report, exit status and output say together.

use super::{MESSAGE_BYTES_MAX, TestStatus, TestTotals, unloaded};
use crate::framework::TestFramework;
use crate::report::{TestReport, without_colours};
use crate::run::FinishedRun;
use crate::shortening::{ended, shortened};

// === impl TestFramework ===

impl TestFramework {
    /// What is missing on the machine, and what would bring it. A test whose own command is missing fails,
    /// but then there are tests.
    pub(super) fn missing(self, totals: TestTotals, finished: &FinishedRun<'_>) -> Option<String> {
        let (stdout, stderr) = (finished.stdout, finished.stderr);
        if totals.all() > 0 || finished.exit_code == Some(0) {
            return None;
        }
        if self == Self::Ctest && stderr.contains("not a directory") {
            let next = "`cmake -S . -B build` in the directory of the project";
            return Some(format!("the project was not configured in `build`: {next}"));
        }
        let program = self.program_name();
        let not_found = format!("{program}: command not found");
        let no_file = format!("{program}: No such file or directory");
        if finished.exit_code == Some(127)
            || stderr.contains(&not_found)
            || stderr.contains(&no_file)
        {
            return Some(format!("`{program}` is not installed: {}", self.install()));
        }
        let no_command = |name: &str| stderr.contains(&format!("no such command: `{name}`"));
        if no_command("nextest") || no_command("llvm-cov") {
            let program = if no_command("nextest") { "cargo-nextest" } else { "cargo-llvm-cov" };
            return Some(format!("{program} is not installed: `cargo install {program} --locked`"));
        }
        if stderr.contains(&format!("No module named {program}")) {
            return Some(format!("{program} is not installed: {}", self.install()));
        }
        if self == Self::Pytest && stderr.contains("unrecognized arguments: --cov") {
            return Some(
                "pytest-cov is not installed: `python3 -m pip install pytest-cov` in the environment of the project, or \
                 leave out `coverage`"
                    .to_owned(),
            );
        }
        let no_gem = stderr.contains("Could not find") && stderr.contains("bundle install");
        if no_gem || stdout.contains("run `bundle install`") {
            return Some("gems of the project are not installed: run `bundle install`".to_owned());
        }
        self.missing_of_java(stdout, stderr).or_else(|| self.missing_dependency(stdout, stderr))
    }

    /// What Maven, Gradle and their wrappers need: Java, and a wrapper what it would download first.
    fn missing_of_java(self, stdout: &str, stderr: &str) -> Option<String> {
        let wrapper = match self {
            Self::Gradle => "gradlew",
            Self::Maven => "mvnw",
            _ => return None,
        };
        let mut said = stderr.lines().chain(stdout.lines());
        let signs = ["no 'java' command could be found", "JAVA_HOME environment variable is not"];
        if said.clone().any(|line| signs.iter().any(|sign| line.contains(sign))) {
            let next = "`apt install default-jdk` or `brew install openjdk`";
            return Some(format!("Java is not installed, or not found: {next}"));
        }
        let is_download = |line: &&str| {
            let is_thrown = line.starts_with("Exception in thread \"main\"");
            (is_thrown && (line.contains("UnknownHost") || line.contains("Downloading from ")))
                || line.contains(": Failed to fetch ")
        };
        let line = said.find(is_download)?.trim();
        let next = format!("`./{wrapper} --version`, where the network is reached, brings it");
        Some(format!("`{wrapper}` has not downloaded yet what it runs: {next} ({line})"))
    }

    /// A dependency of the project that would have to be downloaded.
    fn missing_dependency(self, stdout: &str, stderr: &str) -> Option<String> {
        let (signs, next): (&[&str], &str) = match self {
            Self::Cargo | Self::Nextest => (
                &["without --offline", "--offline was specified", "failed to download"],
                "`cargo fetch`, where the network is reached",
            ),
            Self::Maven => (
                &["Cannot access", "in offline mode", "has not been downloaded"],
                "`mvn dependency:go-offline`, where the network is reached",
            ),
            Self::Gradle => (
                &["No cached version", "offline mode"],
                "`gradle dependencies`, where the network is reached",
            ),
            Self::Dotnet => (&["project.assets.json", "NETSDK1004"], "`dotnet restore`"),
            Self::Go => (
                &["no required module provides", "missing go.sum entry", "dial tcp"],
                "`go mod download`",
            ),
            Self::Deno => (&["Specifier not found in cache", "--cached-only"], "`deno install`"),
            _ => return None,
        };
        let said = stderr.lines().chain(stdout.lines());
        let mut said = said.filter(|line| signs.iter().any(|sign| line.contains(sign)));
        let line = said.next()?.trim();
        Some(format!("a dependency of the project is not there: {next} brings it ({line})"))
    }

    fn program_name(self) -> &'static str {
        match self {
            Self::Nextest | Self::Cargo => "cargo",
            Self::Unittest => "python3",
            Self::Maven => "mvn",
            other => other.name(),
        }
    }

    /// The command that brings it. moss does not run it.
    fn install(self) -> &'static str {
        match self {
            Self::Cargo | Self::Nextest => "https://rustup.rs installs it",
            Self::Pytest => "`python3 -m pip install pytest` in the environment of the project",
            Self::Unittest => "`apt install python3` or `brew install python`",
            Self::Jest | Self::Vitest | Self::Mocha => {
                "`npm install` in the directory of the project"
            }
            Self::Node => "`apt install nodejs` or `brew install node`",
            Self::Bun => "`npm install --save-dev bun` in the directory of the project",
            Self::Deno => "`npm install --save-dev deno` in the directory of the project",
            Self::Phpunit => "`composer install` in the directory of the project",
            Self::Rspec => "`bundle install`, or `gem install rspec`",
            Self::Ctest => "`apt install cmake` or `brew install cmake`",
            Self::Go => {
                "`apt install golang` or `brew install go`, of the version that `go.mod` names"
            }
            Self::Bats => {
                "`npm install --save-dev bats`, `apt install bats` or `brew install bats-core`"
            }
            Self::Maven => "`apt install maven` or `brew install maven`",
            Self::Gradle => "`sdk install gradle` or `brew install gradle`",
            Self::Dotnet => "`apt install dotnet-sdk-8.0` or `brew install dotnet-sdk`",
            Self::Swift => "`swiftly install latest`",
        }
    }

    /// How it ended, and what has to be said of that.
    pub(super) fn status(
        self,
        report: &TestReport,
        totals: TestTotals,
        finished: &FinishedRun<'_>,
    ) -> (TestStatus, Option<String>) {
        let tail = || {
            let said = format!("{}\n{}", finished.stdout, finished.stderr);
            ended(without_colours(&said).trim(), MESSAGE_BYTES_MAX)
        };
        let because = |why: String| Some(format!("{why}; it wrote at its end:\n{}", tail()));
        let Some(exit_code) = finished.exit_code else {
            let so_far = match totals.all() {
                0 => "no test had ended".to_owned(),
                _ => format!("until then {} passed, {} failed", totals.passed, totals.bad()),
            };
            return (TestStatus::Interrupted, because(so_far));
        };
        let has_run = totals.passed + totals.bad() > 0;
        if report.is_build_failed && !has_run {
            let note = if report.build.is_empty() {
                because("it says no location".to_owned())
            } else {
                None
            };
            return (TestStatus::BuildFailed, note);
        }
        if self.found_none(totals, report, finished) {
            let note = report.without_tests().or_else(|| self.not_found(finished));
            return (TestStatus::NoTests, note.or_else(|| self.where_others_may_be()));
        }
        if let Some(problem) = &report.problem {
            return (TestStatus::Inconsistent, because(problem.clone()));
        }
        let is_bad = totals.bad() > 0 || report.is_build_failed;
        // Python 3.12 ends with 5 where no test ran, also where all were skipped.
        let is_fine = exit_code == 0 || (self == Self::Unittest && exit_code == 5 && !has_run);
        match (is_fine, is_bad) {
            (true, false) if totals.passed == 0 => (
                TestStatus::NoTests,
                Some(format!("all of the {} tests were skipped", totals.skipped)),
            ),
            (true, false) => (TestStatus::Passed, report.without_tests()),
            (false, true) => {
                let note = "something was not built or loaded, and its tests did not run: see `diagnostics`";
                let note = report.is_build_failed.then(|| note.to_owned());
                (TestStatus::Failed, note.or_else(|| report.failing_others()))
            }
            (true, true) => {
                let why = format!("{} tests failed, and the exit status is 0", totals.bad());
                (TestStatus::Inconsistent, because(why))
            }
            (false, false) => {
                if let Some((status, note)) = self.explained(report, totals, finished) {
                    return (status, Some(note));
                }
                let why = format!(
                    "the exit status is {exit_code}, and the report has {} tests that passed and none that \
                     failed",
                    totals.passed
                );
                (TestStatus::Inconsistent, because(why))
            }
        }
    }

    /// How a run ended that failed although no test did, and why, where that is known.
    fn explained(
        self,
        report: &TestReport,
        totals: TestTotals,
        finished: &FinishedRun<'_>,
    ) -> Option<(TestStatus, String)> {
        if let Some(unmet) = self.unmet(totals, finished) {
            return Some((TestStatus::Failed, unmet));
        }
        let note = report.failing_others()?;
        let status = if totals.passed > 0 { TestStatus::Passed } else { TestStatus::NoTests };
        Some((status, note))
    }

    /// What else the project requires of a run, and the program says is not met although all tests passed: how
    /// much of the code has to run, tests without a risk.
    fn unmet(self, totals: TestTotals, finished: &FinishedRun<'_>) -> Option<String> {
        let signs: &[[&str; 2]] = match self {
            Self::Pytest => &[["Required test coverage of ", "not reached"]],
            Self::Jest => &[["coverage threshold for ", "not met"]],
            Self::Vitest | Self::Mocha | Self::Node => &[["overage", "does not meet"]],
            Self::Rspec => &[["overage", "below the expected minimum"]],
            Self::Phpunit => &[["OK, but ", "issues"], ["OK, but ", "risky"]],
            _ => return None,
        };
        let says =
            |line: &&str| signs.iter().any(|sign| sign.iter().all(|part| line.contains(part)));
        let said = format!("{}\n{}", finished.stdout, finished.stderr);
        let said = without_colours(&said);
        let line = ended(said.lines().rev().find(says)?.trim(), MESSAGE_BYTES_MAX);
        let passed = totals.passed;
        Some(format!(
            "no test failed, {passed} passed; the run failed by what else it requires: {line}"
        ))
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
            Self::Pytest => code == Some(5) || self.not_found(finished).is_some(),
            Self::Unittest => says("Ran 0 tests") || says("NO TESTS RAN"),
            Self::Jest => says("No tests found"),
            Self::Vitest => says("No test files found") || says("No test suite found"),
            Self::Mocha => says("No test files found") || report.problem.is_none(),
            Self::Nextest => says("no tests to run") || code == Some(4),
            Self::Ctest => says("No tests were found"),
            Self::Bun => {
                says("No tests found") || says("0 test files") || says("did not match any")
            }
            Self::Deno => says("No test modules found"),
            Self::Phpunit => says("No tests executed"),
            Self::Swift => code == Some(0) || says(unloaded::NO_TESTS_OF_SWIFT),
            Self::Maven | Self::Gradle | Self::Dotnet => code == Some(0),
            _ => report.problem.is_none() && code == Some(0),
        }
    }

    /// What pytest says of tests that were named and are not there: then it runs none of the others either.
    fn not_found(self, finished: &FinishedRun<'_>) -> Option<String> {
        let signs = ["ERROR: not found: ", "ERROR: file or directory not found: "];
        let is_sign = |line: &str| signs.iter().any(|sign| line.starts_with(sign));
        if self != Self::Pytest || finished.exit_code != Some(4) {
            return None;
        }
        let said = without_colours(finished.stderr);
        let lines = said.lines().map(str::trim_end);
        let said: Vec<&str> =
            lines.filter(|line| is_sign(line) || line.starts_with("(no match in ")).collect();
        let is_said = said.iter().any(|line| is_sign(line));
        is_said.then(|| shortened(&said.join("\n"), MESSAGE_BYTES_MAX))
    }

    fn where_others_may_be(self) -> Option<String> {
        let text = match self {
            Self::Unittest => "they may be tests of pytest: `framework` `pytest` runs those",
            Self::Cargo => "tests of a program without cargo's own harness are not counted",
            _ => return None,
        };
        Some(text.to_owned())
    }
}

// === impl TestReport ===

impl TestReport {
    /// What has to be known of failures that are none of what was chosen: the run fails by them.
    fn failing_others(&self) -> Option<String> {
        let first = self.failed_for_others.first()?;
        let more = match self.failed_for_others.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        Some(format!(
            "what runs before or after tests that were not chosen failed, too, and counts for none of those that were: \
             {first}{more}"
        ))
    }

    /// What has to be known of files that declare no test.
    fn without_tests(&self) -> Option<String> {
        let files = self.files_without_tests;
        (files > 0).then(|| {
            format!(
                "{files} files ended well and declare no test: they are not counted, although the framework \
                 calls them passed"
            )
        })
    }
}

// === impl TestTotals ===

impl TestTotals {
    fn bad(self) -> u64 {
        self.failed + self.errored
    }
}
