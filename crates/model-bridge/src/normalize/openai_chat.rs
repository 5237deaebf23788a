//! OpenAI Chat Completions: `POST /v1/chat/completions`.

use serde_json::Value;

use super::draft::{Draft, role_and_content, unknown_role};
use super::error::{RequestCode, RequestError};
use super::fields::Fields;
use super::history::GivenResult;
use super::note::NoteCode;
use super::{ROOT, calls, parts};

const ROLES: &str = "system, developer, user, assistant or tool";
/// Fields of turns in which models of several makers think.
const THOUGHTS: [&str; 4] = ["reasoning", "reasoning_content", "reasoning_details", "thinking"];

pub(super) fn read(mut body: Fields<'_>) -> Result<Draft, RequestError> {
    let mut draft = Draft::default();
    draft.read_shared(&mut body)?;
    draft.read_choice(&mut body)?;
    draft.read_sampling(&mut body)?;
    let older = body.tokens("max_tokens")?;
    draft.sampling.output_tokens_max = body.tokens("max_completion_tokens")?.or(older);
    draft.sampling.stop = body.stops("stop")?;
    draft.parallel = body.flag("parallel_tool_calls")?;
    if let Some(options) = body.take("stream_options") {
        let path = ROOT.key("stream_options");
        let usage = Fields::of(options, &path)?.flag("include_usage")?;
        draft.stream_usage = usage.unwrap_or_default();
    }
    if body.tokens("n")?.is_some_and(|count| count > 1) {
        let rest = "is more than 1: one reply is written; ask again for another";
        return Err(RequestError::at(RequestCode::Unsupported, &ROOT.key("n"), rest));
    }
    body.refuse("functions", "is of an older API: write `tools` and `tool_choice`")?;
    draft.read_each(body.list("messages")?, "messages", read_message)?;
    body.ignore_rest(&mut draft.notes);
    Ok(draft)
}

fn read_message(draft: &mut Draft, mut message: Fields<'_>) -> Result<(), RequestError> {
    let path = message.path();
    let (role, content) = role_and_content(&mut message, ROLES)?;
    match role.as_str() {
        "system" | "developer" => return draft.read_system(content, &path.key("content")),
        "user" => return draft.read_user(content, path),
        "assistant" => return read_assistant(draft, message, content),
        "tool" | "function" => {
            let id = message.id("tool_call_id")?;
            let name = message.string("name")?;
            let content = parts::output(content, &path.key("content"), &mut draft.notes)?;
            let result = GivenResult { id, name, content, is_error: false };
            draft.history.result(result, path, &mut draft.notes);
        }
        other => return Err(unknown_role(other, path, ROLES)),
    }
    Ok(())
}

fn read_assistant(
    draft: &mut Draft,
    mut message: Fields<'_>,
    content: Option<Value>,
) -> Result<(), RequestError> {
    let path = message.path();
    parts::drop_thoughts(&mut message, &THOUGHTS, &mut draft.notes);
    let mut text = parts::said(content, &path.key("content"), &mut draft.notes)?;
    if let Some(refusal) = message.string("refusal")?.filter(|_| text.is_empty()) {
        text = refusal;
    }
    if message.take("audio").is_some() {
        draft.notes.add(NoteCode::PartDropped, &path.key("audio"), "audio");
    }
    let mut calls = calls::read(message.list("tool_calls")?, &path.key("tool_calls"))?;
    if let Some(call) = message.take("function_call") {
        let path = path.key("function_call");
        calls.push(calls::flat(&mut Fields::of(call, &path)?, None)?);
    }
    draft.history.assistant(text, calls, path, &mut draft.notes);
    Ok(())
}

#[cfg(test)]
mod tests;
