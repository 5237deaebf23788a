//! Tests of the decision to ask again.

use std::sync::Arc;

use super::*;
use crate::parse::parse;
use crate::refusal::{LastRole, RefusalContext, classify};

fn registry() -> Arc<Registry> {
    let tools = r#"[
        {"name": "read_file", "parameters": {"type": "object",
            "properties": {"path": {"type": "string"}, "startLine": {"type": "number"}},
            "required": ["path"]}},
        {"name": "run_tests", "parameters": {"type": "object", "properties": {}}}
    ]"#;
    Arc::new(Registry::from_json(tools).unwrap())
}

struct Asked {
    request: &'static str,
    choice: ToolChoice,
    language: Language,
    retries: u8,
    has_sent: bool,
    finish: Finish,
}

fn asked() -> Asked {
    Asked {
        request: "Read src/main.rs",
        choice: ToolChoice::Auto,
        language: Language::En,
        retries: 0,
        has_sent: false,
        finish: Finish::Stop,
    }
}

fn retry(asked: &Asked, text: &str) -> Option<Retry> {
    let registry = registry();
    let reply = parse(&registry, text, asked.finish);
    let context = RefusalContext {
        request: asked.request.into(),
        last_role: LastRole::User,
        choice: &asked.choice,
        tools_available: true,
        result_failed: None,
        has_results: false,
    };
    let verdict = reply.calls.is_empty().then(|| classify(&context, &reply.text));
    let state = RetryState {
        registry: &registry,
        choice: &asked.choice,
        language: asked.language,
        retries: asked.retries,
        has_sent: asked.has_sent,
    };
    next(&state, &ReplyOutcome { reply: &reply, verdict: verdict.as_ref() })
}

fn block(inside: &str) -> String {
    format!("```json action\n{inside}\n```")
}

#[test]
fn every_reason_has_its_replies() {
    let any = || Asked { choice: ToolChoice::Any, ..asked() };
    let named = || Asked { choice: ToolChoice::Tool("run_tests".to_owned()), ..asked() };
    let read = block(r#"{"tool": "read_file", "parameters": {"path": "a"}}"#);
    let cut = Asked { finish: Finish::Length, ..asked() };
    let table: Vec<(Asked, String, Option<RetryReason>)> = vec![
        (asked(), read.clone(), None),
        (asked(), "Which file do you mean?".into(), None),
        (asked(), "I can't access files.".into(), Some(RetryReason::CapabilityRefusal)),
        (
            asked(),
            "Without seeing the file, it's hard to say.".into(),
            Some(RetryReason::SoftLimitation),
        ),
        (asked(), "Please paste the file here.".into(), Some(RetryReason::DelegatesToUser)),
        (asked(), "Let me read it.".into(), Some(RetryReason::Announced)),
        (any(), "It is fine.".into(), Some(RetryReason::NoCall)),
        (any(), read.clone(), None),
        (named(), "It is fine.".into(), Some(RetryReason::NamedCall)),
        (named(), read, Some(RetryReason::WrongTool)),
        (named(), block(r#"{"tool": "run_tests", "parameters": {}}"#), None),
        (asked(), block("read the file a"), Some(RetryReason::MalformedJson)),
        (
            asked(),
            block(r#"{"tool": "read_file", "parameters": {"path": ["a", "b"], "startLine": "x"}}"#),
            Some(RetryReason::SchemaInvalid),
        ),
        (
            asked(),
            block(r#"{"tool": "read_fil", "parameters": {"path": "a"}}"#),
            Some(RetryReason::UnknownTool),
        ),
        (asked(), block(""), Some(RetryReason::EmptyAction)),
        (
            cut,
            "```json action\n{\"tool\": \"read_file\", \"parameters\": {\"pa".into(),
            Some(RetryReason::Truncated),
        ),
        (any(), "I won't help with malware; that is illegal.".into(), None),
    ];
    for (asked, text, reason) in table {
        assert_eq!(retry(&asked, &text).map(|retry| retry.reason), reason, "{text}");
    }
}

#[test]
fn nothing_is_asked_after_bytes_were_sent_nor_for_ever() {
    let text = "I can't access files.";
    assert!(retry(&Asked { has_sent: true, ..asked() }, text).is_none());
    for retries in 0..RETRIES_MAX {
        let found = retry(&Asked { retries, ..asked() }, text).unwrap();
        assert_eq!(found.attempt, retries + 1);
    }
    for retries in [RETRIES_MAX, u8::MAX] {
        assert!(retry(&Asked { retries, ..asked() }, text).is_none());
    }
    assert!(retry(&Asked { choice: ToolChoice::None, ..asked() }, text).is_none());
}

#[test]
fn what_the_validator_says_is_passed_on_word_for_word() {
    let text = block(r#"{"tool": "read_file", "parameters": {"path": {"a": 1}}}"#);
    let reply = parse(&registry(), &text, Finish::Stop);
    let said = &reply.diagnostics[0].message;
    for language in [Language::En, Language::Zh] {
        let found = retry(&Asked { language, ..asked() }, &text).unwrap();
        assert_eq!(found.problems, std::slice::from_ref(said));
        assert!(found.message.contains(said.as_str()), "{}", found.message);
    }
    let near = retry(&asked(), &block(r#"{"tool": "read_fil", "parameters": {}}"#)).unwrap();
    assert!(near.message.contains("`read_file`"), "{}", near.message);
}

#[test]
fn the_second_time_is_stricter_and_shows_a_call() {
    let registry = registry();
    for language in [Language::En, Language::Zh] {
        let [first, second] = [0, 1].map(|retries| {
            retry(&Asked { language, retries, ..asked() }, "I can't access files.").unwrap().message
        });
        assert!(!first.contains("```") && second.contains("```json action\n"), "{second}");
        let [mild, strict] = [&first, &second].map(|text| text.lines().next().unwrap());
        assert_ne!(mild, strict);
        assert_eq!(Language::of(&first), language);
        // The shown call is one that can be made.
        let shown = second.split_once("```").map(|(_, rest)| format!("```{rest}")).unwrap();
        assert_eq!(parse(&registry, &shown, Finish::Stop).calls.len(), 1);
    }
}

#[test]
fn codes_are_those_that_are_serialized() {
    for (_, reason) in BROKEN {
        assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
    }
    assert_eq!(serde_json::to_value(RetryReason::NamedCall).unwrap(), "named_call");
}
