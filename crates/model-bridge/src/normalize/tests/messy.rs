//! Requests as careless clients write them: all of them can be read, none of them is tidy.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::api::Api;

/// A turn, before an API writes it.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    role: &'static str,
    content: Value,
    calls: Vec<(Value, &'static str, Value)>,
    id: Value,
    name: Value,
}

const IDS: &[&str] = &["", "a", "a", "b", "call_1", "call_2", "call_1_2", "a_2", "result_1"];
const NAMES: &[&str] = &["read_file", "run", "读取"];
const TEXTS: &[&str] = &["", "x", "{\"a\":1}", "Look:\n```json action\n{}\n```"];
const ARGUMENTS: &[&str] =
    &["", "{}", "{\"a\":1}", "{\"a\":1,\"b\":", "{\"a\":", "[1]", "\"{}\"", "null", "x"];

fn id() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        1 => Just(json!(7)),
        6 => prop::sample::select(IDS).prop_map(Value::from),
    ]
}

fn part() -> impl Strategy<Value = Value> {
    prop_oneof![
        prop::sample::select(TEXTS).prop_map(|text| json!({ "type": "text", "text": text })),
        prop::sample::select(TEXTS).prop_map(|text| json!({ "text": text })),
        prop::sample::select(TEXTS).prop_map(Value::from),
        Just(json!({ "type": "image_url", "image_url": { "url": "data:," } })),
        Just(json!({ "type": "thinking", "thinking": "x", "signature": "s" })),
        Just(json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": {} })),
        Just(json!({ "type": "refusal", "refusal": "No." })),
    ]
}

fn content() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        3 => prop::sample::select(TEXTS).prop_map(Value::from),
        3 => vec(part(), 0..4).prop_map(Value::from),
    ]
}

fn arguments() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => prop::sample::select(ARGUMENTS).prop_map(Value::from),
        1 => Just(json!({ "a": [1, null], "b": 0.5 })),
        1 => Just(Value::Null),
    ]
}

fn turn() -> impl Strategy<Value = Turn> {
    let role =
        prop::sample::select(&["system", "user", "assistant", "assistant", "tool", "tool"][..]);
    let name = prop::option::of(prop::sample::select(NAMES)).prop_map(|name| json!(name));
    let calls = vec((id(), prop::sample::select(NAMES), arguments()), 0..4);
    (role, content(), calls, id(), name).prop_map(|(role, content, calls, id, name)| Turn {
        role,
        content,
        calls,
        id,
        name,
    })
}

/// A request of an API.
pub(super) fn request() -> impl Strategy<Value = (Api, Value)> {
    let tools = vec(prop::sample::select(NAMES), 0..4).prop_map(|names| {
        let tools = names.iter().map(|name| json!({ "type": "function", "name": name }));
        tools.chain([json!({ "type": "web_search_20250305", "name": "web_search" })]).collect()
    });
    let tools = prop::option::of(tools).prop_map(|tools: Option<Vec<Value>>| json!(tools));
    let choice = prop::sample::select(&["auto", "none"][..]);
    let api = prop::sample::select(&Api::ALL[..]);
    (api, vec(turn(), 1..12), tools, choice).prop_map(|(api, turns, tools, choice)| {
        let turns: Vec<Value> = turns.iter().flat_map(|turn| written(api, turn)).collect();
        let key = if api == Api::OpenAiResponses { "input" } else { "messages" };
        (api, json!({ key: turns, "tools": tools, "tool_choice": { "type": choice } }))
    })
}

fn written(api: Api, turn: &Turn) -> Vec<Value> {
    let Turn { role, content, calls, id, name } = turn;
    let functions = |key: &str| -> Vec<Value> {
        let calls = calls.iter().map(|(id, name, arguments)| {
            json!({ "type": key, "id": id, "call_id": id, "name": name, "arguments": arguments,
                    "input": arguments, "function": { "name": name, "arguments": arguments } })
        });
        calls.collect()
    };
    let blocks = |content: &Value| match content {
        Value::Array(parts) => parts.clone(),
        other => vec![other.as_str().unwrap_or_default().into()],
    };
    match (api, *role) {
        (Api::OpenAiChat | Api::Ollama, "assistant") => {
            vec![json!({ "role": role, "content": content, "tool_calls": functions("function") })]
        }
        (Api::OpenAiChat | Api::Ollama, _) => {
            vec![json!({ "role": role, "content": content, "tool_call_id": id, "tool_name": name })]
        }
        (Api::OpenAiResponses, "tool") => {
            vec![json!({ "type": "function_call_output", "call_id": id, "output": content })]
        }
        (Api::OpenAiResponses, _) => {
            let calls = if *role == "assistant" { functions("function_call") } else { vec![] };
            let message = json!({ "role": role, "content": content });
            std::iter::once(message).chain(calls).collect()
        }
        (Api::AnthropicMessages, "tool") => {
            let result = json!({ "type": "tool_result", "tool_use_id": id, "content": content });
            let content = [blocks(content), vec![result]].concat();
            vec![json!({ "role": "user", "content": content })]
        }
        (Api::AnthropicMessages, "assistant") => {
            let content = [blocks(content), functions("tool_use")].concat();
            vec![json!({ "role": role, "content": content })]
        }
        (Api::AnthropicMessages, _) => vec![json!({ "role": role, "content": content })],
    }
}
