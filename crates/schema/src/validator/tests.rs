//! Tests of binding, and of what violations say.

use serde_json::json;

use super::*;

fn validator() -> ArgumentValidator {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "File." },
            "startLine": { "type": "integer", "minimum": 1 },
            "sortBy": { "type": "string", "enum": ["name", "size", "modified"] },
            "deep": { "type": "boolean" }
        },
        "required": ["path"],
        "additionalProperties": false
    });
    let aliases = [("path".to_owned(), vec!["filePath".to_owned(), "file".to_owned()])].into();
    ArgumentValidator::new("example", &schema, &aliases).unwrap()
}

#[track_caller]
fn check(arguments: Value, expected: &[(&str, &str, &str, Option<&str>)]) {
    let Value::Object(arguments) = arguments else { panic!("not an object") };
    let violations = validator().bind(arguments).unwrap_err();
    let seen: Vec<_> = violations
        .iter()
        .map(|v| (v.pointer.as_str(), v.expected.as_str(), v.got.as_str(), v.suggestion.as_deref()))
        .collect();
    assert_eq!(seen, expected);
}

fn bind(arguments: Value) -> Value {
    validator().bind(arguments.as_object().unwrap().clone()).unwrap()
}

#[test]
fn aliases_become_main_keys() {
    assert_eq!(bind(json!({"file": "a"})), json!({"path": "a"}));
    assert_eq!(bind(json!({"filePath": "a", "path": "a"})), json!({"path": "a"}));
}

#[test]
fn alias_and_key_with_different_values_is_a_violation() {
    check(
        json!({"file": "b", "path": "a"}),
        &[(
            "/file",
            "`path` alone: `file` is another name of it",
            "string \"b\" beside string \"a\"",
            Some("leave out `file`"),
        )],
    );
}

#[test]
fn null_of_an_optional_key_means_absent() {
    assert_eq!(bind(json!({"path": "a", "startLine": null})), json!({"path": "a"}));
    check(json!({"path": null}), &[("/path", "string", "null", None)]);
}

#[test]
fn integral_float_is_an_integer_and_a_fraction_is_not() {
    assert_eq!(bind(json!({"path": "a", "startLine": 3.0})), json!({"path": "a", "startLine": 3}));
    check(
        json!({"path": "a", "startLine": 3.5}),
        &[("/startLine", "integer", "number 3.5", Some("4"))],
    );
}

#[test]
fn every_violation_is_reported_with_the_nearest_valid_thing() {
    check(
        json!({"start_line": 0, "startLine": 0, "sortBy": "sizes", "deep": "true"}),
        &[
            ("/startLine", "at least 1", "number 0", Some("1")),
            ("/sortBy", "one of `name`, `size`, `modified`", "string \"sizes\"", Some("size")),
            ("/deep", "boolean", "string \"true\"", Some("true")),
            (
                "/start_line",
                "one of the keys `path`, `startLine`, `sortBy`, `deep`",
                "number 0",
                Some("startLine"),
            ),
            ("/path", "string", "missing", None),
        ],
    );
}

#[test]
fn long_values_are_cut() {
    let Value::Object(arguments) = json!({"path": ["x".repeat(500)]}) else { unreachable!() };
    let violations = validator().bind(arguments).unwrap_err();
    assert!(violations[0].got.chars().count() < 80, "{}", violations[0].got);
}

#[test]
fn number_that_no_integer_holds_is_a_violation() {
    for (number, got) in [("1e308", "number 1e+308"), ("18446744073709551616", "number 1.8446744")]
    {
        let arguments: Value =
            serde_json::from_str(&format!(r#"{{"path":"a","startLine":{number}}}"#)).unwrap();
        let violations = validator().bind(arguments.as_object().unwrap().clone()).unwrap_err();
        assert_eq!(violations.len(), 1);
        assert_eq!(violations[0].pointer, "/startLine");
        assert_eq!(violations[0].expected, "an integer from 1 to 9007199254740991");
        assert!(violations[0].got.starts_with(got), "{}", violations[0].got);
    }
    let most = json!({"path": "a", "startLine": u64::MAX});
    assert_eq!(bind(most.clone()), most);
}

#[test]
fn unknown_keys_are_bounded_in_number_length_and_work() {
    let arguments = (0..1000).map(|n| (format!("{n}{}", "k".repeat(10_000)), json!("v".repeat(9))));
    let violations = validator().bind(arguments.collect()).unwrap_err();
    assert_eq!(violations.len(), VIOLATIONS_MAX);
    for violation in &violations[..VIOLATIONS_MAX - 1] {
        assert_eq!(violation.pointer.chars().count(), SHOWN_KEY_CHARS_MAX + 1);
        assert_eq!(violation.suggestion, None);
    }
}
