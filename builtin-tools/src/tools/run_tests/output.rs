//! What the tool returns.

use moss_checks::{TestFramework, TestResults, TestStatus};
use moss_sdk::command::{AlteredFile, CommandReport, ReportedSandbox};
use moss_sdk::{ErrorCode, ToolError};
use schemars::JsonSchema;
use serde::Serialize;

/// Most errors of a build that the failure of a call names.
const ERRORS_MAX: usize = 20;

/// What came of the tests.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunTestsOutput {
    /// Whether they ran; false in a dry run.
    ran: bool,
    /// Who ran them.
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
    /// What a dry run returns.
    pub(super) fn not_run(
        framework: TestFramework,
        command: String,
        report: CommandReport,
        notes: Vec<String>,
    ) -> Self {
        Self::made(framework, command, None, report, notes)
    }

    /// What a run returns, or fails with.
    ///
    /// # Errors
    ///
    /// `NoTests`, `BuildFailed`, `Inconsistent`, `NotInstalled`, `Timeout`: nobody knows whether the tests
    /// pass.
    pub(super) fn new(
        framework: TestFramework,
        command: String,
        results: TestResults,
        report: CommandReport,
        notes: Vec<String>,
    ) -> Result<Self, ToolError> {
        let (code, what, next) = match results.status {
            TestStatus::Passed | TestStatus::Failed => {
                return Ok(Self::made(framework, command, Some(results), report, notes));
            }
            TestStatus::NoTests => (
                ErrorCode::NoTests,
                "no test ran",
                "widen `testPattern`, or name another `testFile`",
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
            TestStatus::Interrupted => (
                ErrorCode::Timeout,
                "the tests did not come to their end",
                "run fewer of them with `testFile` or `testPattern`",
            ),
        };
        let mut message = format!("{what} (`{command}`)");
        for error in results.diagnostics.iter().take(ERRORS_MAX) {
            let code = error.code.as_ref().map_or_else(String::new, |code| format!("[{code}]"));
            message.push_str(&format!(
                "\n{}:{}:{}: error{code}: {}",
                error.path, error.line, error.column, error.message
            ));
        }
        for said in results.note.iter().chain(&report.notes) {
            message.push_str(&format!("\n{said}"));
        }
        Err(ToolError::new(code, message).hint(next))
    }

    fn made(
        framework: TestFramework,
        command: String,
        results: Option<TestResults>,
        report: CommandReport,
        mut notes: Vec<String>,
    ) -> Self {
        let CommandReport { ran, duration_ms, artifact, sandbox, changed, notes: of_run, .. } =
            report;
        notes.extend(of_run);
        Self { ran, framework, command, results, duration_ms, artifact, sandbox, changed, notes }
    }
}
