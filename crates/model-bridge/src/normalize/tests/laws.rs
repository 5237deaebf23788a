//! Laws: the same conversation in any API is the same, and no body whatever brings the reader down.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::*;
use super::{messy, written};
use crate::conversation::{Message, MessagePart, ToolCall, ToolChoice, ToolResult};

/// What users, models and tools write.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("```json action\n{\"tool\":\"x\"}\n```".to_owned()),
        Just("“读取”文件\u{0}\n".to_owned()),
        ".{1,20}",
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ]
}

fn arguments() -> impl Strategy<Value = Map<String, Value>> {
    let value = scalar().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((".{0,4}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    vec(("[a-z_]{1,6}", value), 0..4).prop_map(|fields| fields.into_iter().collect())
}

/// A turn of the model, with what comes back for each call.
type Answered = (String, Vec<(String, Map<String, Value>, String)>);

fn turn() -> impl Strategy<Value = (Option<String>, String, Answered)> {
    let name = prop_oneof![Just("read_file"), Just("run"), Just("读取")].prop_map(str::to_owned);
    let calls = vec((name, arguments(), prop_oneof![Just(String::new()), text()]), 0..4);
    (proptest::option::of(text()), text(), (text(), calls))
}

/// A conversation in which calls have the ids that they would be given.
fn conversation() -> impl Strategy<Value = Vec<Message>> {
    (vec(turn(), 1..5), any::<prop::sample::Index>()).prop_map(|(turns, cut)| {
        let mut messages = Vec::new();
        let mut count = 0;
        for (instructions, said, (text, calls)) in turns {
            messages.extend(instructions.map(Message::System));
            messages.push(Message::User(vec![MessagePart::Text(said)]));
            let (mut issued, mut results) = (Vec::new(), Vec::new());
            for (name, arguments, output) in calls {
                count += 1;
                let id = format!("call_{count}");
                let output = (!output.is_empty()).then_some(MessagePart::Text(output));
                results.push(Message::Result(ToolResult {
                    call_id: id.clone(),
                    name: Some(name.clone()),
                    content: output.into_iter().collect(),
                    is_error: false,
                }));
                issued.push(ToolCall { id, name, arguments });
            }
            messages.push(Message::Assistant { text, calls: issued });
            messages.extend(results);
        }
        messages.truncate(cut.index(messages.len()) + 1);
        messages
    })
}

/// Words that requests are made of, so that what is made up has the rough shape of one.
const KEYS: &[&str] = &[
    "model",
    "messages",
    "input",
    "instructions",
    "system",
    "tools",
    "tool_choice",
    "role",
    "content",
    "type",
    "text",
    "tool_calls",
    "function",
    "custom",
    "name",
    "arguments",
    "id",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "tool_name",
    "output",
    "input_schema",
    "parameters",
    "options",
    "stop",
    "stop_sequences",
    "max_tokens",
    "num_predict",
    "temperature",
    "is_error",
    "images",
    "thinking",
    "refusal",
    "allowed_tools",
    "mode",
    "stream",
    "stream_options",
    "n",
    "parallel_tool_calls",
    "disable_parallel_tool_use",
    "function_call",
    "format",
    "x",
];
const WORDS: &[&str] = &[
    "",
    "user",
    "assistant",
    "system",
    "developer",
    "tool",
    "function",
    "text",
    "image",
    "tool_use",
    "tool_result",
    "thinking",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "message",
    "reasoning",
    "auto",
    "none",
    "any",
    "required",
    "custom",
    "allowed_tools",
    "web_search_20250305",
    "read_file",
    "call_1",
    "call_1_2",
    "{\"a\":1",
    "{}",
    "[",
    "\"x\"",
    "output_text",
];

fn rough() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => prop::sample::select(WORDS).prop_map(Value::from),
        1 => scalar(),
        1 => any::<f64>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            vec((prop::sample::select(KEYS), inner.clone()), 0..6).prop_map(object),
            // A turn or an item whose kind is known is read further.
            (
                prop::sample::select(&["role", "type"][..]),
                prop::sample::select(WORDS),
                vec((prop::sample::select(KEYS), inner), 1..5)
            )
                .prop_map(|(key, word, mut fields)| {
                    fields.push((key, json!(word)));
                    object(fields)
                }),
        ]
    })
}

fn object(fields: Vec<(&str, Value)>) -> Value {
    Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// A body that has messages in their positions.
fn rough_body() -> impl Strategy<Value = Value> {
    let extra = vec((prop::sample::select(KEYS), rough()), 0..2);
    let roles = prop::sample::select(&["user", "assistant", "system", "tool"][..]);
    let turn =
        (roles, prop::sample::select(WORDS), vec((prop::sample::select(KEYS), rough()), 0..3));
    let turn = turn.prop_map(|(role, kind, mut fields)| {
        fields.extend([("role", json!(role)), ("type", json!(kind))]);
        object(fields)
    });
    (vec(turn, 1..4), extra).prop_map(|(turns, mut extra)| {
        extra.push(("messages", json!(turns)));
        extra.push(("input", json!(turns)));
        object(extra)
    })
}

/// What holds for whatever was read.
fn check(normalized: &Normalized) {
    let conversation = &normalized.conversation;
    let names: BTreeSet<&str> = conversation.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names.len(), conversation.tools.len(), "a tool twice");
    assert!(normalized.free_form.iter().all(|name| names.contains(name.as_str())));
    match &conversation.choice {
        ToolChoice::Tool(name) => assert!(names.contains(name.as_str())),
        ToolChoice::Any => assert!(!names.is_empty()),
        ToolChoice::Auto | ToolChoice::None => {}
    }
    let mut ids = BTreeSet::new();
    for pair in conversation.messages.windows(2) {
        let model = |message: &Message| matches!(message, Message::Assistant { .. });
        assert!(!(model(&pair[0]) && model(&pair[1])), "two turns of the model");
    }
    for message in &conversation.messages {
        match message {
            Message::System(text) => assert!(!text.is_empty()),
            Message::User(parts) => assert!(!parts.is_empty()),
            Message::Assistant { text, calls } => {
                assert!(!text.is_empty() || !calls.is_empty());
                for call in calls {
                    assert!(!call.id.is_empty() && !call.name.is_empty());
                    assert!(ids.insert(call.id.as_str()), "an id twice");
                }
            }
            Message::Result(result) => {
                assert!(!result.call_id.is_empty());
                let orphaned = |note: &Note| note.code == NoteCode::ResultOrphaned;
                assert!(
                    ids.contains(result.call_id.as_str()) || normalized.notes.iter().any(orphaned)
                );
            }
        }
    }
    conversation.state();
    conversation_key(conversation);
}

proptest! {
    #[test]
    fn the_same_conversation_is_the_same_in_every_api(messages in conversation()) {
        for api in Api::ALL {
            let normalized = normalize(api, written::body(api, &messages)).unwrap();
            prop_assert_eq!(&normalized.conversation.messages, &messages, "{:?}", api);
            check(&normalized);
        }
    }

    #[test]
    fn the_key_stays_while_a_conversation_continues(messages in conversation()) {
        let first = messages.iter().position(|turn| matches!(turn, Message::User(_)));
        let ends = [first.map_or(1, |first| first + 1), messages.len()];
        let keys: BTreeSet<u128> = Api::ALL
            .into_iter()
            .flat_map(|api| ends.map(|end| (api, end)))
            .map(|(api, end)| normalize(api, written::body(api, &messages[..end])).unwrap())
            .map(|normalized| conversation_key(&normalized.conversation))
            .collect();
        prop_assert_eq!(keys.len(), 1);
    }

    #[test]
    fn careless_requests_are_read_and_come_out_tidy((api, body) in messy::request()) {
        let normalized = normalize(api, body).unwrap();
        check(&normalized);
        // What is tidy stays as it is.
        let messages = normalized.conversation.messages;
        if !messages.is_empty() {
            let again = normalize(Api::OpenAiChat, written::body(Api::OpenAiChat, &messages));
            prop_assert_eq!(again.map(|again| again.conversation.messages), Ok(messages));
        }
    }

    #[test]
    fn no_body_brings_the_reader_down(body in prop_oneof![rough(), rough_body()]) {
        for api in Api::ALL {
            match normalize(api, body.clone()) {
                Ok(normalized) => check(&normalized),
                Err(error) => {
                    let start = error.param.as_deref().unwrap_or("the body");
                    prop_assert!(error.message.starts_with(start), "{}", error);
                }
            }
        }
    }
}
