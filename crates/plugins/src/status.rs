//! What people see of a plugin.

use std::sync::Arc;

use moss_plugin_host::Plugin;
use moss_plugin_list::{PluginEntry, Sha256Digest};

/// A plugin that a list names, and what became of it.
#[derive(Debug, Clone)]
pub struct PluginStatus {
    /// Its name in the list; the list's file name where the list itself is broken.
    pub name: String,
    /// The path of the list.
    pub listed_in: String,
    /// What the list says of it; none where the list itself is broken.
    pub entry: Option<PluginEntry>,
    /// Where its component comes from: a file, a URL, a reference to a registry; the list itself where that is broken.
    pub source: String,
    /// Whether it can be used.
    pub state: PluginState,
    /// Why what the file holds now does not serve, where an older version does.
    pub notice: Option<String>,
    /// The digest of what the file holds, where that does not serve.
    pub staged: Option<Sha256Digest>,
}

/// Whether a plugin can be used.
#[derive(Debug, Clone)]
pub enum PluginState {
    /// It is being compiled.
    Loading,
    /// Its tools are in the catalog.
    Ready(Arc<Plugin>),
    /// It cannot be used, and why.
    Failed(String),
    /// A list of the workspace that nobody trusted as it is, and how that is done.
    Untrusted(String),
}

// === impl PluginState ===

impl PluginState {
    /// Every state in a word.
    pub const WORDS: [&str; 4] = ["loading", "ready", "failed", "untrusted"];

    /// The state in a word.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Loading => "loading",
            Self::Ready(_) => "ready",
            Self::Failed(_) => "failed",
            Self::Untrusted(_) => "untrusted",
        }
    }
}

// === impl PluginStatus ===

impl PluginStatus {
    /// Returns what people should know of a plugin that serves.
    pub fn notice(&self) -> Option<String> {
        let paused = match &self.state {
            PluginState::Ready(plugin) => plugin.paused(),
            PluginState::Loading | PluginState::Failed(_) | PluginState::Untrusted(_) => None,
        };
        let paused = paused.map(|paused| {
            format!("paused for another {}s, after: {}", paused.seconds(), paused.reason)
        });
        let older = self.notice.as_ref();
        match (paused, older) {
            (Some(paused), Some(older)) => Some(format!("{older}; {paused}")),
            (paused, older) => paused.or_else(|| older.cloned()),
        }
    }
}
