//! What the call of a guest may see of the texts of the workspace: what the policy lets it read, less the
//! names that decide what other programs do, for it may pass on what it reads.

use std::sync::Arc;

use moss_sdk::RelPath;
use moss_sdk::context::TextVisitor;
use moss_sdk::file::{VisitOptions, Visited};
use moss_workspace::{Error, GateKey, LastLink, MayRead, Protection, VisitGate};

use crate::call::CallScope;
use crate::call::effect::{Effects, ReadableByAll};
use crate::call::read_access::ReadAccess;
use crate::state::WorkspaceState;

pub(super) struct GuestReader(ReadAccess);

// === impl GuestReader ===

impl GuestReader {
    pub(super) fn new(scope: &Arc<CallScope>, effects: &Arc<Effects>) -> Self {
        Self(ReadAccess::new(scope, effects))
    }

    pub(super) fn access(&self) -> &ReadAccess {
        &self.0
    }

    pub(super) fn workspace(&self) -> &WorkspaceState {
        self.0.workspace()
    }

    /// Names what it may see. The same rules let tools see more: what is kept for them is another thing.
    pub(super) fn name(&self) -> Option<GateKey> {
        self.0.name().map(|GateKey { rules, facts }| GateKey {
            rules,
            facts: format!("{facts}, without what makes programs run code"),
        })
    }

    pub(super) fn reads(&self, real: &RelPath, asked: &RelPath) -> MayRead {
        match self.is_shown(real) && self.is_shown(asked) {
            true => self.0.reads(real, asked),
            false => MayRead::No,
        }
    }

    /// Whether a file has no name but this: others may be such that it may not see. Some file systems count none.
    pub(super) fn has_one_name(&self, path: &RelPath) -> bool {
        let looked = self.workspace().files.look(path, LastLink::Follow);
        looked.is_ok_and(|looked| looked.names <= 1)
    }

    /// Walks over all texts that it may see.
    pub(super) fn visit(
        &self,
        options: VisitOptions,
        visitor: &mut dyn TextVisitor,
    ) -> Result<Visited, Error> {
        let (workspace, name) = (self.workspace(), self.name());
        let gate = VisitGate {
            lists: &|path| self.is_shown(path) && self.0.lists(path),
            reads: &|real, asked| self.reads(real, asked),
            // The others may be names that were not granted.
            one_name: true,
            is_apart: self.0.is_apart(),
            buffers: &*workspace.editors,
            cancelled: &|| self.0.is_cancelled(),
            name: name.as_ref(),
        };
        let rules = ReadableByAll(workspace);
        workspace.visit_texts(&RelPath::root(), options, gate, visitor, &rules)
    }

    fn is_shown(&self, path: &RelPath) -> bool {
        let protection = self.workspace().files.protection(path);
        !matches!(protection, Some(Protection::Code | Protection::Metadata))
    }
}
