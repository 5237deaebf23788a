//! `find_tools`: the tools that a set does not list, by name and purpose; the schema of one on demand.
//!
//! It is no tool of the catalog: it lists what this front leaves out, and does nothing else.

use std::sync::Arc;

use moss_sdk::deceptive::escaped;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::fault::CallFault;
use crate::reply;
use crate::set::ToolSet;
use crate::tool_search;

/// The name that clients call it by.
pub(crate) const NAME: &str = "find_tools";
/// Most of a name that a message shows.
const SHOWN_CHARS_MAX: usize = 100;
/// Most tools that one search returns.
const FOUND_MAX: usize = 50;
/// What to do where a query finds little.
const OF_ALL: &str = "without `query` all are returned that tools/list does not have";

/// Describes the tool to clients as the catalog describes others.
pub(crate) fn definition() -> Tool {
    let description = "Finds tools of moss that are not listed here: all, or those that have most words \
                       of `query` in name and purpose, the best first; with `name`, the schema of that \
                       tool. It is then called by its name, as any other.";
    let input = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "Words for what it does." },
            "name": { "type": "string", "description": "The tool whose schema is wanted." },
        },
        "additionalProperties": false,
    });
    let output = json!({
        "type": "object",
        "properties": {
            "tools": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": { "type": "string" },
                        "title": { "type": "string" },
                        "description": { "type": "string" },
                        "inputSchema": { "type": "object" },
                    },
                    "required": ["name"],
                },
            },
            "omitted": { "type": "integer", "description": "How many more were found." },
            "note": { "type": "string" },
        },
        "required": ["tools", "omitted"],
    });
    let mut tool = Tool::new(NAME, description, object(input));
    tool.title = Some("Find tools".to_owned());
    tool.output_schema = Some(Arc::new(object(output)));
    tool.annotations = Some(ToolAnnotations::from_raw(
        Some("Find tools".to_owned()),
        Some(true),
        Some(false),
        Some(true),
        Some(false),
    ));
    tool
}

/// Carries a call of it out.
pub(crate) fn call(arguments_json: &str, tools: &[Tool], set: &ToolSet) -> CallToolResult {
    match found(arguments_json, tools, set) {
        Ok(found) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(found.to_string())]);
            result.structured_content = Some(found);
            result
        }
        Err(fault) => reply::of_fault(&fault),
    }
}

/// A name that a client sent, as a message has it.
fn shown(name: &str) -> String {
    escaped(&name.chars().take(SHOWN_CHARS_MAX).collect::<String>())
}

fn found(arguments_json: &str, tools: &[Tool], set: &ToolSet) -> Result<Value, CallFault> {
    let invalid = |message: String| CallFault::new("arguments_invalid", message);
    let arguments: JsonObject = serde_json::from_str(arguments_json)
        .map_err(|error| invalid(format!("the arguments are not an object: {error}")))?;
    let mut texts = [None, None];
    for (key, value) in &arguments {
        let place = match key.as_str() {
            "query" => &mut texts[0],
            "name" => &mut texts[1],
            other => {
                return Err(invalid(format!(
                    "there is no parameter `{}`: give query or name",
                    shown(other)
                )));
            }
        };
        *place = match value {
            Value::Null => None,
            Value::String(text) => Some(text.as_str()),
            _ => return Err(invalid(format!("/{key}: expected a text"))),
        };
    }
    let [query, name] = texts;
    if let Some(name) = name {
        let tool = tools.iter().find(|tool| tool.name == name).ok_or_else(|| {
            CallFault::new("not_found", format!("there is no tool `{}`", shown(name)))
                .hint("call find_tools without arguments for the names of all")
        })?;
        return Ok(json!({ "tools": [tool], "omitted": 0 }));
    }
    let words = tool_search::words_of(query.unwrap_or_default());
    if words.is_empty() {
        let unlisted: Vec<&Tool> = tools.iter().filter(|tool| !set.lists(tool)).collect();
        return Ok(lines(&unlisted));
    }
    // What is listed is known already; a search may mean it all the same.
    let fitting = tool_search::fitting(tools, &words);
    let mut found = lines(&fitting.tools);
    if fitting.words_found == 0 {
        found["note"] = format!("no tool has any of these words: {OF_ALL}").into();
    } else if fitting.words_found * 2 <= words.len() {
        found["note"] = format!("no tool has most of these words: {OF_ALL}").into();
    }
    Ok(found)
}

/// The tools as results have them, as far as one has room for them.
fn lines(tools: &[&Tool]) -> Value {
    let shown: Vec<Value> = tools.iter().take(FOUND_MAX).map(|tool| line(tool)).collect();
    json!({ "tools": shown, "omitted": tools.len().saturating_sub(FOUND_MAX) })
}

/// A tool in one line: its name and the first sentence of what it does.
fn line(tool: &Tool) -> Value {
    let description = tool.description.as_deref().unwrap_or_default();
    let first = description.split_once(". ").map_or(description, |(first, _)| first);
    let first = first.lines().next().unwrap_or_default();
    json!({ "name": tool.name, "description": first })
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => unreachable!("schemas are objects"),
    }
}
