//! `tool_choice`, in every shape that the APIs and their clients know.

use serde_json::Value;

use super::error::{RequestCode, RequestError};
use super::fields::Fields;
use super::limits::{TOOLS_MAX, check_count};
use super::note::Notes;
use super::path::Path;
use super::tools::RequestTools;
use crate::conversation::ToolChoice;

/// What a choice may be, for errors.
const WANTED: &str = "\"auto\", \"none\", \"required\", \
                      {\"type\": \"function\", \"function\": {\"name\": …}} or \
                      {\"type\": \"tool\", \"name\": …}";

/// A choice as it is written, before anyone knows the tools.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Chosen {
    pub(super) choice: ToolChoice,
    /// The only tools that may be called, where they are limited.
    pub(super) allowed: Option<Vec<String>>,
    /// Whether several calls in one turn are welcome, where the choice says it.
    pub(super) parallel: Option<bool>,
}

/// Reads a `tool_choice` in the form of any API.
pub(super) fn read(value: Option<Value>, path: &Path<'_>) -> Result<Chosen, RequestError> {
    match value {
        None => Ok(Chosen::default()),
        Some(Value::String(word)) => match plain(&word) {
            Some(choice) => Ok(Chosen { choice, ..Chosen::default() }),
            None => Err(RequestError::unknown(path, &word, WANTED)),
        },
        Some(value @ Value::Object(_)) => of_fields(Fields::of(value, path)?),
        Some(other) => Err(RequestError::kind(path, WANTED, &other)),
    }
}

/// Holds a choice to the tools that there are, and narrows the tools to those that are allowed.
pub(super) fn settle(
    chosen: Chosen,
    tools: &mut RequestTools,
    path: &Path<'_>,
    notes: &mut Notes,
) -> Result<ToolChoice, RequestError> {
    if let Some(allowed) = &chosen.allowed {
        if let Some(name) = allowed.iter().find(|name| !tools.has(name)) {
            return Err(tools.unknown(name, path));
        }
        tools.narrow(allowed, path, notes);
    }
    match &chosen.choice {
        ToolChoice::Tool(name) if !tools.has(name) => Err(tools.unknown(name, path)),
        ToolChoice::Any if tools.list.is_empty() => {
            let rest =
                "asks for a call, but there is no tool to call: add `tools`, or leave it out";
            Err(RequestError::at(RequestCode::InvalidValue, path, rest))
        }
        _ => Ok(chosen.choice),
    }
}

fn plain(word: &str) -> Option<ToolChoice> {
    match word {
        "auto" => Some(ToolChoice::Auto),
        "none" => Some(ToolChoice::None),
        "required" | "any" => Some(ToolChoice::Any),
        _ => None,
    }
}

fn of_fields(mut fields: Fields<'_>) -> Result<Chosen, RequestError> {
    let path = fields.path();
    let parallel = fields.flag("disable_parallel_tool_use")?.map(|is_disabled| !is_disabled);
    let kind = fields.string("type")?;
    let kind = match &kind {
        Some(kind) => kind.as_str(),
        // Older clients leave the type out.
        None if fields.has("function") || fields.has("name") => "function",
        None => return Err(RequestError::missing(&path.key("type"), WANTED)),
    };
    if let Some(choice) = plain(kind) {
        return Ok(Chosen { choice, allowed: None, parallel });
    }
    match kind {
        "function" | "custom" | "tool" => {
            let choice = ToolChoice::Tool(tool_name(&mut fields)?);
            Ok(Chosen { choice, allowed: None, parallel })
        }
        "allowed_tools" => {
            let chosen = match fields.take("allowed_tools") {
                Some(inner) => allowed(Fields::of(inner, &path.key("allowed_tools"))?),
                None => allowed(fields),
            }?;
            Ok(Chosen { parallel, ..chosen })
        }
        other => Err(RequestError::unknown(path, other, WANTED)),
    }
}

/// The name of a tool, beside the type or one level deeper.
fn tool_name(fields: &mut Fields<'_>) -> Result<String, RequestError> {
    for key in ["function", "custom"] {
        if let Some(inner) = fields.take(key) {
            return Fields::of(inner, &fields.path().key(key))?.name("name");
        }
    }
    let name = fields.name("name")?;
    Ok(fields.namespaced(&name)?.map_or(name, |namespaced| namespaced.flat()))
}

fn allowed(mut fields: Fields<'_>) -> Result<Chosen, RequestError> {
    let path = fields.path();
    let mode = fields.string("mode")?;
    let mode = mode.as_deref().unwrap_or("auto");
    let Some(choice) = plain(mode) else {
        return Err(RequestError::unknown(&path.key("mode"), mode, WANTED));
    };
    let path = path.key("tools");
    let items = fields.list("tools")?.unwrap_or_default();
    if items.is_empty() {
        return Err(RequestError::missing(&path, "an array of tools that may be called"));
    }
    check_count(items.len(), TOOLS_MAX, &path, "tools")?;
    let names = items.into_iter().enumerate().map(|(index, item)| {
        let path = path.item(index);
        tool_name(&mut Fields::of(item, &path)?)
    });
    let allowed = Some(names.collect::<Result<_, _>>()?);
    Ok(Chosen { choice, allowed, parallel: None })
}

#[cfg(test)]
mod tests;
