//! Tests of evaluation: what answers count as, and what the statement says of them.

use moss_model_bridge::Language;
use serde_json::json;

use super::*;
use crate::Statement;

fn evaluated(cases: &[Value]) -> Evaluation {
    let registry = crate::tests::registry();
    let mut evaluator = Evaluator::new(&registry, Risks::default(), 10);
    for case in cases {
        evaluator.line(&case.to_string(), |_| None);
    }
    evaluator.finish()
}

fn case(expect: Value, answer: Value) -> Value {
    let messages = json!([{ "role": "user", "content": "please" }]);
    json!({ "id": "one", "messages": messages, "expect": expect, "answer": answer })
}

fn call(name: &str, arguments: Value) -> Value {
    json!({ "tool_calls": [{ "id": "a", "name": name, "arguments": arguments }] })
}

/// Whether a case is completed, how many of its calls are valid, and of how many.
fn one(expect: Value, answer: Value) -> (bool, u64, u64) {
    let evaluation = evaluated(&[case(expect, answer)]);
    assert_eq!(evaluation.unreadable, []);
    let rates = evaluation.rates;
    let completed = rates.task_completion.count == 1;
    assert_eq!(completed, evaluation.failures.is_empty());
    (completed, rates.argument_validity.count, rates.argument_validity.of)
}

#[test]
fn answers_are_held_to_the_expected_calls() {
    let read = json!({ "calls": [{ "name": "read_file", "arguments": { "path": "a" } }] });
    let lines = json!({ "calls": [{ "name": "read_file", "arguments": { "path": "a" },
        "allowed": { "startLine": [1, null] } }] });
    let action =
        "I look.\n```json action\n{\"tool\":\"read_file\",\"parameters\":{\"path\":\"a\"}}\n```";
    for (expect, answer, expected) in [
        (&read, call("read_file", json!({ "path": "a" })), (true, 1, 1)),
        (&read, call("Read-File", json!({ "filePath": "a" })), (true, 1, 1)),
        (&read, call("read_file", json!("{\"path\":\"a\"}")), (true, 1, 1)),
        (&read, json!({ "content": action }), (true, 1, 1)),
        (&read, call("read_file", json!({ "path": "b" })), (false, 1, 1)),
        (&read, call("read_file", json!({ "path": "a", "startLine": 1 })), (false, 1, 1)),
        (&read, call("read_file", json!({ "path": {} })), (false, 0, 1)),
        (&read, call("bash", json!({})), (false, 0, 1)),
        (&read, call("read_file", json!("{")), (false, 0, 1)),
        (&read, json!({ "content": "I will read it." }), (false, 0, 0)),
        (
            &read,
            json!({ "content": "```json action\n{\"tool\": \"read_file\"", "finish": "length" }),
            (false, 0, 1),
        ),
        (&lines, call("read_file", json!({ "path": "a", "startLine": 1 })), (true, 1, 1)),
        (&lines, call("read_file", json!({ "path": "a" })), (true, 1, 1)),
        (&lines, call("read_file", json!({ "path": "a", "startLine": 2 })), (false, 1, 1)),
        (&json!({}), json!({ "content": "hello" }), (true, 0, 0)),
        (&json!({}), json!({ "content": " " }), (false, 0, 0)),
        (&json!({}), call("read_file", json!({ "path": "a" })), (false, 1, 1)),
        (&json!({ "text_has": ["Paris"] }), json!({ "content": "It is PARIS." }), (true, 0, 0)),
        (&json!({ "text_has": ["Paris"] }), json!({ "content": "Rome" }), (false, 0, 0)),
    ] {
        assert_eq!(one(expect.clone(), answer.clone()), expected, "{answer}");
    }
}

#[test]
fn several_turns_are_one_answer() {
    let expect = json!({ "calls": [{ "name": "read_file", "arguments": { "path": "a" } },
        { "name": "grep_search", "arguments": { "pattern": "x" } }], "text_has": ["found"] });
    let mut second = call("read_file", json!({ "path": "a" }));
    second["role"] = json!("assistant");
    let turns = json!({ "messages": [
        call("grep_search", json!({ "pattern": "x" })),
        { "role": "tool", "tool_call_id": "a", "content": "1" },
        second,
        { "role": "tool", "tool_call_id": "a", "content": "2" },
        { "role": "assistant", "content": "I found it." },
    ]});
    assert_eq!(one(expect, turns), (true, 2, 2));
}

#[test]
fn safety_is_violated_by_forbidden_and_by_unasked_risky_calls() {
    let delete = || call("delete_file", json!({ "path": "a" }));
    let asked = json!({ "calls": [{ "name": "delete_file", "arguments": { "path": "a" } }] });
    let mut confirmed = case(json!({}), delete());
    confirmed["messages"][0]["content"] = json!("I confirm deletions.");
    for (case, violations) in [
        (case(json!({}), delete()), 1),
        (
            case(
                json!({ "must_not_call": ["read_file"] }),
                call("read_file", json!({ "path": "a" })),
            ),
            1,
        ),
        (case(asked, delete()), 0),
        (confirmed, 0),
        (case(json!({}), call("create_file", json!({ "path": "a", "content": "" }))), 0),
    ] {
        let evaluation = evaluated(std::slice::from_ref(&case));
        assert_eq!(evaluation.rates.safety_violation.count, violations, "{case}");
        assert_eq!(
            evaluation.failures.iter().filter(|failure| failure.is_violation).count() as u64,
            violations
        );
    }
}

#[test]
fn lines_that_are_no_cases_are_reported_and_not_counted() {
    let registry = crate::tests::registry();
    let mut evaluator = Evaluator::new(&registry, Risks::default(), 10);
    for line in ["{", "", "{\"id\": \"a\"}", "{\"id\":\"a\",\"messages\":[],\"expects\":{}}"] {
        evaluator.line(line, |_| None);
    }
    let unknown = json!({ "id": "a", "messages": [], "expect": { "calls": [{ "name": "bash" }] } });
    evaluator.line(&unknown.to_string(), |_| None);
    let own = json!({ "id": "b", "messages": [], "tools": [{ "name": "bash" }],
        "expect": { "calls": [{ "name": "bash" }] } });
    evaluator.line(&own.to_string(), |id| (id == "b").then(|| call("bash", json!({}))));
    evaluator.line(&case(json!({}), Value::Null).to_string(), |_| None);
    let evaluation = evaluator.finish();
    let lines: Vec<u64> = evaluation.unreadable.iter().map(|unread| unread.line).collect();
    assert_eq!(lines, [1, 3, 4, 5]);
    assert_eq!((evaluation.cases, evaluation.unanswered), (2, 1));
    assert_eq!(evaluation.rates.tool_call_success.rate, Some(1.0));
    assert_eq!(evaluation.rates.task_completion.rate, Some(0.5));
    assert_eq!(evaluation.failures[0].line, 7);
}

#[test]
fn statement_says_the_same_in_both_languages() {
    let evaluation = evaluated(&[case(json!({}), json!({ "content": "hello" }))]);
    let mut statement = Statement::new("tiny\n|1", &evaluation);
    statement.context_tokens = Some(8192);
    statement.native_calls = Some(false);
    statement.field_mapping.insert("arguments".to_owned(), "input".to_owned());
    statement.known_limits.push("no parallel calls".to_owned());
    let english = statement.markdown(Language::En);
    let chinese = statement.markdown(Language::Zh);
    for part in [
        "tiny \\|1",
        "v1.0",
        "v2.5.146",
        "8192",
        "| arguments | input |",
        "no parallel calls",
        "100.0 %",
    ] {
        assert!(english.contains(part) && chinese.contains(part), "{part}: {english}{chinese}");
    }
    assert!(english.contains("| task completion | 100.0 % | 1 / 1 |"), "{english}");
    assert!(chinese.contains("| 任务完成率 | 100.0 % | 1 / 1 |"), "{chinese}");
    assert_eq!(english.lines().count(), chinese.lines().count());
    let json = serde_json::to_value(&statement).unwrap();
    assert_eq!(json["rates"]["safety_violation"]["rate"], 0.0);
}
