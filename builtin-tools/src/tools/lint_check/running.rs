//! Runs of linters: each one command, decided and shown like any other.

use std::collections::BTreeSet;

use moss_checks::{CheckDiagnostic, ColumnUnit, FinishedRun, LintResults, LintStatus, PlannedLint};
use moss_sdk::command::{AlteredFile, CheckReport, CheckRequest};
use moss_sdk::context::Context;
use moss_sdk::{ErrorCode, RelPath, ToolError};
use schemars::JsonSchema;
use serde::Serialize;

/// A linter, and how its run ended.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LinterReport {
    /// The name of the linter.
    name: String,
    /// How it ended. Only one that `ran` checked everything.
    pub(super) status: LintStatus,
    /// What says that the project uses it.
    reason: String,
    /// The command that ran it, as text for bash.
    pub(super) command: String,
    /// The directory in which it ran, relative to the workspace root.
    pub(super) directory: String,
    /// Its exit status; many end with another than 0 where they find something.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// How long it ran, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    /// How many findings it has in files of the workspace.
    pub(super) findings: u64,
    /// Whether it was compared with an earlier run of the session: then `new` and `resolved` count.
    pub(super) compared: bool,
    /// Why it could not check, or not everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// The name of its whole output, where it is long: read_file reads it by that path.
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact: Option<String>,
}

/// A run with what it found.
#[derive(Debug)]
pub(super) struct LinterRun {
    pub(super) report: LinterReport,
    pub(super) found: Vec<CheckDiagnostic>,
    /// The files that it surely parsed.
    pub(super) parsed: BTreeSet<String>,
    pub(super) unit: ColumnUnit,
    pub(super) left_out: u64,
    /// Whether it checked anything.
    pub(super) has_checked: bool,
    pub(super) changed: Vec<AlteredFile>,
    pub(super) notes: Vec<String>,
}

// === impl LinterRun ===

impl LinterRun {
    /// Runs a linter.
    ///
    /// # Errors
    ///
    /// What ends the call: nobody confirmed the command, the machine cannot isolate it, it was cancelled.
    /// Where policy or a person denies it, that is its status: others may run.
    pub(super) async fn of(cx: &Context, planned: PlannedLint) -> Result<Self, ToolError> {
        let directory = match planned.command.directory.as_str() {
            "" => RelPath::root(),
            path => RelPath::parse(path)?,
        };
        let request = CheckRequest { command: planned.command.command.clone(), directory };
        match cx.run_check(request).await {
            Ok(ended) if ended.command.ran => cx.compute(move || Self::ended(planned, ended)).await,
            Ok(ended) => {
                let message = ended.command.notes.join("\n");
                Ok(Self::not_run(planned, LintStatus::NotRun, Some(message)))
            }
            Err(error) if error.code == ErrorCode::Denied => {
                Ok(Self::not_run(planned, LintStatus::Denied, Some(error.message)))
            }
            Err(error) => Err(error),
        }
    }

    fn ended(planned: PlannedLint, ended: CheckReport) -> Self {
        let finished = FinishedRun {
            exit_code: ended.command.exit_code,
            signal: ended.command.signal,
            stdout: &ended.stdout,
            stderr: &ended.stderr,
            reports: &[],
            left_out: None,
            is_cut: ended.is_cut,
        };
        let results = planned.results(&finished, &ended.root);
        let LintResults { status, found, parsed, unit, outside, left_out, .. } = results;
        let LintResults { has_checked, note, message, hint, .. } = results;
        let mut notes = planned.notes.clone();
        notes.extend(note);
        if outside > 0 {
            notes.push(format!(
                "{outside} findings of {} are in files outside of the workspace and left out",
                planned.name
            ));
        }
        let command = ended.command;
        if status != LintStatus::Ran {
            notes.extend(command.notes.iter().map(|note| format!("{}: {note}", planned.name)));
        }
        let report = LinterReport {
            status,
            exit_code: command.exit_code,
            duration_ms: Some(command.duration_ms),
            findings: found.len() as u64 + left_out,
            message,
            hint,
            artifact: command.artifact,
            ..LinterReport::of(planned)
        };
        let changed = command.changed;
        Self { report, found, parsed, unit, left_out, has_checked, changed, notes }
    }

    fn not_run(planned: PlannedLint, status: LintStatus, message: Option<String>) -> Self {
        let message = message.filter(|message| !message.is_empty());
        let notes = planned.notes.clone();
        Self {
            report: LinterReport { status, message, ..LinterReport::of(planned) },
            found: Vec::new(),
            parsed: BTreeSet::new(),
            unit: ColumnUnit::Characters,
            left_out: 0,
            has_checked: false,
            changed: Vec::new(),
            notes,
        }
    }
}

// === impl LinterReport ===

impl LinterReport {
    fn of(planned: PlannedLint) -> Self {
        let PlannedLint { name, reason, command, .. } = planned;
        let directory = match command.directory.as_str() {
            "" => ".".to_owned(),
            _ => command.directory,
        };
        Self {
            name,
            status: LintStatus::NotRun,
            reason,
            command: command.command,
            directory,
            exit_code: None,
            duration_ms: None,
            findings: 0,
            compared: false,
            message: None,
            hint: None,
            artifact: None,
        }
    }
}
