//! Tests of names and of arguments that are made to fit.

use serde_json::json;

use super::*;

fn registry() -> Registry {
    let parameters = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "start_line": { "type": "integer" },
            "deep": { "type": "boolean" },
            "share": { "type": "number" },
            "folders": { "type": "array", "items": { "type": "string" } },
            "options": { "$ref": "#/$defs/options" },
        },
        "required": ["path"],
        "additionalProperties": false,
        "$defs": { "options": { "type": "object", "properties": { "n": { "type": "integer" } } } },
    });
    let aliases = [("path".to_owned(), vec!["file".to_owned()])].into();
    let read =
        ToolDefinition { name: "read_file".to_owned(), parameters, aliases, ..Default::default() };
    let other = ToolDefinition { name: "run".to_owned(), ..Default::default() };
    Registry::new([read, other]).unwrap()
}

#[test]
fn names_are_found_as_models_write_them() {
    let registry = registry();
    for name in [
        "read_file",
        "Read_File",
        "readFile",
        " read-file ",
        "read file",
        "functions.read_file",
        "tools.readFile",
        "mcp__moss__read_file",
    ] {
        assert_eq!(registry.resolve(name).map(RegisteredTool::name), Some("read_file"), "{name}");
    }
    for name in ["bash", "read", "file_read", "", "mcp__read_file", "functions.", "other.read_file"]
    {
        assert!(registry.resolve(name).is_none(), "{name}");
    }
    assert_eq!(registry.closest("read_fil"), Some("read_file"));
    assert_eq!(registry.closest("read_file_mine"), Some("read_file"));
    assert_eq!(registry.closest("read_file_of_mine"), None);
    assert_eq!(registry.closest("bash"), None);
}

#[test]
fn names_that_fold_alike_are_distinguished_only_exactly() {
    let named = |name: &str| ToolDefinition { name: name.to_owned(), ..Default::default() };
    let registry = Registry::new([named("read_file"), named("readFile")]).unwrap();
    assert_eq!(registry.resolve("readFile").map(RegisteredTool::name), Some("readFile"));
    assert!(registry.resolve("ReadFile").is_none());
    let twice = Registry::new([named("a"), named("a")]);
    assert!(matches!(twice, Err(RegistryError::Twice(_))));
}

#[test]
fn values_become_what_the_schema_asks_for() {
    for (written, expected) in [
        (json!({ "path": 404 }), json!({ "path": "404" })),
        (json!({ "path": "a", "startLine": "3" }), json!({ "path": "a", "start_line": 3 })),
        (json!({ "path": "a", "start_line": 3.0 }), json!({ "path": "a", "start_line": 3 })),
        (json!({ "path": "a", "start_line": null }), json!({ "path": "a" })),
        (json!({ "file": "a", "deep": "True" }), json!({ "path": "a", "deep": true })),
        (json!({ "path": "a", "share": "0.5" }), json!({ "path": "a", "share": 0.5 })),
        (json!({ "path": "a", "folders": "src" }), json!({ "path": "a", "folders": ["src"] })),
        (json!({ "path": "a", "folders": "[\"x\"]" }), json!({ "path": "a", "folders": ["x"] })),
        (
            json!({ "path": "a", "options": "{\"n\":\"1\"}" }),
            json!({ "path": "a", "options": { "n": 1 } }),
        ),
    ] {
        let fitted =
            registry().tool("read_file").unwrap().fit(written.as_object().unwrap().clone());
        assert_eq!(Value::Object(fitted.arguments), expected, "{written}");
        assert_eq!(fitted.violations, [], "{written}");
    }
}

#[test]
fn nothing_is_lost_for_the_sake_of_fitting() {
    let registry = registry();
    let tool = registry.tool("read_file").unwrap();
    for written in [
        json!({ "path": "a", "start_line": "ten" }),
        json!({ "path": "a", "start_line": 2.5 }),
        json!({ "path": { "file": "a" } }),
        json!({ "path": null }),
        json!({}),
    ] {
        let fitted = tool.fit(written.as_object().unwrap().clone());
        assert!(!fitted.violations.is_empty(), "{written}");
    }
    let fitted =
        tool.fit(json!({ "path": "a", "more": 1, "file": "b" }).as_object().unwrap().clone());
    assert_eq!(fitted.arguments, *json!({ "path": "a" }).as_object().unwrap());
    assert_eq!(fitted.dropped, ["more", "file"]);
}

#[test]
fn integers_stay_exact() {
    let registry = registry();
    let tool = registry.tool("read_file").unwrap();
    for text in ["9007199254740993", "-9223372036854775808", "18446744073709551615"] {
        for written in [
            format!("{{\"path\":\"a\",\"start_line\":{text}}}"),
            format!("{{\"path\":\"a\",\"start_line\":\"{text}\"}}"),
        ] {
            let fitted = tool.fit(serde_json::from_str(&written).unwrap());
            assert_eq!(fitted.arguments["start_line"].to_string(), text);
        }
    }
}

#[test]
fn lists_of_every_api_are_registries() {
    for list in [
        r#"[{"name":"look","parameters":{"required":["path"]}}]"#,
        r#"[{"name":"look","input_schema":{"required":["path"]}}]"#,
        r#"[{"name":"look","inputSchema":{"required":["path"]}}]"#,
        r#"[{"type":"function","function":{"name":"look","parameters":{"required":["path"]}}}]"#,
        r#"{"tools":[{"name":"look","inputSchema":{"required":["path"]}}]}"#,
    ] {
        let registry = Registry::from_json(list).unwrap();
        assert_eq!(registry.tool("look").unwrap().required(), ["path"], "{list}");
    }
    for none in ["{}", "{\"tools\":1}", "[1]", "[{}]", "x"] {
        assert!(Registry::from_json(none).is_err(), "{none}");
    }
}

#[test]
fn schemas_of_other_languages_are_read_as_what_they_mean() {
    for (schema, repaired) in [
        (json!({ "properties": { "a": { "type": "str" } } }), json!({ "a": { "type": "string" } })),
        (json!({ "type": "dict", "properties": null }), json!(null)),
        (
            json!({ "type": "OBJECT", "properties": { "a": { "type": "List[int]", "items": null } } }),
            json!({ "a": { "type": "array" } }),
        ),
        (
            json!({ "properties": { "a": { "type": ["float", "NoneType"] }, "b": "bool", "c": null } }),
            json!({ "a": { "type": ["number", "null"] }, "b": { "type": "boolean" }, "c": {} }),
        ),
        (
            json!({ "properties": { "a": { "type": "any", "default": null, "required": true } } }),
            json!({ "a": { "default": null } }),
        ),
        (
            json!({ "properties": { "a": { "type": "array", "items": { "type": "text" } } } }),
            json!({ "a": { "type": "array", "items": { "type": "string" } } }),
        ),
    ] {
        let list = json!([{ "name": "t", "description": null, "parameters": schema }]);
        let registry = Registry::from_json(&list.to_string()).unwrap();
        let read = &registry.tool("t").unwrap().definition().parameters;
        assert_eq!(read.get("properties").unwrap_or(&Value::Null), &repaired, "{schema}");
        let codes: Vec<DiagnosticCode> = registry.warnings().iter().map(|one| one.code).collect();
        assert_eq!(codes, [DiagnosticCode::SchemaRepaired], "{schema}");
    }
    let list = json!([{ "name": "t", "parameters": { "properties": {
        "a": { "type": "str", "required": true }, "b": { "type": "str", "required": false },
    } } }]);
    let registry = Registry::from_json(&list.to_string()).unwrap();
    assert_eq!(registry.tool("t").unwrap().required(), ["a"]);
    assert!(
        registry.warnings()[0].message.contains("/properties/a/type: `str` is read as `string`")
    );
}

#[test]
fn a_tool_that_cannot_be_read_is_left_out_and_named() {
    let list = json!([
        { "name": "good", "parameters": { "properties": { "str": { "type": "string" } } } },
        { "name": "bad", "parameters": { "properties": { "a": { "type": "colour" } } } },
        { "type": "function", "function": { "name": "worse", "parameters": 7 } },
        { "parameters": {} },
    ]);
    let registry = Registry::from_json(&list.to_string()).unwrap();
    assert_eq!(registry.tools().map(RegisteredTool::name).collect::<Vec<_>>(), ["good"]);
    let warnings = registry.warnings();
    assert!(warnings.iter().all(|one| one.code == DiagnosticCode::ToolLeftOut));
    for (warning, name) in warnings.iter().zip(["`bad`", "`worse`", "tool 4"]) {
        assert!(warning.message.starts_with(name), "{}", warning.message);
    }
    assert_eq!(warnings.len(), 3);
    let alone = json!([{ "name": "bad", "parameters": { "type": "colour" } }]);
    assert!(matches!(Registry::from_json(&alone.to_string()), Err(RegistryError::Schema { .. })));
    let twice = json!([{ "name": "a" }, { "name": "a" }]);
    assert!(matches!(Registry::from_json(&twice.to_string()), Err(RegistryError::Twice(_))));
}

#[test]
fn arguments_that_would_take_long_to_check_are_not_held_to_a_pattern() {
    let body = json!({ "type": "string", "pattern": "^[a-h](?:[a-h ]{1,60}[a-d]){1,12}[k-z]$" });
    let parameters = json!({ "type": "object", "properties": { "body": body } });
    let tool = ToolDefinition { name: "write".to_owned(), parameters, ..Default::default() };
    let registry = Registry::new([tool]).unwrap();
    let tool = registry.tool("write").unwrap();
    let arguments = |text: &str| Map::from_iter([("body".to_owned(), text.into())]);
    assert_eq!(tool.fit(arguments("abcdk")).violations, []);
    assert!(tool.fit(arguments("x")).violations[0].expected.contains("matches"));
    let fitted = tool.fit(arguments(&"abc ".repeat(375_000)));
    let [violation] = fitted.violations.as_slice() else { panic!("{:?}", fitted.violations) };
    assert!(violation.message().contains("would take long to check"), "{violation}");
    assert!(violation.message().len() < 300);
}

#[test]
fn a_schema_of_any_form_is_held_to_values_only_where_that_ends_soon() {
    let node = json!({ "$ref": "#/definitions/node" });
    let way = json!({ "properties": { "a": node, "b": { "type": "string" } } });
    let parameters = json!({
        "type": "object",
        "properties": { "filter": node },
        "definitions": { "node": { "anyOf": [way, way] } },
    });
    let list = json!([{ "name": "find", "parameters": parameters }]);
    let registry = Registry::from_json(&list.to_string()).unwrap();
    let tool = registry.tool("find").unwrap();
    // The innermost does not fit.
    let deep = |levels| (0..levels).fold(json!({ "b": 1 }), |value, _| json!({ "a": value }));
    let fitted = tool.fit(Map::from_iter([("filter".to_owned(), deep(3))]));
    assert!(!fitted.violations[0].message().contains("long"), "{:?}", fitted.violations);
    assert!(tool.fits(&json!({ "filter": { "a": { "b": "c" } } })));
    let too_deep = Map::from_iter([("filter".to_owned(), deep(60))]);
    let violations = tool.fit(too_deep).violations;
    assert!(violations[0].message().contains("would take long to check"), "{violations:?}");
}

#[test]
fn a_schema_that_refers_elsewhere_is_left_out_with_what_to_write() {
    for reference in ["#anchor", "#/$defs/none", "https://example.com/a.json", "#/x/b"] {
        let within = json!({ "$id": "b", "b": {} });
        let parameters = json!({ "properties": { "a": { "$ref": reference } }, "x": within });
        let alone = json!([{ "name": "find", "parameters": parameters }]);
        let error = Registry::from_json(&alone.to_string()).unwrap_err().to_string();
        for part in ["`find`", &format!("`{reference}`"), "write `#/$defs/NAME`"] {
            assert!(error.contains(part), "{error}");
        }
    }
}

#[test]
fn types_are_read_in_bounded_steps() {
    let to = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let many = |name: &str| json!({ "anyOf": vec![to(name); 3_000] });
    let root = json!({ "$defs": {
        "a": many("b"), "b": many("c"), "c": many("d"), "d": { "type": "string" }, "e": { "anyOf": [to("d"), to("d")] },
    } });
    assert!(Types::of(&to("a"), &root).allow_all());
    assert!(Types::of(&to("e"), &root).is_string_only());
}
