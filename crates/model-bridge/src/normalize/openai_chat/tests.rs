//! Tests of requests of OpenAI Chat Completions.

use serde_json::{Value, json};

use super::super::tests::{call, codes, model, read, refused, result, system, told, user};
use super::super::{Normalized, NoteCode};
use crate::api::Api;
use crate::conversation::{HistoryState, Message, MessagePart, ToolChoice};

fn chat(body: Value) -> Normalized {
    read(Api::OpenAiChat, body)
}

fn history(messages: Value) -> Normalized {
    chat(json!({ "model": "m", "messages": messages }))
}

fn called(id: Value, name: &str, arguments: Value) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}

#[test]
fn instructions_stand_where_they_stood() {
    let normalized = history(json!([
        { "role": "system", "content": "One." },
        { "role": "user", "content": "x" },
        { "role": "developer", "content": [
            { "type": "text", "text": "Two." }, { "type": "text", "text": "Three." },
        ] },
        { "role": "system", "content": "" },
    ]));
    let messages = normalized.conversation.messages;
    assert_eq!(messages, [system("One."), user("x"), system("Two.\n\nThree.")]);
}

#[test]
fn parts_that_are_shown_go_through_untouched() {
    let image = json!({ "type": "image_url", "image_url": { "url": "data:,", "detail": "low" } });
    let normalized = history(json!([{ "role": "user", "content": [
        { "type": "text", "text": "What is this?" },
        image,
        { "type": "input_audio", "input_audio": { "data": "", "format": "wav" } },
        { "type": "hologram", "text": "?" },
        "plain",
    ] }]));
    let [Message::User(parts)] = normalized.conversation.messages.as_slice() else { panic!() };
    assert_eq!(parts.len(), 4);
    assert_eq!(parts[0], MessagePart::Text("What is this?".to_owned()));
    assert_eq!(parts[1], MessagePart::Opaque(image));
    assert_eq!(parts[3], MessagePart::Text("plain".to_owned()));
    assert_eq!(told(&normalized), ["part_dropped messages[0].content[3] hologram"]);
}

#[test]
fn calls_are_read_however_their_arguments_are_written() {
    let normalized = history(json!([
        { "role": "user", "content": "x" },
        { "role": "assistant", "content": null, "tool_calls": [
            called(json!("a"), "t", json!("{\"n\":9007199254740993}")),
            called(json!("b"), "t", json!({ "n": 1 })),
            called(json!("c"), "t", json!("")),
            called(json!("d"), "t", Value::Null),
            { "id": "e", "name": "t", "arguments": { "flat": true } },
            { "id": "f", "type": "custom", "custom": { "name": "patch", "input": "*** Begin" } },
        ] },
    ]));
    assert_eq!(
        normalized.conversation.messages[1],
        model(
            "",
            vec![
                call("a", "t", json!({ "n": 9_007_199_254_740_993_u64 })),
                call("b", "t", json!({ "n": 1 })),
                call("c", "t", json!({})),
                call("d", "t", json!({})),
                call("e", "t", json!({ "flat": true })),
                call("f", "patch", json!({ "input": "*** Begin" })),
            ]
        )
    );
    assert!(!codes(&normalized).contains(&"arguments_repaired"));
    assert_eq!(normalized.free_form.iter().collect::<Vec<_>>(), ["patch"]);
    assert_eq!(normalized.conversation.state(), HistoryState::CallIssued);
}

#[test]
fn broken_arguments_fail_no_request() {
    let normalized = history(json!([
        { "role": "user", "content": "x" },
        { "role": "assistant", "tool_calls": [
            called(json!("a"), "create_file", json!("{\"path\":\"a\",\"content\":\"cut of")),
            called(json!("b"), "run", json!("ls -l")),
        ] },
        { "role": "tool", "tool_call_id": "a", "content": "no JSON" },
        { "role": "tool", "tool_call_id": "b", "content": "no JSON" },
    ]));
    let calls = vec![
        call("a", "create_file", json!({ "path": "a" })),
        call("b", "run", json!({ "input": "ls -l" })),
    ];
    assert_eq!(normalized.conversation.messages[1], model("", calls));
    assert_eq!(normalized.notes[0].code, NoteCode::ArgumentsRepaired);
    assert_eq!(normalized.notes[0].path, "messages[1]");
    // What is no argument is not inferred to be one.
    assert_eq!(normalized.conversation.tools[1].parameters["properties"], json!({}));
}

#[test]
fn results_find_their_calls_by_id_in_any_order() {
    let normalized = history(json!([
        { "role": "user", "content": "x" },
        { "role": "assistant", "content": "I look.", "tool_calls": [
            called(json!("a"), "read_file", json!("{}")),
            called(json!("b"), "run", json!("{}")),
        ] },
        { "role": "tool", "tool_call_id": "b", "content": [{ "type": "text", "text": "B" }] },
        { "role": "tool", "tool_call_id": "a", "name": "other", "content": null },
    ]));
    let messages = &normalized.conversation.messages;
    assert_eq!(messages[2..], [result("b", "run", "B"), result("a", "read_file", "")]);
    assert_eq!(normalized.conversation.state(), HistoryState::ResultReceived);
    assert_eq!(codes(&normalized), ["tools_inferred", "tools_inferred"]);
}

#[test]
fn missing_and_duplicate_ids_are_repaired() {
    let turn =
        |id: Value| json!({ "role": "assistant", "tool_calls": [called(id, "t", json!("{}"))] });
    let back = |id: Value| json!({ "role": "tool", "tool_call_id": id, "content": "x" });
    let normalized = history(json!([
        turn(json!("same")),
        back(json!("same")),
        turn(json!("same")),
        back(json!("same")),
        turn(Value::Null),
        back(Value::Null),
        turn(json!("")),
        back(json!("")),
        turn(json!("call_3")),
        back(json!("call_3")),
    ]));
    let ids: Vec<&str> = normalized
        .conversation
        .messages
        .iter()
        .map(|message| match message {
            Message::Assistant { calls, .. } => calls[0].id.as_str(),
            Message::Result(result) => result.call_id.as_str(),
            _ => panic!("{message:?}"),
        })
        .collect();
    assert_eq!(
        ids,
        [
            "same", "same", "same_2", "same_2", "call_3", "call_3", "call_4", "call_4", "call_3_2",
            "call_3_2"
        ]
    );
    let counts: Vec<(&str, usize)> =
        normalized.notes.iter().map(|note| (note.code.as_str(), note.count)).collect();
    assert_eq!(
        counts,
        [
            ("id_repaired", 1),
            ("id_made", 2),
            ("result_matched", 2),
            ("id_repaired", 1),
            ("tools_inferred", 1),
        ]
    );
}

#[test]
fn results_and_calls_that_lack_each_other_are_reported() {
    let normalized = history(json!([
        { "role": "tool", "tool_call_id": "gone", "name": "t", "content": "x" },
        { "role": "assistant", "tool_calls": [called(json!("a"), "t", json!("{}"))] },
        { "role": "tool", "tool_call_id": "a", "content": "1" },
        { "role": "tool", "tool_call_id": "a", "content": "2" },
        { "role": "assistant", "tool_calls": [called(json!("b"), "run", json!("{}"))] },
        { "role": "user", "content": "Never mind." },
    ]));
    let messages = &normalized.conversation.messages;
    assert_eq!(messages[0], result("gone", "t", "x"));
    assert_eq!(messages[2..4], [result("a", "t", "1"), result("a", "t", "2")]);
    assert_eq!(
        told(&normalized)[..2],
        ["result_orphaned messages[0] gone", "result_repeated messages[3] t"]
    );
    assert!(told(&normalized).contains(&"call_unanswered  run".to_owned()));
}

#[test]
fn turns_of_the_model_become_one_and_thoughts_go() {
    let normalized = history(json!([
        { "role": "user", "content": "x" },
        { "role": "assistant", "content": "One.", "reasoning_content": "Hm." },
        { "role": "assistant", "content": [{ "type": "output_text", "text": "Two." }],
          "tool_calls": [called(json!("a"), "t", json!("{}"))] },
        { "role": "tool", "tool_call_id": "a", "content": { "lines": [1] } },
        { "role": "assistant", "content": "" },
        { "role": "assistant", "content": null, "refusal": "I will not." },
    ]));
    assert_eq!(
        normalized.conversation.messages,
        [
            user("x"),
            model("One.\n\nTwo.", vec![call("a", "t", json!({}))]),
            result("a", "t", "{\"lines\":[1]}"),
            model("I will not.", vec![]),
        ]
    );
    assert_eq!(
        codes(&normalized),
        [
            "thinking_dropped",
            "turns_merged",
            "content_repaired",
            "empty_turn_dropped",
            "tools_inferred"
        ]
    );
}

#[test]
fn what_a_legacy_history_holds_is_read() {
    let normalized = history(json!([
        { "role": "user", "content": "x" },
        { "role": "assistant", "content": null,
          "function_call": { "name": "t", "arguments": "{\"a\":1}" } },
        { "role": "function", "name": "t", "content": "done" },
    ]));
    assert_eq!(
        normalized.conversation.messages[1..],
        [model("", vec![call("call_1", "t", json!({ "a": 1 }))]), result("call_1", "t", "done"),]
    );
}

#[test]
fn sampling_and_streaming_are_read() {
    let turns = json!([{ "role": "user", "content": "x" }]);
    let normalized = chat(json!({
        "model": "m", "messages": turns, "max_tokens": 5, "max_completion_tokens": 7.0,
        "temperature": 0, "top_p": 0.5, "stop": ["a", "", "b"], "stream": true, "n": 1,
        "stream_options": { "include_usage": true }, "parallel_tool_calls": false,
        "response_format": null, "seed": 3, "functions": [],
    }));
    let conversation = &normalized.conversation;
    assert_eq!(conversation.sampling.output_tokens_max, Some(7));
    assert_eq!(conversation.sampling.temperature, Some(0.0));
    assert_eq!(conversation.sampling.top_p, Some(0.5));
    assert_eq!(conversation.sampling.stop, ["a", "b"]);
    assert!(conversation.stream && conversation.stream_usage && !conversation.parallel);
    assert_eq!(told(&normalized), ["field_ignored seed seed"]);
    let plain = chat(json!({ "messages": turns, "max_tokens": 5, "stop": "x" })).conversation;
    assert_eq!(plain.sampling.output_tokens_max, Some(5));
    assert_eq!(plain.sampling.stop, ["x"]);
    assert!(!plain.stream && !plain.stream_usage && plain.parallel);
    for (key, value, code) in [
        ("n", json!(2), "unsupported_parameter"),
        ("functions", json!([{ "name": "f" }]), "unsupported_parameter"),
        ("max_tokens", json!(0), "invalid_value"),
        ("max_tokens", json!(-5), "invalid_value"),
        ("max_tokens", json!(1.5), "invalid_value"),
        ("max_tokens", json!("5"), "invalid_type"),
        ("temperature", json!(-0.5), "invalid_value"),
        ("top_p", json!(1.5), "invalid_value"),
        ("stop", json!([1]), "invalid_type"),
        ("stream_options", json!(true), "invalid_type"),
    ] {
        let (found, param, message) =
            refused(Api::OpenAiChat, json!({ "messages": turns, key: value }));
        assert_eq!((found, param.as_str()), (code, key), "{message}");
    }
}

#[test]
fn a_named_tool_and_any_are_kept_from_the_first_turn_on() {
    let tools = json!([{ "type": "function", "function": { "name": "read_file" } }]);
    let turns = json!([{ "role": "user", "content": "x" }]);
    for (choice, expected) in [
        (json!("required"), ToolChoice::Any),
        (
            json!({ "type": "function", "function": { "name": "read_file" } }),
            ToolChoice::Tool("read_file".to_owned()),
        ),
        (json!("none"), ToolChoice::None),
    ] {
        let body = json!({ "messages": turns, "tools": tools, "tool_choice": choice });
        assert_eq!(chat(body).conversation.choice, expected);
        // Tools that were inferred can be named, too.
        let turns = json!([
            { "role": "user", "content": "x" },
            { "role": "assistant", "tool_calls": [called(json!("a"), "read_file", json!("{}"))] },
            { "role": "tool", "tool_call_id": "a", "content": "x" },
        ]);
        let body = json!({ "messages": turns, "tool_choice": choice });
        assert_eq!(chat(body).conversation.choice, expected);
    }
}
