//! JSON with a key twice in an object: which value is meant, nobody knows, so that there is no call (R21).

use super::*;

/// A call whose tool is named twice, one with an argument twice and one with arguments twice.
const DOUBLED: &[&str] = &[
    r#"{"name":"read_file","name":"delete_file","arguments":{"path":"a"}}"#,
    r#"{"tool":"run_tests","tool":"run_tests"}"#,
    r#"{"name":"delete_file","arguments":{"path":"a","path":"b"}}"#,
    r#"{"name":"delete_file","arguments":{"path":"a","p\u0061th":"b"}}"#,
    r#"{"name":"delete_file","arguments":{"path":"a"},"arguments":{"path":"b"}}"#,
    r#"{"name":"delete_file","arguments":"{\"path\":\"a\",\"path\":\"b\"}"}"#,
    r#"{"name":"delete_file","arguments":"{path:\"a\",path:\"b\"}"}"#,
    r#"{"name":"delete_file","arguments":"\"{\\\"path\\\":\\\"a\\\",\\\"path\\\":\\\"b\\\"}\""}"#,
    r#"{"name":"run_tests","arguments":{"other":[{"a":1,"a":2}]}}"#,
    r#"{"tool_calls":[{"name":"delete_file","arguments":{"path":"a","path":"b"}}]}"#,
    r#"[{"name":"delete_file","arguments":{"path":"a","path":"b"}}]"#,
];

/// The same where the JSON is to be repaired as well.
const DOUBLED_AND_BROKEN: &[&str] = &[
    r#"{"name":"read_file","name":"delete_file","arguments":{"path":"a"},}"#,
    r#"{"name":"delete_file","arguments":{"path":"a","path":"b",}}"#,
    r#"{"name":"delete_file","arguments":{"path":"a" "path":"b"}}"#,
    r#"{"name":"delete_file","arguments":{"path":"a"
"path":"b"}}"#,
    r#"{"name":"delete_file","arguments":{"path":"a"，"path":"b"}}"#,
    r#"{"name":"delete_file","arguments":{"path":"a", path: "b"}}"#,
    r#"{"name":"delete_file","arguments":{"path":"a","p\u0061th":"b",}}"#,
    r#"{'name':'delete_file','arguments':{'path':'a','path':'b'}}"#,
    "{“name”:“delete_file”,“arguments”:{“path”:“a”,“path”:“b”}}",
    r#"{"name":"create_file","arguments":{"path":"a","content":"x","path":"b",}}"#,
    r#"{"name":"create_file","arguments":{"path":"a","content":"x","content":"y",}}"#,
    r#"{"name":"delete_file","arguments":{"path":"a"},"arguments":{"path":"b"},}"#,
    r#"{"name":"run_tests","arguments":{"other":[{"a":"x","a":"y",}]}}"#,
];

/// Asserts that a reply makes no call, wherever it is cut, and that a diagnostic says so.
fn assert_refused(text: &str, code: DiagnosticCode) {
    let registry = registry();
    let (whole, _) = read(&registry, &[text.as_bytes()], Finish::Stop);
    assert!(whole.calls.is_empty(), "{text}: {:?}", whole.calls);
    assert_eq!(whole.text, text);
    assert!(whole.diagnostics.iter().any(|one| one.code == code), "{text}: {whole:?}");
    for pieces in cuts(text) {
        let (reply, events) = read(&registry, &pieces, Finish::Stop);
        assert_eq!(reply, whole, "{text} in {} pieces", pieces.len());
        check_events(&events, text);
    }
}

#[test]
fn a_marked_call_with_a_key_twice_is_not_made() {
    for json in DOUBLED.iter().chain(DOUBLED_AND_BROKEN) {
        for (open, close) in [
            ("<tool_call>", "</tool_call>"),
            ("```json action\n", "\n```"),
            ("<|python_tag|>", ""),
            ("[TOOL_CALLS]", ""),
        ] {
            assert_refused(&format!("{open}{json}{close}"), DiagnosticCode::MalformedJson);
        }
    }
}

#[test]
fn arguments_with_a_key_twice_make_no_call() {
    for json in [
        r#"{"path":"a","path":"b"}"#,
        r#"{"path":"a","path":"b",}"#,
        r#"{'path':'a','path':'b'}"#,
        r#"{"path":"a","content":"x","path":"b",}"#,
    ] {
        for (open, close) in [
            ("[TOOL:create_file]", "[/TOOL]"),
            ("[TOOL_CALL]create_file[ARGS]", ""),
            ("[TOOL_CALLS]create_file", ""),
            ("<|tool_call_begin|>create_file:0<|tool_call_argument_begin|>", "<|tool_call_end|>"),
        ] {
            let text = format!("{open}{json}{close}");
            // A brace that begins no JSON is one of a text.
            if !text.starts_with("[TOOL_CALLS]create_file{'") {
                assert_refused(&text, DiagnosticCode::MalformedJson);
            }
        }
    }
}

#[test]
fn json_without_a_mark_that_has_a_key_twice_is_no_call() {
    for json in DOUBLED.iter().filter(|json| json.contains(r#""arguments":{"#)) {
        for text in [(*json).to_owned(), format!("```json\n{json}\n```")] {
            let (reply, _) = read(&registry(), &[text.as_bytes()], Finish::Stop);
            assert_eq!((reply.calls.len(), &reply.text), (0, &text));
            // A list of calls that cannot be made may be data.
            let is_told = !reply.diagnostics.is_empty();
            assert!(is_told || !json.starts_with("{\"name\""), "{text}");
        }
    }
}

#[test]
fn native_arguments_with_a_key_twice_make_no_call() {
    for arguments in [
        r#"{"path":"a","path":"b"}"#,
        r#"{"path":"a","path":"b",}"#,
        r#"{"path":"a","p\u0061th":"b"}"#,
        r#"{path:"a",path:"b"}"#,
        r#"{'path':'a','path':'b'}"#,
        r#""{\"path\":\"a\",\"path\":\"b\"}""#,
    ] {
        let call = json!({ "function": { "name": "delete_file", "arguments": arguments } });
        let message = json!({ "content": null, "tool_calls": [call] });
        let reply = parse_message(&registry(), &message, Finish::Stop);
        assert!(reply.calls.is_empty(), "{arguments}: {:?}", reply.calls);
        let codes: Vec<DiagnosticCode> = reply.diagnostics.iter().map(|one| one.code).collect();
        assert_eq!(codes, [DiagnosticCode::MalformedJson], "{arguments}");
        assert!(reply.diagnostics[0].message.contains("`path` is there twice"), "{reply:?}");
    }
}

#[test]
fn a_value_is_not_taken_out_of_json_text_that_has_a_key_twice() {
    let registry = json!([{ "name": "t", "parameters": { "properties": {
        "list": { "type": "array" }, "object": { "type": "object" },
    } } }]);
    let registry = Arc::new(Registry::from_json(&registry.to_string()).unwrap());
    for (key, text) in [("object", r#"{"a":1,"a":2}"#), ("list", r#"[{"a":1,"a":2},{"b":1}]"#)] {
        let call = json!({ "name": "t", "arguments": { key: text } });
        let whole = format!("<tool_call>{call}</tool_call>");
        let reply = parse(&registry, &whole, Finish::Stop);
        assert!(reply.calls.is_empty(), "{whole}: {:?}", reply.calls);
    }
}

#[test]
fn a_call_that_was_passed_on_and_turns_out_to_have_a_key_twice_is_abandoned() {
    let long = "x".repeat(300);
    for (argument, other) in [("content", "content"), ("content", "path")] {
        let arguments = format!(r#"{{"path":"a","{argument}":"{long}","{other}":"b"}}"#);
        let text = format!("[TOOL:create_file]{arguments}[/TOOL]");
        assert_refused(&text, DiagnosticCode::MalformedJson);
        let (_, events) = read(&registry(), &[text.as_bytes()], Finish::Stop);
        let is_abandoned = |event: &ReplyEvent| matches!(event, ReplyEvent::CallAbandoned { .. });
        assert!(events.iter().any(is_abandoned), "{other}");
    }
}

#[test]
fn a_text_is_not_made_of_the_keys_behind_it() {
    for arguments in [
        r#"{"path":"a","other":"b",}"#,
        r#"{"path":"a","other":1,}"#,
        r#"{'path':'a','other':'b'}"#,
        r#"{"path":"a" "other":"b"}"#,
        r#"{"path":"5" disk","other":"b"}"#,
        r#"{"path":"{"x","path":"b",}"#,
    ] {
        let text = format!("[TOOL:delete_file]{arguments}[/TOOL]");
        assert_refused(&text, DiagnosticCode::MalformedJson);
    }
}

#[test]
fn json_in_a_text_may_have_the_keys_of_the_arguments() {
    let registry = registry();
    for inner in [
        r#"{"path": "x", "name": "y"}"#,
        r#"{"path": "x", "content": "y"}"#,
        r#"[{"path": "x", "content": "y"}]"#,
    ] {
        let arguments = format!(r#"{{"path":"a.json","content":"{inner}"}}"#);
        let text = format!("[TOOL:create_file]{arguments}[/TOOL]");
        let (reply, _) = read(&registry, &[text.as_bytes()], Finish::Stop);
        assert_eq!(reply.calls.len(), 1, "{text}: {reply:?}");
        assert_eq!(reply.calls[0].arguments["content"], inner, "{text}");
    }
}

#[test]
fn a_function_and_what_stands_around_it_do_not_say_different_things() {
    for (json, makes) in [
        (
            r#"{"name":"read_file","function":{"name":"delete_file","arguments":{"path":"a"}}}"#,
            false,
        ),
        (
            r#"{"function":{"name":"delete_file","arguments":{"path":"a"}},"args":{"path":"b"}}"#,
            false,
        ),
        (r#"{"name":"a","function":{"name":"delete_file","arguments":{"path":"a"}}}"#, true),
        (r#"{"function":{"name":"delete_file","arguments":{"path":"a"}},"args":{}}"#, true),
        (
            r#"{"function":{"name":"delete_file","arguments":{"path":"a"}},"args":{"path":"a"}}"#,
            true,
        ),
    ] {
        let text = format!("<tool_call>{json}</tool_call>");
        if makes {
            let (reply, _) = read(&registry(), &[text.as_bytes()], Finish::Stop);
            assert_eq!((reply.calls.len(), reply.diagnostics.len()), (1, 0), "{text}: {reply:?}");
        } else {
            assert_refused(&text, DiagnosticCode::SchemaInvalid);
        }
    }
}
