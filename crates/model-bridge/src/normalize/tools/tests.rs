//! Tests of declared and of inferred tools.

use serde_json::json;

use super::super::tests::written;
use super::super::tests::{call, model, read as read_request, refused, told};
use super::*;
use crate::api::Api;
use crate::conversation::ToolChoice;

fn listed(items: Value) -> Result<(RequestTools, Vec<String>), RequestError> {
    let mut notes = Notes::default();
    let Value::Array(items) = items else { panic!("a list") };
    let tools = read(items, &Path::Root.key("tools"), &mut notes)?;
    Ok((tools, notes.into_vec().into_iter().map(|note| note.detail).collect()))
}

#[test]
fn every_form_of_a_tool_is_the_same_tool() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    let named = json!({ "name": "t", "description": "Does.", "parameters": schema });
    let with = |extra: Value| {
        let mut tool = named.clone();
        tool.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        tool
    };
    for form in [
        json!({ "type": "function", "function": named }),
        json!({ "function": named }),
        named.clone(),
        with(json!({ "type": "function", "strict": true })),
        json!({ "name": "t", "description": "Does.", "input_schema": schema }),
        json!({ "type": "custom", "name": "t", "description": "Does.", "input_schema": schema }),
        json!({ "type": "some_tool_20300101", "name": "t", "description": "Does.",
            "input_schema": schema }),
    ] {
        let (tools, dropped) = listed(json!([form])).unwrap();
        assert_eq!(tools.list.len(), 1, "{form}");
        let tool = &tools.list[0];
        assert_eq!((tool.name.as_str(), tool.description.as_str()), ("t", "Does."));
        assert_eq!(tool.parameters, schema, "{form}");
        assert!(tools.free_form.is_empty() && dropped.is_empty());
    }
}

#[test]
fn a_free_form_tool_has_one_text() {
    let grammar = json!({ "syntax": "lark", "definition": "start: X" });
    for (form, description) in [
        (json!({ "type": "custom", "name": "t" }), None),
        (json!({ "type": "custom", "name": "t", "format": { "type": "text" } }), None),
        (json!({ "type": "custom", "custom": { "name": "t" } }), None),
        (
            json!({ "type": "custom", "custom": { "name": "t",
                "format": { "type": "grammar", "grammar": grammar } } }),
            Some("lark: start: X"),
        ),
    ] {
        let (tools, _) = listed(json!([form])).unwrap();
        assert!(tools.free_form.contains("t"));
        let schema = &tools.list[0].parameters;
        assert_eq!(schema["required"], json!(["input"]));
        let input = &schema["properties"]["input"];
        assert_eq!(input["type"], "string");
        assert_eq!(input.get("description").and_then(Value::as_str), description, "{form}");
    }
}

#[test]
fn tools_of_namespaces_get_one_name_and_keep_both() {
    let inner = json!({ "type": "function", "name": "search", "description": "Searches.",
        "parameters": { "type": "object" }, "strict": false });
    let body = |input: Value, choice: Value| {
        json!({ "input": input, "tool_choice": choice, "tools": [
            { "type": "namespace", "name": "mcp__web__", "description": "…", "tools": [inner] },
            { "type": "namespace", "name": "crew", "tools": [
                inner,
                { "type": "custom", "name": "note" },
                { "type": "web_search" },
                { "type": "namespace", "name": "deeper", "tools": [] },
            ] },
        ] })
    };
    let normalized = read_request(Api::OpenAiResponses, body(json!("x"), Value::Null));
    let tools = &normalized.conversation.tools;
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["mcp__web__search", "crew__search", "crew__note"]);
    assert_eq!(tools[0].description, "Searches.");
    let both = |namespace: &str, name: &str| {
        Some(NamespacedName { namespace: namespace.to_owned(), name: name.to_owned() })
    };
    let of = |name: &str| normalized.namespaced.get(name).cloned();
    assert_eq!(of("mcp__web__search"), both("mcp__web__", "search"));
    assert_eq!(of("crew__note"), both("crew", "note"));
    assert!(normalized.free_form.contains("crew__note"));
    assert_eq!(
        told(&normalized),
        ["tool_dropped tools[1].tools[2] web_search", "tool_dropped tools[1].tools[3] deeper"]
    );
    // Earlier calls, and a choice, have both names in two fields.
    let history = json!([
        { "role": "user", "content": "x" },
        { "type": "function_call", "call_id": "a", "name": "search", "namespace": "mcp__web__",
          "arguments": "{}" },
        { "type": "function_call_output", "call_id": "a", "output": "X" },
    ]);
    let choice = json!({ "type": "function", "name": "search", "namespace": "crew" });
    let normalized = read_request(Api::OpenAiResponses, body(history.clone(), choice));
    let expected = model("", vec![call("a", "mcp__web__search", json!({}))]);
    assert_eq!(normalized.conversation.messages[1], expected);
    assert_eq!(normalized.conversation.choice, ToolChoice::Tool("crew__search".to_owned()));
    // Where the tools are not repeated, the calls say it.
    let normalized = read_request(Api::OpenAiResponses, json!({ "input": history }));
    assert_eq!(normalized.conversation.tools[0].name, "mcp__web__search");
    assert_eq!(
        normalized.namespaced.get("mcp__web__search").cloned(),
        both("mcp__web__", "search")
    );
}

#[test]
fn lists_that_are_wrong_are_refused_at_their_position() {
    for (items, param, words) in [
        (json!([1]), "tools[0]", "must be an object"),
        (json!([{}]), "tools[0].name", "is missing"),
        (json!([{ "type": "function", "function": {} }]), "tools[0].function.name", "is missing"),
        (json!([{ "name": "t", "parameters": "{}" }]), "tools[0].parameters", "a JSON schema"),
        (json!([{ "name": "t", "input_schema": true }]), "tools[0].input_schema", "a JSON schema"),
        (json!([{ "name": "t", "description": 1 }]), "tools[0].description", "a string"),
        (
            json!([{ "name": "t" }, { "name": "t", "description": "x" }]),
            "tools[1]",
            "is another tool called `t`: rename one",
        ),
    ] {
        let error = listed(items.clone()).unwrap_err();
        assert_eq!(error.param.as_deref(), Some(param), "{items}");
        assert!(error.message.contains(words), "{error}");
    }
    let (tools, told) = listed(json!([{ "name": "t" }, { "name": "t" }])).unwrap();
    assert_eq!((tools.list.len(), told), (1, vec!["t".to_owned()]));
}

#[test]
fn what_the_calls_show_is_what_the_tool_takes() {
    let arguments = [
        json!({ "path": "a", "line": 1, "all": true, "note": null }),
        json!({ "path": "b", "line": 2.5, "names": ["x"], "note": "y" }),
        json!({ "path": ["c"], "options": {} }),
    ];
    let calls: Vec<_> = arguments
        .into_iter()
        .enumerate()
        .map(|(index, arguments)| call(&format!("call_{}", index + 1), "t", arguments))
        .collect();
    for api in Api::ALL {
        let messages = [model("", calls.clone())];
        let tools = read_request(api, written::body(api, &messages)).conversation.tools;
        assert_eq!(tools.len(), 1);
        assert_eq!(
            tools[0].parameters,
            json!({
                "type": "object",
                "properties": {
                    "path": { "type": ["array", "string"] },
                    "line": { "type": "number" },
                    "all": { "type": "boolean" },
                    "note": { "type": ["null", "string"] },
                    "names": { "type": "array" },
                    "options": { "type": "object" },
                },
                "additionalProperties": true,
            })
        );
        // What was called once can be called so again.
        let registry = crate::Registry::new(tools).unwrap();
        for call in &calls {
            let fitted = registry.tool("t").unwrap().fit(call.arguments.clone());
            assert_eq!(fitted.violations, [], "{call:?}");
            assert_eq!(fitted.dropped, [] as [&str; 0]);
        }
    }
}

#[test]
fn what_a_history_shows_is_bounded() {
    let name = |index: usize| format!("t{}", index % (TOOLS_MAX + 10));
    let calls: Vec<Value> = (0..2000)
        .map(
            |index| json!({ "function": { "name": name(index), "arguments": { name(index): 1 } } }),
        )
        .collect();
    let turns = json!([{ "role": "assistant", "tool_calls": calls }]);
    let normalized = read_request(Api::Ollama, json!({ "messages": turns }));
    assert_eq!(normalized.conversation.tools.len(), TOOLS_MAX);
    let many: serde_json::Map<String, Value> =
        (0..1000).map(|index| (format!("p{index}"), json!(1))).collect();
    let calls = json!([{ "function": { "name": "t", "arguments": many } }]);
    let turns = json!([{ "role": "assistant", "tool_calls": calls }]);
    let normalized = read_request(Api::Ollama, json!({ "messages": turns }));
    let properties = normalized.conversation.tools[0].parameters["properties"].as_object().unwrap();
    assert_eq!(properties.len(), 128);
}

#[test]
fn tools_of_providers_are_reported_and_cannot_be_forced() {
    let tools = json!([{ "type": "web_search", "user_location": {} }, { "type": "mcp", "server_label": "x" }]);
    let body = |choice: Value| json!({ "input": "x", "tools": tools, "tool_choice": choice });
    let normalized = read_request(Api::OpenAiResponses, body(json!("auto")));
    assert_eq!(
        told(&normalized),
        ["tool_dropped tools[0] web_search", "tool_dropped tools[1] mcp"]
    );
    assert_eq!(refused(Api::OpenAiResponses, body(json!("required"))).0, "invalid_value");
    assert_eq!(
        refused(Api::OpenAiResponses, body(json!({ "type": "web_search" }))).0,
        "invalid_value"
    );
}
