//! Deciding about what one call reads, and reading it.

use std::sync::Arc;

use moss_sdk::{RelPath, ToolError};
use moss_workspace::{MayRead, OpenedFile};

use super::CallScope;
use super::effect::{Effects, FileNames, ToolFacts};
use crate::state::WorkspaceState;
use moss_policy::{Decision, Policy, Verdict};

/// What decides about the reads of one call; owned, so that it can go to a blocking thread.
#[derive(Clone)]
pub(super) struct ReadAccess {
    scope: Arc<CallScope>,
    effects: Arc<Effects>,
    pub(super) policy: Arc<Policy>,
    tool: ToolFacts,
}

/// Why a read did not happen.
pub(super) enum NotRead {
    /// It failed.
    Failed(ToolError),
    /// Somebody has to be asked first.
    Ask(RelPath, Decision),
    /// The policy denies it.
    Denied(RelPath, Decision),
}

// === impl ReadAccess ===

impl ReadAccess {
    /// Decides by the rules of this moment.
    pub(super) fn new(scope: &Arc<CallScope>, effects: &Arc<Effects>) -> Self {
        let policy = scope.workspace.policy.load_full();
        let (scope, effects) = (Arc::clone(scope), Arc::clone(effects));
        let tool = effects.tool();
        Self { scope, effects, policy, tool }
    }

    pub(super) fn workspace(&self) -> &WorkspaceState {
        &self.scope.workspace
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.scope.cancel.is_cancelled()
    }

    pub(super) fn decide(&self, names: FileNames<'_>) -> Decision {
        self.effects.decide_one_read((&self.policy, &self.tool), names)
    }

    fn decide_open(&self, path: &RelPath, opened: &OpenedFile<'_>) -> Decision {
        let names = FileNames { real: opened.real(), asked: path };
        self.effects.decide_open(&self.policy, names, opened)
    }

    pub(super) fn could_read(&self, names: FileNames<'_>) -> bool {
        self.effects.could_read(&self.policy, names)
    }

    /// None where it cannot be read at once, or not without asking, or not at all: then
    /// [`ReadAccess::read`] says why.
    pub(super) fn read_cached<T>(
        &self,
        path: &RelPath,
        read: impl Fn(&OpenedFile<'_>) -> Result<T, moss_workspace::Error>,
    ) -> Option<T> {
        let workspace = self.workspace();
        let opened = workspace.files.open_cached(path)?.over(&*workspace.editors);
        let decision = self.decide_open(path, &opened);
        if decision.verdict != Verdict::Allow {
            return None;
        }
        read(&opened).ok()
    }

    pub(super) fn read<T>(
        &self,
        path: &RelPath,
        read: impl Fn(&OpenedFile<'_>) -> Result<T, moss_workspace::Error>,
    ) -> Result<T, NotRead> {
        let workspace = self.workspace();
        let cancelled = || self.is_cancelled();
        let opened = workspace.files.open_for_reading(path)?.over(&*workspace.editors);
        let opened = opened.unless(&cancelled);
        let real = opened.real();
        let decision = self.decide_open(path, &opened);
        match decision.verdict {
            Verdict::Allow => Ok(read(&opened)?),
            Verdict::Deny => Err(NotRead::Denied(real.clone(), decision)),
            Verdict::Ask => Err(NotRead::Ask(real.clone(), decision)),
        }
    }

    pub(super) fn lists(&self, path: &RelPath) -> bool {
        self.effects.may_list((&self.policy, &self.tool), path)
    }

    /// Decides about a read on a walk, where nobody is asked.
    pub(super) fn reads(&self, real: &RelPath, asked: &RelPath) -> MayRead {
        match self.decide(FileNames { real, asked }).verdict {
            Verdict::Allow => MayRead::Yes,
            Verdict::Ask => MayRead::Unapproved,
            Verdict::Deny => MayRead::No,
        }
    }
}

impl From<moss_workspace::Error> for NotRead {
    fn from(error: moss_workspace::Error) -> Self {
        Self::Failed(error.into())
    }
}
