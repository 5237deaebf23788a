//! The tools that a client sees, a page at a time.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CacheScope, ListToolsResult, MetaObject, PaginatedRequestParams, Tool};
use serde_json::{Map, Value};

use crate::backend::{BackendOpener, ToolBackend};
use crate::fault::CallFault;
use crate::find_tools;
use crate::set::ToolSet;

/// Most tools on a page. A client that never asks for a second page sees all that most people have.
const PAGE_MAX: usize = 100;
/// How long a client may keep a page, in milliseconds: a change is announced as well.
const TTL_MS: u64 = 60_000;

/// Under which key of `_meta` Claude Code finds how long a result of a tool may be before it puts it into a file.
const RESULT_SIZE_KEY: &str = "anthropic/maxResultSizeChars";
/// The most that it takes there.
const RESULT_CHARS_MAX: u32 = 500_000;
/// The tools that return as much as a call asks for, within bounds that are less than that.
const SIZED_BY_CALLS: [&str; 5] =
    ["read_file", "list_directory", "get_project_structure", "grep_search", "diff_history"];

/// Returns all tools of a backend.
pub(crate) async fn all(backend: &Arc<dyn ToolBackend>) -> Result<Vec<Tool>, CallFault> {
    Ok(backend.tools().await?.into_iter().filter_map(tool).collect())
}

/// Returns the tools that every workspace has.
pub(crate) fn native(opener: &dyn BackendOpener) -> Vec<Tool> {
    opener.native_tools().into_iter().filter_map(tool).collect()
}

/// Returns those of all tools that are visible in a set, in the order of the catalog.
pub(crate) fn visible(mut tools: Vec<Tool>, set: &ToolSet) -> Vec<Tool> {
    tools.retain(|tool| set.lists(tool));
    if set.has_more() {
        tools.push(find_tools::definition());
    }
    tools
}

/// Distinguishes a list of tools from others.
pub(crate) fn digest(tools: &[Tool]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    // Schemas are JSON, and hashing does not fail.
    if let Err(error) = serde_json::to_writer(&mut hasher, tools) {
        tracing::warn!(%error, "a list of tools has no digest");
    }
    hasher.finalize()
}

/// Takes a page out of the visible tools.
pub(crate) fn page(
    mut tools: Vec<Tool>,
    cursor: Option<&str>,
    has_hints: bool,
) -> Result<ListToolsResult, ErrorData> {
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let at = cursor.parse().ok().filter(|at| *at > 0 && *at < tools.len());
            at.ok_or_else(no_such_page)?
        }
    };
    let end = tools.len().min(start + PAGE_MAX);
    let next = (end < tools.len()).then(|| end.to_string());
    tools.truncate(end);
    let mut page = ListToolsResult::with_all_items(tools.split_off(start));
    page.next_cursor = next;
    if has_hints {
        page.ttl_ms = Some(TTL_MS);
        page.cache_scope = Some(CacheScope::Private);
    }
    Ok(page)
}

/// Refuses every page but the first of a list that has no other.
pub(crate) fn first_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(_) => Err(no_such_page()),
    }
}

/// Says that no page has this cursor.
pub(crate) fn no_such_page() -> ErrorData {
    ErrorData::invalid_params("there is no such page: leave `cursor` out for the first one", None)
}

/// Reads a definition of the catalog. One that the protocol cannot carry is left out.
fn tool(definition: Value) -> Option<Tool> {
    let name = definition.get("name").map(ToString::to_string).unwrap_or_default();
    let mut tool: Tool = serde_json::from_value(definition)
        .inspect_err(|error| tracing::warn!(%error, name, "a tool has no form of the protocol"))
        .ok()?;
    if SIZED_BY_CALLS.contains(&&*tool.name) {
        let meta = tool.meta.get_or_insert_with(|| MetaObject(Map::new()));
        meta.0.insert(RESULT_SIZE_KEY.to_owned(), RESULT_CHARS_MAX.into());
    }
    Some(tool)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tools(count: usize) -> Vec<Tool> {
        (0..count).map(|n| Tool::new(format!("t{n}"), "", serde_json::Map::new())).collect()
    }

    #[test]
    fn pages_follow_one_another_and_end() {
        let first = page(tools(PAGE_MAX + 3), None, true).unwrap();
        assert_eq!((first.tools.len(), first.ttl_ms), (PAGE_MAX, Some(TTL_MS)));
        let second = page(tools(PAGE_MAX + 3), first.next_cursor.as_deref(), false).unwrap();
        let names: Vec<_> = second.tools.iter().map(|tool| tool.name.to_string()).collect();
        assert_eq!(names, ["t100", "t101", "t102"]);
        assert_eq!((second.next_cursor, second.ttl_ms), (None, None));
    }

    #[test]
    fn a_tool_that_returns_as_much_as_asked_for_says_so_to_clients_that_bound_results() {
        for (name, size) in [("grep_search", Value::from(500_000)), ("clarify", Value::Null)] {
            let tool = tool(json!({ "name": name, "inputSchema": { "type": "object" } })).unwrap();
            let tool = serde_json::to_value(tool).unwrap();
            assert_eq!(tool["_meta"][RESULT_SIZE_KEY], size, "{tool}");
        }
    }

    #[test]
    fn a_cursor_that_was_never_given_is_refused() {
        for cursor in ["", "0", "3", "-1", "x", "99999999999999999999"] {
            let error = page(tools(3), Some(cursor), false).unwrap_err();
            assert!(error.message.contains("leave `cursor` out"), "{cursor}: {error:?}");
        }
    }
}
