//! Earlier calls as OpenAI and Ollama write them: `{id, function: {name, arguments}}`, flat, or of
//! a tool that takes free text.

use serde_json::Value;

use super::arguments;
use super::error::RequestError;
use super::fields::Fields;
use super::history::GivenCall;
use super::path::Path;
use crate::call_form::NamespacedName;

/// Reads the list `tool_calls` of a turn of the model.
pub(super) fn read(message: &mut Fields<'_>) -> Result<Vec<GivenCall>, RequestError> {
    let path = message.path().key("tool_calls");
    let items = message.list("tool_calls")?.unwrap_or_default().into_iter().enumerate();
    items.map(|(index, item)| call(item, &path.item(index))).collect()
}

/// Reads a call that is `{name, arguments}`, or `{name, input}` of a tool that takes free text, with
/// the id that was found around it.
pub(super) fn flat(fields: &mut Fields<'_>, id: Option<String>) -> Result<GivenCall, RequestError> {
    let name = fields.name("name")?;
    let is_free_form = fields.has("input") && !fields.has("arguments");
    let arguments = match is_free_form {
        true => arguments::free_form(fields.string("input")?.unwrap_or_default()),
        false => arguments::read(fields.take("arguments").or_else(|| fields.take("parameters"))),
    };
    let namespaced = fields.namespaced(&name)?;
    let name = namespaced.as_ref().map_or(name, NamespacedName::flat);
    Ok(GivenCall { id, name, namespaced, arguments, is_free_form })
}

fn call(item: Value, path: &Path<'_>) -> Result<GivenCall, RequestError> {
    let mut fields = Fields::of(item, path)?;
    let id = fields.id("id")?;
    for key in ["function", "custom"] {
        if let Some(inner) = fields.take(key) {
            return flat(&mut Fields::of(inner, &path.key(key))?, id);
        }
    }
    flat(&mut fields, id)
}
