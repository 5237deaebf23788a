//! Tests of the record of decisions.

use serde_json::{Value, json};

use super::*;
use crate::conversation::{Part, ToolCall, ToolResult};
use crate::diagnostic::Code;
use crate::registry::ToolDefinition;

fn conversation() -> Conversation {
    let call =
        ToolCall { id: "c".to_owned(), name: "todo".to_owned(), arguments: Default::default() };
    let result = ToolResult {
        call_id: "c".to_owned(),
        name: None,
        content: vec![Part::Text("ok".to_owned())],
        is_error: false,
    };
    Conversation {
        tools: vec![ToolDefinition { name: "todo".to_owned(), ..ToolDefinition::default() }],
        choice: ToolChoice::Tool("todo".to_owned()),
        messages: vec![
            Message::User(vec![Part::Text("go".to_owned())]),
            Message::Assistant { text: String::new(), calls: vec![call] },
            Message::Result(result),
        ],
        ..Conversation::default()
    }
}

#[test]
fn every_decision_is_reported_as_json() {
    let conversation = conversation();
    let reply = Reply {
        text: "I can't.".to_owned(),
        diagnostics: vec![Diagnostic::new(Code::UnknownTool, "no tool is called `x`")],
        ..Reply::default()
    };
    let verdict = Verdict {
        class: Class::CapabilityRefusal,
        retry: true,
        phrase: Some("i cannot".to_owned()),
    };
    let retry = Retry {
        reason: RetryReason::UnknownTool,
        attempt: 1,
        problems: vec!["no tool is called `x`".to_owned()],
        message: "secret".to_owned(),
    };
    let mut decisions = Decisions::default();
    for decision in [
        Decision::of_request(&conversation),
        Decision::of_request(&Conversation::default()),
        Decision::of_history(&conversation),
        Decision::ContractInjected { language: Language::Zh, form: Form::Short, bytes: 9 },
        Decision::of_reply(&reply),
        Decision::of_verdict(&verdict),
        Decision::of_retry(&retry),
        Decision::RetryWithheld { reason: WithholdReason::AlreadySent },
        Decision::StatusRead { status: AgentStatus::Done },
    ] {
        decisions.push(decision);
    }
    let expected = json!({ "decisions": [
        { "decision": "entered", "tools": 1, "choice": "todo", "parallel": false },
        { "decision": "passed_by", "reason": "no_tools" },
        { "decision": "history_recognized", "state": "result_received", "calls": 1, "results": 1 },
        { "decision": "contract_injected", "language": "zh", "form": "short", "bytes": 9 },
        { "decision": "reply_read", "calls": [], "text_bytes": 8, "finish": "stop", "diagnostics": [
            { "code": "unknown_tool", "message": "no tool is called `x`" },
        ] },
        { "decision": "reply_judged", "class": "capability_refusal", "retry": true,
          "phrase": "i cannot" },
        { "decision": "retry_asked", "reason": "unknown_tool", "attempt": 1,
          "problems": ["no tool is called `x`"] },
        { "decision": "retry_withheld", "reason": "already_sent" },
        { "decision": "status_read", "status": "DONE" },
    ] });
    assert_eq!(serde_json::to_value(&decisions).unwrap(), expected);
    assert_eq!(decisions.retries().collect::<Vec<_>>(), [RetryReason::UnknownTool]);
}

#[test]
fn a_record_is_bounded() {
    let mut decisions = Decisions::default();
    for _ in 0..DECISIONS_MAX + 3 {
        decisions.push(Decision::PassedBy { reason: PassReason::NoTools });
    }
    assert_eq!(decisions.iter().count(), DECISIONS_MAX);
    let told = serde_json::to_value(&decisions).unwrap();
    assert_eq!(told.get("left_out"), Some(&Value::from(3)));
}
