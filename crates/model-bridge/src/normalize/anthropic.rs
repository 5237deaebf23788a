//! Anthropic Messages: `POST /v1/messages`.

use serde_json::Value;

use super::ROOT;
use super::arguments;
use super::draft::{Draft, role_and_content};
use super::error::RequestError;
use super::fields::Fields;
use super::history::{GivenCall, GivenResult};
use super::parts::{self, Joined, PartKind};
use super::path::Path;

const ROLES: &str = "user, assistant or system";

pub(super) fn read(body: &mut Fields<'_>) -> Result<Draft, RequestError> {
    let mut draft = Draft::default();
    draft.read_head(body)?;
    draft.sampling.output_tokens_max = body.tokens("max_tokens")?;
    draft.sampling.stop = body.stops("stop_sequences")?;
    draft.read_system(body.take("system"), &ROOT.key("system"))?;
    draft.read_each(body.list("messages")?, "messages", read_message)?;
    Ok(draft)
}

fn read_message(draft: &mut Draft, mut message: Fields<'_>) -> Result<(), RequestError> {
    let path = message.path();
    let (role, content) = role_and_content(&mut message, ROLES)?;
    match role.as_str() {
        "system" => draft.read_system(content, &path.key("content")),
        "user" => read_user(draft, content, path),
        "assistant" => read_assistant(draft, content, path),
        other => Err(RequestError::unknown(&path.key("role"), other, ROLES)),
    }
}

/// Results come before what the user says in the same turn, wherever they stand.
fn read_user(
    draft: &mut Draft,
    content: Option<Value>,
    path: &Path<'_>,
) -> Result<(), RequestError> {
    let content_path = path.key("content");
    let (mut shown, mut results) = (Vec::new(), 0);
    for (piece, path) in parts::pieces(content, &content_path)? {
        match piece {
            PartKind::Other { kind, value } if kind == "tool_result" => {
                read_result(draft, Fields::of(value, &path)?)?;
                results += 1;
            }
            other => shown.extend(parts::part(other, &path, &mut draft.notes)),
        }
    }
    if results == 0 || !shown.is_empty() {
        draft.history.user(shown, path, &mut draft.notes);
    }
    Ok(())
}

fn read_result(draft: &mut Draft, mut block: Fields<'_>) -> Result<(), RequestError> {
    let path = block.path();
    let id = block.id("tool_use_id")?;
    let is_error = block.flag("is_error")?.unwrap_or_default();
    let result = GivenResult { id, is_error, ..GivenResult::default() };
    draft.read_result(result, block.take("content"), &path.key("content"), path)
}

fn read_assistant(
    draft: &mut Draft,
    content: Option<Value>,
    path: &Path<'_>,
) -> Result<(), RequestError> {
    let content_path = path.key("content");
    let (mut said, mut calls) = (Joined::default(), Vec::new());
    for (piece, path) in parts::pieces(content, &content_path)? {
        match piece {
            PartKind::Other { kind, value } if kind == "tool_use" => {
                calls.push(read_call(Fields::of(value, &path)?)?);
                said.part();
            }
            other => said.add(other, &path, &mut draft.notes),
        }
    }
    draft.history.assistant(said.into_text(), calls, path, &mut draft.notes);
    Ok(())
}

fn read_call(mut block: Fields<'_>) -> Result<GivenCall, RequestError> {
    let id = block.id("id")?;
    let name = block.name("name")?;
    let arguments = arguments::read(block.take("input"));
    Ok(GivenCall { id, name, namespaced: None, arguments, is_free_form: false })
}

#[cfg(test)]
mod tests;
