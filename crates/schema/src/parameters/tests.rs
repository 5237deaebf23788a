//! Tests of what violations say.

use serde_json::json;

use super::*;
use crate::schema::CompiledSchema;

fn violations(schema: &Value, arguments: &Value, count_max: usize) -> Vec<Violation> {
    let compiled = CompiledSchema::new("example", schema).unwrap();
    assert!(!compiled.fits(arguments));
    let aliases = BTreeMap::new();
    compiled.violations(Parameters { schema, aliases: &aliases }, arguments, count_max)
}

/// Schema of the property `a`, its value, and where it breaks the schema and how.
#[track_caller]
fn check(a: Value, value: Value, pointer: &str, message: &str) {
    let schema = json!({
        "type": "object",
        "properties": { "a": a },
        "additionalProperties": false,
        "$defs": { "point": {
            "type": "object",
            "properties": {
                "left": { "type": "integer", "description": "Pixels.\nFrom the left." },
                "align": { "enum": ["top", "bottom"] },
            },
            "required": ["left", "align"],
            "additionalProperties": false,
        } },
    });
    let arguments = json!({ "a": value });
    let found = violations(&schema, &arguments, 8);
    let seen: Vec<_> = found.iter().map(|one| (&*one.pointer, one.message())).collect();
    assert_eq!(seen, [(pointer, message.to_owned())]);
}

#[test]
fn each_keyword_says_what_it_wants() {
    for (a, value, message) in [
        (json!({ "type": "array" }), json!(1), "expected array, got number 1"),
        (json!({ "type": ["string", "null"] }), json!([]), "expected null or string, got array []"),
        (
            json!({ "enum": [1, "b", null] }),
            json!(2),
            "expected one of `1`, `b`, `null`, got number 2",
        ),
        (json!({ "const": 1 }), json!(2), "expected `1`, got number 2"),
        (json!({ "exclusiveMinimum": 1 }), json!(1), "expected more than 1, got number 1"),
        (json!({ "multipleOf": 2 }), json!(3), "expected a multiple of 2, got number 3"),
        (json!({ "minLength": 2 }), json!(""), "expected at least 2 characters, got string \"\""),
        (json!({ "maxItems": 0 }), json!([1]), "expected at most 0 items, got array [1]"),
        (
            json!({ "uniqueItems": true }),
            json!([1, 1]),
            "expected items that all differ, got array [1,1]",
        ),
        (
            json!({ "pattern": "^b$" }),
            json!("c"),
            "expected text that matches `^b$`, got string \"c\"",
        ),
        (json!(false), json!(1), "expected no value here, got number 1"),
        (
            json!({ "not": { "type": "string" } }),
            json!("a"),
            "expected what the schema allows ({\"type\":\"string\"} is not allowed for value), got string \"a\"",
        ),
    ] {
        check(a, value, "/a", message);
    }
}

#[test]
fn text_for_a_switch_leads_to_the_parameter_that_takes_it() {
    let properties =
        json!({ "searchPath": { "type": "boolean" }, "path": { "type": ["string", "null"] } });
    let schema = json!({ "type": "object", "properties": properties });
    for (value, suggestion) in [("src", Some("path")), ("true", Some("true"))] {
        let arguments = json!({ "searchPath": value, "path": "lib" });
        let found = violations(&schema, &arguments, 9);
        assert_eq!(found[0].suggestion.as_deref(), suggestion, "{value}");
    }
}

#[test]
fn alternatives_are_named_where_that_is_plain() {
    let part = json!({ "$ref": "#/$defs/point" });
    for (alternatives, value, message) in [
        (
            json!([{ "type": "string" }, { "type": "null" }]),
            json!(1),
            "string, or null, got number 1",
        ),
        (
            json!([{ "enum": ["b", "c"] }, { "const": null }]),
            json!("d"),
            "one of `b`, `c`, or `null`, got string \"d\"",
        ),
        (
            json!([part, { "type": "null" }]),
            json!({ "left": "b", "align": "top" }),
            "integer at `/left`, or null, got object {\"left\":\"b\",\"align\":\"top\"}",
        ),
        (
            json!([{ "not": true }, { "type": "null" }]),
            json!(1),
            "what the schema allows (value is not valid under any of the schemas listed in the 'anyOf' keyword), \
             got number 1",
        ),
    ] {
        check(json!({ "anyOf": alternatives }), value, "/a", &format!("expected {message}"));
    }
}

#[test]
fn keys_of_inner_objects_are_those_of_their_own_schema() {
    let point = json!({ "items": { "$ref": "#/$defs/point" } });
    for (value, pointer, message) in [
        (
            json!([{ "left": 1, "algin": 1, "align": "top" }]),
            "/a/0/algin",
            "expected one of the keys `left`, `align`, got number 1 (did you mean align?)",
        ),
        (json!([{ "align": "top" }]), "/a/0/left", "missing, expected integer"),
        (json!([{ "left": 1 }]), "/a/0/align", "missing, expected one of `top`, `bottom`"),
    ] {
        check(point.clone(), value, pointer, message);
    }
}

#[test]
fn keys_that_nothing_evaluates_are_named() {
    let schema = json!({
        "allOf": [{ "properties": { "a": true } }],
        "properties": { "b": true },
        "unevaluatedProperties": false,
    });
    let found = violations(&schema, &json!({ "a": 1, "b": 2, "c": 3 }), 8);
    let seen: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(seen, ["/c: expected no such key, got number 3"]);
    assert_eq!(violations(&schema, &json!({ "c": 3, "d": 4 }), 8).len(), 2);
}

#[test]
fn long_lists_and_descriptions_are_cut() {
    let options: Vec<String> = (0..100_000).map(|n| format!("option {n}")).collect();
    let long = "d".repeat(2_000);
    let schema = json!({
        "properties": {
            "a": { "enum": options },
            "b": { "type": "string", "description": long },
            "c": { "pattern": long },
        },
        "required": ["a", "b"],
    });
    for arguments in [json!({}), json!({ "a": "option", "b": "", "c": "" })] {
        for violation in violations(&schema, &arguments, 8) {
            let said = violation.to_string();
            assert!(
                said.chars().count() < EXPECTED_CHARS_MAX + 100
                    && (said.contains('…') || said.contains("missing")),
                "{said}"
            );
        }
    }
    assert_eq!(violations(&schema, &json!({}), 1).len(), 1);
}
