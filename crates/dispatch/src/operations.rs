//! What policy, history and journal know by a name as they know a tool, though no catalog has it:
//! what commands and services do. A plugin's tool that had such a name would be let through by the
//! rules that are meant for the operation.

/// Undoing entries of the history.
pub const UNDO: &str = "undo";
/// Undoing a change of the user's prompt.
pub const UNDO_USER_PROMPT: &str = "undo_user_prompt";
/// Showing what the history holds.
pub const HISTORY: &str = "history";
/// Adding a plugin to a list.
pub const ADD_PLUGIN: &str = "add_plugin";
/// Taking a plugin out of a list.
pub const REMOVE_PLUGIN: &str = "remove_plugin";
/// Pinning what the file of a plugin holds now.
pub const ACCEPT_PLUGIN: &str = "accept_plugin";
/// Trusting the list that a workspace brings along.
pub const TRUST_PLUGIN_LIST: &str = "trust_plugin_list";
/// Trusting it no more.
pub const UNTRUST_PLUGIN_LIST: &str = "untrust_plugin_list";
/// Starting a language server.
pub const LANGUAGE_SERVER: &str = "language_server";
/// Sending texts of a workspace, and questions over them, to an endpoint of embeddings.
pub const EMBEDDINGS: &str = "embeddings";
/// Finding tools that a client of MCP is not shown: what `moss-mcp`, which knows nothing of this crate, serves itself.
pub const FIND_TOOLS: &str = "find_tools";

/// What stands in metrics for a tool that there is not.
pub const UNKNOWN_TOOL: &str = "unknown";

/// All of them, and what stands in metrics for a tool that there is not.
const ALL: &[&str] = &[
    UNDO,
    UNDO_USER_PROMPT,
    HISTORY,
    ADD_PLUGIN,
    REMOVE_PLUGIN,
    ACCEPT_PLUGIN,
    TRUST_PLUGIN_LIST,
    UNTRUST_PLUGIN_LIST,
    LANGUAGE_SERVER,
    EMBEDDINGS,
    FIND_TOOLS,
    UNKNOWN_TOOL,
];

/// Whether a name is one of them, as far as names are distinguished.
pub fn is_reserved(name: &str) -> bool {
    let name = folded(name);
    ALL.iter().any(|reserved| folded(reserved) == name)
}

/// What distinguishes the names of tools: neither case nor `-` and `_`, in which models err.
pub fn folded(name: &str) -> String {
    name.chars().filter(|c| !"-_".contains(*c)).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rules_know_by_name_no_tool_of_a_plugin_may_be_called() {
        for name in ["undo", "Undo", "language_server", "LanguageServer", "find-tools", "unknown"] {
            assert!(is_reserved(name), "{name}");
        }
        for name in ["undone", "language", "server", "find"] {
            assert!(!is_reserved(name), "{name}");
        }
    }
}
