//! The tools of a request, in the forms of all APIs, and those that its history lets one infer.

mod infer;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value, json};

use super::error::{RequestCode, RequestError, shown};
use super::fields::Fields;
use super::history::HistoryCall;
use super::limits::{TOOLS_MAX, check_count};
use super::note::{NoteCode, Notes};
use super::path::Path;
use crate::call_form::{FREE_FORM_KEY, NamespacedName};
use crate::registry::ToolDefinition;

/// How many names of tools an error lists.
const NAMED_MAX: usize = 32;

/// The tools of a request.
#[derive(Debug, Default)]
pub(super) struct RequestTools {
    pub(super) list: Vec<ToolDefinition>,
    /// Those that take free text, by name.
    pub(super) free_form: BTreeSet<String>,
    /// Those of namespaces, by the name that a model gets.
    pub(super) namespaced: BTreeMap<String, NamespacedName>,
    places: HashMap<String, usize>,
    /// Those that only a provider can run: types and names.
    pub(super) dropped: BTreeSet<String>,
}

/// A tool of a list.
enum ToolListEntry {
    Tool {
        definition: ToolDefinition,
        is_free_form: bool,
    },
    /// Several under one name.
    Namespace {
        name: String,
        items: Vec<Value>,
    },
    /// One that only a provider can run.
    Provider {
        kind: String,
        name: Option<String>,
    },
}

/// Reads a list of tools.
pub(super) fn read(
    items: Vec<Value>,
    path: &Path<'_>,
    notes: &mut Notes,
) -> Result<RequestTools, RequestError> {
    let mut tools = RequestTools::default();
    for (index, item) in items.into_iter().enumerate() {
        let path = path.item(index);
        match entry(item, &path)? {
            ToolListEntry::Namespace { name, items } => {
                let path = path.key("tools");
                for (index, item) in items.into_iter().enumerate() {
                    let path = path.item(index);
                    tools.add(entry(item, &path)?, Some(&name), &path, notes)?;
                }
            }
            entry => tools.add(entry, None, &path, notes)?,
        }
    }
    check_count(tools.list.len(), TOOLS_MAX, path, "tools")?;
    Ok(tools)
}

/// The tools of a request that has none, but a history with calls: those that are remembered from an
/// earlier turn, and for calls of others what they look like.
pub(super) fn of_history<'a>(
    seen: impl Iterator<Item = HistoryCall<'a>>,
    remembered: &[ToolDefinition],
    notes: &mut Notes,
) -> RequestTools {
    let mut tools = RequestTools { list: remembered.to_vec(), ..RequestTools::default() };
    let path = Path::Root.key("tools");
    for tool in remembered {
        notes.add(NoteCode::ToolsRemembered, &path, &tool.name);
    }
    let inferred = infer::infer(seen, remembered);
    for tool in inferred {
        notes.add(NoteCode::ToolsInferred, &path, &tool.definition.name);
        if tool.is_free_form {
            tools.free_form.insert(tool.definition.name.clone());
        }
        tools.list.push(tool.definition);
    }
    tools
}

/// The parameters of a tool that takes free text.
fn free_form_parameters(format: Option<&str>) -> Value {
    let mut input = json!({ "type": "string" });
    if let Some(format) = format {
        input["description"] = format.into();
    }
    json!({
        "type": "object",
        "properties": { FREE_FORM_KEY: input },
        "required": [FREE_FORM_KEY],
        "additionalProperties": false,
    })
}

fn entry(item: Value, path: &Path<'_>) -> Result<ToolListEntry, RequestError> {
    let mut fields = Fields::of(item, path)?;
    if let Some(inner) = fields.take("function") {
        return function(Fields::of(inner, &path.key("function"))?);
    }
    if let Some(inner) = fields.take("custom") {
        return custom(Fields::of(inner, &path.key("custom"))?);
    }
    let has_schema = fields.has("input_schema") || fields.has("parameters");
    match fields.string("type")?.as_deref() {
        Some("namespace") if fields.has("tools") => {
            let name = fields.name("name")?;
            Ok(ToolListEntry::Namespace { name, items: fields.list("tools")?.unwrap_or_default() })
        }
        None | Some("function") => function(fields),
        Some("custom") if !has_schema => custom(fields),
        Some(_) if has_schema => function(fields),
        Some(kind) => {
            let kind = kind.to_owned();
            Ok(ToolListEntry::Provider { kind, name: fields.string("name").unwrap_or_default() })
        }
    }
}

fn function(mut fields: Fields<'_>) -> Result<ToolListEntry, RequestError> {
    let name = fields.name("name")?;
    let description = fields.string("description")?.unwrap_or_default();
    let key = if fields.has("input_schema") { "input_schema" } else { "parameters" };
    let parameters = match fields.take(key) {
        None => json!({ "type": "object", "properties": {} }),
        Some(Value::Object(schema)) => Value::Object(schema),
        Some(other) => {
            let path = fields.path().key(key);
            return Err(RequestError::kind(&path, "a JSON schema: an object", &other));
        }
    };
    let definition = ToolDefinition { name, description, parameters, ..Default::default() };
    Ok(ToolListEntry::Tool { definition, is_free_form: false })
}

fn custom(mut fields: Fields<'_>) -> Result<ToolListEntry, RequestError> {
    let name = fields.name("name")?;
    let description = fields.string("description")?.unwrap_or_default();
    let format = fields.take("format").and_then(|format| grammar(&format));
    let parameters = free_form_parameters(format.as_deref());
    let definition = ToolDefinition { name, description, parameters, ..Default::default() };
    Ok(ToolListEntry::Tool { definition, is_free_form: true })
}

/// The grammar that the text of a free-form tool follows: its kind and its rules. Chat Completions
/// have it one level deeper than Responses.
fn grammar(format: &Value) -> Option<String> {
    let grammar = format.get("grammar").unwrap_or(format);
    let rules = grammar.get("definition")?.as_str()?;
    let syntax = grammar.get("syntax").and_then(Value::as_str).unwrap_or("grammar");
    Some(format!("{syntax}: {rules}"))
}

// === impl RequestTools ===

impl RequestTools {
    fn add(
        &mut self,
        entry: ToolListEntry,
        namespace: Option<&str>,
        path: &Path<'_>,
        notes: &mut Notes,
    ) -> Result<(), RequestError> {
        let (mut definition, is_free_form) = match entry {
            ToolListEntry::Tool { definition, is_free_form } => (definition, is_free_form),
            ToolListEntry::Namespace { name, .. } => {
                notes.add(NoteCode::ToolDropped, path, &name);
                return Ok(());
            }
            ToolListEntry::Provider { kind, name } => {
                notes.add(NoteCode::ToolDropped, path, &kind);
                self.dropped.extend(name);
                self.dropped.insert(kind);
                return Ok(());
            }
        };
        if let Some(namespace) = namespace {
            let name = std::mem::take(&mut definition.name);
            let namespaced = NamespacedName { namespace: namespace.to_owned(), name };
            definition.name = namespaced.flat();
            self.namespaced.insert(definition.name.clone(), namespaced);
        }
        let name = &definition.name;
        match self.places.get(name) {
            Some(place) if self.list[*place] == definition => {
                notes.add(NoteCode::ToolRepeated, path, name);
                return Ok(());
            }
            Some(_) => {
                let rest = format!("is another tool called `{name}`: rename one of them");
                return Err(RequestError::at(RequestCode::InvalidValue, path, rest));
            }
            None => self.places.insert(name.clone(), self.list.len()),
        };
        if is_free_form {
            self.free_form.insert(name.clone());
        }
        self.list.push(definition);
        Ok(())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.list.iter().any(|tool| tool.name == name)
    }

    /// Keeps those that `is_kept` names.
    pub(super) fn narrow(&mut self, kept: &[String], path: &Path<'_>, notes: &mut Notes) {
        self.list.retain(|tool| {
            let is_kept = kept.contains(&tool.name);
            if !is_kept {
                notes.add(NoteCode::ToolsNarrowed, path, &tool.name);
            }
            is_kept
        });
        self.free_form.retain(|name| kept.contains(name));
        self.namespaced.retain(|name, _| kept.contains(name));
    }

    /// The error about a name that is no tool of the request.
    pub(super) fn unknown(&self, name: &str, path: &Path<'_>) -> RequestError {
        let shown = shown(name);
        if self.dropped.contains(name) {
            let rest = format!(
                "names `{shown}`, which only its provider can run: choose a function tool instead"
            );
            return RequestError::at(RequestCode::Unsupported, path, rest);
        }
        let rest = match self.list.len() {
            0 => format!("names `{shown}`, but the request has no tools: add it to `tools`"),
            count => {
                let names = self.list.iter().take(NAMED_MAX).map(|tool| tool.name.as_str());
                let names = names.collect::<Vec<_>>().join(", ");
                let more = match count.saturating_sub(NAMED_MAX) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!(
                    "names `{shown}`, which is no tool of the request: use one of {names}{more}"
                )
            }
        };
        RequestError::at(RequestCode::UnknownTool, path, rest)
    }
}

#[cfg(test)]
mod tests;
