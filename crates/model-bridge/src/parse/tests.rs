//! Tests of the reader of replies: every shared case, cut everywhere.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::*;

mod any_text;
mod doubled_keys;

/// The shared cases: texts of models, and what is to be read in them.
static CASES: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../testdata/toolcalls.json")).unwrap());

fn registry() -> Arc<Registry> {
    Arc::new(Registry::from_json(&CASES["registry"].to_string()).unwrap())
}

fn read(registry: &Arc<Registry>, pieces: &[&[u8]], finish: Finish) -> (Reply, Vec<ReplyEvent>) {
    let mut parser = Parser::new(Arc::clone(registry), ParseOptions::default());
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(parser.feed(piece));
    }
    events.extend(parser.finish(finish));
    (Reply::collect(events.clone()), events)
}

fn tidy(text: &str) -> String {
    let mut text = text.replace("\r\n", "\n");
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    text.trim().to_owned()
}

/// What a case expects, and what came, in one form.
fn outcome(reply: &Reply) -> Value {
    let mut codes: Vec<&str> = reply.diagnostics.iter().map(|one| one.code.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    json!({ "calls": reply.calls, "text": tidy(&reply.text), "diagnostics": codes })
}

fn finish_of(case: &Value) -> Finish {
    if case["input"]["finish"] == "length" { Finish::Length } else { Finish::Stop }
}

fn texts() -> impl Iterator<Item = (&'static str, &'static str, Finish, &'static Value)> {
    let cases = CASES["cases"].as_array().unwrap();
    cases.iter().filter(|case| case["input"]["kind"] == "text").map(|case| {
        let text = case["input"]["text"].as_str().unwrap();
        (case["id"].as_str().unwrap(), text, finish_of(case), &case["expect"])
    })
}

#[test]
fn every_shared_case_is_read_as_it_is_meant() {
    let registry = registry();
    let mut wrong = Vec::new();
    for (id, text, finish, expect) in texts() {
        let (reply, _) = read(&registry, &[text.as_bytes()], finish);
        if outcome(&reply) != *expect {
            wrong.push(format!("{id}\n  want {expect}\n  got  {}", outcome(&reply)));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Ways to cut a text: into single bytes, at every position in two, and at random positions.
fn cuts(text: &str) -> Vec<Vec<&[u8]>> {
    let bytes = text.as_bytes();
    let mut all: Vec<Vec<&[u8]>> = vec![bytes.chunks(1).collect()];
    if bytes.len() < 4000 {
        all.extend((1..bytes.len()).map(|place| vec![&bytes[..place], &bytes[place..]]));
    }
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..100 {
        let mut pieces = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let most = if random & 64 == 0 { 7 } else { 90 };
            let length = usize::try_from(random >> 32).unwrap() % most + 1;
            let (piece, left) = rest.split_at(length.min(rest.len()));
            pieces.push(piece);
            rest = left;
        }
        all.push(pieces);
    }
    all
}

#[test]
fn where_a_reply_is_cut_changes_nothing() {
    let registry = registry();
    for (id, text, finish, _) in texts() {
        let (whole, _) = read(&registry, &[text.as_bytes()], finish);
        for pieces in cuts(text) {
            let (reply, events) = read(&registry, &pieces, finish);
            assert_eq!(reply, whole, "{id} in {} pieces", pieces.len());
            check_events(&events, id);
        }
    }
}

/// Calls come one after the other, each whole, and their fragments say what their end says.
fn check_events(events: &[ReplyEvent], id: &str) {
    let mut next = 0;
    let mut open: Option<(usize, String)> = None;
    for event in events {
        match event {
            ReplyEvent::CallStart { index, id: call, name } => {
                assert_eq!((*index, open.is_none()), (next, true), "{id}");
                assert!(!call.is_empty() && !name.is_empty(), "{id}");
                open = Some((*index, String::new()));
                next += 1;
            }
            ReplyEvent::ArgumentFragment { index, fragment } => {
                let (begun, text) = open.as_mut().expect(id);
                assert_eq!(begun, index, "{id}");
                text.push_str(fragment);
            }
            ReplyEvent::CallEnd { index, arguments } => {
                let (begun, text) = open.take().expect(id);
                let said: serde_json::Map<String, Value> = serde_json::from_str(&text).expect(id);
                assert_eq!((begun, &said), (*index, arguments), "{id}");
            }
            ReplyEvent::CallAbandoned { index, .. } => {
                assert_eq!(open.take().expect(id).0, *index, "{id}");
            }
            ReplyEvent::Text(text) | ReplyEvent::Reasoning(text) => {
                assert!(!text.is_empty(), "{id}");
            }
            ReplyEvent::Diagnostic(_) | ReplyEvent::Finish(_) => {}
        }
    }
    assert!(open.is_none(), "{id}");
    assert!(matches!(events.last(), Some(ReplyEvent::Finish(_))), "{id}");
}

#[test]
fn native_messages_are_read_as_they_are_meant() {
    let registry = registry();
    for case in CASES["cases"].as_array().unwrap() {
        if case["input"]["kind"] == "native_message" {
            let reply = parse_message(&registry, &case["input"]["message"], finish_of(case));
            assert_eq!(outcome(&reply), case["expect"], "{}", case["id"]);
        }
    }
    let anthropic = json!({ "role": "assistant", "content": [
        { "type": "text", "text": "Reading." },
        { "type": "tool_use", "id": "toolu_1", "name": "read_file", "input": { "path": "a" } },
        { "type": "tool_use", "id": "toolu_2", "name": "read_files", "input": {} },
    ]});
    let reply = parse_message(&registry, &anthropic, Finish::Stop);
    assert_eq!((reply.text.as_str(), reply.calls[0].id.as_str()), ("Reading.", "toolu_1"));
    assert_eq!(reply.diagnostics[0].code, DiagnosticCode::UnknownTool);
    assert!(reply.diagnostics[0].message.contains("did you mean `read_file`"));
}

#[test]
fn a_thought_that_the_prompt_began_makes_no_calls_where_it_ends() {
    let registry = registry();
    let call = "[TOOL:run_tests]{}[/TOOL]";
    let read = |text: &str, length: usize| {
        let options = ParseOptions { begins_in_thought: true, ..ParseOptions::default() };
        let mut parser = Parser::new(Arc::clone(&registry), options);
        let pieces = text.as_bytes().chunks(length);
        let mut events: Vec<ReplyEvent> = pieces.flat_map(|piece| parser.feed(piece)).collect();
        events.extend(parser.finish(Finish::Stop));
        Reply::collect(events)
    };
    let text = format!("I call {call} now.\n</think>\n{{\"k\":1}} {call} </think>");
    for length in [1, 3, 1000] {
        let reply = read(&text, length);
        assert_eq!(reply.reasoning, format!("I call {call} now.\n"));
        assert_eq!((reply.text.as_str(), reply.calls.len()), ("\n{\"k\":1}  </think>", 1));
        let endless = read(&format!("I call {call}"), length);
        assert_eq!((endless.reasoning.as_str(), endless.calls.len()), ("I call ", 1));
        let endless = read("I call [TOOL:nope]{}[/TOOL]", length);
        assert_eq!(endless.reasoning, "I call [TOOL:nope]{}[/TOOL]");
        assert_eq!((endless.text.as_str(), endless.calls.len()), ("", 0));
    }
}

#[test]
fn forms_that_are_not_asked_for_are_text_and_those_of_the_prompt_are_always_read() {
    let registry = registry();
    let calls = |forms: &Forms, text: &str| {
        let options = ParseOptions { forms: forms.clone(), ..ParseOptions::default() };
        let mut parser = Parser::new(Arc::clone(&registry), options);
        let mut events = parser.feed(text.as_bytes());
        events.extend(parser.finish(Finish::Stop));
        let reply = Reply::collect(events);
        let is_lossless = !reply.calls.is_empty() || reply.text == text;
        assert!(is_lossless, "{text}: {}", reply.text);
        reply.calls.len()
    };
    let gemma = Forms::named(&["gemma"]);
    let none = Forms::named::<&str>(&[]);
    for (text, form) in [
        ("<|tool_call>call:run_tests{}<tool_call|>", "gemma"),
        ("[run_tests()]", "pythonic"),
        ("<read_file><path>a</path></read_file>", "cline"),
        ("[TOOL_CALLS]run_tests{}", "mistral"),
        ("<tool_call>{\"name\":\"run_tests\",\"arguments\":{}}</tool_call>", "hermes"),
        ("<tool_call>run_tests</tool_call>", "glm4"),
        ("<|channel|>commentary to=functions.run_tests<|message|>{}<|call|>", "harmony"),
    ] {
        assert_eq!(calls(&Forms::default(), text), 1, "{text}");
        assert_eq!(calls(&Forms::named(&[form]), text), 1, "{text}");
        assert_eq!(calls(&gemma, text), usize::from(form == "gemma"), "{text}");
        assert_eq!(calls(&none, text), 0, "{text}");
    }
    for text in [
        "```json action\n{\"tool\":\"run_tests\"}\n```",
        "```json\n{\"tool\":\"run_tests\",\"parameters\":{}}\n```",
        "{\"tool\":\"run_tests\",\"parameters\":{}}",
        "[TOOL_CALL]run_tests[ARGS]{}",
        "[TOOL:run_tests]{}[/TOOL]",
        "<file-edit filePath=\"a\">x</file-edit>",
    ] {
        assert_eq!(calls(&gemma, text), 1, "{text}");
        assert_eq!(calls(&none, text), 1, "{text}");
    }
}

#[test]
fn a_call_that_was_passed_on_and_is_none_is_reported_and_loses_nothing() {
    let registry = registry();
    let long = "x".repeat(300);
    let body = format!(
        r#"{{"tool":"create_file","parameters":{{"path":"a","content":"{long} "b", c"}},"d"]}}}}"#
    );
    for (open, close) in [("```json action\n", "\n```"), ("```json\n", "\n```")] {
        let text = format!("Writing:\n{open}{body}{close}");
        for length in [1, 7, 5000] {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(length).collect();
            let (reply, events) = read(&registry, &pieces, Finish::Stop);
            let is_abandoned =
                |event: &ReplyEvent| matches!(event, ReplyEvent::CallAbandoned { .. });
            assert!(events.iter().any(is_abandoned), "{open}");
            assert_eq!((reply.text.as_str(), reply.calls.len()), (text.as_str(), 0));
            let codes: Vec<DiagnosticCode> = reply.diagnostics.iter().map(|one| one.code).collect();
            assert_eq!(codes, [DiagnosticCode::MalformedJson], "{open}");
        }
    }
}

#[test]
fn native_arguments_that_are_null_are_none() {
    for arguments in [json!("null"), json!(" null "), json!(null), json!("")] {
        let function = json!({ "name": "run_tests", "arguments": arguments });
        let message = json!({ "content": null, "tool_calls": [{ "function": function }] });
        let reply = parse_message(&registry(), &message, Finish::Stop);
        assert_eq!((reply.calls.len(), reply.diagnostics.len()), (1, 0), "{arguments}");
        assert!(reply.calls[0].arguments.is_empty());
    }
}

#[test]
fn an_argument_that_no_schema_lists_is_not_swallowed() {
    let registry = r#"[{"name":"weather","parameters":{"type":"object"}}]"#;
    let registry = Arc::new(Registry::from_json(registry).unwrap());
    for (text, arguments) in [
        ("<parameter=city>\nParis\n<parameter=unit>\nC\n</parameter>\n", None),
        ("<parameter=city>Paris<parameter=unit>C</parameter>", None),
        ("<parameter=city>\nParis\n</parameter>\n<parameter=unit>C</parameter>", Some(2)),
        ("<parameter=city>it says `<parameter=unit>`</parameter>", Some(1)),
        ("<parameter=city>a\n<parameter=b>c</parameter>\nd</parameter>", Some(1)),
    ] {
        let text = format!("<tool_call>\n<function=weather>\n{text}\n</function>\n</tool_call>");
        let reply = parse(&registry, &text, Finish::Stop);
        let got = reply.calls.first().map(|call| call.arguments.len());
        assert_eq!(got, arguments, "{text}");
        let codes: Vec<DiagnosticCode> = reply.diagnostics.iter().map(|one| one.code).collect();
        let expected = if got.is_some() { vec![] } else { vec![DiagnosticCode::MalformedJson] };
        assert_eq!(codes, expected, "{text}");
    }
}

#[test]
fn integers_beyond_64_bits_are_numbers_where_any_number_fits() {
    let registry = json!([{ "name": "t", "parameters": { "properties": {
        "any": {}, "number": { "type": "number" },
        "whole": { "type": "integer" }, "text": { "type": "string" }, "list": { "type": "array" },
    } } }]);
    let registry = Arc::new(Registry::from_json(&registry.to_string()).unwrap());
    for (key, value, makes) in [
        ("number", "99999999999999999999", true),
        ("any", "[-99999999999999999999]", true),
        ("whole", "99999999999999999999", false),
        ("text", "99999999999999999999", false),
        ("list", "[99999999999999999999]", false),
    ] {
        let text = format!("{{\"name\":\"t\",\"arguments\":{{\"{key}\":{value}}}}}");
        let reply = parse(&registry, &format!("<tool_call>{text}</tool_call>"), Finish::Stop);
        let codes: Vec<DiagnosticCode> = reply.diagnostics.iter().map(|one| one.code).collect();
        let code = if makes { DiagnosticCode::JsonRepaired } else { DiagnosticCode::MalformedJson };
        assert_eq!((reply.calls.len(), codes), (usize::from(makes), vec![code]), "{text}");
    }
}

/// Texts of the classes of the shared cases that are not among them.
static MORE: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../testdata/more.json")).unwrap());

#[test]
fn more_cases_of_every_class_are_read_as_they_are_meant() {
    let registry = registry();
    let mut wrong = Vec::new();
    for case in MORE.as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        let finish = if case["finish"] == "length" { Finish::Length } else { Finish::Stop };
        let (whole, _) = read(&registry, &[text.as_bytes()], finish);
        let calls: Vec<Value> =
            whole.calls.iter().map(|call| json!([call.name, call.arguments])).collect();
        let codes = &outcome(&whole)["diagnostics"];
        let expected = &case["calls"];
        // Where no text is given, all of it stays or, where there are calls, none.
        let rest = match &case["rest"] {
            Value::Null if calls.is_empty() => tidy(text),
            rest => rest.as_str().unwrap_or_default().to_owned(),
        };
        if json!(calls) != *expected || *codes != case["codes"] || tidy(&whole.text) != rest {
            wrong.push(format!("{text}\n  got {} {codes} {:?}", json!(calls), whole.text));
        }
        for pieces in cuts(text) {
            let (reply, events) = read(&registry, &pieces, finish);
            assert_eq!(reply, whole, "{text:?} in {} pieces", pieces.len());
            check_events(&events, text);
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn of_very_many_unknown_tools_only_the_first_are_guessed() {
    let calls = vec![r#"{"name":"read_fil","arguments":{}}"#; 40].join(",");
    let text = format!("<tool_call>[{calls}]</tool_call>");
    let (reply, _) = read(&registry(), &[text.as_bytes()], Finish::Stop);
    assert!(reply.calls.is_empty());
    let guessed = reply.diagnostics.iter().filter(|one| one.message.contains("`read_file`"));
    assert_eq!(guessed.count(), 32);
}

#[test]
fn very_many_fences_in_a_line_are_gone_through_once() {
    let text = format!("See {}", "```what stands behind it ".repeat(100_000));
    let (reply, _) = read(&registry(), &[text.as_bytes()], Finish::Stop);
    assert!(reply.calls.is_empty() && tidy(&reply.text) == tidy(&text));
}
