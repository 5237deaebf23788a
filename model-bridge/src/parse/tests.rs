//! Tests of the reader of replies: every shared case, cut everywhere.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::*;

/// The shared cases: texts of models, and what is to be read in them.
static CASES: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../testdata/toolcalls.json")).unwrap());

fn registry() -> Arc<Registry> {
    Arc::new(Registry::from_json(&CASES["registry"].to_string()).unwrap())
}

fn read(registry: &Arc<Registry>, pieces: &[&[u8]], finish: Finish) -> (Reply, Vec<Event>) {
    let mut parser = Parser::new(Arc::clone(registry), Options::default());
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
