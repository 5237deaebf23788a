//! Ollama: `POST /api/chat`. Calls and results may have no ids: they are joined by name and order.

use serde_json::Value;

use super::draft::{Draft, role_and_content};
use super::error::RequestError;
use super::fields::Fields;
use super::history::GivenResult;
use super::note::NoteCode;
use super::{ROOT, calls, parts};
use crate::conversation::MessagePart;

const ROLES: &str = "system, user, assistant or tool";

pub(super) fn read(body: &mut Fields<'_>) -> Result<Draft, RequestError> {
    // Replies are streamed unless the client says otherwise.
    let mut draft = Draft { stream: true, ..Draft::default() };
    draft.read_shared(body)?;
    if let Some(options) = body.take("options") {
        let path = ROOT.key("options");
        let mut options = Fields::of(options, &path)?;
        draft.read_sampling(&mut options)?;
        draft.sampling.stop = options.stops("stop")?;
        draft.sampling.output_tokens_max = output_tokens(&mut options)?;
        options.ignore_rest(&mut draft.notes);
    }
    // No messages is how a client has a model loaded.
    if let Some(items) = body.list("messages")?.filter(|items| !items.is_empty()) {
        draft.read_each(Some(items), "messages", read_message)?;
    }
    Ok(draft)
}

/// `num_predict`, where -1 and -2 stand for no limit.
fn output_tokens(options: &mut Fields<'_>) -> Result<Option<u64>, RequestError> {
    if options.peek_number("num_predict").is_some_and(|number| number < 0.0) {
        options.take("num_predict");
        return Ok(None);
    }
    options.tokens("num_predict")
}

fn read_message(draft: &mut Draft, mut message: Fields<'_>) -> Result<(), RequestError> {
    let path = message.path();
    let (role, content) = role_and_content(&mut message, ROLES)?;
    let content_path = path.key("content");
    let images = message.list("images")?.unwrap_or_default();
    if !images.is_empty() && !matches!(role.as_str(), "user" | "tool") {
        draft.notes.add(NoteCode::PartDropped, &path.key("images"), "image");
    }
    match role.as_str() {
        "system" | "developer" => draft.read_system(content, &content_path),
        "user" => {
            let mut parts = parts::shown(content, &content_path, &mut draft.notes)?;
            parts.extend(images.into_iter().map(MessagePart::Opaque));
            draft.history.user(parts, path, &mut draft.notes);
            Ok(())
        }
        "assistant" => read_assistant(draft, message, content),
        "tool" => {
            let id = message.id("tool_call_id")?;
            let older_name = message.string("name")?;
            let name = message.string("tool_name")?.or(older_name);
            let shown = images.into_iter().map(MessagePart::Opaque).collect();
            let result = GivenResult { id, name, content: shown, is_error: false };
            draft.read_result(result, content, &content_path, path)
        }
        other => Err(RequestError::unknown(&path.key("role"), other, ROLES)),
    }
}

fn read_assistant(
    draft: &mut Draft,
    mut message: Fields<'_>,
    content: Option<Value>,
) -> Result<(), RequestError> {
    let path = message.path();
    parts::drop_thoughts(&mut message, &["thinking"], &mut draft.notes);
    let text = draft.read_said(content, path)?;
    let calls = calls::read(&mut message)?;
    draft.history.assistant(text, calls, path, &mut draft.notes);
    Ok(())
}

#[cfg(test)]
mod tests;
