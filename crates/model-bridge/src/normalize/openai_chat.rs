//! OpenAI Chat Completions: `POST /v1/chat/completions`.

use serde_json::Value;

use super::draft::{Draft, role_and_content};
use super::error::{RequestCode, RequestError};
use super::fields::Fields;
use super::history::GivenResult;
use super::note::NoteCode;
use super::{ROOT, calls, parts};

const ROLES: &str = "system, developer, user, assistant or tool";
/// Fields of turns in which models of several makers think.
const THOUGHTS: [&str; 4] = ["reasoning", "reasoning_content", "reasoning_details", "thinking"];

pub(super) fn read(body: &mut Fields<'_>) -> Result<Draft, RequestError> {
    let mut draft = Draft::default();
    draft.read_head(body)?;
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
    Ok(draft)
}

fn read_message(draft: &mut Draft, mut message: Fields<'_>) -> Result<(), RequestError> {
    let path = message.path();
    let (role, content) = role_and_content(&mut message, ROLES)?;
    match role.as_str() {
        "system" | "developer" => draft.read_system(content, &path.key("content")),
        "user" => draft.read_user(content, path),
        "assistant" => read_assistant(draft, message, content),
        "tool" | "function" => {
            let id = message.id("tool_call_id")?;
            let name = message.string("name")?;
            let result = GivenResult { id, name, ..GivenResult::default() };
            draft.read_result(result, content, &path.key("content"), path)
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
    parts::drop_thoughts(&mut message, &THOUGHTS, &mut draft.notes);
    let mut text = draft.read_said(content, path)?;
    if let Some(refusal) = message.string("refusal")?.filter(|_| text.is_empty()) {
        text = refusal;
    }
    if message.take("audio").is_some() {
        draft.notes.add(NoteCode::PartDropped, &path.key("audio"), "audio");
    }
    let mut calls = calls::read(&mut message)?;
    if let Some(call) = message.take("function_call") {
        let path = path.key("function_call");
        calls.push(calls::flat(&mut Fields::of(call, &path)?, None)?);
    }
    draft.history.assistant(text, calls, path, &mut draft.notes);
    Ok(())
}

#[cfg(test)]
mod tests;
