//! Tests of choices in every shape.

use serde_json::json;

use super::super::limits::NAME_BYTES_MAX;
use super::super::tests::{read as read_request, refused, told};
use super::*;
use crate::api::Api;

fn chosen(value: Value) -> Chosen {
    read(Some(value), &Path::Root.key("tool_choice")).unwrap()
}

#[test]
fn every_shape_of_every_api_is_read() {
    let tool = || ToolChoice::Tool("read_file".to_owned());
    for (value, choice, parallel) in [
        (json!("auto"), ToolChoice::Auto, None),
        (json!("none"), ToolChoice::None, None),
        (json!("required"), ToolChoice::Any, None),
        (json!("any"), ToolChoice::Any, None),
        (json!({ "type": "auto" }), ToolChoice::Auto, None),
        (json!({ "type": "none" }), ToolChoice::None, None),
        (json!({ "type": "any" }), ToolChoice::Any, None),
        (json!({ "type": "required" }), ToolChoice::Any, None),
        (
            json!({ "type": "auto", "disable_parallel_tool_use": true }),
            ToolChoice::Auto,
            Some(false),
        ),
        (json!({ "type": "any", "disable_parallel_tool_use": false }), ToolChoice::Any, Some(true)),
        (json!({ "type": "tool", "name": "read_file" }), tool(), None),
        (json!({ "type": "function", "name": "read_file" }), tool(), None),
        (json!({ "type": "function", "function": { "name": "read_file" } }), tool(), None),
        (json!({ "function": { "name": "read_file" } }), tool(), None),
        (json!({ "name": "read_file" }), tool(), None),
        (json!({ "type": "custom", "name": "read_file" }), tool(), None),
        (json!({ "type": "custom", "custom": { "name": "read_file" } }), tool(), None),
    ] {
        assert_eq!(chosen(value.clone()), Chosen { choice, allowed: None, parallel }, "{value}");
    }
    assert_eq!(read(None, &Path::Root).unwrap(), Chosen::default());
}

#[test]
fn allowed_tools_are_read_in_both_forms() {
    let names = json!([{ "type": "function", "name": "a" }, { "type": "custom", "name": "b" }]);
    let nested = json!([{ "type": "function", "function": { "name": "a" } },
        { "type": "custom", "custom": { "name": "b" } }]);
    let expected = Some(vec!["a".to_owned(), "b".to_owned()]);
    for (mode, choice) in [("auto", ToolChoice::Auto), ("required", ToolChoice::Any)] {
        for value in [
            json!({ "type": "allowed_tools", "mode": mode, "tools": names }),
            json!({ "type": "allowed_tools", "allowed_tools": { "mode": mode, "tools": nested } }),
        ] {
            let chosen = chosen(value);
            assert_eq!((chosen.choice, chosen.allowed), (choice.clone(), expected.clone()));
        }
    }
}

#[test]
fn allowed_tools_are_all_that_is_left() {
    let tools: Vec<Value> =
        ["a", "b", "c"].map(|name| json!({ "type": "function", "name": name })).into();
    let body = |allowed: &[&str]| {
        let allowed: Vec<Value> = allowed.iter().map(|name| json!({ "name": name })).collect();
        let choice = json!({ "type": "allowed_tools", "mode": "required", "tools": allowed });
        json!({ "input": "x", "tools": tools, "tool_choice": choice })
    };
    let normalized = read_request(Api::OpenAiResponses, body(&["c", "a"]));
    let names: Vec<&str> =
        normalized.conversation.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(normalized.conversation.choice, ToolChoice::Any);
    assert_eq!(told(&normalized), ["tools_narrowed tool_choice b"]);
    assert_eq!(refused(Api::OpenAiResponses, body(&["a", "d"])).0, "unknown_tool");
    assert_eq!(refused(Api::OpenAiResponses, body(&[])).1, "tool_choice.tools");
}

#[test]
fn a_tool_that_is_not_there_is_reported_with_those_that_are() {
    let tools = |count: usize| -> Vec<Value> {
        (0..count).map(|index| json!({ "type": "function", "name": format!("t{index}") })).collect()
    };
    let body = |count: usize, choice: Value| {
        let turns = json!([{ "role": "user", "content": "x" }]);
        json!({ "messages": turns, "tools": tools(count), "tool_choice": choice })
    };
    let named = json!({ "type": "tool", "name": "read" });
    for (count, choice, code, words) in [
        (
            2,
            named.clone(),
            "unknown_tool",
            "names `read`, which is no tool of the request: use one of t0, t1",
        ),
        (40, named.clone(), "unknown_tool", "t31 and 8 more"),
        (0, named, "unknown_tool", "the request has no tools"),
        (0, json!("required"), "invalid_value", "there is no tool to call"),
        (1, json!("sometimes"), "invalid_value", "is `sometimes`: it must be \"auto\""),
        (1, json!({ "type": "web_search" }), "invalid_value", "is `web_search`"),
    ] {
        for api in [Api::OpenAiChat, Api::AnthropicMessages] {
            let (found, param, message) = refused(api, body(count, choice.clone()));
            assert_eq!((found, param.as_str()), (code, "tool_choice"), "{message}");
            assert!(message.contains(words), "{message}");
        }
    }
}

#[test]
fn shapes_that_are_none_are_refused_at_their_position() {
    for (value, param) in [
        (json!(1), "tool_choice"),
        (json!([]), "tool_choice"),
        (json!({}), "tool_choice.type"),
        (json!({ "type": 1 }), "tool_choice.type"),
        (json!({ "type": "tool" }), "tool_choice.name"),
        (json!({ "type": "function", "function": {} }), "tool_choice.function.name"),
        (json!({ "type": "function", "function": "x" }), "tool_choice.function"),
        (json!({ "type": "tool", "name": " " }), "tool_choice.name"),
        (json!({ "type": "tool", "name": "a\nb" }), "tool_choice.name"),
        (json!({ "type": "tool", "name": "x".repeat(NAME_BYTES_MAX + 1) }), "tool_choice.name"),
        (
            json!({ "type": "any", "disable_parallel_tool_use": 1 }),
            "tool_choice.disable_parallel_tool_use",
        ),
        (json!({ "type": "allowed_tools", "mode": "x", "tools": [] }), "tool_choice.mode"),
        (json!({ "type": "allowed_tools", "tools": [1] }), "tool_choice.tools[0]"),
    ] {
        let error = read(Some(value.clone()), &Path::Root.key("tool_choice")).unwrap_err();
        assert_eq!(error.param.as_deref(), Some(param), "{value}: {error}");
    }
}
