//! What a model is asked for a case of an evaluation set, and what it responded, in the form of
//! OpenAI's Chat Completions: most servers of models speak it.

use std::sync::Arc;

use moss_model_bridge::{
    Api, ChatMessage, Conversation, Language, MessagePart, PromptDetail, PromptRequest, Registry,
    ReplyPurpose, Sampling, ToolChoice, normalize, profile, project, render_prompt,
};
use serde_json::{Map, Value, json};

use crate::evaluate::{EvaluationCase, registry_of};
use crate::finding::shown;

/// How a model is asked.
#[derive(Debug, Clone, Copy)]
pub struct QuestionOptions<'a> {
    /// The name by which its server knows it.
    pub model: &'a str,
    /// Whether it gets the tools as its API has them; otherwise its system prompt says how
    /// to call them in text.
    pub native: bool,
    /// The language of that prompt.
    pub language: Language,
}

/// A case that has no response yet.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenCase {
    /// What the case is called by.
    pub id: String,
    /// The body of the request.
    pub body: Value,
}

/// Makes the request for a case: a line of an evaluation set. None for a line that is blank or has
/// its response.
///
/// # Errors
///
/// Where the line is no case, its tools cannot be used or its messages are none of the API.
pub fn question(
    line: &str,
    registry: &Arc<Registry>,
    asking: &QuestionOptions<'_>,
) -> Result<Option<OpenCase>, String> {
    let line = line.trim_start_matches('\u{feff}').trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    let case: EvaluationCase = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if case.answer.is_some() {
        return Ok(None);
    }
    let registry = match case.tools {
        None => Arc::clone(registry),
        Some(tools) => Arc::new(registry_of(tools).map_err(|error| error.to_string())?),
    };
    let messages: Vec<Value> = case.messages.into_iter().map(message).collect();
    let read = json!({ "model": asking.model, "messages": messages, "tools": tools(&registry) });
    let conversation =
        normalize(Api::OpenAiChat, read).map_err(|error| error.to_string())?.conversation;
    let sampling = profile(asking.model).applied_to(&conversation.sampling);
    let mut body = Map::from_iter([("model".to_owned(), asking.model.into())]);
    if asking.native {
        body.insert("messages".to_owned(), messages.into());
        if registry.tools().len() > 0 {
            body.insert("tools".to_owned(), tools(&registry));
        }
    } else {
        body.insert("messages".to_owned(), messages_of(&conversation, &registry, asking.language));
        if !sampling.stop.is_empty() {
            body.insert("stop".to_owned(), sampling.stop.clone().into());
        }
    }
    settings(&sampling, &mut body);
    Ok(Some(OpenCase { id: case.id, body: body.into() }))
}

/// Takes the reply out of a response, as an evaluation set has it under `answer`.
///
/// # Errors
///
/// Where it is no response of the API.
pub fn reply(response: &Value) -> Result<Value, String> {
    let choice = response.pointer("/choices/0").unwrap_or(&Value::Null);
    let Some(message) = choice.get("message").and_then(Value::as_object) else {
        let said = response.pointer("/error/message").and_then(Value::as_str);
        return Err(match said {
            Some(said) => format!("the response is an error: {}", shown(said)),
            None => "the response has no choices[0].message".to_owned(),
        });
    };
    let finish = choice.get("finish_reason").and_then(Value::as_str);
    let finish = finish.filter(|finish| matches!(*finish, "length" | "content_filter"));
    let mut reply = Map::new();
    reply.insert("content".to_owned(), message.get("content").cloned().unwrap_or_default());
    if let Some(calls) = message.get("tool_calls").filter(|calls| calls.is_array()) {
        reply.insert("tool_calls".to_owned(), calls.clone());
    }
    reply.insert("finish".to_owned(), finish.unwrap_or("stop").into());
    Ok(reply.into())
}

/// A message as the API has it: samples write calls as `{id, name, arguments}`.
fn message(mut message: Value) -> Value {
    let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
    for call in calls.into_iter().flatten().filter(|call| call.get("function").is_none()) {
        let arguments = match call.get("arguments") {
            Some(Value::String(json)) => json.clone(),
            Some(arguments) => arguments.to_string(),
            None => "{}".to_owned(),
        };
        let function = json!({ "name": call.get("name"), "arguments": arguments });
        *call = json!({ "id": call.get("id"), "type": "function", "function": function });
    }
    message
}

fn tools(registry: &Registry) -> Value {
    let tools = registry.tools().map(|tool| {
        let tool = tool.definition();
        json!({ "type": "function", "function": {
            "name": tool.name, "description": tool.description, "parameters": tool.parameters } })
    });
    tools.collect()
}

/// What is said to a model that knows no tools.
fn messages_of(conversation: &Conversation, registry: &Registry, language: Language) -> Value {
    let contract = render_prompt(&PromptRequest {
        registry,
        choice: &ToolChoice::Auto,
        parallel: true,
        language,
        form: PromptDetail::Short,
        own: "",
        step: ReplyPurpose::Act,
    });
    project(conversation, &contract, language).into_iter().map(said).collect()
}

fn said(message: ChatMessage) -> Value {
    let texts: Option<Vec<&str>> = message
        .content
        .iter()
        .map(|part| match part {
            MessagePart::Text(text) => Some(text.as_str()),
            MessagePart::Opaque(_) => None,
        })
        .collect();
    let content = match texts {
        Some(texts) => Value::from(texts.concat()),
        None => message
            .content
            .into_iter()
            .map(|part| match part {
                MessagePart::Text(text) => json!({ "type": "text", "text": text }),
                MessagePart::Opaque(part) => part,
            })
            .collect(),
    };
    json!({ "role": message.role, "content": content })
}

fn settings(sampling: &Sampling, body: &mut Map<String, Value>) {
    if let Some(temperature) = sampling.temperature {
        body.insert("temperature".to_owned(), temperature.into());
    }
}

#[cfg(test)]
mod tests;
