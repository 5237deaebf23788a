//! What the policy knows of the tool that wants something.

use std::sync::Arc;

use moss_catalog::CatalogEntry;
use moss_policy::standing::StandingApproval;

/// What the policy looks at in a tool.
#[derive(Debug, Clone)]
pub(in crate::call) struct ToolFacts {
    /// The tool in whose name it is done, where that is another one than the call's.
    pub(super) name: Option<&'static str>,
    pub(super) effect: moss_sdk::Effect,
    pub(super) plugin: Option<String>,
    /// The digest of the plugin's component.
    pub(super) component: Option<String>,
    /// The standing approvals in effect for the call.
    pub(super) answers: Arc<Vec<Arc<StandingApproval>>>,
}

// === impl ToolFacts ===

impl ToolFacts {
    pub(super) fn of(entry: &CatalogEntry) -> Self {
        let plugin = entry.plugin().map(ToOwned::to_owned);
        let (effect, component) = (entry.spec.effect, entry.component());
        Self { name: None, effect, plugin, component, answers: Arc::default() }
    }
}

impl Default for ToolFacts {
    /// What an undo is: a write that no plugin provides.
    fn default() -> Self {
        let effect = moss_sdk::Effect::Write;
        Self { name: None, effect, plugin: None, component: None, answers: Arc::default() }
    }
}
