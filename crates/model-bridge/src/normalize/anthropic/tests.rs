//! Tests of requests of Anthropic Messages.

use serde_json::{Value, json};

use super::super::Normalized;
use super::super::tests::{call, codes, model, read, refused, result, system, told, user};
use crate::api::Api;
use crate::conversation::{HistoryState, Message, MessagePart, ToolChoice, ToolResult};

fn messages(body: Value) -> Normalized {
    read(Api::AnthropicMessages, body)
}

fn history(turns: Value) -> Normalized {
    messages(json!({ "model": "m", "max_tokens": 9, "messages": turns }))
}

fn used(id: &str, name: &str, input: Value) -> Value {
    json!({ "type": "tool_use", "id": id, "name": name, "input": input })
}

fn came_back(id: &str, content: Value) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": content })
}

#[test]
fn instructions_come_from_the_field_and_from_messages() {
    let cached =
        json!({ "type": "text", "text": "One.", "cache_control": { "type": "ephemeral" } });
    let normalized = messages(json!({
        "system": [cached, { "type": "text", "text": "Two." }],
        "messages": [
            { "role": "user", "content": "x" },
            { "role": "system", "content": "Three." },
        ],
    }));
    let messages_read = normalized.conversation.messages;
    assert_eq!(messages_read, [system("One.\n\nTwo."), user("x"), system("Three.")]);
    let plain =
        messages(json!({ "system": "S", "messages": [{ "role": "user", "content": "x" }] }));
    assert_eq!(plain.conversation.messages[0], system("S"));
}

#[test]
fn results_come_before_the_text_of_their_turn() {
    let image = json!({ "type": "image", "source": { "type": "base64", "data": "" } });
    let mut failed = came_back("b", json!([{ "type": "text", "text": "denied" }, image]));
    failed["is_error"] = json!(true);
    let normalized = history(json!([
        { "role": "user", "content": "x" },
        { "role": "assistant", "content": [
            { "type": "thinking", "thinking": "Hm.", "signature": "s" },
            { "type": "redacted_thinking", "data": "…" },
            { "type": "text", "text": "I look." },
            used("a", "read_file", json!({ "path": "a" })),
            used("b", "run", json!({})),
        ] },
        { "role": "user", "content": [
            { "type": "text", "text": "Continue." },
            came_back("a", json!("A")),
            failed,
        ] },
    ]));
    let calls = vec![call("a", "read_file", json!({ "path": "a" })), call("b", "run", json!({}))];
    let failure = ToolResult {
        call_id: "b".to_owned(),
        name: Some("run".to_owned()),
        content: vec![MessagePart::Text("denied".to_owned()), MessagePart::Opaque(image)],
        is_error: true,
    };
    assert_eq!(
        normalized.conversation.messages,
        [
            user("x"),
            model("I look.", calls),
            result("a", "read_file", "A"),
            Message::Result(failure),
            user("Continue."),
        ]
    );
    assert_eq!(normalized.notes[0].count, 2, "two thoughts");
    assert_eq!(normalized.conversation.state(), HistoryState::AwaitingDecision);
}

#[test]
fn results_without_text_are_a_turn_of_their_own() {
    let turns = |last: Value| {
        json!([
            { "role": "user", "content": "x" },
            { "role": "assistant", "content": [
                used("a", "t", json!({})), used("b", "t", json!({})),
            ] },
            { "role": "user", "content": last },
        ])
    };
    for (last, state) in [
        (json!([came_back("a", Value::Null)]), HistoryState::AwaitingResult),
        (
            json!([came_back("a", json!([])), came_back("b", json!(""))]),
            HistoryState::ResultReceived,
        ),
        (
            json!([{ "type": "text", "text": "" }, came_back("b", json!("")), came_back("a", json!(""))]),
            HistoryState::ResultReceived,
        ),
    ] {
        let normalized = history(turns(last));
        assert_eq!(normalized.conversation.state(), state);
        assert!(!codes(&normalized).contains(&"empty_turn_dropped"));
        for message in &normalized.conversation.messages[2..] {
            let Message::Result(result) = message else { panic!("{message:?}") };
            assert_eq!((result.content.len(), result.is_error), (0, false));
            assert_eq!(result.name.as_deref(), Some("t"));
        }
    }
}

#[test]
fn what_only_the_provider_runs_is_left_out() {
    let normalized = messages(json!({
        "tools": [
            { "type": "web_search_20250305", "name": "web_search", "max_uses": 3 },
            { "type": "bash_20250124", "name": "bash" },
            { "type": "custom", "name": "read_file", "input_schema": { "type": "object" },
              "strict": true, "defer_loading": true, "input_examples": [{}],
              "eager_input_streaming": true, "cache_control": { "type": "ephemeral" } },
        ],
        "messages": [
            { "role": "user", "content": "x" },
            { "role": "assistant", "content": [
                { "type": "text", "text": "I search." },
                { "type": "server_tool_use", "id": "s", "name": "web_search", "input": {} },
                { "type": "web_search_tool_result", "tool_use_id": "s", "content": [] },
                { "type": "text", "text": "It is " },
                { "type": "text", "text": "so.", "citations": [] },
            ] },
        ],
    }));
    assert_eq!(normalized.conversation.tools.len(), 1);
    assert_eq!(normalized.conversation.messages[1], model("I search.\n\nIt is so.", vec![]));
    assert_eq!(
        told(&normalized),
        [
            "tool_dropped tools[0] web_search_20250305",
            "tool_dropped tools[1] bash_20250124",
            "part_dropped messages[1].content[1] server_tool_use",
            "part_dropped messages[1].content[2] web_search_tool_result",
        ]
    );
    let (code, _, message) = refused(
        Api::AnthropicMessages,
        json!({
            "tools": [{ "type": "bash_20250124", "name": "bash" }],
            "tool_choice": { "type": "tool", "name": "bash" },
            "messages": [{ "role": "user", "content": "x" }],
        }),
    );
    assert_eq!(code, "unsupported_parameter", "{message}");
}

#[test]
fn choices_and_sampling_are_read() {
    let body = |choice: Value| {
        json!({
            "model": "m", "max_tokens": 1024, "temperature": 0.3, "top_p": 0.9, "top_k": 5,
            "stop_sequences": ["END"], "stream": true, "metadata": { "user_id": "u" },
            "thinking": { "type": "enabled", "budget_tokens": 1024 },
            "tools": [{ "name": "read_file", "input_schema": { "type": "object" } }],
            "tool_choice": choice,
            "messages": [{ "role": "user", "content": "x" }],
        })
    };
    for (choice, expected, parallel) in [
        (json!({ "type": "auto" }), ToolChoice::Auto, true),
        (json!({ "type": "any", "disable_parallel_tool_use": true }), ToolChoice::Any, false),
        (json!({ "type": "none" }), ToolChoice::None, true),
        (
            json!({ "type": "tool", "name": "read_file", "disable_parallel_tool_use": false }),
            ToolChoice::Tool("read_file".to_owned()),
            true,
        ),
        (Value::Null, ToolChoice::Auto, true),
    ] {
        let normalized = messages(body(choice));
        let conversation = &normalized.conversation;
        assert_eq!((&conversation.choice, conversation.parallel), (&expected, parallel));
        assert_eq!(conversation.sampling.output_tokens_max, Some(1024));
        assert_eq!(conversation.sampling.temperature, Some(0.3));
        assert_eq!(conversation.sampling.top_p, Some(0.9));
        assert_eq!(conversation.sampling.stop, ["END"]);
        assert!(conversation.stream && !conversation.stream_usage);
        let mut ignored: Vec<&str> =
            normalized.notes.iter().map(|note| note.detail.as_str()).collect();
        ignored.sort_unstable();
        assert_eq!(ignored, ["metadata", "thinking", "top_k"]);
    }
}

#[test]
fn calls_need_a_name_and_nothing_else() {
    let turns = |block: Value| {
        json!({ "messages": [
            { "role": "user", "content": "x" },
            { "role": "assistant", "content": [block] },
        ] })
    };
    let (code, param, _) =
        refused(Api::AnthropicMessages, turns(json!({ "type": "tool_use", "id": "a" })));
    assert_eq!(
        (code, param.as_str()),
        ("missing_required_parameter", "messages[1].content[0].name")
    );
    let normalized = messages(turns(json!({ "type": "tool_use", "name": "t" })));
    let expected = model("", vec![call("call_1", "t", json!({}))]);
    assert_eq!(normalized.conversation.messages[1], expected);
}
