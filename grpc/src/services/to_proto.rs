//! Our types to wire types.

use jiff::Timestamp;
use moss_proto::v1;
use moss_sdk::edit::Drift;
use moss_sdk::spec::{Annotations, Effect};
use moss_sdk::{ContentHash, ToolError};
use moss_workspace::{FileAction, UndoConflict};

use super::{consent, content};
use moss_catalog::{Catalog, CatalogChanges, CatalogEntry, Language, ListedSchema};
use moss_daemon::approvals::ListedApproval;
use moss_dispatch::{
    ApprovalScope, CallOutcome, Confirmation, Event, Offer,
    change::{ChangeDiagnostic, ChangeStatus, FileChange},
    command::{AskedCommand, CommandQuestion},
    confirmation::ConfirmationState,
    embedding::EmbeddingQuestion,
};
use moss_journal::audit::uses::ApprovalUses;
use moss_schema::Violation;

pub(super) fn tool(entry: &CatalogEntry, schema: ListedSchema, language: Language) -> v1::Tool {
    let text = entry.listed_text(schema, language);
    v1::Tool {
        name: entry.spec.name.clone(),
        title: text.title.clone(),
        description: text.description.clone(),
        effect: effect(entry.spec.effect).into(),
        toolset: entry.spec.toolset.as_str().to_owned(),
        plugin: entry.plugin().unwrap_or_default().to_owned(),
        parameters_json: entry.parameters(schema, language).to_string(),
        output_json: entry.spec.output.to_string(),
        aliases: entry
            .spec
            .aliases
            .iter()
            .map(|(parameter, aliases)| v1::ParameterAliases {
                parameter: parameter.clone(),
                aliases: aliases.clone(),
            })
            .collect(),
        annotations: Some(annotations(entry.spec.annotations)),
    }
}

fn annotations(annotations: Annotations) -> v1::ToolAnnotations {
    let Annotations { destructive, idempotent, open_world } = annotations;
    v1::ToolAnnotations { destructive, idempotent, open_world }
}

pub(super) fn catalog_changes(
    catalog: &Catalog,
    changes: CatalogChanges,
) -> v1::WatchToolsResponse {
    let CatalogChanges { added, removed, changed } = changes;
    let catalog_digest = catalog.digest().to_owned();
    v1::WatchToolsResponse { catalog_digest, added, removed, changed }
}

pub(super) fn outcome(outcome: CallOutcome) -> v1::CallResult {
    let (kind, output_json, error) = match outcome.result {
        Ok(output) => (v1::Outcome::Ok, output, None),
        Err(error) => (v1::Outcome::Failed, String::new(), Some(tool_error(error))),
    };
    v1::CallResult {
        call_id: outcome.call_id,
        tool: outcome.tool,
        outcome: kind.into(),
        output_json,
        error,
        changes: outcome.changes.iter().map(change).collect(),
        digest: optional_hash(outcome.digest),
        duration: prost_types::Duration::try_from(outcome.duration).ok(),
        history: outcome.history.unwrap_or_default(),
        conflicts: outcome.conflicts.iter().map(undo_conflict).collect(),
        plugins_changed: outcome.plugins.as_deref().map(consent::plugins_changed),
        content: outcome.content.into_iter().map(content::to_proto).collect(),
    }
}

fn undo_conflict(conflict: &UndoConflict) -> v1::UndoConflict {
    let lines = conflict
        .lines
        .iter()
        .map(|lines| v1::ConflictLines { first: lines.start as u64 + 1, last: lines.end as u64 });
    let later = conflict.later.as_ref().map(|later| v1::LaterChange {
        number: later.number,
        tool: later.origin.tool.clone(),
        committed_at: Some(later.at.into()),
        call_id: later.origin.call_id.clone(),
        caller: later.origin.caller.clone(),
    });
    v1::UndoConflict {
        number: conflict.number,
        path: conflict.path.to_string(),
        what: conflict.what.clone(),
        lines: lines.collect(),
        later,
    }
}

pub(super) fn event(event: Event) -> v1::stream_call_tool_response::Event {
    use v1::stream_call_tool_response::Event as Wire;
    match event {
        Event::Started { call_id } => Wire::Started(v1::CallStarted { call_id }),
        Event::Progress(progress) => Wire::Progress(v1::CallProgress {
            message: progress.message,
            done: progress.done,
            total: progress.total,
        }),
        Event::Output { stream, text, .. } => {
            Wire::Output(v1::CallOutput { stream: stream.to_owned(), text })
        }
        Event::ConfirmationNeeded(needed) => Wire::ConfirmationNeeded(confirmation(&needed)),
    }
}

pub(super) fn confirmation(confirmation: &Confirmation) -> v1::Confirmation {
    let question = &confirmation.question;
    let reason = match &confirmation.state {
        ConfirmationState::Denied(reason) => reason.clone(),
        _ => String::new(),
    };
    v1::Confirmation {
        id: confirmation.id.clone(),
        call_id: question.call_id.clone(),
        workspace: question.workspace.clone(),
        tool: question.tool.clone(),
        plugin: question.plugin.clone().unwrap_or_default(),
        caller: question.caller.clone(),
        changes: question.changes.iter().map(change).collect(),
        arguments_json: question.arguments.clone().unwrap_or_default(),
        digest: question.digest.to_string(),
        rule: question.rule.clone(),
        protected: question.protected,
        for_person: question.for_person,
        drift: question.drift,
        registers: question.consent.is_some(),
        consent: question.consent.as_deref().map(consent::to_proto),
        command: question.command.as_deref().map(command),
        embedding: question.embedding.as_deref().map(embedding),
        truncated: question.is_cut(),
        created_at: Some(timestamp(confirmation.created_at)),
        expires_at: Some(timestamp(confirmation.expires_at)),
        state: state(&confirmation.state).into(),
        reason,
        offers: question.offers.iter().map(offer).collect(),
    }
}

fn command(command: &CommandQuestion) -> v1::CommandQuestion {
    let part = |part: &AskedCommand| v1::AskedCommand {
        text: part.text.clone(),
        via: part.via.clone(),
        asks: part.asks,
        rule: part.rule.clone(),
        writes: part.writes.clone(),
    };
    v1::CommandQuestion {
        command: command.command.clone(),
        directory: command.directory.clone(),
        profile: command.profile.clone(),
        network: command.network,
        environment: command.environment.clone(),
        sockets: command.sockets.clone(),
        tier: command.tier.clone(),
        parts: command.parts.iter().map(part).collect(),
        background: command.is_background,
        input: command.is_input,
        optional: command.is_optional,
    }
}

fn embedding(asked: &EmbeddingQuestion) -> v1::EmbeddingQuestion {
    v1::EmbeddingQuestion {
        url: asked.url.clone(),
        model: asked.model.clone(),
        this_machine: asked.is_this_machine,
    }
}

fn offer(offer: &Offer) -> v1::OfferedApproval {
    let scope = match offer.scope {
        ApprovalScope::Session(_) => v1::ApprovalScope::Session,
        ApprovalScope::Always => v1::ApprovalScope::Always,
    };
    v1::OfferedApproval {
        scope: scope.into(),
        rule_toml: offer.terms.clone(),
        expires_at: Some(timestamp(offer.expires_at)),
        digest: offer.digest.to_string(),
    }
}

pub(super) fn standing_approval(
    listed: &ListedApproval,
    uses: ApprovalUses,
) -> v1::StandingApproval {
    let answer = &listed.answer;
    let scope = match listed.session {
        Some(_) => v1::ApprovalScope::Session,
        None => v1::ApprovalScope::Always,
    };
    v1::StandingApproval {
        id: answer.id.clone(),
        scope: scope.into(),
        session_id: listed.session.clone().unwrap_or_default(),
        rule_toml: answer.terms(),
        approved_at: Some(timestamp(answer.approved_at)),
        expires_at: Some(timestamp(listed.ends_at)),
        uses: uses.count,
        last_used_at: uses.last_at.map(timestamp),
    }
}

pub(super) fn change(change: &FileChange) -> v1::FileChange {
    v1::FileChange {
        path: change.path.to_string(),
        real_path: change.real.as_ref().map(ToString::to_string).unwrap_or_default(),
        action: action(change.action).into(),
        status: status(change.status).into(),
        diff: change.diff.clone(),
        diff_omitted_bytes: change.diff_omitted,
        lines_added: change.lines_added,
        lines_removed: change.lines_removed,
        hash_before: optional_hash(change.before),
        hash_after: optional_hash(change.after),
        unsaved: change.unsaved,
        match_level: change.match_level.map(|level| level.to_string()).unwrap_or_default(),
        drift: change.drift.iter().map(drift).collect(),
        drift_omitted: change.drift_omitted,
        diagnostics: change.diagnostics.iter().map(diagnostic).collect(),
        unchecked: change.unchecked.clone(),
    }
}

fn diagnostic(found: &ChangeDiagnostic) -> v1::ChangeDiagnostic {
    let ChangeDiagnostic { line, column, message, source, severity, code } = found.clone();
    let (severity, code) = (severity.to_owned(), code.unwrap_or_default());
    v1::ChangeDiagnostic { line, column, message, source, severity, code }
}

fn drift(drift: &Drift) -> v1::Drift {
    let Drift { line, expected, found } = drift.clone();
    v1::Drift { line, expected, found }
}

pub(super) fn violation(violation: &Violation) -> v1::Violation {
    v1::Violation {
        pointer: violation.pointer.clone(),
        expected: violation.expected.clone(),
        got: violation.got.clone(),
        suggestion: violation.suggestion.clone().unwrap_or_default(),
    }
}

pub(super) fn action(action: FileAction) -> v1::ChangeAction {
    match action {
        FileAction::Create => v1::ChangeAction::Create,
        FileAction::Modify => v1::ChangeAction::Modify,
        FileAction::Delete => v1::ChangeAction::Delete,
    }
}

pub(super) fn timestamp(timestamp: Timestamp) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds: timestamp.as_second(), nanos: timestamp.subsec_nanosecond() }
}

pub(super) fn optional_hash(hash: Option<ContentHash>) -> String {
    hash.map(|hash| hash.to_string()).unwrap_or_default()
}

fn effect(effect: Effect) -> v1::Effect {
    match effect {
        Effect::Read => v1::Effect::Read,
        Effect::Write => v1::Effect::Write,
        Effect::Exec => v1::Effect::Exec,
    }
}

fn tool_error(error: ToolError) -> v1::ToolError {
    v1::ToolError {
        code: error.code.to_string(),
        message: error.message,
        hint: error.hint.unwrap_or_default(),
    }
}

fn state(state: &ConfirmationState) -> v1::ConfirmationState {
    match state {
        ConfirmationState::Pending => v1::ConfirmationState::Pending,
        ConfirmationState::Approved => v1::ConfirmationState::Approved,
        ConfirmationState::Denied(_) => v1::ConfirmationState::Denied,
        ConfirmationState::Expired => v1::ConfirmationState::Expired,
        ConfirmationState::Withdrawn => v1::ConfirmationState::Withdrawn,
    }
}

fn status(status: ChangeStatus) -> v1::ChangeStatus {
    match status {
        ChangeStatus::Proposed => v1::ChangeStatus::Proposed,
        ChangeStatus::Committed => v1::ChangeStatus::Committed,
        ChangeStatus::Unconfirmed => v1::ChangeStatus::Unconfirmed,
        ChangeStatus::Conflict => v1::ChangeStatus::Conflict,
    }
}
