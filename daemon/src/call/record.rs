//! What a call leaves in the journal. Records of effects are on disk before the caller hears of
//! them; the others follow a little later, in order.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use moss_sdk::edit::Matched;
use moss_sdk::{ContentHash, RelPath, ToolError};
use moss_workspace::UndoTarget;
use serde_json::json;

use super::CallScope;
use super::behalf::Behalf;
use super::held_records::{Noted, OnRecord};
use crate::state::WorkspaceState;
use crate::traces::EndedCall;
use moss_catalog::Runner;
use moss_dispatch::{
    CallError, Outcome, Role, Work,
    change::{self, ChangeStatus},
    operations::UNKNOWN_TOOL,
};
use moss_journal::folding::RefusedCall;
use moss_journal::redact::{RedactedArguments, RedactedText};
use moss_journal::{
    AskOutcome, AuditEvent, Durability, JournalError, PluginDigest, Record, RecordedChange,
};
use moss_policy::{Action, Decision, Verdict};
use moss_schema::Violation;

/// How long a call may run before its records are written whatever becomes of it.
pub(super) const HELD_MAX: Duration = Duration::from_millis(200);

/// What is recorded of a question that outlives its call. It holds nothing of the call, whose events end with that.
#[derive(Debug)]
pub(super) struct OutlivingQuestion {
    workspace: Arc<WorkspaceState>,
    call_id: String,
    tool: RedactedText,
    digest: ContentHash,
}

/// Records that a call came in, before anything else is done for it.
pub(super) async fn started(scope: &CallScope) -> Result<(), CallError> {
    let journal = &scope.workspace.journal;
    journal.accepts().map_err(|error| CallError::Internal(error.to_string()))?;
    scope.held.begin();
    note(scope, Noted::Started, Durability::Batched).await
}

/// What is written of a call that came in.
fn start(scope: &CallScope) -> AuditEvent {
    let call = &scope.call;
    let arguments = match &call.work {
        Work::Tool { arguments: Ok(arguments), .. } => RedactedArguments::of(arguments),
        Work::Tool { arguments: Err(unread), .. } => {
            RedactedArguments::unreadable(unread.text.as_bytes())
        }
        Work::Undo(target) => RedactedArguments::new(&match target {
            UndoTarget::Entry(number) => json!({ "number": number }),
            UndoTarget::Call(call_id) => json!({ "call_id": call_id }),
            UndoTarget::Since(number) => json!({ "since": number }),
        }),
        Work::UndoUserPrompt { number } => RedactedArguments::new(&json!({ "number": number })),
        Work::ChangePlugins(change) => RedactedArguments::new(&change.arguments()),
    };
    AuditEvent::CallStarted {
        caller: RedactedText::new(call.caller.name()),
        role: call.caller.role().as_str(),
        workspace: scope.workspace.name().to_owned(),
        session: call.session_id.as_deref().map(RedactedText::new),
        arguments,
        plugin: plugin(scope),
        catalog: Some(scope.catalog.digest().to_owned()),
        called_by: scope.behalf.as_ref().map(Behalf::recorded),
    }
}

/// Says which component a call runs, if it does.
fn plugin(scope: &CallScope) -> Option<PluginDigest> {
    let Work::Tool { name, .. } = &scope.call.work else { return None };
    match &scope.catalog.entry(name).ok()?.runner {
        Runner::Native(_) => None,
        Runner::Plugin(plugin) => Some(PluginDigest {
            name: plugin.name().to_owned(),
            digest: plugin.digest().to_string(),
        }),
    }
}

/// Records what the policy said of an effect; of an edit whose locations were searched for, also
/// how they were found.
pub(super) async fn decided(
    scope: &CallScope,
    action: Action,
    path: Option<&RelPath>,
    matched: Option<&Matched>,
    decision: &Decision,
) -> Result<(), CallError> {
    let event = AuditEvent::Decision {
        action,
        path: path.cloned(),
        host: None,
        match_level: matched.map(|matched| matched.level),
        drift_lines: matched.map(|matched| matched.drift.len() as u64).filter(|lines| *lines > 0),
        command: None,
        decision: decision.clone(),
    };
    write(scope, event, Durability::Batched).await
}

/// Records what was decided about requests to a host.
pub(super) async fn requested(
    scope: &CallScope,
    host: &str,
    decision: &Decision,
) -> Result<(), CallError> {
    let event = AuditEvent::Decision {
        action: Action::Network,
        path: None,
        host: Some(RedactedText::new(host)),
        match_level: None,
        drift_lines: None,
        command: None,
        decision: decision.clone(),
    };
    write(scope, event, Durability::Batched).await
}

/// Records what was decided about a command; of one that runs unasked, on disk before it does.
pub(super) async fn decided_command(
    scope: &CallScope,
    directory: &RelPath,
    command: &str,
    decision: &Decision,
) -> Result<(), CallError> {
    let event = AuditEvent::Decision {
        action: Action::Exec,
        path: Some(directory.clone()),
        host: None,
        match_level: None,
        drift_lines: None,
        command: Some(RedactedText::new(command)),
        decision: decision.clone(),
    };
    let runs = decision.verdict == Verdict::Allow && !scope.call.dry_run;
    let durability = if runs { Durability::Durable } else { Durability::Batched };
    write(scope, event, durability).await
}

/// Records that a command was left running.
pub(super) async fn job_started(scope: &CallScope, job: &str) -> Result<(), CallError> {
    write(scope, AuditEvent::JobStarted { job: job.to_owned() }, Durability::Batched).await
}

/// Records how a question ended.
pub(super) async fn confirmation_ended(
    scope: &CallScope,
    digest: ContentHash,
    decision: AskOutcome,
    reason: Option<&str>,
) -> Result<OnRecord, CallError> {
    scope.daemon.metrics.confirmation_ended(decision.as_str());
    write(scope, question_ended(digest, decision, reason), Durability::Durable).await?;
    release(scope).await
}

fn question_ended(digest: ContentHash, decision: AskOutcome, reason: Option<&str>) -> AuditEvent {
    let by_person = matches!(decision, AskOutcome::Approved | AskOutcome::Denied);
    AuditEvent::Confirmation {
        digest: digest.to_string(),
        decision,
        decided_by: by_person.then(|| RedactedText::new(Role::Approver.as_str())),
        reason: reason.map(RedactedText::new),
    }
}

/// Counts a call that ended, and reports it where that is wanted. A name that is in no catalog is
/// the caller's own text: it is left out.
pub(super) fn counted(
    scope: &CallScope,
    result: &Result<Result<String, ToolError>, CallError>,
    duration: Duration,
) {
    let tool = match &scope.call.work {
        Work::Tool { name, .. } if scope.catalog.entry(name).is_err() => UNKNOWN_TOOL,
        _ => scope.call.tool(),
    };
    let outcome = outcome(result);
    scope.daemon.metrics.call_ended(tool, outcome, duration);
    if let Some(traces) = &scope.daemon.traces {
        let parent = scope.call.parent.as_ref();
        let call_id = &scope.call_id;
        traces.call_ended(&EndedCall { call_id, tool, outcome, duration, parent });
    }
}

/// Records that a standing approval allowed an effect.
pub(super) async fn approval_used(scope: &CallScope, approval: String) -> Result<(), CallError> {
    write(scope, AuditEvent::ApprovalUsed { approval }, Durability::Batched).await
}

/// Records what was written and how the call ended.
pub(super) async fn finished(
    scope: &CallScope,
    result: &Result<Result<String, ToolError>, CallError>,
    changes: &[change::FileChange],
    history: Option<u64>,
    duration: Duration,
) -> Result<(), CallError> {
    let committed: Vec<_> = changes
        .iter()
        .filter(|change| change.status == ChangeStatus::Committed)
        .map(|change| RecordedChange {
            path: change.path.clone(),
            before: change.before,
            after: change.after,
        })
        .collect();
    let has_effect = !committed.is_empty();
    if has_effect {
        scope.daemon.metrics.committed();
        let event = AuditEvent::Committed { history, changes: committed };
        write(scope, event, Durability::Batched).await?;
    }
    if !has_effect && came_to_nothing(result) && fold(scope, outcome(result)).await? {
        return Ok(());
    }
    let (outcome, error_code, message) = ending(result);
    let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    let event = AuditEvent::CallFinished { outcome, error_code, message, duration_us };
    // A durable record brings everything before it to disk as well.
    let durability = if has_effect { Durability::Durable } else { Durability::Batched };
    release(scope).await?;
    write(scope, event, durability).await
}

/// Whether a call was refused or failed. What a person said and what is a defect is recorded.
fn came_to_nothing(result: &Result<Result<String, ToolError>, CallError>) -> bool {
    match result {
        Ok(result) => result.is_err(),
        Err(CallError::Denied { rule, .. }) => rule.is_some(),
        Err(
            CallError::UnknownWorkspace(_)
            | CallError::UnknownTool(_)
            | CallError::Invalid(_)
            | CallError::Unconfirmed(_)
            | CallError::QueueFull(_)
            | CallError::TooMuch(_)
            | CallError::TooManyConfirmations(_)
            | CallError::Timeout { .. }
            | CallError::Cancelled,
        ) => true,
        Err(CallError::Internal(_)) => false,
    }
}

/// Counts a call among others in place of recording it, where its caller has too many. What a person calls is
/// recorded, and what had an effect.
async fn fold(scope: &CallScope, outcome: &'static str) -> Result<bool, CallError> {
    let (call, call_id) = (&scope.call, &scope.call_id);
    if call.is_attended || !scope.held.is_without_effect() {
        return Ok(false);
    }
    let refused = RefusedCall { caller: call.caller.name(), tool: call.tool(), outcome, call_id };
    let mut due = Vec::new();
    let is_folded = scope.workspace.folding.fold(refused, Instant::now(), &mut due);
    for record in due {
        journaled(scope, Timestamp::now(), Box::new(record), Durability::Batched).await?;
    }
    if is_folded {
        scope.held.clear();
    }
    Ok(is_folded)
}

/// Writes what was held of a call: from now on its records are written as they come. Where that fails, or is cancelled,
/// the rest stays held, and the call is not on record.
pub(super) async fn release(scope: &CallScope) -> Result<OnRecord, CallError> {
    let _turn = scope.held.releasing.lock().await;
    while let Some((time, noted)) = scope.held.first() {
        journaled(scope, time, record_of(scope, noted), Durability::Batched).await?;
        scope.held.drop_first();
    }
    Ok(scope.held.released().expect("all that was held is written, and nothing is held again"))
}

fn outcome(result: &Result<Result<String, ToolError>, CallError>) -> &'static str {
    match result {
        Ok(Ok(_)) => Outcome::Ok,
        Ok(Err(_)) => Outcome::Failed,
        Err(error) => error.reason().outcome(),
    }
    .as_str()
}

/// Returns outcome, error code and message. What a failed tool says may show parts of files: its
/// code is kept and its message is not.
fn ending(
    result: &Result<Result<String, ToolError>, CallError>,
) -> (&'static str, Option<String>, Option<RedactedText>) {
    let outcome = outcome(result);
    match result {
        Ok(Ok(_)) => (outcome, None, None),
        Ok(Err(error)) => (outcome, Some(error.code.to_string()), None),
        Err(error) => (outcome, Some(outcome.to_owned()), Some(message(error))),
    }
}

/// The arguments stand, masked, in the record of the start; an error must not repeat them.
fn message(error: &CallError) -> RedactedText {
    match error {
        CallError::Invalid(violations) => {
            let wanted = |v: &Violation| format!("{}: expected {}", v.pointer, v.expected);
            RedactedText::new(&violations.iter().map(wanted).collect::<Vec<_>>().join("; "))
        }
        other => RedactedText::new(other.to_string().lines().next().unwrap_or_default()),
    }
}

/// A call that cannot leave its trace is not carried on. The event is boxed before there is a future, which would have
/// room for it, and so would each that waits for it.
fn write(
    scope: &CallScope,
    event: AuditEvent,
    durability: Durability,
) -> impl Future<Output = Result<(), CallError>> {
    note(scope, Noted::Event(Box::new(event)), durability)
}

async fn note(scope: &CallScope, noted: Noted, durability: Durability) -> Result<(), CallError> {
    let time = Timestamp::now();
    if durability == Durability::Durable {
        release(scope).await?;
    }
    match scope.held.hold(time, noted) {
        None => Ok(()),
        Some(noted) => journaled(scope, time, record_of(scope, noted), durability).await,
    }
}

fn record_of(scope: &CallScope, noted: Noted) -> Box<Record> {
    let event = match noted {
        Noted::Started => start(scope),
        Noted::Event(event) => *event,
    };
    let (call_id, tool) = (scope.call_id.clone(), RedactedText::new(scope.call.tool()));
    Box::new(Record { call_id, tool, event })
}

async fn journaled(
    scope: &CallScope,
    time: Timestamp,
    record: Box<Record>,
    durability: Durability,
) -> Result<(), CallError> {
    let journal = &scope.workspace.journal;
    journal.record_of(time, record, durability).await.map_err(|error| match error {
        // Who comes while the daemon stops finds the journal closed.
        JournalError::Closed if scope.daemon.draining.is_cancelled() => CallError::Cancelled,
        error => CallError::Internal(error.to_string()),
    })
}

// === impl OutlivingQuestion ===

impl OutlivingQuestion {
    /// That of a call which leaves it open.
    pub(super) fn of(scope: &CallScope, digest: ContentHash) -> Self {
        Self {
            workspace: Arc::clone(&scope.workspace),
            call_id: scope.call_id.clone(),
            tool: RedactedText::new(scope.call.tool()),
            digest,
        }
    }

    /// Records how it ended, whether or not anybody comes back to hear of it.
    pub(super) async fn ended(self, decision: AskOutcome, reason: Option<&str>) {
        let event = question_ended(self.digest, decision, reason);
        let record = Record { call_id: self.call_id, tool: self.tool, event };
        if let Err(error) = self.workspace.journal.record(record, Durability::Durable).await {
            tracing::error!(%error, "how a question ended is not recorded");
        }
    }
}

#[cfg(test)]
mod tests {
    use moss_sdk::ErrorCode;

    use super::*;

    fn written(result: &Result<Result<String, ToolError>, CallError>) -> String {
        let (outcome, error_code, message) = ending(result);
        let event = AuditEvent::CallFinished { outcome, error_code, message, duration_us: 1 };
        serde_json::to_string(&event).unwrap()
    }

    #[test]
    fn what_a_tool_says_is_not_recorded() {
        let error = ToolError::new(ErrorCode::NoMatch, "line 3 is `canary`\ncanary").hint("canary");
        for result in [Ok(Ok("canary".to_owned())), Ok(Err(error))] {
            let text = written(&result);
            assert!(!text.contains("canary") && !text.contains("message"), "{text}");
        }
    }

    #[test]
    fn a_violation_is_recorded_without_what_came() {
        let violation = Violation {
            pointer: "/edits/0/newText".to_owned(),
            expected: "an array".to_owned(),
            got: "string \"canary\"".to_owned(),
            suggestion: Some("canary".to_owned()),
        };
        let text = written(&Err(CallError::Invalid(vec![violation])));
        assert!(text.contains("/edits/0/newText: expected an array"), "{text}");
        assert!(!text.contains("canary"), "{text}");
    }

    #[test]
    fn other_errors_are_recorded_masked() {
        let secret = format!("ghp_{}", "Ab3dEf6hIj9k".repeat(3));
        let text = written(&Err(CallError::Internal(format!("no {secret} here\ncanary"))));
        assert!(text.contains("no [redacted] here"), "{text}");
        assert!(!text.contains("canary"), "{text}");
    }
}
