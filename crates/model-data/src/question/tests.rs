//! What is asked says all that the case says, and reads back.

use super::*;
use moss_model_bridge::normalize;

const CASE: &str = r#"{"id":"one","messages":[
    {"role":"system","content":"Be brief."},
    {"role":"user","content":"What is in a.txt?"},
    {"role":"assistant","content":null,"tool_calls":[
        {"id":"call_1","name":"read_file","arguments":{"path":"a.txt"}}]},
    {"role":"tool","tool_call_id":"call_1","content":"hello"}],
    "tools":[{"name":"read_file","description":"Reads.","parameters":{"type":"object",
        "properties":{"path":{"type":"string"}},"required":["path"]}}]}"#;

fn asking(model: &str, native: bool) -> QuestionOptions<'_> {
    QuestionOptions { model, native, language: Language::En }
}

fn asked(line: &str, asking: &QuestionOptions<'_>) -> Value {
    let registry = Arc::new(Registry::default());
    let question = question(&line.replace('\n', " "), &registry, asking).unwrap().unwrap();
    assert_eq!(question.id, "one");
    question.body
}

#[test]
fn models_that_know_tools_get_them_and_their_calls_in_the_form_of_the_api() {
    let body = asked(CASE, &asking("m", true));
    let read = normalize(Api::OpenAiChat, body.clone()).unwrap().conversation;
    assert_eq!(read.tools.len(), 1);
    assert_eq!(read.messages.len(), 4);
    let call = &body["messages"][2]["tool_calls"][0];
    assert_eq!(call["type"], "function");
    assert_eq!(call["function"], json!({"name": "read_file", "arguments": r#"{"path":"a.txt"}"#}));
    assert_eq!(body["temperature"], 0.2);
    assert_eq!(body.get("stop"), None);
}

#[test]
fn other_models_get_the_calls_in_text() {
    let body = asked(CASE, &asking("m", false));
    assert_eq!(body.get("tools"), None);
    assert!(body["stop"].as_array().is_some_and(|stop| !stop.is_empty()));
    let messages = body["messages"].as_array().unwrap();
    let text = |place: usize| messages[place]["content"].as_str().unwrap();
    assert_eq!(messages[0]["role"], "system");
    assert!(text(0).starts_with("Be brief.") && text(0).contains("read_file"), "{}", text(0));
    assert_eq!(messages[2]["role"], "assistant");
    assert!(text(2).contains("```json action") && text(2).contains("a.txt"), "{}", text(2));
    assert_eq!(messages[3]["role"], "user");
    assert!(text(3).contains("hello"), "{}", text(3));
}

#[test]
fn reasoners_get_no_temperature() {
    let body = asked(CASE, &asking("openai/o3-mini", false));
    assert_eq!((body.get("temperature"), body.get("stop")), (None, None));
}

#[test]
fn pictures_go_as_they_are() {
    let line = r#"{"id":"one","messages":[{"role":"user","content":[
        {"type":"text","text":"What is this?"},
        {"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}]}"#;
    let body = asked(line, &asking("m", false));
    let content = &body["messages"][0]["content"];
    assert_eq!(content[0], json!({"type": "text", "text": "What is this?"}));
    assert_eq!(content[1]["image_url"]["url"], "data:image/png;base64,AA==");
}

#[test]
fn what_has_its_answer_is_not_asked_and_what_is_no_case_is_reported() {
    let registry = Arc::new(Registry::default());
    let of = |line: &str| question(line, &registry, &asking("m", false));
    assert_eq!(of("  "), Ok(None));
    assert_eq!(of(r#"{"id":"a","messages":[],"answer":{"content":"x"}}"#), Ok(None));
    assert!(of("{").is_err());
    assert!(of(r#"{"id":"a","messages":[{"role":"nobody"}]}"#).is_err());
}

#[test]
fn answers_are_taken_out_of_responses() {
    let response = |choice: Value| json!({ "choices": [choice] });
    let cut = response(json!({"message": {"content": "a"}, "finish_reason": "length"}));
    assert_eq!(reply(&cut), Ok(json!({"content": "a", "finish": "length"})));
    let calls = json!([{"id": "1", "function": {"name": "f", "arguments": "{}"}}]);
    let called = json!({"message": {"content": null, "tool_calls": calls},
        "finish_reason": "tool_calls"});
    let expected = json!({"content": null, "tool_calls": calls, "finish": "stop"});
    assert_eq!(reply(&response(called)), Ok(expected));
    assert!(reply(&json!({"error": "x"})).is_err());
}
