//! What the policy would say of undoing changes.

use std::collections::BTreeSet;

use moss_sdk::spec::Effect;
use moss_workspace::{HistoryFile, UndoTarget};
use serde_json::{Map, Value};

use super::{ExplainedFile, UNDO, UNDO_USER_PROMPT, find};
use crate::state::WorkspaceState;
use moss_dispatch::CallError;
use moss_policy::explain::{Explanation, explain};
use moss_policy::{Action, Subject, Verdict};
use moss_schema::Violation;

/// Explains what an undo meets: of the entry `number`, of the call `call_id`, of all that came after
/// the entry `since`; without any of them, of a change of no file in particular.
pub(super) fn explain_undo(
    workspace: &WorkspaceState,
    arguments: &Map<String, Value>,
    caller: &str,
) -> Result<Vec<Explanation>, CallError> {
    let Some(target) =
        target(arguments).map_err(|violation| CallError::Invalid(vec![violation]))?
    else {
        return Ok(vec![explained(workspace, UNDO, Action::Modify, None, caller)]);
    };
    let refused = |error: moss_workspace::Error| {
        invalid("", "changes that the history holds", error.to_string())
    };
    let files = workspace.history.undo_files(&target);
    let files = files.map_err(|error| CallError::Invalid(vec![refused(error)]))?;
    let mut explanations = Vec::new();
    let mut seen = BTreeSet::new();
    for file in files {
        if !seen.insert(file.real.clone()) {
            continue;
        }
        let policy = workspace.policy.load();
        let rules = (&**policy, &Subject::of(Action::Read, (UNDO, Effect::Write), caller));
        let found = find(&workspace.files, rules, ("path", file.real.as_str()))?;
        let read = explained(workspace, UNDO, Action::Read, Some((&found, None)), caller);
        let is_denied = read.decision.verdict == Verdict::Deny;
        explanations.push(read);
        // What comes behind it depends on what is there.
        if is_denied {
            continue;
        }
        let size = Some(file.before_bytes);
        let action = back(&file, &found);
        explanations.push(explained(workspace, UNDO, action, Some((&found, size)), caller));
    }
    Ok(explanations)
}

/// Explains taking a change of the user's prompt back.
pub(super) fn explain_undo_user_prompt(workspace: &WorkspaceState, caller: &str) -> Explanation {
    explained(workspace, UNDO_USER_PROMPT, Action::Configure, None, caller)
}

/// What brings a file back, as it is now.
fn back(file: &HistoryFile, now: &ExplainedFile) -> Action {
    match file.action {
        moss_workspace::FileAction::Create => Action::Delete,
        _ if now.exists => Action::Modify,
        moss_workspace::FileAction::Modify | moss_workspace::FileAction::Delete => Action::Create,
    }
}

fn explained(
    workspace: &WorkspaceState,
    tool: &str,
    action: Action,
    file: Option<(&ExplainedFile, Option<u64>)>,
    caller: &str,
) -> Explanation {
    let has_content = matches!(action, Action::Create | Action::Modify);
    let subject = Subject {
        path: file.map(|(file, _)| &file.path),
        protection: file
            .and_then(|(file, _)| file.protection(&workspace.files, &file.path, action)),
        size_bytes: file.and_then(|(_, size)| size).filter(|_| has_content),
        ..Subject::of(action, (tool, Effect::Write), caller)
    };
    explain(&workspace.policy.load(), &subject)
}

fn target(arguments: &Map<String, Value>) -> Result<Option<UndoTarget>, Violation> {
    let mut arguments = arguments.iter();
    let Some((key, value)) = arguments.next() else { return Ok(None) };
    if let Some((other, _)) = arguments.next() {
        return Err(invalid(other, "one of `number`, `call_id` and `since`", other.clone()));
    }
    // The command line cannot know the kinds of what is no tool's parameter.
    let number = || value.as_u64().or_else(|| value.as_str()?.parse().ok());
    let target = match key.as_str() {
        "number" => number().map(UndoTarget::Entry),
        "since" => number().map(UndoTarget::Since),
        "call_id" => value.as_str().map(|call_id| UndoTarget::Call(call_id.to_owned())),
        _ => None,
    };
    match target {
        Some(target) => Ok(Some(target)),
        None => Err(invalid(key, "`number`, `since` (numbers) or `call_id`", value.to_string())),
    }
}

fn invalid(key: &str, expected: &str, got: String) -> Violation {
    let pointer = if key.is_empty() { String::new() } else { format!("/{key}") };
    Violation { pointer, expected: expected.to_owned(), got, suggestion: None }
}
