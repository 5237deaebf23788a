//! One use of a tool, as it came and as it ended.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use moss_schema::arguments::UnreadableArguments;
use moss_sdk::content::ContentPart;
use moss_sdk::{ContentHash, RelPath, ToolError};
use moss_workspace::{UndoConflict, UndoTarget};
use serde_json::{Map, Value};

use crate::caller::{Caller, Role};
use crate::change::FileChange;
use crate::consent::PluginsChanged;
use crate::operations;
use crate::plugin_change::PluginChange;
use crate::session::SessionKey;

/// The span of a caller of which a call's is a part, as W3C Trace Context writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceParent(pub String);

/// One use of a tool, as it arrived.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who calls, as policy and journal name it.
    pub caller: Caller,
    /// The root directory of its workspace; empty where there is only one.
    pub workspace: String,
    /// Workspaces that are searched as one with it; `*` is every one that is served.
    pub further_workspaces: Vec<String>,
    /// A tool, or an operation that policy and journal know by a name as they know a tool.
    pub work: Work,
    /// What to do when a decision is needed.
    pub confirm: ConfirmMode,
    /// Approves exactly the effects with these digests; read by [`Call::approvals`], since only an approver may say it.
    pub approved_digests: ApprovedDigests,
    /// What the person said no to where the call is made: it does nothing but leave a record of that.
    pub denial: Option<EffectDenial>,
    /// Show the effect and do nothing.
    pub dry_run: bool,
    /// Whether whoever calls decides the questions of the call, too, and showed the approver's
    /// credential for it.
    pub is_attended: bool,
    /// The caller's name for the conversation.
    pub session_id: Option<String>,
    /// Hashes that files must have when they are changed.
    pub expected_hashes: BTreeMap<RelPath, ContentHash>,
    /// When the caller stops waiting.
    pub deadline: Option<Instant>,
    /// What the caller counts it to, where spans are wanted.
    pub parent: Option<TraceParent>,
}

/// The digests of effects that a call says it approves. Nothing but [`Call::approvals`] reads them.
#[derive(Debug, Clone, Default)]
pub struct ApprovedDigests(Vec<ContentHash>);

/// An effect that a person was shown, and the no to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectDenial {
    /// Of the effect as it was shown.
    pub digest: ContentHash,
    /// Why; may be empty.
    pub reason: String,
}

/// What a call does.
#[derive(Debug, Clone)]
pub enum Work {
    /// Uses a tool of the catalog.
    Tool {
        /// As the caller wrote it; it need not be in the catalog.
        name: String,
        /// Its arguments as given.
        arguments: Result<Map<String, Value>, UnreadableArguments>,
    },
    /// Undoes entries of the workspace's history.
    Undo(UndoTarget),
    /// Takes a change of the user's prompt back.
    UndoUserPrompt {
        /// Its number in the prompt's history; none for the newest.
        number: Option<u64>,
    },
    /// Changes a plugin list.
    ChangePlugins(PluginChange),
}

/// What to do when a decision of a person is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfirmMode {
    /// Ask a person and wait for the decision.
    Wait,
    /// Fail, with the exact effect and its digest.
    Refuse,
    /// Wait if an approver is watching, refuse otherwise.
    Auto,
    /// Wait for a short while if an approver is watching; then fail, and leave the question open for a
    /// later call that is the same.
    Leave,
}

/// How a call that ran ended.
#[derive(Debug, Clone)]
pub struct CallOutcome {
    /// Id of the call, as in the journal.
    pub call_id: String,
    /// Name of the tool.
    pub tool: String,
    /// The JSON text of what it returned, or why it failed.
    pub result: Result<String, ToolError>,
    /// What it shows beside that, where it succeeded.
    pub content: Vec<ContentPart>,
    /// What it changed, or in a dry run would change.
    pub changes: Vec<FileChange>,
    /// The digest of its effect.
    pub digest: Option<ContentHash>,
    /// The number of its change in the history, where it made one.
    pub history: Option<u64>,
    /// The conflicts of an undo.
    pub conflicts: Vec<UndoConflict>,
    /// What became of a plugin list, where the call is a change of one.
    pub plugins: Option<Box<PluginsChanged>>,
    /// How long it took, waiting included.
    pub duration: Duration,
}

// === impl ApprovedDigests ===

impl FromIterator<ContentHash> for ApprovedDigests {
    fn from_iter<T: IntoIterator<Item = ContentHash>>(digests: T) -> Self {
        Self(digests.into_iter().collect())
    }
}

// === impl Call ===

impl Call {
    /// The name under which policy and journal know what the call does.
    pub fn tool(&self) -> &str {
        match &self.work {
            Work::Tool { name, .. } => name,
            Work::Undo(_) => operations::UNDO,
            Work::UndoUserPrompt { .. } => operations::UNDO_USER_PROMPT,
            Work::ChangePlugins(change) => change.name(),
        }
    }

    /// The digests of the effects that it approves: none unless an approver calls, whatever a front let pass.
    pub fn approvals(&self) -> &[ContentHash] {
        match self.caller.role() {
            Role::Approver => &self.approved_digests.0,
            Role::Caller => &[],
        }
    }

    /// Names the conversation that it belongs to, where it belongs to one.
    pub fn session(&self) -> Option<SessionKey> {
        let session_id = self.session_id.clone()?;
        Some(SessionKey { caller: self.caller.name().to_owned(), session_id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_approver_approves() {
        let digest = ContentHash::from_bytes([7; 32]);
        for (role, approved) in [(Role::Approver, 1), (Role::Caller, 0)] {
            let call = Call {
                caller: Caller::from(role),
                workspace: String::new(),
                further_workspaces: Vec::new(),
                work: Work::UndoUserPrompt { number: None },
                confirm: ConfirmMode::Refuse,
                approved_digests: [digest].into_iter().collect(),
                denial: None,
                dry_run: false,
                is_attended: false,
                session_id: None,
                expected_hashes: BTreeMap::new(),
                deadline: None,
                parent: None,
            };
            assert_eq!(call.approvals().len(), approved, "{role:?}");
        }
    }
}
