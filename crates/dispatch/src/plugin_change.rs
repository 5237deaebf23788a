//! A change of a plugin list, as it is asked for.

use std::collections::BTreeMap;
use std::path::PathBuf;

use moss_plugin_list::{Grant, Sha256Digest};
use serde_json::{Map, Value, json};

use crate::operations;

/// A change of a plugin list.
#[derive(Debug, Clone, PartialEq)]
pub enum PluginChange {
    /// Adds a plugin, or replaces the entry of its name.
    Add(Box<AddPlugin>),
    /// Takes a plugin out.
    Remove(RemovePlugin),
    /// Pins what the file of a plugin holds now.
    Accept {
        /// Where it is listed; the user's own list where none is named.
        list: Option<PathBuf>,
        /// Name of the plugin.
        name: String,
    },
    /// Trusts the list that the workspace brings along with what it says now.
    Trust,
    /// Trusts that list no more.
    Untrust,
}

/// A plugin that is to be added.
#[derive(Debug, Clone, PartialEq)]
pub struct AddPlugin {
    /// The list; the user's own where none is named.
    pub list: Option<PathBuf>,
    /// What it must be called; where none is named, what it calls itself.
    pub name: Option<String>,
    /// Where its component is.
    pub source: PluginLocation,
    /// Where its signature is.
    pub signature: Option<PluginLocation>,
    /// The digest that its component must have.
    pub sha256: Option<Sha256Digest>,
    /// What it is granted.
    pub grant: Granting,
    /// Settings, a JSON object.
    pub config: Map<String, Value>,
    /// Whether it may replace an entry of its name.
    pub replace: bool,
    /// Names that its tools get, by those that it gives them. Where none is said, an entry whose
    /// place it takes keeps what it says.
    pub tools: BTreeMap<String, String>,
    /// Why, for the person who decides.
    pub reason: String,
}

/// A plugin that is to be taken out.
#[derive(Debug, Clone, PartialEq)]
pub struct RemovePlugin {
    /// Where it is listed; the user's own list where none is named.
    pub list: Option<PathBuf>,
    /// Name of the plugin.
    pub name: String,
    /// Whether what plugins of this name keep is forgotten, in every workspace that is served.
    pub forget_store: bool,
}

/// Where a component or a signature is.
#[derive(Debug, Clone, PartialEq)]
pub enum PluginLocation {
    /// A file of this machine.
    File(PathBuf),
    /// A URL or an OCI reference, from which it is downloaded.
    Url(String),
}

/// What a plugin is granted that is added.
#[derive(Debug, Clone, PartialEq)]
pub enum Granting {
    /// What the entry has that it replaces; else nothing.
    Unsaid,
    /// This grant, whatever the plugin asks for.
    Exactly(Grant),
    /// All that it asks for.
    Requested,
}

// === impl PluginChange ===

impl PluginChange {
    /// The name under which policy and journal know it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Add(_) => operations::ADD_PLUGIN,
            Self::Remove(_) => operations::REMOVE_PLUGIN,
            Self::Accept { .. } => operations::ACCEPT_PLUGIN,
            Self::Trust => operations::TRUST_PLUGIN_LIST,
            Self::Untrust => operations::UNTRUST_PLUGIN_LIST,
        }
    }

    /// What the journal keeps of it.
    pub fn arguments(&self) -> Value {
        match self {
            Self::Add(add) => json!({
                "list": add.list, "name": add.name, "source": add.source.to_string(),
                "sha256": add.sha256.map(|digest| digest.to_string()),
            }),
            Self::Remove(remove) => json!({
                "list": remove.list, "name": remove.name, "forget_store": remove.forget_store,
            }),
            Self::Accept { list, name } => json!({ "list": list, "name": name }),
            Self::Trust | Self::Untrust => json!({}),
        }
    }
}

// === impl PluginLocation ===

impl std::fmt::Display for PluginLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Url(url) => f.write_str(url),
        }
    }
}
