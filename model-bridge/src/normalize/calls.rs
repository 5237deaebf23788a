//! Earlier calls as OpenAI and Ollama write them: `{id, function: {name, arguments}}`, flat, or of
//! a tool that takes free text.

use serde_json::Value;

use super::arguments;
use super::error::RequestError;
use super::fields::Fields;
use super::history::GivenCall;
use super::path::Path;

/// Reads the list `tool_calls` of a turn of the model.
pub(super) fn read(
    items: Option<Vec<Value>>,
    path: &Path<'_>,
) -> Result<Vec<GivenCall>, RequestError> {
    let items = items.unwrap_or_default().into_iter().enumerate();
    items.map(|(index, item)| call(item, &path.item(index))).collect()
}

/// Reads a call that is `{name, arguments}`, with the id that was found around it.
pub(super) fn flat(fields: &mut Fields<'_>, id: Option<String>) -> Result<GivenCall, RequestError> {
    let name = fields.name("name")?;
    if fields.has("input") && !fields.has("arguments") {
        return free_form(fields, id, name);
    }
    let written = fields.take("arguments").or_else(|| fields.take("parameters"));
    Ok(GivenCall { id, name, arguments: arguments::read(written), is_free_form: false })
}

/// Reads the text of a call of a tool that takes free text.
pub(super) fn free_form(
    fields: &mut Fields<'_>,
    id: Option<String>,
    name: String,
) -> Result<GivenCall, RequestError> {
    let text = fields.string("input")?.unwrap_or_default();
    Ok(GivenCall { id, name, arguments: arguments::free_form(text), is_free_form: true })
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
