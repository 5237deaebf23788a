//! Tests of projection: what is written reads back as what it was.

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;
use crate::diagnostic::DiagnosticCode;

fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    ToolCall { id: id.to_owned(), name: name.to_owned(), arguments }
}

fn user(text: &str) -> Message {
    Message::User(vec![MessagePart::Text(text.to_owned())])
}

fn result(id: &str, text: &str) -> Message {
    let content = vec![MessagePart::Text(text.to_owned())];
    Message::Result(ToolResult { call_id: id.to_owned(), name: None, content, is_error: false })
}

fn registry() -> Arc<Registry> {
    let tools = r#"[{"name": "read_file"}, {"name": "run_tests"}, {"name": "todo"}]"#;
    Arc::new(Registry::from_json(tools).unwrap())
}

fn shown(messages: &[ChatMessage]) -> Vec<(ChatRole, String)> {
    let text = |part: &MessagePart| match part {
        MessagePart::Text(text) => text.clone(),
        MessagePart::Opaque(value) => value.to_string(),
    };
    messages
        .iter()
        .map(|message| (message.role, message.content.iter().map(text).collect::<String>()))
        .collect()
}

#[test]
fn calls_and_results_find_each_other_however_many_there_are() {
    const COUNT: usize = 50_000;
    let id = |number: usize| format!("c{number}");
    let calls = (0..COUNT).map(|number| call(&id(number), "todo", json!({ "number": number })));
    let mut messages =
        vec![Message::Assistant { text: "Doing.".to_owned(), calls: calls.collect() }];
    messages.extend((0..COUNT).rev().map(|number| result(&id(number), "ok")));
    let conversation = Conversation { messages, ..Conversation::default() };
    let shown = shown(&project(&conversation, "", Language::En));
    assert_eq!(shown.len(), 2);
    // So many are not read back.
    assert!(shown[0].1.starts_with("> Doing.\n"));
    let at = |number: usize| shown[1].1.find(&format!("call c{number} (todo): ok"));
    assert!(at(0).is_some() && at(0) < at(COUNT - 1));
}

#[test]
fn a_conversation_becomes_plain_messages() {
    let conversation = Conversation {
        messages: vec![
            Message::System("Be brief.".to_owned()),
            user("What does a say?"),
            Message::Assistant {
                text: "Reading.".to_owned(),
                calls: vec![
                    call("c1", "read_file", json!({ "path": "a" })),
                    call("c2", "run_tests", json!({})),
                ],
            },
            result("c2", "ok"),
            result("c1", "hello"),
            user("And?"),
            Message::Assistant { text: "It says hello.".to_owned(), calls: vec![] },
            Message::System("Now in rhymes.".to_owned()),
            user("Again."),
        ],
        ..Conversation::default()
    };
    let messages = project(&conversation, "CONTRACT", Language::En);
    let expected = [
        (ChatRole::System, "Be brief.\n\nCONTRACT".to_owned()),
        (ChatRole::User, "What does a say?".to_owned()),
        (
            ChatRole::Assistant,
            "Reading.\n\n```json action\n{\"tool\": \"read_file\", \"parameters\": \
             {\"path\":\"a\"}, \"id\": \"c1\"}\n```\n```json action\n{\"tool\": \"run_tests\", \
             \"parameters\": {}, \"id\": \"c2\"}\n```"
                .to_owned(),
        ),
        (
            ChatRole::User,
            "Tool result of call c1 (read_file): ok\n```\nhello\n```\nTool result of call c2 \
             (run_tests): ok\n```\nok\n```\n\nAnd?"
                .to_owned(),
        ),
        (ChatRole::Assistant, "It says hello.".to_owned()),
        (ChatRole::System, "Now in rhymes.".to_owned()),
        (ChatRole::User, "Again.".to_owned()),
    ];
    assert_eq!(shown(&messages), expected);
}

#[test]
fn the_last_results_ask_to_continue() {
    let mut conversation = Conversation {
        messages: vec![
            user("Go."),
            Message::Assistant { text: String::new(), calls: vec![call("c", "todo", json!({}))] },
            result("c", "done"),
        ],
        ..Conversation::default()
    };
    let last = |conversation: &Conversation| {
        shown(&project(conversation, "", Language::Zh)).pop().unwrap()
    };
    assert!(last(&conversation).1.ends_with("否则给出最终回答。"));
    conversation.messages.push(user("停"));
    assert!(!last(&conversation).1.contains("否则给出最终回答"));
}

#[test]
fn a_late_result_has_the_name_of_its_call() {
    let conversation = Conversation {
        messages: vec![
            Message::Assistant { text: String::new(), calls: vec![call("c", "todo", json!({}))] },
            user("Wait."),
            result("c", "done"),
        ],
        ..Conversation::default()
    };
    let messages = shown(&project(&conversation, "", Language::En));
    assert!(messages[2].1.starts_with("Tool result of call c (todo): ok\n"), "{messages:?}");
}

#[test]
fn images_pass_untouched() {
    let image =
        MessagePart::Opaque(json!({ "type": "image_url", "image_url": { "url": "data:" } }));
    let conversation = Conversation {
        messages: vec![Message::User(vec![MessagePart::Text("See".to_owned()), image.clone()])],
        ..Conversation::default()
    };
    let messages = project(&conversation, "", Language::En);
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].content[1], image);
}

#[test]
fn texts_that_would_hide_calls_do_not() {
    let calls = [call("c1", "read_file", json!({ "path": "a" })), call("c2", "todo", json!({}))];
    for text in [
        "The format of a call is this, do not execute it:",
        "调用格式：",
        "For example:",
        "```rust\nfn open() {",
        "~~~~\nnever closed",
        "<think>never closed",
        "<chat>open",
        "an `open code span",
        "> a quote",
        "{\"not\": \"a call\"",
        "[TOOL_CALL]",
        "[TOOL:read_file]",
        "<file-edit filePath=\"a\">",
        "```{\"tool\": \"todo\"",
        "```{\"tool\": \"run_tests\"",
        "{\"tool\": \"run_tests\"",
        "<pre>",
        "{'tool': 'other', 'parameters': {",
        "{'tool': 'todo', 'parameters': {",
        "<function=other>\n<parameter=a>",
        "<|tool_call_begin|>other<|tool_call_argument_begin|>{",
        "<thinking>never closed",
        "```json action\n{\"tool\": \"todo\"",
        "Tool result: made up\n```",
        "- list\n    indented",
    ] {
        let written = assistant_text(text, &calls);
        let read = read_projected(&registry(), &written);
        assert_eq!(read.calls, calls, "{text}\n--\n{written}");
    }
}

#[test]
fn twins_quote_no_text() {
    let twin = call("c", "todo", json!({}));
    let written = assistant_text("Both.", &[twin.clone(), ToolCall { id: "d".to_owned(), ..twin }]);
    assert!(written.starts_with("Both.\n\n```json action\n"), "{written}");
}

#[test]
fn nothing_is_repaired_on_the_way_back() {
    let arguments = json!({
        "content": "```json action\n{\"tool\": \"todo\"}\n```\n“quoted”, \\d \u{0} \u{2028} 🦀",
        "numbers": [9_007_199_254_740_993_u64, -1, 1.5, 1e300],
        "nested": { "a": [{ "b": null }], "": true },
    });
    let calls = [call("toolu_01-x", "read_file", arguments)];
    let read = read_projected(&registry(), &assistant_text("Text.", &calls));
    assert_eq!(read.calls, calls);
    assert_eq!(read.text.trim(), "Text.");
    let harmless = |code| matches!(code, DiagnosticCode::DuplicateCall);
    assert!(read.diagnostics.iter().all(|one| harmless(one.code)), "{:?}", read.diagnostics);
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "(?s).{0,24}".prop_map(Value::from),
        "[`\"\\\\{}\\[\\]\n ]{0,16}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"`]{1,6}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn a_call() -> impl Strategy<Value = (String, Map<String, Value>)> {
    let name = prop::sample::select(vec!["read_file", "run_tests", "todo"]);
    let arguments = prop::collection::btree_map("[a-z_]{1,8}", json_value(), 0..4);
    (name, arguments).prop_map(|(name, fields)| (name.to_owned(), fields.into_iter().collect()))
}

/// Calls with their ids; twins go, as the reader makes one call of them.
fn some_calls() -> impl Strategy<Value = Vec<ToolCall>> {
    prop::collection::vec(a_call(), 1..4).prop_map(|made| {
        let mut calls: Vec<ToolCall> = Vec::new();
        for (name, arguments) in made {
            if !calls.iter().any(|call| call.name == name && call.arguments == arguments) {
                calls.push(ToolCall { id: format!("call_{}", calls.len()), name, arguments });
            }
        }
        calls
    })
}

proptest! {
    #[test]
    fn calls_read_back_whatever_the_text(calls in some_calls(), text in "(?s).{0,80}") {
        let written = assistant_text(&text, &calls);
        let read = read_projected(&registry(), &written);
        prop_assert_eq!(read.calls, calls, "{}", written);
    }

    #[test]
    fn calls_read_back_behind_what_looks_like_frames(
        calls in some_calls(),
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "```", "````", "~~~", "`", "\n", " ", "json action", "<think>", "</think>",
                "[TOOL:todo]", "[/TOOL]", "[TOOL_CALL]", "todo", "[ARGS]", "{", "}", "> ",
                "format:", "for example", "\"tool\": \"todo\"", "<file-edit filePath=\"a\">",
                "</file-edit>", "Tool result", "<chat>", "<tool_call>", "text", "<pre>", "<code>",
                "<function=todo>", "<parameter=a>", "{'tool': 'todo'", "'}", "<thinking>",
                "<|tool_call_begin|>todo<|tool_call_argument_begin|>", "<|tool_call_end|>",
                "<invoke name=\"todo\">", "<tool_call>todo\n", "<arg_key>a</arg_key>",
            ]),
            0..12,
        ),
    ) {
        let text = pieces.concat();
        let written = assistant_text(&text, &calls);
        let read = read_projected(&registry(), &written);
        let ids: Vec<&str> = read.calls.iter().map(|call| call.id.as_str()).collect();
        for call in &calls {
            prop_assert!(ids.contains(&call.id.as_str()), "{}", written);
        }
    }

    #[test]
    fn plain_turns_read_back_whole(calls in some_calls(), text in "[a-z]{1,8}( [a-z]{1,8}){0,6}\\.") {
        let written = assistant_text(&text, &calls);
        let read = read_projected(&registry(), &written);
        prop_assert_eq!(read.calls, calls);
        prop_assert_eq!(read.text.trim(), text);
    }
}
