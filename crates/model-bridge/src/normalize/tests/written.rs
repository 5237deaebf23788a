//! Conversations written as each API has them.

use serde_json::{Value, json};

use crate::api::Api;
use crate::conversation::{Message, MessagePart, ToolCall, ToolResult};

/// The body of a request with these messages, which have texts only, or in Chat Completions files,
/// too.
pub(in super::super) fn body(api: Api, messages: &[Message]) -> Value {
    match api {
        Api::OpenAiChat => json!({ "model": "m", "messages": each(messages, openai_chat) }),
        Api::Ollama => json!({ "model": "m", "messages": each(messages, ollama) }),
        Api::OpenAiResponses => json!({ "model": "m", "input": openai_responses(messages) }),
        Api::AnthropicMessages => json!({ "model": "m", "messages": anthropic(messages) }),
    }
}

fn each(messages: &[Message], write: impl Fn(&Message) -> Value) -> Vec<Value> {
    messages.iter().map(write).collect()
}

fn text_of(parts: &[MessagePart]) -> &str {
    match parts {
        [] => "",
        [MessagePart::Text(text)] => text,
        _ => panic!("one text only"),
    }
}

/// Content of Chat Completions, whose files are in their own form.
fn content_of(parts: &[MessagePart]) -> Value {
    match parts {
        [] | [MessagePart::Text(_)] => text_of(parts).into(),
        several => several
            .iter()
            .map(|part| match part {
                MessagePart::Text(text) => json!({ "type": "text", "text": text }),
                MessagePart::Opaque(value) => value.clone(),
            })
            .collect(),
    }
}

fn openai_chat(message: &Message) -> Value {
    match message {
        Message::System(text) => json!({ "role": "developer", "content": text }),
        Message::User(parts) => json!({ "role": "user", "content": content_of(parts) }),
        Message::Assistant { text, calls } => {
            let content = if text.is_empty() { Value::Null } else { json!(text) };
            let mut turn = json!({ "role": "assistant", "content": content });
            if !calls.is_empty() {
                let written = calls.iter().map(|ToolCall { id, name, arguments }| {
                    let arguments = serde_json::to_string(arguments).unwrap();
                    let function = json!({ "name": name, "arguments": arguments });
                    json!({ "id": id, "type": "function", "function": function })
                });
                turn["tool_calls"] = written.collect();
            }
            turn
        }
        Message::Result(ToolResult { call_id, name, content, .. }) => json!({
            "role": "tool",
            "tool_call_id": call_id,
            "name": name,
            "content": content_of(content),
        }),
    }
}

fn ollama(message: &Message) -> Value {
    match message {
        Message::System(text) => json!({ "role": "system", "content": text }),
        Message::User(parts) => json!({ "role": "user", "content": text_of(parts) }),
        Message::Assistant { text, calls } => {
            let calls = calls.iter().map(|ToolCall { name, arguments, .. }| {
                json!({ "function": { "name": name, "arguments": arguments } })
            });
            let calls: Vec<Value> = calls.collect();
            json!({ "role": "assistant", "content": text, "tool_calls": calls })
        }
        Message::Result(ToolResult { name, content, .. }) => {
            json!({ "role": "tool", "tool_name": name, "content": text_of(content) })
        }
    }
}

fn openai_responses(messages: &[Message]) -> Vec<Value> {
    let mut items = Vec::new();
    for message in messages {
        match message {
            Message::System(text) => items.push(json!({ "role": "system", "content": text })),
            Message::User(parts) => {
                let text = json!({ "type": "input_text", "text": text_of(parts) });
                items.push(json!({ "type": "message", "role": "user", "content": [text] }));
            }
            Message::Assistant { text, calls } => {
                if !text.is_empty() {
                    let text = json!({ "type": "output_text", "text": text, "annotations": [] });
                    items
                        .push(json!({ "type": "message", "role": "assistant", "content": [text] }));
                }
                items.extend(calls.iter().map(|ToolCall { id, name, arguments }| {
                    let arguments = serde_json::to_string(arguments).unwrap();
                    json!({
                        "type": "function_call",
                        "id": format!("fc_{id}"),
                        "call_id": id,
                        "name": name,
                        "arguments": arguments,
                    })
                }));
            }
            Message::Result(ToolResult { call_id, content, .. }) => items.push(json!({
                "type": "function_call_output",
                "call_id": call_id,
                "output": text_of(content),
            })),
        }
    }
    items
}

/// Results and what the user says after them are one turn, as Anthropic's clients write it.
fn anthropic(messages: &[Message]) -> Vec<Value> {
    let mut turns: Vec<Value> = Vec::new();
    let mut push = |role: &str, block: Value, joins: bool| match turns.last_mut() {
        Some(turn) if joins && turn["role"] == role => {
            turn["content"].as_array_mut().unwrap().push(block);
        }
        _ => turns.push(json!({ "role": role, "content": [block] })),
    };
    let mut after_result = false;
    for message in messages {
        match message {
            Message::System(text) => push("system", json!({ "type": "text", "text": text }), false),
            Message::User(parts) => {
                push("user", json!({ "type": "text", "text": text_of(parts) }), after_result);
            }
            Message::Assistant { text, calls } => {
                let text = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
                let calls = calls.iter().map(|ToolCall { id, name, arguments }| {
                    json!({ "type": "tool_use", "id": id, "name": name, "input": arguments })
                });
                for (index, block) in text.into_iter().chain(calls).enumerate() {
                    push("assistant", block, index > 0);
                }
            }
            Message::Result(ToolResult { call_id, content, .. }) => {
                let content = text_of(content);
                let block =
                    json!({ "type": "tool_result", "tool_use_id": call_id, "content": content });
                push("user", block, after_result);
            }
        }
        after_result = matches!(message, Message::Result(_));
    }
    turns
}
