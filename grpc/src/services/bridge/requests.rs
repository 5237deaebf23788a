//! Requests of the APIs of chat models, read, as messages.

use moss_model_bridge::{
    Api, Conversation, HistoryState, Message, MessagePart, Normalized, Note, RequestCode,
    RequestError, Sampling, ToolCall, ToolChoice, ToolDefinition, ToolResult, conversation_key,
    encode::{self, ReplyFailure},
    normalize_with,
};
use moss_proto::v1;
use moss_proto::v1::chat_part::Part as WirePart;
use moss_proto::v1::chat_turn::Turn;
use moss_proto::v1::tool_choice::Choice;
use serde_json::{Value, json};
use tonic::Status;

use super::super::error::invalid_field;
use super::tools;

/// Reads which API is meant.
pub(super) fn api(field: &str, api: i32) -> Result<Api, Status> {
    match v1::ChatApi::try_from(api) {
        Ok(v1::ChatApi::OpenaiChat) => Ok(Api::OpenAiChat),
        Ok(v1::ChatApi::OpenaiResponses) => Ok(Api::OpenAiResponses),
        Ok(v1::ChatApi::AnthropicMessages) => Ok(Api::AnthropicMessages),
        Ok(v1::ChatApi::Ollama) => Ok(Api::Ollama),
        Ok(v1::ChatApi::Unspecified) => Err(invalid_field(field, "missing")),
        Err(_) => Err(invalid_field(field, "no such value")),
    }
}

/// Says that a body cannot be read, as its API says it.
pub(super) fn refused(api: Api, error: RequestError) -> v1::RefusedRequest {
    let response = encode::error(api, &ReplyFailure::from(&error));
    v1::RefusedRequest {
        code: error.code.as_str().to_owned(),
        message: error.message,
        param: error.param.unwrap_or_default(),
        http_status: response.status.into(),
        body_json: response.body.to_string(),
    }
}

/// Reads the body of a request, with the tools that an earlier one of the conversation named.
pub(super) fn read(
    api: Api,
    body: &str,
    remembered: &[ToolDefinition],
) -> Result<v1::NormalizedRequest, RequestError> {
    let refusal = |code, message| RequestError { code, message, param: None };
    let body = serde_json::from_str(body).map_err(|error| {
        refusal(RequestCode::InvalidValue, format!("the body is no JSON that can be read: {error}"))
    })?;
    let mut read = normalize_with(api, body, remembered)?;
    let unusable = |why| {
        let about = Some("tools".to_owned());
        RequestError { param: about, ..refusal(RequestCode::TooLarge, format!("tools: {why}")) }
    };
    let offered = read.conversation.tools.clone();
    tools::check(&Value::from_iter(offered.into_iter().map(tool))).map_err(unusable)?;
    let compiled = read.registry().map_err(|error| unusable(error.to_string()))?;
    // Those whose schema cannot be compiled take any object: a note reports it.
    read.conversation.tools = compiled.tools().map(|tool| tool.definition().clone()).collect();
    Ok(normalized(read))
}

fn normalized(read: Normalized) -> v1::NormalizedRequest {
    let Normalized { conversation, free_form, namespaced, notes } = read;
    let state = state(conversation.state()).into();
    let conversation_key = format!("{:032x}", conversation_key(&conversation));
    let Conversation { model, tools, choice, parallel, messages, sampling, stream, stream_usage } =
        conversation;
    let tools: Vec<Value> = tools.into_iter().map(tool).collect();
    let namespaced = namespaced
        .into_iter()
        .map(|(name, own)| (name, v1::NamespacedTool { namespace: own.namespace, name: own.name }));
    v1::NormalizedRequest {
        model,
        tools_json: Value::from(tools).to_string(),
        choice: Some(v1::ToolChoice { choice: Some(chosen(choice)) }),
        single_call: !parallel,
        turns: messages.into_iter().map(turn).collect(),
        sampling: Some(sampled(sampling)),
        stream,
        stream_usage,
        state,
        notes: notes.into_iter().map(note).collect(),
        free_form_tools: free_form.into_iter().collect(),
        namespaced_tools: namespaced.collect(),
        conversation_key,
    }
}

fn tool(tool: ToolDefinition) -> Value {
    let ToolDefinition { name, title, description, parameters, aliases } = tool;
    let mut entry = json!({ "name": name, "description": description, "parameters": parameters });
    if !title.is_empty() {
        entry["title"] = json!(title);
    }
    if !aliases.is_empty() {
        entry["aliases"] = json!(aliases);
    }
    entry
}

fn chosen(choice: ToolChoice) -> Choice {
    match choice {
        ToolChoice::Auto => Choice::Auto(v1::ChoiceAuto {}),
        ToolChoice::None => Choice::None(v1::ChoiceNone {}),
        ToolChoice::Any => Choice::Any(v1::ChoiceAny {}),
        ToolChoice::Tool(name) => Choice::Tool(name),
    }
}

fn turn(message: Message) -> v1::ChatTurn {
    let turn = match message {
        Message::System(text) => Turn::System(text),
        Message::User(parts) => Turn::User(v1::ChatContent { parts: content(parts) }),
        Message::Assistant { text, calls } => {
            let calls = calls.into_iter().map(call).collect();
            Turn::Assistant(v1::ChatAssistant { text, calls })
        }
        Message::Result(ToolResult { call_id, name, content: parts, is_error }) => {
            let (name, parts) = (name.unwrap_or_default(), content(parts));
            Turn::Result(v1::ChatResult { call_id, name, parts, is_error })
        }
    };
    v1::ChatTurn { turn: Some(turn) }
}

fn content(parts: Vec<MessagePart>) -> Vec<v1::ChatPart> {
    let part = |part| match part {
        MessagePart::Text(text) => WirePart::Text(text),
        MessagePart::Opaque(value) => WirePart::OpaqueJson(value.to_string()),
    };
    parts.into_iter().map(|one| v1::ChatPart { part: Some(part(one)) }).collect()
}

fn call(call: ToolCall) -> v1::ChatCall {
    let ToolCall { id, name, arguments } = call;
    v1::ChatCall { id, name, arguments_json: Value::Object(arguments).to_string() }
}

fn sampled(sampling: Sampling) -> v1::ChatSampling {
    let Sampling { output_tokens_max, temperature, top_p, stop } = sampling;
    v1::ChatSampling { output_tokens_max, temperature, top_p, stop }
}

fn state(state: HistoryState) -> v1::ChatState {
    match state {
        HistoryState::AwaitingDecision => v1::ChatState::AwaitingDecision,
        HistoryState::CallIssued => v1::ChatState::CallIssued,
        HistoryState::AwaitingResult => v1::ChatState::AwaitingResult,
        HistoryState::ResultReceived => v1::ChatState::ResultReceived,
        HistoryState::Finished => v1::ChatState::Finished,
    }
}

fn note(note: Note) -> v1::RequestNote {
    let Note { code, path, detail, count } = note;
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    v1::RequestNote { code: code.as_str().to_owned(), path, detail, count }
}
