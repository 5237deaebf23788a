//! Tests of the record of decisions.

use serde_json::{Value, json};

use super::*;
use crate::conversation::{MessagePart, ToolCall, ToolResult};
use crate::diagnostic::DiagnosticCode;
use crate::registry::ToolDefinition;

fn conversation() -> Conversation {
    let call =
        ToolCall { id: "c".to_owned(), name: "todo".to_owned(), arguments: Default::default() };
    let result = ToolResult {
        call_id: "c".to_owned(),
        name: None,
        content: vec![MessagePart::Text("ok".to_owned())],
        is_error: false,
    };
    Conversation {
        tools: vec![ToolDefinition { name: "todo".to_owned(), ..ToolDefinition::default() }],
        choice: ToolChoice::Tool("todo".to_owned()),
        messages: vec![
            Message::User(vec![MessagePart::Text("go".to_owned())]),
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
        diagnostics: vec![ReplyDiagnostic::new(
            DiagnosticCode::UnknownTool,
            "no tool is called `x`",
        )],
        ..Reply::default()
    };
    let verdict = RefusalVerdict {
        class: ReplyClass::CapabilityRefusal,
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
        BridgeDecision::of_request(&conversation),
        BridgeDecision::of_request(&Conversation::default()),
        BridgeDecision::of_history(&conversation),
        BridgeDecision::ContractInjected {
            language: Language::Zh,
            form: PromptDetail::Short,
            bytes: 9,
        },
        BridgeDecision::of_reply(&reply),
        BridgeDecision::of_verdict(&verdict),
        BridgeDecision::of_retry(&retry),
        BridgeDecision::RetryWithheld { reason: WithholdReason::AlreadySent },
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
    ] });
    assert_eq!(serde_json::to_value(&decisions).unwrap(), expected);
    assert_eq!(decisions.retries().collect::<Vec<_>>(), [RetryReason::UnknownTool]);
}

#[test]
fn a_record_is_bounded() {
    let mut decisions = Decisions::default();
    for _ in 0..DECISIONS_MAX + 3 {
        decisions.push(BridgeDecision::PassedBy { reason: PassReason::NoTools });
    }
    assert_eq!(decisions.iter().count(), DECISIONS_MAX);
    let told = serde_json::to_value(&decisions).unwrap();
    assert_eq!(told.get("left_out"), Some(&Value::from(3)));
}
