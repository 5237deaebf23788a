//! What ends a command before its time, and how the process reports it.

use std::io;
use std::process::ExitCode;

use crate::client::{OpenError, RequestFailure};
use moss_daemon::start::StartError;
use moss_dispatch::{Outcome, outcome_of};
use moss_proto::v1;
use moss_schema::Violation;
use serde::Serialize;
use serde_json::json;

use super::next_step::next_step;
use super::ui::{Ui, bold, red};
use super::{misnamed, text};

/// An error as programs see it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ErrorView {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) hint: Option<String>,
    pub(super) violations: Vec<Violation>,
}

/// What ends a command before its time.
#[derive(Debug)]
pub(super) struct CliError {
    pub(super) outcome: Outcome,
    pub(super) error: ErrorView,
    /// The effect that waits for a decision.
    pub(super) confirmation: Option<Box<v1::Confirmation>>,
    /// Whether nobody reads standard output any more: nothing to report.
    is_broken_pipe: bool,
}

/// Reports what clap found, as text or as JSON.
pub(super) fn usage(mut error: clap::Error, json: bool) -> ExitCode {
    use clap::error::ErrorKind;
    let hint = misnamed::correct(&mut error);
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if json && !is_help {
        let plain = error.to_string();
        let message = plain.trim().trim_start_matches("error: ");
        let ui = Ui::new(true);
        let mut invalid = CliError::invalid(message);
        invalid.error.hint = hint.map(ToOwned::to_owned);
        return finish(&ui, Err(invalid));
    }
    // No stream is left to report this on.
    let _ = error.print();
    ExitCode::from(if is_help { Outcome::Ok } else { Outcome::Invalid }.exit_code())
}

/// Ends a command: prints its error, if any, and returns its exit code.
pub(super) fn finish(ui: &Ui, result: Result<Outcome, CliError>) -> ExitCode {
    let outcome = match result {
        Ok(outcome) => outcome,
        Err(error) if error.is_broken_pipe => Outcome::Ok,
        Err(error) => {
            error.print(ui);
            error.outcome
        }
    };
    ExitCode::from(outcome.exit_code())
}

/// Prints an error for people: what is wrong, and one hint.
pub(super) fn print(ui: &Ui, error: &ErrorView) {
    ui.note(&format!("{} {}", red("error:"), text::indented(heading(error))));
    for violation in &error.violations {
        ui.note(&format!("  {}", text::line(&violation.to_string())));
    }
    match (&error.hint, next_step(&error.code)) {
        // It knows more of the case than the code says.
        (Some(hint), _) => ui.note(&format!("{} {}", bold("hint:"), text::indented(hint))),
        (None, Some(next)) => ui.note(&format!("{} {next}", bold("hint:"))),
        (None, None) => {}
    }
}

/// The message; without the violations that it repeats, where they are shown one by one.
fn heading(error: &ErrorView) -> &str {
    let Some(first) = error.violations.first() else { return &error.message };
    let end = error.message.find(&first.to_string()).unwrap_or(error.message.len());
    error.message[..end].trim_end()
}

fn violation(wire: v1::Violation) -> Violation {
    Violation {
        pointer: wire.pointer,
        expected: wire.expected,
        got: wire.got,
        suggestion: Some(wire.suggestion).filter(|text| !text.is_empty()),
    }
}

// === impl CliError ===

impl CliError {
    pub(super) fn new(outcome: Outcome, code: &str, message: impl Into<String>) -> Self {
        Self {
            outcome,
            error: ErrorView {
                code: code.to_owned(),
                message: message.into(),
                hint: None,
                violations: Vec::new(),
            },
            confirmation: None,
            is_broken_pipe: false,
        }
    }

    /// Makes an error of arguments that make no sense.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Outcome::Invalid, "usage", message)
    }

    /// Adds what to do about it.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.error.hint = Some(hint.into());
        self
    }

    pub(super) fn cancelled() -> Self {
        Self::new(Outcome::Cancelled, "cancelled", "cancelled")
    }

    /// Makes the error of an effect that was shown and not confirmed.
    pub(super) fn unconfirmed(message: impl Into<String>, confirmation: &v1::Confirmation) -> Self {
        let mut error = Self::new(Outcome::Unconfirmed, "confirmation_required", message);
        error.confirmation = Some(Box::new(confirmation.clone()));
        error
    }

    fn print(&self, ui: &Ui) {
        if ui.json() {
            // An error of writing cannot be reported.
            let _ = ui.print_json(&json!({ "outcome": self.outcome, "error": self.error }));
        } else {
            print(ui, &self.error);
        }
    }
}

impl From<RequestFailure> for CliError {
    fn from(failure: RequestFailure) -> Self {
        let code = failure.code();
        let mut error = Self::new(outcome_of(&code), &code, failure.message);
        error.error.violations = failure.violations.into_iter().map(violation).collect();
        error.confirmation = failure.confirmation;
        error
    }
}

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Failure(failure) => failure.into(),
            OpenError::Start(error) => error.into(),
        }
    }
}

impl From<StartError> for CliError {
    fn from(error: StartError) -> Self {
        let (outcome, code) = match &error {
            StartError::Config(_) => (Outcome::Invalid, "config_invalid"),
            StartError::AdminPolicy(_) => (Outcome::Invalid, "admin_policy_invalid"),
            StartError::Workspace(_) => (Outcome::Failed, "workspace_unusable"),
            StartError::Journal(_) => (Outcome::Failed, "state_unusable"),
            StartError::Traces(_) => (Outcome::Invalid, "usage"),
            StartError::NoPluginList(_) => (Outcome::Invalid, "plugin_list_missing"),
            StartError::Catalog(_) => (Outcome::Failed, "internal"),
        };
        let cli_error = Self::new(outcome, code, error.to_string());
        match &error {
            StartError::Workspace(error @ moss_workspace::Error::History { .. }) => {
                error.hint().into_iter().fold(cli_error, Self::hint)
            }
            _ => cli_error,
        }
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        let mut cli_error = Self::new(Outcome::Failed, "io", error.to_string());
        cli_error.is_broken_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        cli_error
    }
}
