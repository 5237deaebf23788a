//! What the tool returns.

use moss_checks::{TestCoverage, TestFramework, TestResults, TestStatus};
use moss_sdk::command::{AlteredFile, CommandReport, LeftRunning, ReportedSandbox};
use moss_sdk::{ErrorCode, ToolError};
use schemars::JsonSchema;
use serde::Serialize;

use super::found::ChosenTests;
use super::projects::{self, ProjectTests};
use super::run::TestRun;

/// Most errors of a build that the failure of a call names.
const ERRORS_MAX: usize = 20;
/// Most processes that a result names.
const LEFT_MAX: usize = 20;

/// What came of the tests.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunTestsOutput {
    /// Whether they ran; false in a dry run.
    ran: bool,
    /// The framework that ran them or would run them; of several projects, that of the first.
    framework: TestFramework,
    /// The command that ran them; of several projects, theirs in as many lines.
    command: String,
    /// Each project and how its tests ended, where tests of several were chosen; all else is of all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    projects: Vec<ProjectTests>,
    /// The results; none in a dry run.
    #[serde(flatten)]
    results: Option<TestResults>,
    /// How long it took, in milliseconds.
    duration_ms: u64,
    /// The name of the whole output, where it is long: read_file reads it by that path.
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact: Option<String>,
    /// Processes that the tests left running. They were ended, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_running: Vec<LeftRunning>,
    /// How it was isolated.
    sandbox: ReportedSandbox,
    /// Files of the workspace that it created, modified or deleted, without those that ignore files name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<AlteredFile>,
    /// What else there is to say, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

// === impl RunTestsOutput ===

impl RunTestsOutput {
    /// What runs return together, or fail with. Where tests of one project failed, that is the result, and what keeps
    /// the others from showing theirs is noted.
    ///
    /// # Errors
    ///
    /// `NoTests`, `BuildFailed`, `Inconsistent`, `NotInstalled`, `Timeout`: nobody knows whether the tests
    /// pass.
    pub(super) fn of(mut runs: Vec<(ChosenTests, TestRun)>) -> Result<Self, ToolError> {
        if runs.len() == 1
            && let Some((_, run)) = runs.pop()
        {
            return match run.results.as_ref().and_then(|results| failure(&run, results)) {
                Some(error) => Err(error),
                None => Ok(Self::made(run, Vec::new())),
            };
        }
        let has = |status| {
            runs.iter().any(|(_, run)| run.results.as_ref().is_some_and(|one| one.status == status))
        };
        let (has_failed, has_passed) = (has(TestStatus::Failed), has(TestStatus::Passed));
        let mut problems = Vec::new();
        for (chosen, run) in &runs {
            let error = run.results.as_ref().and_then(|results| failure(run, results));
            let Some(mut error) = error else { continue };
            error.message = format!("{}: {}", chosen.name(), error.message);
            let is_passed_over = has_failed || (has_passed && error.code == ErrorCode::NoTests);
            if !is_passed_over {
                error.message.push_str(&format!("\nof all projects: {}", projects::ended(&runs)));
                return Err(error);
            }
            problems.push(error.message);
        }
        let Some((mut run, projects)) = projects::merged(runs) else {
            return Err(ToolError::new(ErrorCode::NoTests, "no project was chosen"));
        };
        run.notes.extend(problems);
        Ok(Self::made(run, projects))
    }

    /// Which lines ran, where that was measured.
    pub(super) fn coverage(&mut self) -> Option<&mut TestCoverage> {
        self.results.as_mut()?.coverage.as_mut()
    }

    fn made(run: TestRun, projects: Vec<ProjectTests>) -> Self {
        let TestRun { framework, command, report, results, passed: _, mut notes } = run;
        let CommandReport { ran, duration_ms, artifact, mut left_running, .. } = report;
        let CommandReport { sandbox, changed, notes: of_run, .. } = report;
        left_running.truncate(LEFT_MAX);
        notes.extend(of_run);
        Self {
            ran,
            framework,
            command,
            projects,
            results,
            duration_ms,
            artifact,
            left_running,
            sandbox,
            changed,
            notes,
        }
    }
}

/// The error of a run that does not show whether the tests pass.
fn failure(run: &TestRun, results: &TestResults) -> Option<ToolError> {
    let (code, what, next) = match results.status {
        TestStatus::Passed | TestStatus::Failed => return None,
        TestStatus::NoTests => (
            ErrorCode::NoTests,
            "no test ran",
            "widen `testPattern`, or name another `testFile`, `path` or `framework`",
        ),
        TestStatus::BuildFailed => (
            ErrorCode::BuildFailed,
            "the tests could not be built or loaded",
            "fix these errors, then run them again",
        ),
        TestStatus::Inconsistent => (
            ErrorCode::Inconsistent,
            "nobody knows whether the tests pass",
            "run the command with run_terminal_cmd and read what it writes",
        ),
        TestStatus::NotInstalled => (
            ErrorCode::NotInstalled,
            "the tests could not run",
            "a person has to see to it: moss installs nothing",
        ),
        // A timeout ends it with SIGTERM or SIGKILL.
        TestStatus::Interrupted if !matches!(run.report.signal, Some(9 | 15)) => (
            ErrorCode::Inconsistent,
            "a signal ended the framework itself",
            "run the command with run_terminal_cmd and read what it writes",
        ),
        TestStatus::Interrupted => (
            ErrorCode::Timeout,
            "the tests did not come to their end",
            "run fewer of them with `testFile` or `testPattern`",
        ),
    };
    let mut message = format!("{what} (`{}`)", run.command);
    for error in results.diagnostics.iter().take(ERRORS_MAX) {
        let code = error.code.as_ref().map_or_else(String::new, |code| format!("[{code}]"));
        let location = match error.location() {
            location if location.is_empty() => location,
            location => format!("{location}: "),
        };
        message.push_str(&format!("\n{location}error{code}: {}", error.message));
    }
    let more = results.diagnostics.len().saturating_sub(ERRORS_MAX);
    if more > 0 {
        message.push_str(&format!("\n{more} more errors"));
    }
    let artifact = run.report.artifact.as_ref().map(|path| format!("its whole output: {path}"));
    let said = results.note.iter().chain(&run.notes).chain(&run.report.notes).chain(&artifact);
    for said in said {
        message.push_str(&format!("\n{said}"));
    }
    Some(ToolError::new(code, message).hint(next))
}
