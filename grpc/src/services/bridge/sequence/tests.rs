//! Orders of events that can be, and those that cannot.

use std::sync::{Arc, LazyLock};

use moss_model_bridge::{Finish, ParseOptions, Parser, Registry, encode::estimate_tokens};
use serde_json::json;
use tonic_types::StatusExt as _;

use super::*;

static CASES: LazyLock<Value> = LazyLock::new(|| {
    let cases = include_str!("../../../../../crates/model-bridge/testdata/toolcalls.json");
    serde_json::from_str(cases).unwrap()
});

fn text(text: &str) -> Wire {
    Wire::Text(text.to_owned())
}

fn start(index: u32, name: &str) -> Wire {
    let id = format!("call_{index}");
    Wire::CallStart(v1::ReplyCallStart { index, id, name: name.to_owned() })
}

fn fragment(index: u32, fragment: &str) -> Wire {
    Wire::ArgumentFragment(v1::ReplyArgumentFragment { index, fragment: fragment.to_owned() })
}

fn end(index: u32, arguments_json: &str) -> Wire {
    Wire::CallEnd(v1::ReplyCallEnd { index, arguments_json: arguments_json.to_owned() })
}

fn abandoned(index: u32, text: &str) -> Wire {
    Wire::CallAbandoned(v1::ReplyCallAbandoned { index, text: text.to_owned() })
}

fn stop() -> Wire {
    Wire::Finish(v1::ReplyFinish::Stop.into())
}

/// A sequence with a tool of free text, and what it makes of events.
fn taken(events: Vec<Wire>) -> (Sequence, Result<Vec<ReplyEvent>, Status>) {
    let mut sequence = Sequence::new(["patch".to_owned()].into());
    let taken =
        events.into_iter().map(|event| sequence.take(v1::ReplyEvent { event: Some(event) }));
    let taken: Result<Vec<_>, _> = taken.collect();
    (sequence, taken.map(|events| events.into_iter().flatten().collect()))
}

#[test]
fn whatever_a_reader_says_is_taken_and_says_the_same_again() {
    let registry = Arc::new(Registry::from_json(&CASES["registry"].to_string()).unwrap());
    let mut calls = 0;
    for case in CASES["cases"].as_array().unwrap() {
        let Some(text) = case["input"]["text"].as_str() else { continue };
        for (size, finish) in [(1, Finish::Stop), (7, Finish::Length), (1 << 20, Finish::Stop)] {
            let mut parser = Parser::new(Arc::clone(&registry), ParseOptions::default());
            let mut said: Vec<ReplyEvent> = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                said.extend(parser.feed(piece));
            }
            said.extend(parser.finish(finish));
            let told = said.iter().cloned().flat_map(events::to_wire).collect();
            let (sequence, taken) = taken(told);
            said.retain(|event| {
                !matches!(event, ReplyEvent::Reasoning(_) | ReplyEvent::Diagnostic(_))
            });
            assert_eq!(taken.unwrap(), said, "{} {size}", case["id"]);
            assert!(sequence.is_reported("usage").is_ok());
            calls += sequence.begun;
        }
    }
    assert!(calls > 100, "{calls}");
}

#[test]
fn events_that_cannot_be_are_refused_where_they_are_wrong() {
    let index = "event.call_start.index";
    let open = || vec![text("a"), start(0, "t"), fragment(0, "{\"a\":")];
    let after_open = |event| [open(), vec![event]].concat();
    let patch = |arguments| vec![start(0, "patch"), end(0, arguments)];
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
    let table = [
        (vec![fragment(0, "{}")], "event.argument_fragment.index"),
        (vec![end(0, "{}")], "event.call_end.index"),
        (vec![abandoned(0, "x")], "event.call_abandoned.index"),
        (vec![start(1, "t")], index),
        (vec![start(u32::MAX, "t")], index),
        (vec![start(0, "t"), end(0, "{}"), start(0, "t")], index),
        (vec![start(0, "t"), abandoned(0, ""), start(0, "t")], index),
        (vec![start(0, "t"), end(0, "{}"), end(0, "{}")], "event.call_end.index"),
        (vec![start(0, "")], "event.call_start.name"),
        (
            vec![Wire::CallStart(v1::ReplyCallStart { name: "t".into(), ..Default::default() })],
            "event.call_start.id",
        ),
        (after_open(fragment(1, "1}")), "event.argument_fragment.index"),
        (after_open(end(1, "{}")), "event.call_end.index"),
        (after_open(abandoned(1, "")), "event.call_abandoned.index"),
        (after_open(start(1, "t")), "event.call_start"),
        (after_open(text("b")), "event.text"),
        (after_open(Wire::Reasoning("b".into())), "event.reasoning"),
        (after_open(stop()), "event.finish"),
        // The fragments are no object, or another one.
        (after_open(end(0, "")), ARGUMENTS),
        (after_open(end(0, "{\"a\":1}")), ARGUMENTS),
        (vec![start(0, "t"), fragment(0, "{\"a\":1}"), end(0, "{\"a\":2}")], ARGUMENTS),
        (vec![start(0, "t"), fragment(0, "{}{}"), end(0, "{}")], ARGUMENTS),
        (vec![start(0, "t"), fragment(0, " "), end(0, "{}")], ""),
        (vec![start(0, "t"), fragment(0, " "), end(0, "")], ARGUMENTS),
        (vec![start(0, "t"), end(0, "")], ARGUMENTS),
        (vec![start(0, "t"), end(0, "[]")], ARGUMENTS),
        (vec![start(0, "t"), end(0, "{\"a\":1,\"a\":2}")], ARGUMENTS),
        (vec![start(0, "t"), end(0, &deep)], ARGUMENTS),
        (patch("{}"), ARGUMENTS),
        (patch("{\"input\":7}"), ARGUMENTS),
        (patch("{\"input\":\"x\",\"more\":1}"), ARGUMENTS),
        (vec![Wire::Finish(9)], "event.finish"),
        (vec![stop(), text("x")], "event"),
        (vec![stop(), stop()], "event"),
    ];
    for (events, field) in table {
        let told = format!("{events:?}");
        let (_, taken) = taken(events);
        if field.is_empty() {
            assert!(taken.is_ok(), "{told}: {taken:?}");
            continue;
        }
        let refusal = taken.expect_err(&told);
        assert_eq!(refusal.code(), tonic::Code::InvalidArgument, "{told}");
        let details = refusal.get_error_details();
        let info = details.error_info().unwrap();
        assert_eq!((info.reason.as_str(), info.metadata["field"].as_str()), {
            ("REQUEST_INVALID", field)
        });
        assert!(refusal.message().starts_with(field), "{told}: {}", refusal.message());
    }
    let unknown = Sequence::default().take(v1::ReplyEvent { event: None }).unwrap_err();
    assert!(unknown.message().contains("kind"), "{unknown:?}");
}

#[test]
fn arguments_may_be_said_by_fragments_alone_or_at_once() {
    let expected = json!({ "a": [1, 2.5] });
    for (pieces, whole) in [
        (vec!["{\"a\": [1, ", "2.5]}"], ""),
        (vec!["{\"a\": [1, 2.5]}"], "{\"a\":[1,2.50]}"),
        (vec!["", "{\"a\":[1,2.5]}"], "{\"a\":[1,2.5]}"),
        (vec![], "{\"a\":[1,2.5]}"),
    ] {
        let mut events = vec![start(0, "t")];
        events.extend(pieces.iter().map(|piece| fragment(0, piece)));
        events.push(end(0, whole));
        let (_, taken) = taken(events);
        let taken = taken.unwrap();
        let Some(ReplyEvent::CallEnd { arguments, .. }) = taken.last() else { panic!("{taken:?}") };
        assert_eq!(Value::Object(arguments.clone()), expected, "{pieces:?} {whole}");
    }
}

#[test]
fn what_a_reply_may_have_is_bounded() {
    let half = "a".repeat(REPLY_BYTES_MAX / 2);
    let json = format!("{{\"a\":\"{half}\"}}");
    let refused = |events| {
        let (_, taken) = taken(events);
        let refusal = taken.unwrap_err();
        let details = refusal.get_error_details();
        (details.error_info().unwrap().reason.clone(), refusal.message().to_owned())
    };
    // Arguments count once, whether in fragments, at the end or both; so does what is none.
    for call in [
        vec![start(0, "t"), fragment(0, &json), end(0, &json)],
        vec![start(0, "t"), fragment(0, &json), end(0, "")],
        vec![start(0, "t"), end(0, &json)],
        vec![start(0, "t"), fragment(0, &json), abandoned(0, &json)],
    ] {
        let rest = "b".repeat(REPLY_BYTES_MAX - json.len() - "call_0t".len());
        let (_, fits) = taken([call.clone(), vec![text(&rest), stop()]].concat());
        assert!(fits.is_ok(), "{:?}", fits.err());
        let (reason, message) = refused([call, vec![text(&rest), text("b")]].concat());
        assert_eq!(reason, "REPLY_TOO_LARGE");
        assert!(message.starts_with("event.text: "), "{message}");
    }
    let open = vec![start(0, "t"), fragment(0, &json), fragment(0, &half)];
    assert_eq!(refused(open).0, "REPLY_TOO_LARGE");
    let calls = u32::try_from(CALLS_MAX).unwrap();
    let calls: Vec<Wire> = (0..=calls).flat_map(|n| [start(n, "t"), end(n, "{}")]).collect();
    let (_, most) = taken(calls[..2 * CALLS_MAX].to_vec());
    assert!(most.is_ok(), "{:?}", most.err());
    assert_eq!(refused(calls).0, "REPLY_TOO_LARGE");
}

#[test]
fn tokens_are_those_of_all_that_the_model_wrote() {
    let (sequence, _) = taken(vec![
        Wire::Reasoning("hm, ".into()),
        text("先看"),
        start(0, "read_file"),
        fragment(0, "{\"path\":"),
        fragment(0, "\"a\"}"),
        end(0, "{\"path\":\"a\"}"),
        start(1, "t"),
        end(1, "{\"b\":1}"),
        start(2, "t"),
        abandoned(2, "none"),
        stop(),
    ]);
    let written = "hm, 先看read_file{\"path\":\"a\"}t{\"b\":1}tnone";
    assert_eq!(sequence.tokens(), estimate_tokens(written));
}
