//! Tests of registries of requests.

use super::super::tests::{codes, read};
use super::*;
use crate::api::Api;
use crate::registry::RegisteredTool;

#[test]
fn a_sloppy_schema_costs_nobody_the_other_tools() {
    let tool = |name: &str, schema| json!({ "name": name, "input_schema": schema });
    let strict = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    for sloppy in [
        json!({ "type": "dict" }),
        json!({ "properties": [] }),
        json!({ "$ref": "https://example.com/schema.json" }),
        json!({ "properties": { "a": { "pattern": "(" } } }),
    ] {
        let mut normalized = read(
            Api::AnthropicMessages,
            json!({
                "tools": [tool("a", strict.clone()), tool("b", sloppy.clone())],
                "messages": [{ "role": "user", "content": "x" }],
            }),
        );
        let registry = normalized.registry().unwrap();
        let arguments = json!({ "any": 1 }).as_object().unwrap().clone();
        let fit = |name: &str| {
            registry.tool(name).map(|tool: &RegisteredTool| tool.fit(arguments.clone()))
        };
        assert_eq!(fit("a").unwrap().dropped, ["any"], "what is sound stays in effect");
        assert_eq!(fit("b").unwrap().arguments, arguments, "{sloppy}");
        assert_eq!(codes(&normalized), ["schema_ignored"], "{sloppy}");
        assert_eq!(normalized.conversation.tools[1].parameters, sloppy);
    }
}

#[test]
fn sound_schemas_are_not_reported() {
    let tools = json!([{ "name": "a", "input_schema": { "type": "object" } }]);
    let body = json!({ "tools": tools, "messages": [{ "role": "user", "content": "x" }] });
    let mut normalized = read(Api::AnthropicMessages, body);
    assert_eq!(normalized.registry().unwrap().tools().len(), 1);
    assert_eq!(normalized.notes, []);
}
