//! `find_tools`: the tools that a set does not list, by name and purpose; the schema of one on demand, and a
//! call of it: clients give a model the tools that are listed, and no others.
//!
//! It is no tool of the catalog: policy and journal know the tool that is called through it.

use std::collections::BTreeMap;
use std::sync::Arc;

use moss_sdk::deceptive::escaped;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::fault::CallFault;
use crate::set::ToolSet;
use crate::tool_search;

/// The name that clients call it by.
pub(crate) const NAME: &str = "find_tools";
/// Most of a name that a message shows.
const SHOWN_CHARS_MAX: usize = 100;
/// Most tools that one search returns.
const FOUND_MAX: usize = 50;
/// What a call of it may give.
const GIVE: &str = "give query, or name, or name and arguments";
/// What to do where a query finds little.
const OF_ALL: &str = "without `query` all are returned that tools/list does not have";

/// What a call of it comes to.
pub(crate) enum FoundTools {
    /// Tools, as its result has them.
    Shown(Value),
    /// A call of another tool: its name, and its arguments as they came.
    Called(String, String),
}

/// Describes the tool to clients as the catalog describes others.
pub(crate) fn definition() -> Tool {
    let description = "Finds tools of moss that are not listed here: all, or those that have most words \
                       of `query` in name and purpose, the best first; with `name`, the schema of that \
                       tool; with `name` and `arguments`, calls it and returns its result.";
    let input = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "Words for what it does." },
            "name": { "type": "string", "description": "The tool that is wanted." },
            "arguments": { "type": "object", "description": "Calls it with these." },
        },
        "additionalProperties": false,
    });
    // No member has a type: the result of a tool that is called is its own.
    let output = json!({
        "type": "object",
        "properties": {
            "tools": { "description": "The tools that were found." },
            "omitted": { "description": "How many more were found." },
        },
    });
    let mut tool = Tool::new(NAME, description, object(input));
    tool.title = Some("Find tools".to_owned());
    tool.output_schema = Some(Arc::new(object(output)));
    tool.annotations = Some(ToolAnnotations::from_raw(
        Some("Find tools".to_owned()),
        // Those of all that may be called through it.
        Some(false),
        Some(true),
        Some(false),
        Some(true),
    ));
    tool
}

/// The result that shows what was found.
pub(crate) fn result(found: Value) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(found.to_string())]);
    result.structured_content = Some(found);
    result
}

/// A name that a client sent, as a message has it.
fn shown(name: &str) -> String {
    escaped(&name.chars().take(SHOWN_CHARS_MAX).collect::<String>())
}

/// Reads what a call of it wants.
///
/// # Errors
///
/// Where its arguments do not fit, or no tool has the name.
pub(crate) fn found(
    arguments_json: &str,
    tools: &[Tool],
    set: &ToolSet,
) -> Result<FoundTools, CallFault> {
    let invalid = |message: String| CallFault::new("arguments_invalid", message);
    let given: BTreeMap<String, &RawValue> = serde_json::from_str(arguments_json)
        .map_err(|error| invalid(format!("the arguments are not an object: {error}; {GIVE}")))?;
    let (mut query, mut name, mut arguments) = (None, None, None);
    for (key, value) in given {
        let text = || {
            serde_json::from_str::<Option<String>>(value.get())
                .map_err(|_| invalid(format!("/{key}: expected a text")))
        };
        match key.as_str() {
            "query" => query = text()?,
            "name" => name = text()?,
            "arguments" => match value.get() {
                "null" => {}
                object if object.starts_with('{') => arguments = Some(object.to_owned()),
                _ => return Err(invalid("/arguments: expected an object".to_owned())),
            },
            other => {
                return Err(invalid(format!("there is no parameter `{}`: {GIVE}", shown(other))));
            }
        }
    }
    if let Some(name) = name {
        let tool = tools.iter().find(|tool| tool.name == name).ok_or_else(|| {
            CallFault::new("not_found", format!("there is no tool `{}`", shown(&name)))
                .hint("call find_tools without arguments for the names of all")
        })?;
        return Ok(match arguments {
            Some(arguments) => FoundTools::Called(name, arguments),
            None => FoundTools::Shown(json!({ "tools": [tool], "omitted": 0 })),
        });
    }
    if arguments.is_some() {
        return Err(invalid("/arguments are those of the tool in `name`: give it, too".to_owned()));
    }
    Ok(FoundTools::Shown(searched(&query.unwrap_or_default(), tools, set)))
}

/// The tools that a query finds; those that are not listed, where it has no words.
fn searched(query: &str, tools: &[Tool], set: &ToolSet) -> Value {
    let words = tool_search::words_of(query);
    if words.is_empty() {
        let unlisted: Vec<&Tool> = tools.iter().filter(|tool| !set.lists(tool)).collect();
        return lines(&unlisted);
    }
    // What is listed is known already; a search may mean it all the same.
    let fitting = tool_search::fitting(tools, &words);
    let mut found = lines(&fitting.tools);
    if fitting.words_found == 0 {
        found["note"] = format!("no tool has any of these words: {OF_ALL}").into();
    } else if fitting.words_found * 2 <= words.len() {
        found["note"] = format!("no tool has most of these words: {OF_ALL}").into();
    }
    found
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
