//! Undoing at the command line: of files and of the user's prompt alike.

use moss_dispatch::{Outcome, Reason};
use moss_proto::v1;

use super::confirming::{self, ConfirmAction, DecisionMode};
use super::error::CliError;
use super::prompt::{self, PersonsDecision};
use super::report::CallReport;
use super::ui::Ui;
use super::{Session, effect, text};
use crate::client::{Client, NeededTools, RequestFailure};

/// Most questions of one undo that are resolved.
const QUESTIONS_MAX: usize = 32;

/// What is undone, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Undoing {
    /// Its name in reports.
    pub(super) tool: &'static str,
    /// Whether it waits for a decision that is given elsewhere.
    pub(super) wait: bool,
    /// Whether it is only shown.
    pub(super) dry_run: bool,
}

/// What one request of it says.
#[derive(Debug, Clone)]
pub(super) struct UndoRequest {
    pub(super) confirm: v1::ConfirmMode,
    pub(super) approved_digests: Vec<String>,
    pub(super) dry_run: bool,
}

/// Undoes by the requests that `call` sends, and shows what came of it.
///
/// # Errors
///
/// Where it cannot be shown.
pub(super) async fn run(
    undoing: Undoing,
    session: &Session,
    call: impl AsyncFn(&Client, UndoRequest) -> Result<v1::CallResult, RequestFailure>,
) -> Result<Outcome, CliError> {
    let undone = session
        .with_client(NeededTools::Native, async |client| {
            let call = async |asking: UndoRequest| call(client, asking).await;
            Ok(undo(undoing, session, client.is_alone(), call).await)
        })
        .await;
    let report = undone.unwrap_or_else(|error| CallReport::of_error(undoing.tool, None, error));
    report.show(&session.ui)
}

/// Undoes: first without a decision; where one is needed, again with the digest that was approved,
/// for each question. Nothing is parked meanwhile, and the digests hold it to what was shown.
async fn undo(
    undoing: Undoing,
    session: &Session,
    is_alone: bool,
    call: impl AsyncFn(UndoRequest) -> Result<v1::CallResult, RequestFailure>,
) -> CallReport {
    let Undoing { tool, wait, dry_run } = undoing;
    let ui = &session.ui;
    let confirm = &session.global.confirm;
    let mode = confirming::decision_mode(confirm, wait, ui.interactive(), is_alone);
    let confirm_mode = match mode {
        DecisionMode::Elsewhere => v1::ConfirmMode::Wait,
        _ => v1::ConfirmMode::Refuse,
    };
    let approved_digests = confirming::approved_digests(confirm);
    let are_given = !approved_digests.is_empty();
    let mut asking = UndoRequest { confirm: confirm_mode, approved_digests, dry_run };
    loop {
        let failure = match call(asking.clone()).await {
            Ok(result) => return CallReport::of_result(result, dry_run),
            Err(failure) => failure,
        };
        let is_over = are_given || asking.approved_digests.len() == QUESTIONS_MAX;
        if !failure.is(Reason::ConfirmationRequired) || is_over {
            return CallReport::of_error(tool, None, failure.into());
        }
        let approved = match asked(tool, &call, &failure).await {
            Ok(confirmation) => decision(ui, mode, confirmation, failure).await,
            Err(failure) => Err(failure.into()),
        };
        match approved {
            Ok(digest) => asking.approved_digests.push(digest),
            Err(error) => return CallReport::of_error(tool, None, error),
        }
    }
}

/// Returns the effect that a refusal is about; a dry run shows it where the status had no room.
async fn asked(
    tool: &str,
    call: &impl AsyncFn(UndoRequest) -> Result<v1::CallResult, RequestFailure>,
    failure: &RequestFailure,
) -> Result<v1::Confirmation, RequestFailure> {
    if let Some(confirmation) = &failure.confirmation {
        return Ok((**confirmation).clone());
    }
    let (confirm, approved_digests) = (v1::ConfirmMode::Unspecified, Vec::new());
    let shown = call(UndoRequest { confirm, approved_digests, dry_run: true }).await?;
    let fact = |name: &str| failure.facts.get(name).cloned().unwrap_or_default();
    Ok(v1::Confirmation {
        tool: tool.to_owned(),
        changes: shown.changes,
        digest: shown.digest,
        rule: fact("rule"),
        protected: fact("protected") == "true",
        for_person: fact("for_person") == "true",
        drift: fact("drift") == "true",
        ..Default::default()
    })
}

/// Gets a decision: the digest that was approved, or why nobody decided.
async fn decision(
    ui: &Ui,
    mode: DecisionMode,
    confirmation: v1::Confirmation,
    failure: RequestFailure,
) -> Result<String, CliError> {
    let mut error = match confirming::reply(mode, &confirmation) {
        ConfirmAction::Approve => return Ok(confirmation.digest),
        ConfirmAction::Deny(reason) => denied(&reason),
        ConfirmAction::GiveUp(_) if mode == DecisionMode::Nobody => failure.into(),
        ConfirmAction::Wait => failure.into(),
        ConfirmAction::GiveUp(why) => CliError::unconfirmed(why, &confirmation),
        ConfirmAction::Ask => {
            ui.note(&effect::confirmation(ui.wording(), &confirmation));
            if effect::is_cut(&confirmation.changes) {
                return Err(too_long(&confirmation));
            }
            return match prompt::ask(ui, ui.wording().prompt.apply, &[]).await? {
                Some(PersonsDecision::Yes) => Ok(confirmation.digest),
                Some(PersonsDecision::No(reason)) => Err(denied(&reason)),
                Some(PersonsDecision::Standing(_)) | None => Err(CliError::new(
                    Outcome::Unconfirmed,
                    "confirmation_required",
                    "nobody decided; nothing was changed",
                )),
            };
        }
    };
    error.confirmation = Some(Box::new(confirmation));
    Err(error)
}

/// Why nobody is asked about what was not shown whole.
pub(super) fn too_long(confirmation: &v1::Confirmation) -> CliError {
    let message = "it is too long to show completely; nothing was changed";
    CliError::unconfirmed(message, confirmation).hint(format!(
        "look at the file, then approve it by its digest: `--confirm {}`",
        text::line(&confirmation.digest)
    ))
}

fn denied(reason: &str) -> CliError {
    let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    let message = format!("denied by a person{why}; nothing was changed");
    CliError::new(Outcome::Denied, "denied_by_person", message)
}
