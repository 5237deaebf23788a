//! What is streamed is what was read, for every shared case however it is cut, and for made-up
//! replies.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::client::{self, Seen};
use super::streamed;
use crate::api::Api;
use crate::event::{Finish, Reply, ReplyEvent};
use crate::parse::{ParseOptions, Parser};
use crate::registry::Registry;

static CASES: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../testdata/toolcalls.json")).unwrap()
});

/// What a client should have. A call that was shown and is none is left out of both.
fn expected(api: Api, events: &[ReplyEvent]) -> Seen {
    let reply = Reply::collect(events.to_vec());
    let broken = broken(api, events);
    let end = match (reply.finish, broken.is_empty()) {
        (Finish::ContentFilter, _) => "filter",
        (Finish::Length, _) | (Finish::Stop, false) => "length",
        (Finish::Stop, true) if reply.calls.is_empty() => "stop",
        (Finish::Stop, true) => "calls",
    };
    let calls = reply.calls.into_iter();
    Seen {
        text: bare(&broken.iter().fold(reply.text, |text, (_, part)| text.replacen(part, "", 1))),
        calls: calls.map(|call| (call.id, call.name, Value::Object(call.arguments))).collect(),
        end,
    }
}

/// The ids and texts of the calls that are none and of which something is shown.
fn broken(api: Api, events: &[ReplyEvent]) -> Vec<(String, String)> {
    let mut broken = Vec::new();
    let (mut id, mut written) = (String::new(), String::new());
    for event in events {
        match event {
            ReplyEvent::CallStart { id: begun, .. } => {
                (id, written) = (begun.clone(), String::new());
            }
            ReplyEvent::ArgumentFragment { fragment, .. } => written.push_str(fragment),
            ReplyEvent::CallAbandoned { text, .. } => {
                let shown = written.trim_end_matches(|c: char| c == '}' || c.is_ascii_whitespace());
                if api != Api::Ollama && !matches!(shown.trim(), "" | "{") {
                    broken.push((id.clone(), text.clone()));
                }
            }
            _ => {}
        }
    }
    broken
}

/// Text without its white space: where it stands between calls it is not shown.
fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

fn seen(api: Api, events: &[ReplyEvent]) -> Seen {
    let mut seen = client::read(api, &streamed(api, events));
    seen.text = bare(&seen.text);
    for (broken, _) in broken(api, events) {
        seen.calls.retain(|(id, _, arguments)| {
            assert!(*id != broken || arguments.is_string(), "{id} could run: {arguments}");
            *id != broken
        });
    }
    seen
}

#[test]
fn every_shared_case_reaches_the_clients_of_every_api() {
    let registry = Arc::new(Registry::from_json(&CASES["registry"].to_string()).unwrap());
    let mut calls = 0;
    for case in CASES["cases"].as_array().unwrap() {
        let Some(text) = case["input"]["text"].as_str() else { continue };
        let is_cut = case["input"]["finish"] == "length";
        let finish = if is_cut { Finish::Length } else { Finish::Stop };
        for size in [1, 7, text.len().max(1)] {
            let mut parser = Parser::new(Arc::clone(&registry), ParseOptions::default());
            let mut events: Vec<ReplyEvent> = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                events.extend(parser.feed(piece));
            }
            events.extend(parser.finish(finish));
            calls += Reply::collect(events.clone()).calls.len();
            for api in Api::ALL {
                let id = &case["id"];
                assert_eq!(seen(api, &events), expected(api, &events), "{id} {size} {api:?}");
            }
        }
    }
    assert!(calls > 200, "{calls}");
}

#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Call { arguments: Map<String, Value>, size: usize, is_abandoned: bool },
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let values = prop_oneof![
        any::<i64>().prop_map(Value::from),
        "[ -~é😀\u{2028}\u{85}\n]{0,9}".prop_map(Value::from),
        Just(json!({ "a": [{}] })),
    ];
    let arguments = prop::collection::vec(("[a-z]{1,3}", values), 0..3)
        .prop_map(|pairs| pairs.into_iter().collect());
    let call = (arguments, 1_usize..12, prop::bool::weighted(0.3));
    let part = prop_oneof![
        "[ -~é😀\u{2028}\u{85}\n]{0,9}".prop_map(Part::Text),
        "[ \n]{1,2}".prop_map(Part::Text),
        call.prop_map(|(arguments, size, is_abandoned)| Part::Call {
            arguments,
            size,
            is_abandoned
        }),
    ];
    prop::collection::vec(part, 0..7)
}

fn events(parts: Vec<Part>, finish: Finish) -> Vec<ReplyEvent> {
    let mut events = Vec::new();
    let mut index = 0;
    for part in parts {
        match part {
            Part::Text(text) => events.push(ReplyEvent::Text(text)),
            Part::Call { arguments, size, is_abandoned } => {
                let (id, name) = (format!("call_{index}"), "t".to_owned());
                events.push(ReplyEvent::CallStart { index, id, name });
                let json = Value::Object(arguments.clone()).to_string();
                let mut rest = json.as_str();
                while !rest.is_empty() {
                    let (fragment, left) = rest.split_at(rest.ceil_char_boundary(size));
                    let fragment = fragment.to_owned();
                    events.push(ReplyEvent::ArgumentFragment { index, fragment });
                    rest = left;
                }
                events.push(if is_abandoned {
                    ReplyEvent::CallAbandoned { index, text: format!("<{index}{json}>") }
                } else {
                    ReplyEvent::CallEnd { index, arguments }
                });
                index += 1;
            }
        }
    }
    events.push(ReplyEvent::Finish(finish));
    events
}

proptest! {
    #[test]
    fn made_up_replies_reach_the_clients_of_every_api(
        parts in parts(),
        finish in prop_oneof![
            Just(Finish::Stop),
            Just(Finish::Length),
            Just(Finish::ContentFilter),
        ],
    ) {
        let events = events(parts, finish);
        for api in Api::ALL {
            prop_assert_eq!(seen(api, &events), expected(api, &events), "{:?}", api);
        }
    }
}
