//! Tests of the module `description`.

use super::schema::SCHEMA_BYTES_MAX;
use super::*;

fn tool() -> tools::Tool {
    tools::Tool {
        name: "act".to_owned(),
        title: "Act".to_owned(),
        description: "Does it.".to_owned(),
        effect: tools::Effect::Read,
        parameters: r#"{"type":"object","properties":{"a":{"type":"string","description":"A."}}}"#
            .to_owned(),
        output: r#"{"type":"object"}"#.to_owned(),
        annotations: tools::Annotations { destructive: None, idempotent: None, open_world: None },
        examples: Vec::new(),
    }
}

fn description(tools: Vec<tools::Tool>) -> tools::Description {
    tools::Description {
        name: "zoo".to_owned(),
        version: "1.0.0".to_owned(),
        capabilities: Vec::new(),
        tools,
        settings: None,
    }
}

fn refusal(change: impl FnOnce(&mut tools::Description)) -> String {
    let mut told = description(vec![tool()]);
    change(&mut told);
    read("zoo", told).unwrap_err()
}

#[test]
fn texts_and_closed_parameters_come_out() {
    let read = read("zoo", description(vec![tool()])).unwrap();
    let spec = &read.specs[0];
    assert_eq!(spec.text.parameters["a"], "A.");
    assert_eq!(spec.parameters.get("additionalProperties"), None);
    assert_eq!(spec.parameters_strict["additionalProperties"], json!(false));
    assert_eq!(read.forms, [OutputForm::Object]);
}

#[test]
fn an_output_that_is_no_object_is_wrapped_and_keeps_its_references() {
    let output =
        r##"{"type":"array","items":{"$ref":"#/$defs/n"},"$defs":{"n":{"type":"number"}}}"##;
    let told = tools::Tool { output: output.to_owned(), ..tool() };
    let read = read("zoo", description(vec![told])).unwrap();
    assert_eq!(read.forms, [OutputForm::Wrapped]);
    let validator = jsonschema::draft202012::new(&read.specs[0].output).unwrap();
    assert!(validator.is_valid(&json!({ "result": [1, 2] })));
    assert!(!validator.is_valid(&json!({ "result": ["a"] })));
}

#[test]
fn a_description_is_refused_with_the_reason() {
    let cases: Vec<(String, &str)> = vec![
        (refusal(|told| told.name = "\u{1b}[2J".to_owned()), "`\\u{1b}[2J`"),
        (refusal(|told| told.version.clear()), "the version is empty"),
        (
            refusal(|told| told.version = "1.0 to a.json (signed by A)".to_owned()),
            "printable ASCII without spaces",
        ),
        (refusal(|told| told.version = "1\u{a0}".to_owned()), "printable ASCII without spaces"),
        (refusal(|told| told.tools.clear()), "it has no tools"),
        (refusal(|told| told.tools = vec![tool(); TOOLS_MAX + 1]), "more than 64 tools"),
        (refusal(|told| told.tools = vec![tool(), tool()]), "two tools named `act`"),
        (refusal(|told| told.tools[0].name = "réad".to_owned()), "the name must be a letter"),
        (refusal(|told| told.tools[0].name = "a".repeat(65)), "the name must be a letter"),
        (
            refusal(|told| told.tools[0].title = "a\u{7}".to_owned()),
            "contains the character U+0007",
        ),
        (refusal(|told| told.tools[0].description = " ".to_owned()), "description is empty"),
        (refusal(|told| told.tools[0].description = "a".repeat(5000)), "longer than 4096 bytes"),
    ];
    for (error, expected) in cases {
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn what_a_person_does_not_see_is_not_shown_to_models() {
    for hidden in [
        '\r',
        '\u{1b}',
        '\u{ad}',
        '\u{200b}',
        '\u{200e}',
        '\u{202a}',
        '\u{202e}',
        '\u{2060}',
        '\u{2066}',
        '\u{2069}',
        '\u{feff}',
        '\u{e0041}',
    ] {
        let text = format!("Does{hidden} it.");
        let schema = |inner: serde_json::Value| json!({ "type": "object", "properties": inner });
        for error in [
            refusal(|told| told.version = text.clone()),
            refusal(|told| told.tools[0].title = text.clone()),
            refusal(|told| told.tools[0].description = text.clone()),
            refusal(|told| {
                let inner = json!({ "a": { "description": text } });
                told.tools[0].parameters = schema(inner).to_string();
            }),
            refusal(|told| told.tools[0].output = schema(json!({ &text: {} })).to_string()),
        ] {
            let expected = format!("contains the character U+{:04X}", u32::from(hidden));
            assert!(error.contains(&expected), "{expected}: {error}");
        }
        let named = refusal(|told| told.tools[0].name = text.clone());
        assert!(named.contains("the name must be a letter"), "{named}");
    }
    // Letters of some scripts are joined, and so are pictures.
    let told = tools::Tool { description: "\u{646}\u{200c}\u{647}\nا".to_owned(), ..tool() };
    assert!(read("zoo", description(vec![told])).is_ok());
}

#[test]
fn capabilities_that_are_not_enforced_are_refused() {
    for (kind, scope, reason, expected) in [
        ("net.http", "example.org", "Why.", "requests `net.http`, which this version"),
        ("fs", "../a", "Why.", "requests `fs` badly: `../a`"),
        ("http", "ftp://a", "Why.", "`ftp://a` has a scheme other than"),
        ("env", "A=B", "Why.", "`A=B` is not a variable"),
        ("store", "1MB", "Why.", "`1MB` is not a size"),
        ("editor", "*", "Why.", "`*` is not `symbols`"),
        ("index", "*", "Why.", "`*` is not `search`"),
        ("command", "* a", "Why.", "does not say which program"),
        ("fs", ".", "", "the reason of a capability is empty"),
    ] {
        let error = refusal(|told| {
            told.capabilities.push(tools::Capability {
                kind: kind.to_owned(),
                scope: scope.to_owned(),
                reason: reason.to_owned(),
            });
        });
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn schemas_that_cannot_be_used_safely_are_refused() {
    let deep = format!("{}{}{}", r#"{"items":"#.repeat(40), "{}", "}".repeat(40));
    let wide = format!(r#"{{"type":"object","description":"{}"}}"#, "a".repeat(SCHEMA_BYTES_MAX));
    for (schema, expected) in [
        ("{", "is not JSON"),
        ("true", "is not an object"),
        (r#"{"type":"string"}"#, "is not of type `object`"),
        (r#"{"type":"objekt"}"#, "is not a schema"),
        (r#"{"$ref":"http://169.254.169.254/"}"#, "refers to `http://169.254.169.254/`"),
        (r#"{"properties":{"a":{"$ref":"file:///etc/passwd"}}}"#, "refers to `file:"),
        (r##"{"type":"object","properties":{"a":{"$ref":"#"}}}"##, "refers to `#`"),
        (r#"{"$id":"http://example.org/x"}"#, "has `$id`"),
        (r#"{"properties":{"a":{"pattern":"(a{1000}){1000}"}}}"#, "is not a schema"),
        (r#"{"properties":{"a":{"pattern":"(?=a)"}}}"#, "is not a schema"),
        (&deep, "nested deeper than 32 levels"),
        (&wide, "is larger than 65536 bytes"),
    ] {
        let error = refusal(|told| told.tools[0].parameters = schema.to_owned());
        assert!(error.contains(expected), "{schema:.60}: {error}");
    }
}

#[test]
fn references_in_a_circle_are_refused() {
    let schema = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},
        "$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##;
    let error = refusal(|told| told.tools[0].parameters = schema.to_owned());
    assert!(error.contains("without going into the value"), "{error}");
}
