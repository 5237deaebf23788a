//! Tests of all APIs together: the same conversation is the same, whatever API it came by, and the
//! matrix of requirement B12.

mod laws;
mod messy;
pub(super) mod written;

use serde_json::{Value, json};

use super::*;
use crate::conversation::{HistoryState, Message, MessagePart, ToolCall, ToolChoice, ToolResult};

/// Reads a request that can be read.
pub(super) fn read(api: Api, body: Value) -> Normalized {
    match normalize(api, body.clone()) {
        Ok(normalized) => normalized,
        Err(error) => panic!("{error}: {body}"),
    }
}

/// Reads one that cannot, and gives its code, place and message.
pub(super) fn refused(api: Api, body: Value) -> (&'static str, String, String) {
    let error = normalize(api, body).expect_err("a request that cannot be read");
    (error.code.as_str(), error.param.unwrap_or_default(), error.message)
}

/// The codes of all notes, in order.
pub(super) fn codes(normalized: &Normalized) -> Vec<&'static str> {
    normalized.notes.iter().map(|note| note.code.as_str()).collect()
}

/// Notes as `code path detail`.
pub(super) fn told(normalized: &Normalized) -> Vec<String> {
    let notes = normalized.notes.iter();
    notes.map(|note| format!("{} {} {}", note.code.as_str(), note.path, note.detail)).collect()
}

pub(super) fn system(text: &str) -> Message {
    Message::System(text.to_owned())
}

pub(super) fn user(text: &str) -> Message {
    Message::User(vec![MessagePart::Text(text.to_owned())])
}

pub(super) fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    let arguments = arguments.as_object().expect("an object").clone();
    ToolCall { id: id.to_owned(), name: name.to_owned(), arguments }
}

pub(super) fn model(text: &str, calls: Vec<ToolCall>) -> Message {
    Message::Assistant { text: text.to_owned(), calls }
}

pub(super) fn result(id: &str, name: &str, text: &str) -> Message {
    let content = match text {
        "" => vec![],
        text => vec![MessagePart::Text(text.to_owned())],
    };
    let (call_id, name) = (id.to_owned(), Some(name.to_owned()));
    Message::Result(ToolResult { call_id, name, content, is_error: false })
}

/// A tool as each API declares it.
fn declared(api: Api, name: &str) -> Value {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string" } },
        "required": ["path"],
    });
    let parts = json!({ "name": name, "description": "Reads.", "parameters": schema });
    match api {
        Api::OpenAiChat | Api::Ollama => json!({ "type": "function", "function": parts }),
        Api::OpenAiResponses => {
            json!({ "type": "function", "name": name, "description": "Reads.", "parameters": schema })
        }
        Api::AnthropicMessages => {
            json!({ "name": name, "description": "Reads.", "input_schema": schema })
        }
    }
}

/// The turns of a conversation in which a tool was called once and twice.
fn turns() -> Vec<Message> {
    let (one, two) = (json!({ "path": "a" }), json!({ "path": "b", "n": 2 }));
    vec![
        system("Be brief."),
        user("What is in a?"),
        model("I look.", vec![call("call_1", "read_file", one.clone())]),
        result("call_1", "read_file", "A"),
        model(
            "",
            vec![call("call_2", "read_file", two), call("call_3", "list_directory", json!({}))],
        ),
        result("call_2", "read_file", ""),
        result("call_3", "list_directory", "x\ny"),
        model("All is well.", vec![]),
        user("Thanks."),
    ]
}

#[test]
fn a_single_turn_is_read_in_every_api() {
    for api in Api::ALL {
        let mut body = written::body(api, &turns()[..2]);
        body["tools"] = json!([declared(api, "read_file"), declared(api, "list_directory")]);
        let normalized = read(api, body);
        let conversation = &normalized.conversation;
        assert_eq!(normalized.notes, [], "{api:?}");
        assert_eq!(conversation.model, "m");
        assert_eq!(conversation.messages, turns()[..2], "{api:?}");
        let names: Vec<&str> = conversation.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["read_file", "list_directory"]);
        assert_eq!(conversation.tools[0].description, "Reads.");
        assert_eq!(conversation.tools[0].parameters["required"], json!(["path"]));
        assert_eq!(conversation.choice, ToolChoice::Auto);
        assert!(conversation.parallel);
        assert_eq!(conversation.stream, api == Api::Ollama);
        assert_eq!(conversation.state(), HistoryState::AwaitingDecision);
    }
}

#[test]
fn every_stand_of_a_conversation_is_the_same_in_every_api() {
    use HistoryState::{AwaitingDecision, AwaitingResult, CallIssued, Finished, ResultReceived};
    let all = turns();
    let stands = [
        (2, AwaitingDecision),
        (3, CallIssued),
        (4, ResultReceived),
        (5, CallIssued),
        (6, AwaitingResult),
        (7, ResultReceived),
        (8, Finished),
        (9, AwaitingDecision),
    ];
    for api in Api::ALL {
        for (count, state) in stands {
            let normalized = read(api, written::body(api, &all[..count]));
            assert_eq!(normalized.conversation.messages, all[..count], "{api:?}");
            assert_eq!(normalized.conversation.state(), state, "{api:?} {count}");
            assert_eq!(normalized.conversation.choice, ToolChoice::Auto);
        }
    }
}

#[test]
fn a_turn_that_does_not_repeat_its_tools_still_has_them() {
    for api in Api::ALL {
        let normalized = read(api, written::body(api, &turns()[..4]));
        assert_eq!(codes(&normalized).iter().filter(|code| **code == "tools_inferred").count(), 1);
        let [tool] = normalized.conversation.tools.as_slice() else { panic!("{api:?}") };
        assert_eq!(tool.name, "read_file");
        assert_eq!(
            tool.parameters,
            json!({
                "type": "object",
                "properties": { "path": { "type": "string" } },
                "additionalProperties": true,
            })
        );
        // Without calls there is nothing to infer, and a list that is empty says that there are none.
        assert_eq!(read(api, written::body(api, &turns()[..2])).conversation.tools, []);
        let mut without = written::body(api, &turns()[..4]);
        without["tools"] = json!([]);
        assert_eq!(read(api, without).conversation.tools, []);
    }
}

#[test]
fn tools_of_an_earlier_turn_are_taken_and_others_inferred() {
    let known = ToolDefinition {
        name: "read_file".to_owned(),
        description: "Reads.".to_owned(),
        parameters: json!({ "type": "object" }),
        ..Default::default()
    };
    for api in Api::ALL {
        let body = written::body(api, &turns());
        let remembered = std::slice::from_ref(&known);
        let normalized = normalize_with(api, body, remembered).unwrap();
        let tools = &normalized.conversation.tools;
        assert_eq!(tools.len(), 2, "{api:?}");
        assert_eq!(tools[0], known);
        assert_eq!(tools[1].name, "list_directory");
        assert!(codes(&normalized).contains(&"tools_remembered"));
        // What the request says itself counts.
        let mut body = written::body(api, &turns());
        body["tools"] = json!([declared(api, "other")]);
        let normalized = normalize_with(api, body, remembered).unwrap();
        assert_eq!(normalized.conversation.tools.len(), 1);
        // Where nothing was called, nothing is remembered.
        let body = written::body(api, &turns()[..2]);
        assert_eq!(normalize_with(api, body, remembered).unwrap().conversation.tools, []);
    }
}

#[test]
fn bodies_that_are_none_are_refused_with_their_position() {
    let turn = |turn: Value| json!({ "model": "m", "messages": [turn] });
    for api in [Api::OpenAiChat, Api::AnthropicMessages, Api::Ollama] {
        for (body, code, param) in [
            (json!([]), "invalid_type", ""),
            (json!("{}"), "invalid_type", ""),
            (json!({ "model": 1 }), "invalid_type", "model"),
            (json!({ "messages": {} }), "invalid_type", "messages"),
            (json!({ "messages": [[]] }), "invalid_type", "messages[0]"),
            (turn(json!({ "content": "x" })), "missing_required_parameter", "messages[0].role"),
            (turn(json!({ "role": "robot" })), "invalid_value", "messages[0].role"),
            (turn(json!({ "role": "user", "content": 1 })), "invalid_type", "messages[0].content"),
            (
                turn(json!({ "role": "user", "content": [1] })),
                "invalid_type",
                "messages[0].content[0]",
            ),
            (
                turn(json!({ "role": "user", "content": [{ "type": "text", "text": 1 }] })),
                "invalid_type",
                "messages[0].content[0].text",
            ),
            (json!({ "messages": [], "stream": "yes" }), "invalid_type", "stream"),
            (json!({ "messages": [], "tools": {} }), "invalid_type", "tools"),
            (
                json!({ "messages": [], "tools": [{ "type": "function" }] }),
                "missing_required_parameter",
                "tools[0].name",
            ),
        ] {
            let (found, place, message) = refused(api, body.clone());
            assert_eq!((found, place.as_str()), (code, param), "{api:?} {body}: {message}");
            let start = if param.is_empty() { "the body " } else { param };
            assert!(message.starts_with(start), "{message}");
        }
    }
    for api in [Api::OpenAiChat, Api::AnthropicMessages] {
        assert_eq!(refused(api, json!({})).1, "messages");
        assert_eq!(refused(api, json!({ "messages": [] })).1, "messages");
    }
    assert_eq!(read(Api::Ollama, json!({ "model": "m" })).conversation.messages, []);
}

#[test]
fn requests_that_are_too_large_are_refused() {
    let large = |body: Value| refused(Api::OpenAiChat, body);
    let turn = json!({ "role": "user", "content": "x" });
    let (code, param, _) =
        large(json!({ "messages": vec![turn.clone(); limits::MESSAGES_MAX + 1] }));
    assert_eq!((code, param.as_str()), ("too_large", "messages"));
    let tools = |count: usize| {
        let tools = (0..count).map(|index| declared(Api::OpenAiChat, &format!("t{index}")));
        json!({ "messages": [turn], "tools": tools.collect::<Vec<_>>() })
    };
    assert_eq!(large(tools(limits::TOOLS_MAX + 1)).0, "too_large");
    assert_eq!(read(Api::OpenAiChat, tools(limits::TOOLS_MAX)).conversation.tools.len(), 512);
    let mut deep = json!(1);
    for _ in 0..=limits::DEPTH_MAX {
        deep = json!([deep]);
    }
    assert_eq!(large(json!({ "x": deep })).0, "too_large");
    let text = "x".repeat(limits::TEXT_BYTES_MAX + 1);
    assert_eq!(large(json!({ "x": text })).0, "too_large");
    assert_eq!(large(json!({ "x": vec![Value::Null; limits::VALUES_MAX] })).0, "too_large");
}

#[test]
fn what_is_refused_is_an_error_of_the_api() {
    use crate::encode::{FailureKind, ReplyFailure, error};
    for api in Api::ALL {
        let refusal = normalize(api, json!({ "model": 1 })).unwrap_err();
        let response = error(api, &ReplyFailure::from(&refusal));
        assert_eq!(response.status, 400, "{api:?}");
        assert!(response.body.to_string().contains("model must be a string"), "{response:?}");
    }
    let large = json!({ "x": vec![Value::Null; limits::VALUES_MAX] });
    let failure = ReplyFailure::from(&normalize(Api::OpenAiChat, large).unwrap_err());
    assert_eq!(failure.kind, FailureKind::TooLarge);
}

#[test]
fn what_is_not_known_is_ignored_and_reported_once() {
    for api in Api::ALL {
        let mut body = written::body(api, &turns()[..2]);
        body["metadata"] = json!({ "user_id": "u" });
        body["nothing"] = Value::Null;
        let normalized = read(api, body);
        assert_eq!(told(&normalized), ["field_ignored metadata metadata"], "{api:?}");
    }
}

#[test]
fn notes_are_counted_instead_of_piled_up() {
    let thought = json!({ "type": "thinking", "thinking": "…" });
    let turns: Vec<Value> = (0..1000)
        .flat_map(|_| {
            [
                json!({ "role": "user", "content": "go" }),
                json!({ "role": "assistant", "content": [thought, { "type": "text", "text": "x" }] }),
            ]
        })
        .collect();
    let normalized = read(Api::AnthropicMessages, json!({ "messages": turns }));
    let [note] = normalized.notes.as_slice() else { panic!("{:?}", normalized.notes) };
    assert_eq!((note.code, note.count), (NoteCode::ThinkingDropped, 1000));
    assert_eq!(note.path, "messages[1].content[0]");
    let mut body = json!({ "messages": [{ "role": "user", "content": "x" }] });
    for index in 0..1000 {
        body[format!("field_{index}")] = json!(1);
    }
    let notes = read(Api::OpenAiChat, body).notes;
    assert!(notes.len() < 100, "{}", notes.len());
    assert_eq!(notes.iter().map(|note| note.count).sum::<usize>(), 1000);
}
