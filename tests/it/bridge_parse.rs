//! `moss bridge parse` and `moss bridge prompt`: what models write, and what prompts say.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::Site;

/// The shared cases: texts of models, and what is to be read in them.
const CASES: &str = include_str!("../../crates/model-bridge/testdata/toolcalls.json");

/// Runs `moss bridge parse` on a reply. Returns the code it ends with, and what it printed.
fn parse(site: &Site, arguments: &[&str], reply: &[u8]) -> (Option<i32>, String, String) {
    let mut child = site
        .command([&["bridge", "parse"], arguments].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(reply);
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn tidy(text: &str) -> String {
    let mut text = text.replace("\r\n", "\n");
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    text.trim().to_owned()
}

#[test]
fn shared_cases_are_read_on_the_command_line() {
    let site = Site::new();
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let registry = site.write("registry.json", cases["registry"].to_string());
    let registry = registry.to_str().unwrap();
    let mut read = 0;
    // Each takes a process; the library is held to all of them, however they are cut.
    for case in cases["cases"].as_array().unwrap().iter().step_by(4) {
        let input = &case["input"];
        let finish = input["finish"].as_str().unwrap();
        let mut arguments = vec!["--registry", registry, "--json", "--finish", finish];
        let reply = match input["text"].as_str() {
            Some(text) => text.to_owned(),
            None => {
                arguments.push("--message");
                input["message"].to_string()
            }
        };
        let (code, stdout, stderr) = parse(&site, &arguments, reply.as_bytes());
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{}", case["id"]);
        let mut got: Value = serde_json::from_str(&stdout).unwrap();
        let mut codes: Vec<String> = serde_json::from_value(got["diagnostics"].take()).unwrap();
        codes.sort();
        codes.dedup();
        let text = tidy(got["text"].as_str().unwrap());
        let got = json!({ "calls": got["calls"], "text": text, "diagnostics": codes });
        assert_eq!(got, case["expect"], "{}", case["id"]);
        read += 1;
    }
    assert!(read > 20);
}

#[test]
fn events_come_in_order_and_say_why_no_call_was_made() {
    let site = Site::new();
    let reply =
        b"Hi.\n```json action\n{\"tool\":\"read_fil\",\"parameters\":{\"path\":\"a\"}}\n```\n\xff";
    let (code, stdout, _) = parse(&site, &["--events"], reply);
    assert_eq!(code, Some(0));
    let events: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0], json!({ "event": "text", "value": "Hi.\n" }));
    let told = &events.iter().find(|event| event["event"] == "diagnostic").unwrap()["value"];
    assert_eq!(told["code"], "unknown_tool");
    assert!(told["message"].as_str().unwrap().contains("did you mean `read_file`?"));
    assert_eq!(events.last().unwrap(), &json!({ "event": "finish", "value": "stop" }));
    assert!(stdout.contains('\u{fffd}'));
}

#[test]
fn a_reply_that_begins_inside_of_a_thought_is_read_so() {
    let site = Site::new();
    let call = "<tool_call>\n<function=read_file>\n<parameter=path>\na\n</parameter>\n</function>\n\
                </tool_call>";
    let reply = format!("I would write\n{call}\n</think>\nNo.");
    let calls = |arguments: &[&str]| {
        let (code, stdout, _) = parse(&site, arguments, reply.as_bytes());
        assert_eq!(code, Some(0));
        let got: Value = serde_json::from_str(&stdout).unwrap();
        (got["calls"].as_array().unwrap().len(), got["text"].as_str().unwrap().trim().to_owned())
    };
    assert_eq!(calls(&["--in-thought"]), (0, "No.".to_owned()));
    assert_eq!(calls(&[]), (1, "I would write\n\n</think>\nNo.".to_owned()));
}

#[test]
fn a_model_that_is_known_is_read_in_its_own_forms_only() {
    let site = Site::new();
    let reply = "[read_file(path=\"a\")]";
    for (model, calls) in [("LiquidAI/LFM2-8B-A1B", 1), ("gpt-oss-20b", 0), ("anything", 1)] {
        let (code, stdout, stderr) = parse(&site, &["--model", model], reply.as_bytes());
        assert_eq!(code, Some(0), "{stderr}");
        let got: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(got["calls"].as_array().unwrap().len(), calls, "{model}");
    }
}

#[test]
fn what_is_no_registry_or_no_message_is_reported() {
    let site = Site::new();
    let broken = site.write("broken.json", "{\"name\":1}");
    let (code, _, stderr) = parse(&site, &["--registry", broken.to_str().unwrap()], b"");
    assert_eq!(code, Some(2));
    assert!(stderr.contains("a registry is a JSON array"), "{stderr}");
    let (code, _, stderr) = parse(&site, &["--message"], b"not json");
    assert_eq!(code, Some(2));
    assert!(stderr.contains("no message in JSON"), "{stderr}");
    let (code, _, stderr) = parse(&site, &["--message"], b"{\"content\":\"\xff\"}");
    assert_eq!(code, Some(2));
    assert!(stderr.contains("no message in JSON: invalid utf-8"), "{stderr}");
    let (code, _, stderr) = parse(&site, &["--message"], b"{\"output\":[]}");
    assert_eq!(code, Some(2));
    assert!(stderr.contains("choices[0].message"), "{stderr}");
}

#[test]
fn a_message_with_a_key_twice_is_refused() {
    let site = Site::new();
    let call = |function: &str| format!(r#"{{"tool_calls":[{{"function":{function}}}]}}"#);
    for (message, key) in [
        (call(r#"{"name":"read_file","name":"delete_file","arguments":{"path":"a"}}"#), "name"),
        (call(r#"{"name":"delete_file","arguments":{"path":"a","p\u0061th":"b"}}"#), "path"),
        (r#"{"content":"a","content":"b"}"#.to_owned(), "content"),
    ] {
        let (code, stdout, stderr) = parse(&site, &["--message"], message.as_bytes());
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{message}");
        let refused = format!("no message in JSON: the key `{key}` twice at line 1 column ");
        assert!(stderr.contains(&refused), "{stderr}");
    }
}

#[test]
fn whole_responses_are_messages_too() {
    let site = Site::new();
    let message = r#"{"content":"Hi.","tool_calls":[{"function":{"name":"clarify",
        "arguments":"{\"question\":\"Which?\"}"}}]}"#;
    let chat = format!("{{\"choices\":[{{\"message\":{message}}}]}}");
    let ollama = format!("{{\"message\":{message}}}");
    for response in [message, &chat, &ollama] {
        let (code, stdout, stderr) = parse(&site, &["--message"], response.as_bytes());
        assert_eq!(code, Some(0), "{stderr}");
        let read: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((&read["text"], &read["calls"][0]["name"]), (&"Hi.".into(), &"clarify".into()));
    }
}

#[test]
fn a_prompt_names_the_tools_that_are_there_and_no_others() {
    let site = Site::new();
    let ended = site.run(&["bridge", "prompt"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for line in ["\nread_file(path!: string", "\ncreate_file(", "\nclarify("] {
        assert!(ended.stdout.contains(line), "{line}");
    }
    let registry = site.write("one.json", r#"[{"name":"look","parameters":{"type":"object"}}]"#);
    let registry = registry.to_str().unwrap();
    let ended = site.run(&["bridge", "prompt", "--registry", registry, "--lang", "zh"]);
    assert!(ended.stdout.contains("look("), "{ended:?}");
    assert!(!ended.stdout.contains("read_file"), "{ended:?}");
    let ended = site.run(&["bridge", "prompt", "--choice", "redfile"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("did you mean `read_file`?"), "{ended:?}");
}
