//! What serves, and where.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use moss_catalog::PluginTools;

use crate::environment::Environment;
use crate::slot::Slot;

/// What serves, and where.
#[derive(Debug, Clone)]
pub(super) struct Serving {
    pub(super) tools: Arc<PluginTools>,
    /// The root of the only workspace; none for all.
    pub(super) only_for: Option<PathBuf>,
}

// === impl Serving ===

impl Serving {
    pub(super) fn of(slot: &Slot) -> Option<Self> {
        let tools = Arc::clone(slot.serving()?);
        Some(Self { tools, only_for: slot.only_for().map(Path::to_owned) })
    }
}

/// Whether what serves all workspaces, or only one, serves this one.
pub(super) fn is_for(only_for: Option<&Path>, root: &Path) -> bool {
    only_for.is_none_or(|only| only == root)
}

/// Whether a plugin's tools can stand beside those of others in every workspace that it serves.
pub(super) fn fit(
    environment: &Environment,
    others: &[Serving],
    tools: &PluginTools,
    only_for: &Option<PathBuf>,
) -> Result<(), String> {
    for workspace in environment.workspaces() {
        let root = workspace.files.root();
        if !is_for(only_for.as_deref(), root) {
            continue;
        }
        let here = others.iter().filter(|serving| is_for(serving.only_for.as_deref(), root));
        let all = here.map(|serving| &*serving.tools).chain([tools]);
        workspace.native.with_plugins(all).map_err(|error| error.to_string())?;
    }
    Ok(())
}
