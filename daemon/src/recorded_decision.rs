//! Keeping approvals and revoking them, each with its record in the journal: an approval that
//! leaves no trace is not kept.

use std::sync::Arc;

use jiff::Timestamp;

use crate::approvals::{ApprovalsError, ListedApproval};
use crate::confirm::SettledConfirmation;
use crate::state::{Daemon, WorkspaceState};
use moss_dispatch::{
    ApprovalScope, Confirmation, Offer, Question, UnknownWorkspace,
    blocking::{Broken, blocking},
};
use moss_journal::redact::RedactedText;
use moss_journal::{AuditEvent, Durability, JournalError, Record};
use moss_policy::standing::StandingApproval;

/// What became of an approval.
#[derive(Debug)]
pub struct RecordedDecision {
    /// The question, with the state that the decision gave it.
    pub confirmation: Arc<Confirmation>,
    /// What is remembered; none for an approval that holds once. Otherwise why it holds only once.
    pub remembered: Option<Result<ListedApproval, KeepError>>,
}

/// Why an approval is not kept, or not revoked.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// It cannot be stored, or does not exist.
    #[error(transparent)]
    Approvals(#[from] ApprovalsError),
    /// It cannot be recorded.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The workspace is not served any more.
    #[error(transparent)]
    Workspace(#[from] UnknownWorkspace),
    /// A defect of moss.
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// Keeps what is to be remembered of an approval, then notifies the caller who waits for it: the
/// next call is not asked again. An approval that cannot be kept applies once.
pub async fn settle(daemon: &Arc<Daemon>, taken: SettledConfirmation) -> RecordedDecision {
    let remembered = match taken.remember.clone() {
        None => None,
        Some(offer) => Some(keep(daemon, &taken.confirmation.question, offer).await),
    };
    if let Some(Err(error)) = &remembered {
        tracing::warn!(%error, "an approval applies only once: it cannot be stored");
    }
    RecordedDecision { confirmation: taken.deliver(), remembered }
}

async fn keep(
    daemon: &Daemon,
    question: &Question,
    offer: Offer,
) -> Result<ListedApproval, KeepError> {
    let workspace = daemon.workspace(&question.workspace)?;
    let session = match &offer.scope {
        ApprovalScope::Session(key) => Some(key.session_id.clone()),
        ApprovalScope::Always => None,
    };
    let (scope, terms) = (offer.scope.as_str(), RedactedText::new(&offer.terms));
    let keeper = Arc::clone(&workspace);
    let remember = move || keeper.answers.remember(&offer, Timestamp::now());
    let answer = blocking(remember).await??;
    let event = AuditEvent::ApprovalStored {
        approval: answer.id.clone(),
        scope,
        session: session.as_deref().map(RedactedText::new),
        terms,
    };
    if let Err(error) = write(&workspace, &question.call_id, &answer, event).await {
        let id = answer.id.clone();
        let forget = move || workspace.answers.revoke(&id, Timestamp::now());
        blocking(forget).await??;
        return Err(error.into());
    }
    let ends_at = answer.expires_at;
    Ok(ListedApproval { answer, session, ends_at })
}

/// Revokes an approval, at once.
///
/// # Errors
///
/// Where there is no such approval, or it cannot be revoked. An approval that is revoked and
/// cannot be recorded is revoked.
pub async fn revoke(
    workspace: &Arc<WorkspaceState>,
    id: String,
) -> Result<ListedApproval, KeepError> {
    let keeper = Arc::clone(workspace);
    let revoke = move || keeper.answers.revoke(&id, Timestamp::now());
    let listed = blocking(revoke).await??;
    let event = AuditEvent::ApprovalRevoked { approval: listed.answer.id.clone() };
    write(workspace, "", &listed.answer, event).await?;
    Ok(listed)
}

async fn write(
    workspace: &WorkspaceState,
    call_id: &str,
    answer: &StandingApproval,
    event: AuditEvent,
) -> Result<(), JournalError> {
    let tool = answer.permissions.first().map(|permission| permission.tool.as_str());
    let tool = RedactedText::new(tool.unwrap_or_default());
    let record = Record { call_id: call_id.to_owned(), tool, event };
    workspace.journal.record(record, Durability::Durable).await
}
