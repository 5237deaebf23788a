//! What decides about the reads of one call, and reads.

use std::sync::{Arc, OnceLock};

use moss_sdk::file::{ListOptions, Listing};
use moss_sdk::{RelPath, ToolError};
use moss_workspace::{GateKey, MayRead, OpenedFile, Protection};

use super::CallScope;
use super::effect::{Effects, FileNames, ToolFacts};
use crate::state::{Daemon, WorkspaceState};
use moss_dispatch::Role;
use moss_policy::{Decision, Policy, Verdict};

/// What decides about the reads of one call; owned, so that it can go to a blocking thread.
#[derive(Clone)]
pub(super) struct ReadAccess {
    scope: Arc<CallScope>,
    effects: Arc<Effects>,
    pub(super) policy: Arc<Policy>,
    tool: ToolFacts,
    alike: Arc<ReadVerdicts>,
}

/// What is decided about all files that are protected alike, each found out once. None where paths
/// are distinguished.
#[derive(Debug, Default)]
struct ReadVerdicts {
    plain: OnceLock<Option<Verdict>>,
    code: OnceLock<Option<Verdict>>,
    metadata: OnceLock<Option<Verdict>>,
    secret: OnceLock<Option<Verdict>>,
}

/// Why a read did not happen.
pub(super) enum NotRead {
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
        Self { scope, effects, policy, tool, alike: Arc::default() }
    }

    pub(super) fn daemon(&self) -> &Daemon {
        &self.scope.daemon
    }

    pub(super) fn workspace(&self) -> &WorkspaceState {
        &self.scope.workspace
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.scope.cancel.is_cancelled()
    }

    /// Whether it must not wait for large texts that callers search.
    pub(super) fn is_apart(&self) -> bool {
        self.scope.call.caller.role() == Role::Approver
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
        self.read_unless(path, &|| self.is_cancelled(), read)
    }

    /// As [`ReadAccess::read`], for as long as somebody waits.
    pub(super) fn read_unless<T>(
        &self,
        path: &RelPath,
        cancelled: &(dyn Fn() -> bool + Sync),
        read: impl Fn(&OpenedFile<'_>) -> Result<T, moss_workspace::Error>,
    ) -> Result<T, NotRead> {
        let workspace = self.workspace();
        let opened = match workspace.files.open_for_reading(path) {
            Ok(opened) => opened.over(&*workspace.editors),
            Err(error) => {
                let hidden = self.hides(path);
                return Err(hidden.map_or_else(
                    || NotRead::from(error),
                    |(real, decision)| NotRead::Denied(real, decision),
                ));
            }
        };
        let opened = opened.unless(cancelled).apart(self.is_apart());
        let real = opened.real();
        let decision = self.decide_open(path, &opened);
        match decision.verdict {
            Verdict::Allow => Ok(read(&opened)?),
            Verdict::Deny => Err(NotRead::Denied(real.clone(), decision)),
            Verdict::Ask => Err(NotRead::Ask(real.clone(), decision)),
        }
    }

    /// What keeps a path out of sight, with its real name, as [`Effects::hides_path`].
    pub(super) fn hides(&self, path: &RelPath) -> Option<(RelPath, Decision)> {
        if self.lists_all() {
            return None;
        }
        self.effects.hides_path((&self.policy, &self.tool), path)
    }

    /// Whether a name may be shown in a listing. A protected one may: its content is not shown.
    pub(super) fn lists(&self, path: &RelPath) -> bool {
        match self.decided_alike(None) {
            Some(verdict) => verdict != Verdict::Deny,
            None => self.effects.may_list((&self.policy, &self.tool), path),
        }
    }

    /// Whether every name may be.
    pub(super) fn lists_all(&self) -> bool {
        self.decided_alike(None).is_some_and(|verdict| verdict != Verdict::Deny)
    }

    /// Lists a small directory where others wait. None where that takes longer, and where names have to be
    /// decided about one by one: then a listing on another thread says what there is.
    pub(super) fn list_at_once(&self, path: &RelPath, options: ListOptions) -> Option<Listing> {
        let kept = self.workspace().live.get().filter(|_| self.lists_all())?;
        kept.list_at_once(path, options, &|_| true)
    }

    /// Decides about a read on a walk, where nobody is asked.
    pub(super) fn reads(&self, real: &RelPath, asked: &RelPath) -> MayRead {
        let files = &self.workspace().files;
        let decided = |name| self.decided_alike(files.protection(name));
        let of_both = decided(real).and_then(|verdict| match asked == real {
            true => Some(verdict),
            false => decided(asked).map(|other| verdict.max(other)),
        });
        let verdict = match of_both {
            Some(verdict @ (Verdict::Allow | Verdict::Deny)) => verdict,
            // Somebody may have approved this one.
            Some(Verdict::Ask) | None => self.decide(FileNames { real, asked }).verdict,
        };
        match verdict {
            Verdict::Allow => MayRead::Yes,
            Verdict::Ask => MayRead::Unapproved,
            Verdict::Deny => MayRead::No,
        }
    }

    /// Names what it decides by on a walk; none where that may be another thing at the next call.
    pub(super) fn name(&self) -> Option<GateKey> {
        let facts = self.effects.walk_facts(&self.tool)?;
        Some(GateKey { rules: Arc::<Policy>::clone(&self.policy), facts })
    }

    fn decided_alike(&self, protection: Option<Protection>) -> Option<Verdict> {
        let ReadVerdicts { plain, code, metadata, secret } = &*self.alike;
        let known = match protection {
            None => plain,
            Some(Protection::Code) => code,
            Some(Protection::Metadata) => metadata,
            Some(Protection::Secret) => secret,
        };
        let decide = || self.effects.decide_all_reads((&self.policy, &self.tool), protection);
        *known.get_or_init(decide)
    }
}

// === impl NotRead ===

impl From<moss_workspace::Error> for NotRead {
    fn from(error: moss_workspace::Error) -> Self {
        Self::Failed(error.into())
    }
}
