//! The messages of `moss.v1` as JSON: the fields by their names, enums as words, times in RFC 3339.

pub(super) mod content;
mod embedding;

use moss_proto::v1;
use serde_json::{Value, json};

pub(super) fn tool(tool: &v1::Tool) -> Value {
    json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "effect": effect(tool.effect()),
        "toolset": tool.toolset,
        "plugin": Some(&tool.plugin).filter(|plugin| !plugin.is_empty()),
        "parameters": schema(&tool.parameters_json),
        "output": schema(&tool.output_json),
    })
}

/// Reads a schema of a message; null where it is not valid JSON.
pub(super) fn schema(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}

pub(super) fn confirmation(confirmation: &v1::Confirmation) -> Value {
    json!({
        "id": confirmation.id,
        "call_id": confirmation.call_id,
        "workspace": confirmation.workspace,
        "tool": confirmation.tool,
        "plugin": confirmation.plugin,
        "caller": confirmation.caller,
        "changes": changes(&confirmation.changes),
        "arguments_json": confirmation.arguments_json,
        "digest": confirmation.digest,
        "rule": confirmation.rule,
        "protected": confirmation.protected,
        "for_person": confirmation.for_person,
        "drift": confirmation.drift,
        "registers": confirmation.registers,
        "command": confirmation.command.as_ref().map(command),
        "embedding": confirmation.embedding.as_ref().map(embedding::asked),
        "truncated": confirmation.truncated,
        "created_at": time(confirmation.created_at.as_ref()),
        "expires_at": time(confirmation.expires_at.as_ref()),
        "state": confirmation_state(confirmation.state()),
        "reason": confirmation.reason,
        "offers": confirmation.offers.iter().map(offered_approval).collect::<Vec<_>>(),
    })
}

fn command(asked: &v1::CommandQuestion) -> Value {
    let part = |part: &v1::AskedCommand| {
        json!({
            "text": part.text,
            "via": part.via,
            "asks": part.asks,
            "rule": part.rule,
            "writes": part.writes,
        })
    };
    json!({
        "command": asked.command,
        "directory": asked.directory,
        "profile": asked.profile,
        "network": asked.network,
        "environment": asked.environment,
        "sockets": asked.sockets,
        "tier": asked.tier,
        "parts": asked.parts.iter().map(part).collect::<Vec<_>>(),
        "background": asked.background,
        "input": asked.input,
        "optional": asked.optional,
    })
}

fn offered_approval(offer: &v1::OfferedApproval) -> Value {
    json!({
        "scope": approval_scope(offer.scope()),
        "rule_toml": offer.rule_toml,
        "expires_at": time(offer.expires_at.as_ref()),
        "digest": offer.digest,
    })
}

pub(super) fn standing_approval(approval: &v1::StandingApproval) -> Value {
    json!({
        "id": approval.id,
        "scope": approval_scope(approval.scope()),
        "session_id": approval.session_id,
        "rule_toml": approval.rule_toml,
        "approved_at": time(approval.approved_at.as_ref()),
        "expires_at": time(approval.expires_at.as_ref()),
        "uses": approval.uses,
        "last_used_at": time(approval.last_used_at.as_ref()),
    })
}

pub(super) fn history_entry(entry: &v1::HistoryEntry) -> Value {
    json!({
        "number": entry.number,
        "committed_at": time(entry.committed_at.as_ref()),
        "call_id": entry.call_id,
        "tool": entry.tool,
        "caller": entry.caller,
        "changes": changes(&entry.changes),
        "undo_of": entry.undo_of,
        "undoes": entry.undoes,
        "undone_by": entry.undone_by,
    })
}

pub(super) fn undo_conflict(conflict: &v1::UndoConflict) -> Value {
    let lines = |lines: &v1::ConflictLines| json!({ "first": lines.first, "last": lines.last });
    let later = |later: &v1::LaterChange| {
        json!({
            "number": later.number,
            "tool": later.tool,
            "committed_at": time(later.committed_at.as_ref()),
            "call_id": later.call_id,
            "caller": later.caller,
        })
    };
    json!({
        "number": conflict.number,
        "path": conflict.path,
        "what": conflict.what,
        "lines": conflict.lines.iter().map(lines).collect::<Vec<_>>(),
        "later": conflict.later.as_ref().map(later),
    })
}

fn changes(changes: &[v1::FileChange]) -> Value {
    changes
        .iter()
        .map(|change| {
            json!({
                "path": change.path,
                "real_path": change.real_path,
                "action": word(change.action().as_str_name(), "CHANGE_ACTION_"),
                "status": change_status(change.status()),
                "diff": change.diff,
                "diff_omitted_bytes": change.diff_omitted_bytes,
                "lines_added": change.lines_added,
                "lines_removed": change.lines_removed,
                "hash_before": change.hash_before,
                "hash_after": change.hash_after,
                "unsaved": change.unsaved,
                "match_level": change.match_level,
                "drift": drift(change),
                "drift_omitted": change.drift_omitted,
                "diagnostics": diagnostics(change),
                "unchecked": change.unchecked,
            })
        })
        .collect()
}

/// Lines that are not as an edit says.
pub(super) fn drift(change: &v1::FileChange) -> Value {
    change.drift.iter().map(drift_line).collect()
}

/// What is wrong with a file after a change.
pub(super) fn diagnostics(change: &v1::FileChange) -> Value {
    let view = |found: &v1::ChangeDiagnostic| {
        let v1::ChangeDiagnostic { line, column, message, source, severity, code } = found;
        json!({
            "line": line, "column": column, "message": message, "source": source,
            "severity": severity, "code": code,
        })
    };
    change.diagnostics.iter().map(view).collect()
}

fn drift_line(drift: &v1::Drift) -> Value {
    json!({ "line": drift.line, "expected": drift.expected, "found": drift.found })
}

fn requested(asked: &v1::RequestedCapability) -> Value {
    json!({
        "capability": asked.capability,
        "reason": asked.reason,
        "allowed": asked.allowed,
        "withheld_by": asked.withheld_by,
    })
}

pub(super) fn plugin(plugin: &v1::Plugin) -> Value {
    json!({
        "name": plugin.name,
        "version": plugin.version,
        "state": plugin_state(plugin.state()),
        "listed_in": plugin.listed_in,
        "source": plugin.source,
        "sha256": plugin.sha256,
        "tools": plugin.tools,
        "readable_paths": plugin.readable_paths,
        "error": plugin.error,
        "notice": plugin.notice,
        "requests": plugin.requests.iter().map(requested).collect::<Vec<_>>(),
        "granted": plugin.granted,
        "may": plugin.may,
        "pinned_sha256": plugin.pinned_sha256,
        "staged_sha256": plugin.staged_sha256,
        "limits": plugin.limits.as_ref().map(|limits| json!({
            "timeout_ms": limits.timeout_ms,
            "memory_bytes": limits.memory_bytes,
            "output_bytes": limits.output_bytes,
        })),
        "list": plugin.list,
        "own_tool_names": plugin.own_tool_names,
        "left_out": plugin.left_out,
        "compiling": plugin.compiling.as_ref().map(|now| json!({
            "since": time(now.since.as_ref()),
            "component_bytes": now.component_bytes,
        })),
    })
}

pub(super) fn explanation(explanation: &v1::ExplainPolicyResponse) -> Value {
    let steps: Vec<_> = explanation
        .steps
        .iter()
        .map(|step| {
            json!({
                "effect": step.effect,
                "decision": decision(step.decision()),
                "deciding": step.deciding.as_ref().map(policy_rule),
                "matching": step.matching.iter().map(policy_rule).collect::<Vec<_>>(),
                "by_size": step.by_size.iter().map(sized_decision).collect::<Vec<_>>(),
                "by_level": step.by_level.iter().map(found_decision).collect::<Vec<_>>(),
                "command_unknown": step.command_unknown,
            })
        })
        .collect();
    json!({
        "decision": decision(explanation.decision()),
        "steps": steps,
        "problems": explanation.problems,
        "allowing_sessions": explanation.allowing_sessions,
    })
}

fn sized_decision(sized: &v1::SizedDecision) -> Value {
    json!({
        "from_bytes": sized.from_bytes,
        "decision": decision(sized.decision()),
        "deciding": sized.deciding.as_ref().map(policy_rule),
    })
}

fn found_decision(found: &v1::FoundDecision) -> Value {
    json!({
        "match_levels": found.match_levels,
        "drift": found.drift,
        "decision": decision(found.decision()),
        "deciding": found.deciding.as_ref().map(policy_rule),
    })
}

pub(super) fn policy_rule(rule: &v1::PolicyRule) -> Value {
    json!({
        "layer": rule.layer,
        "file": rule.file,
        "line": rule.line,
        "name": rule.name,
        "decision": decision(rule.decision()),
        "reason": rule.reason,
        "approver": rule.approver,
    })
}

pub(super) fn index(index: &v1::IndexStatus) -> Value {
    json!({
        "state": index_state(index.state()),
        "reason": index.reason,
        "entries": index.entries,
        "directories_watched": index.directories_watched,
        "memory_bytes": index.memory_bytes,
        "texts": index.texts.as_ref().map(texts),
        "embeddings": index.embeddings.as_ref().map(embedding::known),
        "incomplete": index.incomplete,
    })
}

fn texts(texts: &v1::TextIndexStatus) -> Value {
    json!({
        "state": index_state(texts.state()),
        "reason": texts.reason,
        "files": texts.files,
        "files_indexed": texts.files_indexed,
        "disk_bytes": texts.disk_bytes,
        "memory_bytes": texts.memory_bytes,
        "complete_at": texts.complete_at.as_ref().map(|at| time(Some(at))),
        "age_s": texts.complete_at.as_ref().map(seconds_since),
        "problem": texts.problem,
    })
}

pub(super) fn index_state(state: v1::IndexState) -> String {
    word(state.as_str_name(), "INDEX_STATE_")
}

fn editor(editor: &v1::EditorStatus) -> Value {
    json!({
        "name": editor.name,
        "version": editor.version,
        "open": editor.open,
        "unsaved": editor.unsaved,
    })
}

fn language_server(server: &v1::LanguageServerStatus) -> Value {
    json!({"name": server.name, "project": server.project, "running": server.running})
}

pub(super) fn status(status: &v1::GetStatusResponse) -> Value {
    let workspaces: Vec<_> = status
        .workspaces
        .iter()
        .map(|workspace| {
            json!({
                "root": workspace.root,
                "tools": workspace.tools,
                "plugins_ready": workspace.plugins_ready,
                "plugins_failed": workspace.plugins_failed,
                "policy_problem": workspace.policy_problem,
                "plugin_problems": workspace.plugin_problems,
                "editors": workspace.editors.iter().map(editor).collect::<Vec<_>>(),
                "approvals_problem": workspace.approvals_problem,
                "untrusted_list": workspace.untrusted_list,
                "index": workspace.index.as_ref().map(index),
                "language_servers":
                    workspace.language_servers.iter().map(language_server).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "version": status.version,
        "pid": status.pid,
        "started_at": time(status.started_at.as_ref()),
        "workspaces": workspaces,
        "calls_running": status.calls_running,
        "calls_queued": status.calls_queued,
        "confirmations_pending": status.confirmations_pending,
        "config_problem": status.config_problem,
    })
}

pub(super) fn effect(effect: v1::Effect) -> String {
    word(effect.as_str_name(), "EFFECT_")
}

pub(super) fn decision(decision: v1::Decision) -> String {
    word(decision.as_str_name(), "DECISION_")
}

pub(super) fn plugin_state(state: v1::PluginState) -> String {
    word(state.as_str_name(), "PLUGIN_STATE_")
}

pub(super) fn confirmation_state(state: v1::ConfirmationState) -> String {
    word(state.as_str_name(), "CONFIRMATION_STATE_")
}

pub(super) fn approval_scope(scope: v1::ApprovalScope) -> String {
    word(scope.as_str_name(), "APPROVAL_SCOPE_")
}

pub(super) fn change_status(status: v1::ChangeStatus) -> String {
    word(status.as_str_name(), "CHANGE_STATUS_")
}

/// Returns a time to the second; empty for none.
pub(super) fn time(time: Option<&prost_types::Timestamp>) -> String {
    time.and_then(|time| jiff::Timestamp::new(time.seconds, 0).ok())
        .map(|time| time.to_string())
        .unwrap_or_default()
}

/// How long a time is ago by the clock of this machine; 0 where it was set back since.
fn seconds_since(time: &prost_types::Timestamp) -> u64 {
    let ago = jiff::Timestamp::now().as_second().saturating_sub(time.seconds);
    u64::try_from(ago).unwrap_or(0)
}

fn word(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enums_are_words_and_times_are_to_the_second() {
        assert_eq!(effect(v1::Effect::Write), "write");
        assert_eq!(change_status(v1::ChangeStatus::Unconfirmed), "unconfirmed");
        assert_eq!(confirmation_state(v1::ConfirmationState::Pending), "pending");
        assert_eq!(plugin_state(v1::PluginState::Ready), "ready");
        assert_eq!(decision(v1::Decision::Ask), "ask");
        let second = prost_types::Timestamp { seconds: 1_700_000_000, nanos: 5 };
        assert_eq!(time(Some(&second)), "2023-11-14T22:13:20Z");
        assert_eq!(time(None), "");
    }
}
