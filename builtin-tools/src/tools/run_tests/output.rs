//! What the tool returns.

use moss_checks::{TestFramework, TestResults, TestStatus};
use moss_sdk::command::{AlteredFile, CommandReport, LeftRunning, ReportedSandbox};
use moss_sdk::{ErrorCode, ToolError};
use schemars::JsonSchema;
use serde::Serialize;

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
    /// The framework that ran them or would run them.
    framework: TestFramework,
    /// The command that ran them.
    command: String,
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
    /// What a run returns, or fails with.
    ///
    /// # Errors
    ///
    /// `NoTests`, `BuildFailed`, `Inconsistent`, `NotInstalled`, `Timeout`: nobody knows whether the tests
    /// pass.
    pub(super) fn new(run: TestRun) -> Result<Self, ToolError> {
        let failed = run.results.as_ref().and_then(|results| failure(&run, results));
        match failed {
            Some(error) => Err(error),
            None => Ok(Self::made(run)),
        }
    }

    fn made(run: TestRun) -> Self {
        let TestRun { framework, command, report, results, passed: _, mut notes } = run;
        let CommandReport { ran, duration_ms, artifact, mut left_running, .. } = report;
        let CommandReport { sandbox, changed, notes: of_run, .. } = report;
        left_running.truncate(LEFT_MAX);
        notes.extend(of_run);
        Self {
            ran,
            framework,
            command,
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
            "a person has to install it: moss installs nothing",
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
        message.push_str(&format!(
            "\n{}:{}:{}: error{code}: {}",
            error.path, error.line, error.column, error.message
        ));
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
