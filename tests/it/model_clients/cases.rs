//! Replies that are sent to clients, as a reader of them would say them.

use std::sync::Arc;

use moss_model_bridge::encode::{FailureKind, ReplyFailure, RetryAdvice};
use moss_model_bridge::{Finish, ParseOptions, Parser, Registry, ReplyEvent};
use serde_json::{Value, json};

/// A tool that takes free text.
pub(super) const FREE_FORM: &str = "apply_patch";
/// A tool of a namespace, by its one name.
pub(super) const NAMESPACED: &str = "mcp__web__search";

/// A reply, or none.
pub(super) struct Case {
    /// What it shows, and its location on the server.
    pub(super) name: &'static str,
    /// What is read of the reply; nothing where there is none.
    pub(super) events: Vec<ReplyEvent>,
    /// What ends it, or comes instead of it.
    pub(super) failure: Option<ReplyFailure>,
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = replies();
    let kinds = [
        ("wrong", FailureKind::InvalidRequest),
        ("unknown", FailureKind::UnknownModel),
        ("overloaded", FailureKind::Overloaded),
        ("upstream", FailureKind::Upstream),
    ];
    cases.extend(kinds.map(|(name, kind)| Case {
        name,
        events: Vec::new(),
        failure: Some(ReplyFailure::new(kind, format!("it is {name}"))),
    }));
    let full = ReplyFailure::new(FailureKind::Overloaded, "it is full").retry(RetryAdvice::Never);
    cases.push(Case { name: "full", events: Vec::new(), failure: Some(full) });
    let broken = ReplyFailure::new(FailureKind::Upstream, "it broke");
    cases.push(Case { name: "broken", events: texts(&["some ", "text"]), failure: Some(broken) });
    cases
}

fn replies() -> Vec<Case> {
    let read = || call(0, "read_file", &json!({ "path": "a.txt", "limit": 3 }), 4);
    let test = |index| call(index, "run_tests", &json!({}), 1);
    let odd = "né 读取 😀👩‍💻 \u{2028}\u{85}\u{1c} \"}\\ \t\r\nend";
    let long: String = (0..100_000).map(|at| char::from(b'a' + (at % 26) as u8)).collect();
    vec![
        reply("text", [texts(&["Hello", ", ", "world", ".\n\n- one"])], Finish::Stop),
        reply("text_and_calls", [texts(&["I'll ", "look."]), read(), test(1)], Finish::Stop),
        reply("call_alone", [test(0)], Finish::Stop),
        reply(
            "text_between",
            [texts(&["first"]), read(), texts(&["\n", " "]), test(1), texts(&["\n", "last"])],
            Finish::Stop,
        ),
        reply("large", [call(0, "create_file", &json!({ "content": long }), 7)], Finish::Stop),
        reply(
            "unicode",
            [texts(&[odd, "é", "😀"]), call(0, "create_file", &json!({ "content": odd }), 1)],
            Finish::Stop,
        ),
        reply("escapes", [escapes()], Finish::Stop),
        reply("empty", [], Finish::Stop),
        reply("cut", [texts(&["and so"])], Finish::Length),
        reply("cut_by_filter", [texts(&["and so"])], Finish::ContentFilter),
        reply("cut_call", [read(), cut_call()], Finish::Length),
        reply(
            "forms",
            [
                call(0, FREE_FORM, &json!({ "input": odd }), 3),
                call(1, NAMESPACED, &json!({ "q": odd }), 3),
            ],
            Finish::Stop,
        ),
        Case { name: "written", events: written(), failure: None },
    ]
}

/// What the bridge's own reader says of what a model wrote.
fn written() -> Vec<ReplyEvent> {
    const TEXT: &str = "我先看一下文件。\n\n```json action\n{\"tool\": \"read_file\", \"parameters\": \
                        {\"path\": \"src/主.rs\",}}\n```\n\n```json action\n{\"tool\": \
                        \"run_tests\", \"parameters\": {}}\n```\n然后继续。";
    let registry = r#"[
        {"name": "read_file", "parameters": {"type": "object", "required": ["path"],
            "properties": {"path": {"type": "string"}}}},
        {"name": "run_tests", "parameters": {"type": "object", "properties": {}}}
    ]"#;
    let registry = Arc::new(Registry::from_json(registry).unwrap());
    let mut parser = Parser::new(registry, ParseOptions::default());
    let pieces = TEXT.as_bytes().chunks(5);
    let mut events: Vec<ReplyEvent> = pieces.flat_map(|piece| parser.feed(piece)).collect();
    events.extend(parser.finish(Finish::Stop));
    let calls = events.iter().filter(|event| matches!(event, ReplyEvent::CallEnd { .. })).count();
    assert_eq!(calls, 2, "{events:?}");
    events
}

fn reply<const N: usize>(name: &'static str, parts: [Vec<ReplyEvent>; N], finish: Finish) -> Case {
    let mut events = parts.concat();
    events.push(ReplyEvent::Finish(finish));
    Case { name, events, failure: None }
}

fn texts(texts: &[&str]) -> Vec<ReplyEvent> {
    texts.iter().map(|text| ReplyEvent::Text((*text).to_owned())).collect()
}

/// A call, its arguments in fragments of so many characters.
fn call(index: usize, name: &str, arguments: &Value, characters: usize) -> Vec<ReplyEvent> {
    let json = arguments.to_string();
    let characters_of: Vec<char> = json.chars().collect();
    let fragments = characters_of.chunks(characters).map(|fragment| fragment.iter().collect());
    of_fragments(index, name, fragments.collect(), arguments)
}

fn of_fragments(
    index: usize,
    name: &str,
    texts: Vec<String>,
    arguments: &Value,
) -> Vec<ReplyEvent> {
    let mut events =
        vec![ReplyEvent::CallStart { index, id: format!("call_{index}x"), name: name.to_owned() }];
    events
        .extend(texts.into_iter().map(|fragment| ReplyEvent::ArgumentFragment { index, fragment }));
    let arguments = arguments.as_object().unwrap().clone();
    events.push(ReplyEvent::CallEnd { index, arguments });
    events
}

/// A call whose arguments are escaped more than they must be, cut inside of the escapes.
fn escapes() -> Vec<ReplyEvent> {
    let json = r#"{"content": "\ud83d\ude00\u00e9\n\\", "limit": -1.25e+1 }"#;
    let texts = json.chars().map(String::from).collect();
    of_fragments(0, "create_file", texts, &json!({ "content": "😀é\n\\", "limit": -12.5 }))
}

/// A call inside of which the reply ends.
fn cut_call() -> Vec<ReplyEvent> {
    let text = "{\"path\": \"b\"}";
    vec![
        ReplyEvent::CallStart {
            index: 1,
            id: "call_1x".to_owned(),
            name: "delete_file".to_owned(),
        },
        ReplyEvent::ArgumentFragment { index: 1, fragment: text.to_owned() },
        ReplyEvent::CallAbandoned { index: 1, text: text.to_owned() },
    ]
}
