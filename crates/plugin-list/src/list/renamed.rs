//! The names that an entry gives to tools, by the names that the plugin gives them.

use std::collections::BTreeMap;

use super::source::{ListNode, ListProblem};
use crate::tool_names::{NAME_BYTES_MAX, TOOLS_MAX, is_tool_name};

/// Reads which tools have which names.
pub(super) fn parse(node: ListNode<'_>) -> Result<BTreeMap<String, String>, ListProblem> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for (own, node) in node.members(TOOLS_MAX)? {
        let name = node.string()?;
        if let Some(wrong) = [own, name].into_iter().find(|name| !is_tool_name(name)) {
            let letters = NAME_BYTES_MAX - 1;
            return Err(node.problem(format!("`{wrong}` cannot name a tool")).help(format!(
                "a name is a letter, then up to {letters} letters, digits, `_` or `-`"
            )));
        }
        if let Some((other, _)) = names.iter().find(|(_, taken)| *taken == name) {
            let message = format!("`{other}` and `{own}` would both be named `{name}`");
            return Err(node.problem(message));
        }
        names.insert(own.to_owned(), name.to_owned());
    }
    Ok(names)
}
