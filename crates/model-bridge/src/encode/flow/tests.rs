//! Pieces and order of what is shown.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::tests::{end, fragment, text};
use super::{Emission, FinishReason, Flow, Grain, PIECE_BYTES_MAX, StreamedCall};
use crate::event::{Finish, ReplyEvent};

fn pieces() -> Grain {
    Grain::PiecesBut(["free".to_owned()].into())
}

fn start(index: usize) -> ReplyEvent {
    ReplyEvent::CallStart { index, id: format!("call_{index}"), name: format!("tool_{index}") }
}

fn abandoned(index: usize, text: &str) -> ReplyEvent {
    ReplyEvent::CallAbandoned { index, text: text.to_owned() }
}

/// What is shown, a word and the text of each step, and how it ended.
fn shown(grain: Grain, events: &[ReplyEvent]) -> (Vec<(&'static str, String)>, FinishReason) {
    let mut steps = Vec::new();
    let mut sink = |step: Emission<'_>| {
        steps.push(match step {
            Emission::Text(text) => ("text", text.to_owned()),
            Emission::CallOpen { id, name } => ("open", format!("{id} {name}")),
            Emission::Arguments(piece) => ("arguments", piece.to_owned()),
            Emission::CallClose(arguments) => {
                ("close", Value::Object(arguments.clone()).to_string())
            }
            Emission::CallBroken => ("broken", String::new()),
        });
    };
    let mut flow = Flow::new(grain);
    events.iter().for_each(|event| flow.push(event, &mut sink));
    let ending = flow.finish(&mut sink);
    (steps, ending)
}

fn steps(events: &[ReplyEvent]) -> Vec<(&'static str, String)> {
    shown(pieces(), events).0
}

fn words<'a>(steps: &'a [(&'static str, String)]) -> Vec<(&'static str, &'a str)> {
    steps.iter().map(|(word, text)| (*word, text.as_str())).collect()
}

#[test]
fn arguments_are_shown_while_they_are_written_but_for_what_completes_them() {
    let events = [
        start(0),
        fragment(0, "{\"a\""),
        fragment(0, ":{\"b\":1}"),
        fragment(0, "}"),
        end(0, json!({ "a": { "b": 1 } })),
    ];
    assert_eq!(
        words(&steps(&events)),
        [
            ("open", "call_0 tool_0"),
            ("arguments", "{\"a\""),
            ("arguments", ":{\"b\":1"),
            ("arguments", "}}"),
            ("close", "{\"a\":{\"b\":1}}"),
        ]
    );
}

#[test]
fn a_call_without_arguments_has_an_empty_object_in_one_piece() {
    let shown = [("open", "call_0 tool_0"), ("arguments", "{}"), ("close", "{}")];
    let whole = [start(0), fragment(0, "{}"), end(0, json!({}))];
    let halves = [start(0), fragment(0, "{"), fragment(0, "}"), end(0, json!({}))];
    let none = [start(0), end(0, json!({}))];
    for events in [&whole[..], &halves[..], &none[..]] {
        assert_eq!(words(&steps(events)), shown, "{events:?}");
    }
}

#[test]
fn arguments_that_came_without_fragments_are_written_out() {
    let events = [start(0), end(0, json!({ "a": [1] }))];
    assert_eq!(steps(&events)[1], ("arguments", "{\"a\":[1]}".to_owned()));
}

#[test]
fn white_space_alone_is_no_text() {
    let events = [
        text("\n"),
        text(" "),
        start(0),
        end(0, json!({})),
        text("\n\n"),
        start(1),
        end(1, json!({})),
        text("\n"),
        text("done"),
        text("\n"),
    ];
    let steps = steps(&events);
    let texts: Vec<_> = steps.iter().filter(|(word, _)| *word == "text").collect();
    assert_eq!(texts, [&("text", "\ndone".to_owned()), &("text", "\n".to_owned())]);
}

#[test]
fn a_call_of_which_nothing_was_shown_becomes_text() {
    let events = [
        text("so: "),
        start(0),
        fragment(0, "{"),
        abandoned(0, "{\"pa"),
        ReplyEvent::Finish(Finish::Stop),
    ];
    let (steps, ending) = shown(pieces(), &events);
    assert_eq!(words(&steps), [("text", "so: "), ("text", "{\"pa")]);
    assert_eq!(ending, FinishReason::Stop);
}

#[test]
fn a_call_that_was_shown_and_is_none_ends_the_reply_as_cut_off() {
    for (finish, ending) in [
        (Finish::Stop, FinishReason::Length),
        (Finish::Length, FinishReason::Length),
        (Finish::ContentFilter, FinishReason::ContentFilter),
    ] {
        let events = [
            start(0),
            end(0, json!({})),
            start(1),
            fragment(1, "{\"a\":1}"),
            abandoned(1, "{\"a\":1}"),
            text("after"),
            ReplyEvent::Finish(finish),
        ];
        let (steps, ended) = shown(pieces(), &events);
        assert_eq!(
            words(&steps)[3..],
            [
                ("open", "call_1 tool_1"),
                ("arguments", "{\"a\":1"),
                ("broken", ""),
                ("text", "after")
            ]
        );
        assert_eq!(ended, ending, "{finish:?}");
    }
}

#[test]
fn where_only_whole_calls_are_shown_an_abandoned_one_is_text() {
    let events = [
        start(0),
        fragment(0, "{\"a\":1"),
        abandoned(0, "{\"a\":1"),
        start(1),
        fragment(1, "{\"a\":1}"),
        end(1, json!({ "a": 1 })),
        ReplyEvent::Finish(Finish::Stop),
    ];
    let (steps, ending) = shown(Grain::Calls, &events);
    assert_eq!(
        words(&steps),
        [("text", "{\"a\":1"), ("open", "call_1 tool_1"), ("close", "{\"a\":1}")]
    );
    assert_eq!(ending, FinishReason::Calls);
}

#[test]
fn calls_of_tools_that_take_text_are_shown_when_they_are_whole() {
    let events = |last: ReplyEvent| {
        let (id, name) = ("call_0".to_owned(), "free".to_owned());
        let begun = ReplyEvent::CallStart { index: 0, id, name };
        [begun, fragment(0, "{\"input\":\"a"), fragment(0, "b\"}"), last]
    };
    let whole = steps(&events(end(0, json!({ "input": "ab" }))));
    assert_eq!(words(&whole), [("open", "call_0 free"), ("close", "{\"input\":\"ab\"}")]);
    let none = steps(&events(abandoned(0, "{\"input\":\"ab\"}")));
    assert_eq!(words(&none), [("text", "{\"input\":\"ab\"}")]);
}

#[test]
fn calls_turn_only_a_good_end_into_one_with_calls() {
    for (finish, ending) in [
        (Some(Finish::Stop), FinishReason::Calls),
        (Some(Finish::Length), FinishReason::Length),
        (Some(Finish::ContentFilter), FinishReason::ContentFilter),
        (None, FinishReason::Length),
    ] {
        let mut events = vec![start(0), end(0, json!({}))];
        events.extend(finish.map(ReplyEvent::Finish));
        assert_eq!(shown(pieces(), &events).1, ending, "{finish:?}");
    }
}

#[test]
fn what_belongs_to_no_call_or_comes_after_the_end_is_left_out() {
    let events = [
        fragment(0, "{\"a\""),
        end(0, json!({})),
        abandoned(0, "x"),
        text("a"),
        ReplyEvent::Finish(Finish::Stop),
        text("b"),
        start(0),
        end(0, json!({})),
    ];
    let (steps, ending) = shown(pieces(), &events);
    assert_eq!((words(&steps), ending), (vec![("text", "a")], FinishReason::Stop));
}

#[test]
fn a_call_inside_of_which_another_begins_or_the_reply_ends_is_none() {
    let cut = [start(0), fragment(0, "{\"a\":"), ReplyEvent::Finish(Finish::Stop)];
    let (cut, ending) = shown(pieces(), &cut);
    assert_eq!((cut[2].0, ending), ("broken", FinishReason::Length));
    let unfinished = [start(0), fragment(0, "{\"a\":")];
    assert_eq!(shown(pieces(), &unfinished).0[2].0, "broken");
    let twice = [start(0), fragment(0, "{\"a\":"), start(1), end(1, json!({}))];
    assert_eq!(
        shown(pieces(), &twice).0[2..4],
        [("broken", String::new()), ("open", "call_1 tool_1".to_owned()),]
    );
}

#[test]
fn what_waits_is_read_once_however_many_fragments_it_comes_in() {
    // White space of other alphabets and vertical tabs are no end of a body.
    let blank = ["\u{3000}", "\u{a0}", "\u{b}", " "];
    let fragments: Vec<&str> =
        std::iter::once("{").chain(blank.into_iter().cycle().take(4000)).collect();
    let mut call = StreamedCall::new("call_0", "tool_0", true);
    let (mut read, mut written) = (0, 0);
    for fragment in fragments {
        call.hold(fragment);
        written += fragment.len();
        read += call.read_first();
        assert!(!call.is_due());
        assert!(read <= written, "{read} bytes were read of {written}");
    }
    assert!(read > written / 2, "{read} of {written}");
    call.hold("\"");
    call.read_first();
    assert!(call.is_due());
}

#[test]
fn pieces_grow_with_what_was_sent_and_stay_small_enough() {
    let long = "x".repeat(1 << 18);
    let arguments = json!({ "text": long });
    let mut events = vec![start(0)];
    events.extend(arguments.to_string().chars().map(|c| fragment(0, c.encode_utf8(&mut [0; 4]))));
    events.push(end(0, arguments.clone()));
    let steps = steps(&events);
    let pieces: Vec<&str> = steps
        .iter()
        .filter_map(|(word, text)| (*word == "arguments").then_some(text.as_str()))
        .collect();
    assert_eq!(pieces.concat(), arguments.to_string());
    assert!(pieces.iter().all(|piece| piece.len() <= PIECE_BYTES_MAX));
    assert!(pieces.len() < 700, "{}", pieces.len());
    // The first ones do not wait.
    assert_eq!(pieces[..3], ["{\"", "t", "e"]);
}

#[test]
fn long_text_and_fragments_are_cut_between_characters() {
    let long = "é😀".repeat(PIECE_BYTES_MAX);
    let json = json!({ "text": long });
    let events = [text(&long), start(0), fragment(0, &json.to_string()), end(0, json.clone())];
    let steps = steps(&events);
    assert!(
        steps.iter().filter(|(word, _)| *word != "close").all(|(_, t)| t.len() <= PIECE_BYTES_MAX)
    );
    assert_eq!(joined(&steps, "text"), long);
    assert_eq!(joined(&steps, "arguments"), json.to_string());
}

fn joined(steps: &[(&'static str, String)], word: &str) -> String {
    steps.iter().filter(|(other, _)| *other == word).map(|(_, text)| text.as_str()).collect()
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~é😀\u{2028}\n}{]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-z}]{0,3}", inner), 0..3)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn arguments() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec(("[a-z]{1,4}", values()), 0..4)
        .prop_map(|pairs| pairs.into_iter().collect())
}

proptest! {
    #[test]
    fn any_fragments_show_the_arguments_and_never_complete_them_early(
        arguments in arguments(),
        is_pretty in any::<bool>(),
        cuts in prop::collection::vec(1_usize..9, 1..40),
        is_abandoned in any::<bool>(),
    ) {
        let value = Value::Object(arguments.clone());
        let json = if is_pretty {
            serde_json::to_string_pretty(&value).unwrap() + "\n"
        } else {
            value.to_string()
        };
        let mut events = vec![start(0)];
        let (mut rest, mut cuts) = (json.as_str(), cuts.into_iter().cycle());
        while !rest.is_empty() {
            let end = rest.ceil_char_boundary(cuts.next().unwrap().min(rest.len()));
            events.push(fragment(0, &rest[..end]));
            rest = &rest[end..];
        }
        events.push(if is_abandoned {
            abandoned(0, &json)
        } else {
            ReplyEvent::CallEnd { index: 0, arguments }
        });
        let (steps, _) = shown(pieces(), &events);
        let sent = joined(&steps, "arguments");
        if is_abandoned {
            prop_assert!(json.starts_with(&sent));
            prop_assert!(serde_json::from_str::<Value>(&sent).is_err(), "{}", sent);
        } else {
            prop_assert_eq!(sent, json);
        }
    }
}
