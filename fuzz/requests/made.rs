//! Bodies made of bytes that are no JSON: every byte opens, closes or says something out of the words
//! that requests are made of.

use serde_json::{Map, Value};

/// Deeper ones are refused anyway.
const DEPTH_MAX: usize = 130;

const KEYS: &[&str] = &[
    "messages",
    "role",
    "content",
    "type",
    "text",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "id",
    "input",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "tool_name",
    "output",
    "is_error",
    "tools",
    "tool_choice",
    "input_schema",
    "parameters",
    "custom",
    "namespace",
    "allowed_tools",
    "mode",
    "system",
    "instructions",
    "images",
    "thinking",
    "refusal",
    "function_call",
    "options",
    "stop",
    "stop_sequences",
    "max_tokens",
    "num_predict",
    "n",
    "stream",
    "format",
    "model",
];
const WORDS: &[&str] = &[
    "user",
    "assistant",
    "system",
    "developer",
    "tool",
    "function",
    "text",
    "image_url",
    "tool_use",
    "tool_result",
    "thinking",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "message",
    "reasoning",
    "auto",
    "none",
    "any",
    "required",
    "custom",
    "namespace",
    "allowed_tools",
    "web_search",
    "read_file",
    "run",
    "call_1",
    "call_1_2",
    "call_2",
    "a",
    "",
    "{\"a\":1,\"b\":",
    "{\"a\":[]}",
    "[1]",
    "\"{}\"",
];

/// What is open while a body is made.
enum Open {
    Array(Vec<Value>),
    Object(Map<String, Value>, Option<&'static str>),
}

/// Makes the JSON body of a request, byte by byte.
pub(crate) fn body(data: &[u8]) -> Value {
    let mut open = vec![Open::Object(Map::new(), None)];
    for byte in data {
        let number = usize::from(*byte);
        if let Some(Open::Object(_, key @ None)) = open.last_mut()
            && number >= 32
        {
            *key = Some(KEYS[number % KEYS.len()]);
            continue;
        }
        match number {
            0..32 if open.len() > 1 => close(&mut open),
            0..32 => {}
            32..64 if open.len() < DEPTH_MAX => open.push(Open::Array(Vec::new())),
            64..112 if open.len() < DEPTH_MAX => open.push(Open::Object(Map::new(), None)),
            112 => put(&mut open, Value::Null),
            113 => put(&mut open, true.into()),
            114 => put(&mut open, (-1).into()),
            115 => put(&mut open, 1.5.into()),
            _ => put(&mut open, WORDS[number % WORDS.len()].into()),
        }
    }
    while open.len() > 1 {
        close(&mut open);
    }
    match open.pop() {
        Some(Open::Object(fields, _)) => Value::Object(fields),
        _ => Value::Null,
    }
}

fn close(open: &mut Vec<Open>) {
    let value = match open.pop() {
        Some(Open::Array(items)) => Value::Array(items),
        Some(Open::Object(fields, _)) => Value::Object(fields),
        None => return,
    };
    put(open, value);
}

fn put(open: &mut [Open], value: Value) {
    match open.last_mut() {
        Some(Open::Array(items)) => items.push(value),
        Some(Open::Object(fields, key)) => {
            if let Some(key) = key.take() {
                fields.insert(key.to_owned(), value);
            }
        }
        None => {}
    }
}
