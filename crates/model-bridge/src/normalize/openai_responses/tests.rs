//! Tests of requests of OpenAI Responses.

use serde_json::{Value, json};

use super::super::Normalized;
use super::super::tests::{call, codes, model, read, refused, result, system, told, user};
use crate::api::Api;
use crate::conversation::{HistoryState, Message, MessagePart, ToolChoice};

fn responses(body: Value) -> Normalized {
    read(Api::OpenAiResponses, body)
}

fn history(items: Value) -> Normalized {
    responses(json!({ "model": "m", "input": items }))
}

#[test]
fn a_text_is_what_the_user_says() {
    let normalized = responses(json!({ "input": "Hello.", "instructions": "Be brief." }));
    assert_eq!(normalized.conversation.messages, [system("Be brief."), user("Hello.")]);
    assert_eq!(refused(Api::OpenAiResponses, json!({ "model": "m" })).1, "input");
    assert_eq!(refused(Api::OpenAiResponses, json!({ "input": [] })).1, "input");
    assert_eq!(refused(Api::OpenAiResponses, json!({ "input": 1 })).0, "invalid_type");
}

#[test]
fn items_of_one_turn_of_the_model_are_one_message() {
    let normalized = history(json!([
        { "type": "message", "role": "developer",
          "content": [{ "type": "input_text", "text": "Be brief." }] },
        { "role": "user", "content": "x" },
        { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "…" },
        { "type": "message", "role": "assistant", "status": "completed", "content": [
            { "type": "output_text", "text": "I ", "annotations": [] },
            { "type": "output_text", "text": "look.", "annotations": [] },
        ] },
        { "type": "function_call", "id": "fc_1", "call_id": "a", "name": "read_file",
          "arguments": "{\"path\":\"a\"}" },
        { "type": "reasoning", "summary": [] },
        { "type": "message", "role": "assistant",
          "content": [{ "type": "refusal", "refusal": "And run." }] },
        { "type": "custom_tool_call", "call_id": "b", "name": "apply_patch", "input": "*** Begin" },
        { "type": "function_call_output", "call_id": "a", "output": "A" },
        { "type": "custom_tool_call_output", "call_id": "b", "output": [
            { "type": "input_text", "text": "B" }, { "type": "input_image", "image_url": "data:," },
        ] },
    ]));
    let calls = vec![
        call("a", "read_file", json!({ "path": "a" })),
        call("b", "apply_patch", json!({ "input": "*** Begin" })),
    ];
    let messages = &normalized.conversation.messages;
    assert_eq!(
        messages[..4],
        [
            system("Be brief."),
            user("x"),
            model("I look.\n\nAnd run.", calls),
            result("a", "read_file", "A"),
        ]
    );
    let Message::Result(last) = &messages[4] else { panic!("{messages:?}") };
    assert_eq!(last.name.as_deref(), Some("apply_patch"));
    assert!(matches!(&last.content[..], [MessagePart::Text(_), MessagePart::Opaque(_)]));
    assert_eq!(codes(&normalized), ["thinking_dropped", "tools_inferred", "tools_inferred"]);
    assert_eq!(normalized.conversation.state(), HistoryState::ResultReceived);
    // A free-form call shows a free-form tool.
    assert_eq!(normalized.free_form.iter().collect::<Vec<_>>(), ["apply_patch"]);
    assert_eq!(normalized.conversation.tools[1].parameters["required"], json!(["input"]));
}

#[test]
fn ids_are_taken_from_where_they_are() {
    let normalized = history(json!([
        { "type": "function_call", "id": "fc_1", "name": "t", "arguments": "" },
        { "type": "function_call_output", "call_id": "fc_1", "output": "" },
        { "type": "function_call", "name": "t" },
        { "type": "function_call_output", "output": { "ok": true } },
    ]));
    assert_eq!(
        normalized.conversation.messages,
        [
            model("", vec![call("fc_1", "t", json!({}))]),
            result("fc_1", "t", ""),
            model("", vec![call("call_2", "t", json!({}))]),
            result("call_2", "t", "{\"ok\":true}"),
        ]
    );
}

#[test]
fn what_needs_state_is_refused_with_what_to_do() {
    for (key, value) in [
        ("previous_response_id", json!("resp_1")),
        ("conversation", json!({ "id": "conv_1" })),
        ("prompt", json!({ "id": "pmpt_1" })),
        ("background", json!(true)),
    ] {
        let (code, param, message) =
            refused(Api::OpenAiResponses, json!({ "input": "x", key: value }));
        assert_eq!((code, param.as_str()), ("unsupported_parameter", key));
        assert!(message.contains(": "), "{message}");
    }
    let reference = json!({ "input": [{ "type": "item_reference", "id": "msg_1" }] });
    assert_eq!(refused(Api::OpenAiResponses, reference).0, "unsupported_parameter");
    let kept = json!({ "input": "x", "previous_response_id": null, "background": false });
    assert_eq!(responses(kept).notes, []);
}

#[test]
fn items_that_only_the_provider_has_are_left_out() {
    let normalized = history(json!([
        { "role": "user", "content": "x" },
        { "type": "web_search_call", "id": "ws_1", "status": "completed" },
        { "type": "compaction", "encrypted_content": "…" },
        { "role": "assistant", "content": "Done." },
    ]));
    assert_eq!(normalized.conversation.messages, [user("x"), model("Done.", vec![])]);
    assert_eq!(
        told(&normalized),
        ["item_dropped input[1] web_search_call", "item_dropped input[2] compaction"]
    );
    let (code, param, _) = refused(Api::OpenAiResponses, json!({ "input": [{ "id": "x" }] }));
    assert_eq!((code, param.as_str()), ("missing_required_parameter", "input[0].type"));
}

#[test]
fn settings_are_read() {
    let normalized = responses(json!({
        "model": "m", "input": "x", "max_output_tokens": 50, "temperature": 1, "top_p": 1,
        "stream": true, "parallel_tool_calls": false, "store": false,
        "tools": [
            { "type": "function", "name": "read_file", "parameters": null, "strict": true },
            { "type": "custom", "name": "apply_patch", "description": "Patches.",
              "format": { "type": "grammar", "syntax": "lark", "definition": "start: X" } },
            { "type": "web_search" },
        ],
        "tool_choice": { "type": "custom", "name": "apply_patch" },
    }));
    let conversation = &normalized.conversation;
    assert_eq!(conversation.sampling.output_tokens_max, Some(50));
    assert!(conversation.stream && !conversation.parallel);
    assert_eq!(conversation.choice, ToolChoice::Tool("apply_patch".to_owned()));
    assert_eq!(conversation.tools[0].parameters, json!({ "type": "object", "properties": {} }));
    let input = &conversation.tools[1].parameters["properties"]["input"];
    assert_eq!(*input, json!({ "type": "string", "description": "lark: start: X" }));
    assert_eq!(normalized.free_form.iter().collect::<Vec<_>>(), ["apply_patch"]);
    assert_eq!(
        told(&normalized),
        ["tool_dropped tools[2] web_search", "field_ignored store store"]
    );
}
