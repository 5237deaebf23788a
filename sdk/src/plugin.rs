//! Plugins as tools see them: what a tool may ask to have registered.

use serde_json::Value;

/// A plugin that somebody wants in the user's list.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginRequest {
    /// What it is called; the component must call itself the same.
    pub name: String,
    /// Where its component is: a file of the workspace, or a URL.
    pub source: String,
    /// The SHA-256 that the component must have, hexadecimal.
    pub sha256: Option<String>,
    /// What it is to be granted, in the form of lists; empty if nothing.
    pub grant: Option<Value>,
    /// Why it is needed, for the person who decides.
    pub reason: String,
}

/// What became of such a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginRegistered {
    /// The version that the plugin says it has.
    pub version: String,
    /// The SHA-256 that is pinned, hexadecimal.
    pub sha256: String,
    /// The names of its tools.
    pub tools: Vec<String>,
    /// What it may do, one line each.
    pub may: Vec<String>,
    /// What it asks for and is not granted, one line each.
    pub may_not: Vec<String>,
    /// The list that names it.
    pub list: String,
    /// Whether it was registered; not so in a dry run.
    pub applied: bool,
    /// Whether its tools can be called now.
    pub loaded: bool,
}
