//! Tests of requests of Ollama.

use serde_json::{Value, json};

use super::super::Normalized;
use super::super::tests::{call, codes, model, read, refused, result, told, user};
use crate::api::Api;
use crate::conversation::{HistoryState, Message, MessagePart, ToolChoice};

fn ollama(body: Value) -> Normalized {
    read(Api::Ollama, body)
}

fn history(messages: Value) -> Normalized {
    ollama(json!({ "model": "m", "messages": messages }))
}

fn called(name: &str, arguments: Value) -> Value {
    json!({ "function": { "name": name, "arguments": arguments } })
}

fn back(name: Option<&str>, content: &str) -> Value {
    json!({ "role": "tool", "tool_name": name, "content": content })
}

#[test]
fn results_are_joined_by_name_and_order() {
    let normalized = history(json!([
        { "role": "user", "content": "x" },
        { "role": "assistant", "content": "", "thinking": "Hm.", "tool_calls": [
            called("read_file", json!({ "path": "a" })),
            called("run", json!({})),
            called("read_file", json!({ "path": "b" })),
        ] },
        back(Some("run"), "R"),
        back(Some("read_file"), "A"),
        back(Some("read_file"), "B"),
    ]));
    let calls = vec![
        call("call_1", "read_file", json!({ "path": "a" })),
        call("call_2", "run", json!({})),
        call("call_3", "read_file", json!({ "path": "b" })),
    ];
    assert_eq!(
        normalized.conversation.messages[1..],
        [
            model("", calls),
            result("call_2", "run", "R"),
            result("call_1", "read_file", "A"),
            result("call_3", "read_file", "B"),
        ]
    );
    assert_eq!(normalized.conversation.state(), HistoryState::ResultReceived);
    let notes: Vec<(&str, usize)> =
        normalized.notes.iter().map(|note| (note.code.as_str(), note.count)).collect();
    assert_eq!(
        notes[..3],
        [("thinking_dropped", 1), ("id_made", 3), ("result_matched", 3)],
        "{notes:?}"
    );
}

#[test]
fn results_without_a_name_follow_the_order_of_calls() {
    let turn = |names: [&str; 2]| {
        let calls = names.map(|name| called(name, json!({})));
        json!({ "role": "assistant", "tool_calls": calls })
    };
    let normalized = history(json!([
        turn(["a", "b"]),
        back(Some("b"), "1"),
        turn(["c", "d"]),
        back(None, "2"),
        back(None, "3"),
        back(None, "4"),
        back(None, "5"),
    ]));
    let results: Vec<(&str, Option<&str>)> = normalized
        .conversation
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Result(result) => Some((result.call_id.as_str(), result.name.as_deref())),
            _ => None,
        })
        .collect();
    assert_eq!(
        results,
        [
            ("call_2", Some("b")),
            ("call_3", Some("c")),
            ("call_4", Some("d")),
            // The turn before waits for one yet.
            ("call_1", Some("a")),
            ("result_1", None),
        ]
    );
    assert!(codes(&normalized).contains(&"result_orphaned"));
}

#[test]
fn ids_count_where_they_are() {
    let normalized = history(json!([
        { "role": "assistant", "tool_calls": [
            { "id": "x", "function": { "index": 0, "name": "t", "arguments": {} } },
            { "id": "y", "function": { "index": 1, "name": "t", "arguments": {} } },
        ] },
        { "role": "tool", "tool_call_id": "y", "content": "Y" },
        { "role": "tool", "tool_name": "t", "content": "X" },
    ]));
    let messages = &normalized.conversation.messages;
    assert_eq!(messages[1..], [result("y", "t", "Y"), result("x", "t", "X")]);
}

#[test]
fn images_go_through_untouched() {
    let normalized = history(json!([
        { "role": "user", "content": "x", "images": ["iVBO", "R0lG"] },
        { "role": "assistant", "content": "y", "images": ["iVBO"] },
    ]));
    let shown = ["iVBO", "R0lG"].map(|image| MessagePart::Opaque(json!(image)));
    let [text, rest @ ..] = shown_parts(&normalized) else { panic!() };
    assert_eq!((text, rest), (&MessagePart::Text("x".to_owned()), &shown[..]));
    assert_eq!(told(&normalized), ["part_dropped messages[1].images image"]);
}

fn shown_parts(normalized: &Normalized) -> &[MessagePart] {
    match &normalized.conversation.messages[0] {
        Message::User(parts) => parts,
        other => panic!("{other:?}"),
    }
}

#[test]
fn options_are_read_and_replies_stream_by_default() {
    let body = |options: Value| json!({ "model": "m", "messages": [{ "role": "user", "content": "x" }], "options": options });
    let normalized = ollama(body(
        json!({ "num_predict": 9, "temperature": 0.1, "top_p": 0.2, "stop": ["x"], "num_ctx": 4096 }),
    ));
    let conversation = &normalized.conversation;
    assert_eq!(conversation.messages, [user("x")]);
    assert_eq!(conversation.sampling.output_tokens_max, Some(9));
    assert_eq!(conversation.sampling.temperature, Some(0.1));
    assert_eq!(conversation.sampling.top_p, Some(0.2));
    assert_eq!(conversation.sampling.stop, ["x"]);
    assert!(conversation.stream);
    assert_eq!(told(&normalized), ["field_ignored options.num_ctx num_ctx"]);
    for endless in [-1, -2] {
        let normalized = ollama(body(json!({ "num_predict": endless })));
        assert_eq!(normalized.conversation.sampling.output_tokens_max, None);
    }
    let (_, param, _) = refused(Api::Ollama, body(json!({ "num_predict": 1.5 })));
    assert_eq!(param, "options.num_predict");
    let quiet = json!({ "model": "m", "messages": [], "stream": false });
    assert!(!ollama(quiet).conversation.stream);
}

#[test]
fn a_choice_of_tools_is_no_field_of_this_api() {
    let normalized = ollama(json!({
        "messages": [{ "role": "user", "content": "x" }], "tool_choice": "required",
    }));
    assert_eq!(normalized.conversation.choice, ToolChoice::Auto);
    assert_eq!(told(&normalized), ["field_ignored tool_choice tool_choice"]);
}
