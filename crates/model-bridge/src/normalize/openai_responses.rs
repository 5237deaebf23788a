//! OpenAI Responses: `POST /v1/responses`. Nothing is stored, so what refers to an earlier response
//! is refused.

use serde_json::Value;

use super::draft::{Draft, role_and_content};
use super::error::{RequestCode, RequestError};
use super::fields::Fields;
use super::history::{ConversationHistory, GivenResult};
use super::note::NoteCode;
use super::{ROOT, calls};

const ROLES: &str = "system, developer, user or assistant";
/// Fields that need what an earlier request left behind, and what to write instead.
const STATEFUL: [(&str, &str); 4] = [
    ("previous_response_id", "refers to a response, and none is kept: repeat its items in `input`"),
    ("conversation", "refers to a conversation, and none is kept: repeat its items in `input`"),
    ("prompt", "refers to a stored prompt, and none is kept: write it as `instructions`"),
    ("background", "is asked for, and nothing is kept: wait for the reply, or stream it"),
];

pub(super) fn read(body: &mut Fields<'_>) -> Result<Draft, RequestError> {
    let mut draft = Draft { history: ConversationHistory::itemized(), ..Draft::default() };
    draft.read_head(body)?;
    draft.sampling.output_tokens_max = body.tokens("max_output_tokens")?;
    draft.parallel = body.flag("parallel_tool_calls")?;
    for (key, rest) in STATEFUL {
        body.refuse(key, rest)?;
    }
    draft.read_system(body.take("instructions"), &ROOT.key("instructions"))?;
    read_input(&mut draft, body.take("input"))?;
    Ok(draft)
}

fn read_input(draft: &mut Draft, input: Option<Value>) -> Result<(), RequestError> {
    let path = ROOT.key("input");
    let items = match input {
        Some(text @ Value::String(_)) => return draft.read_user(Some(text), &path),
        Some(Value::Array(items)) => Some(items),
        None => None,
        Some(other) => return Err(RequestError::kind(&path, "a string or an array", &other)),
    };
    draft.read_each(items, "input", read_item)
}

fn read_item(draft: &mut Draft, mut item: Fields<'_>) -> Result<(), RequestError> {
    let path = item.path();
    let kind = item.string("type")?;
    // Clients leave the type of messages out.
    let kind = kind.as_deref().unwrap_or(if item.has("role") { "message" } else { "" });
    match kind {
        "message" => return read_message(draft, item),
        "function_call" | "custom_tool_call" => {
            let own_id = item.id("id")?;
            let id = item.id("call_id")?.or(own_id);
            let call = calls::flat(&mut item, id)?;
            draft.history.assistant(String::new(), vec![call], path, &mut draft.notes);
        }
        "function_call_output" | "custom_tool_call_output" => {
            let id = item.id("call_id")?;
            let result = GivenResult { id, ..GivenResult::default() };
            return draft.read_result(result, item.take("output"), &path.key("output"), path);
        }
        "reasoning" => draft.notes.add(NoteCode::ThinkingDropped, path, ""),
        "item_reference" => {
            let rest = "refers to an item, and none is kept: write the item itself";
            return Err(RequestError::at(RequestCode::Unsupported, path, rest));
        }
        "" => {
            let wanted = "message, function_call or function_call_output";
            return Err(RequestError::missing(&path.key("type"), wanted));
        }
        other => draft.notes.add(NoteCode::ItemDropped, path, other),
    }
    Ok(())
}

fn read_message(draft: &mut Draft, mut message: Fields<'_>) -> Result<(), RequestError> {
    let path = message.path();
    let (role, content) = role_and_content(&mut message, ROLES)?;
    match role.as_str() {
        "system" | "developer" => draft.read_system(content, &path.key("content")),
        "user" => draft.read_user(content, path),
        "assistant" => {
            let text = draft.read_said(content, path)?;
            draft.history.assistant(text, Vec::new(), path, &mut draft.notes);
            Ok(())
        }
        other => Err(RequestError::unknown(&path.key("role"), other, ROLES)),
    }
}

#[cfg(test)]
mod tests;
