//! `KEY=VALUE` by the types of a schema, and what is said where it cannot be read.

use serde_json::json;

use super::*;

fn tool() -> v1::Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "line": { "type": "integer" },
            "ratio": { "type": "number" },
            "all": { "type": ["boolean", "null"] },
            "globs": { "type": "array", "items": { "type": "string" } },
            "sort": { "$ref": "#/$defs/Sort" },
            "limit": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
            "either": { "oneOf": [{ "type": "string" }, { "type": "array" }] },
            "loop": { "$ref": "#/$defs/Loop" },
            "anything": {},
        },
        "$defs": {
            "Sort": { "enum": ["name", "size"] },
            "Loop": { "anyOf": [{ "$ref": "#/$defs/Loop" }] },
        }
    });
    v1::Tool {
        parameters_json: schema.to_string(),
        aliases: vec![v1::ParameterAliases {
            parameter: "line".to_owned(),
            aliases: vec!["lineNumber".to_owned()],
        }],
        ..v1::Tool::default()
    }
}

fn parsed(pairs: &[&str]) -> Result<Value, String> {
    let pairs: Vec<String> = pairs.iter().map(ToString::to_string).collect();
    parse(&pairs, &tool()).map(Value::Object).map_err(|error| error.error.message)
}

#[test]
fn values_are_read_by_the_type_of_their_parameter() {
    for (pair, value) in [
        ("path=12", json!({"path": "12"})),
        ("path=", json!({"path": ""})),
        ("path=a=b", json!({"path": "a=b"})),
        ("path=null", json!({"path": "null"})),
        ("path=two\nlines", json!({"path": "two\nlines"})),
        ("line=12", json!({"line": 12})),
        ("lineNumber=12", json!({"lineNumber": 12})),
        ("ratio=1.5", json!({"ratio": 1.5})),
        ("ratio=2", json!({"ratio": 2})),
        ("all=true", json!({"all": true})),
        ("globs=[\"*.rs\"]", json!({"globs": ["*.rs"]})),
        ("sort=size", json!({"sort": "size"})),
        ("limit=3", json!({"limit": 3})),
        ("either=plain", json!({"either": "plain"})),
        ("either=12", json!({"either": "12"})),
        ("either=[1]", json!({"either": [1]})),
        ("loop=x", json!({"loop": "x"})),
        ("anything=1", json!({"anything": "1"})),
        ("anything:=1", json!({"anything": 1})),
        ("path:=12", json!({"path": 12})),
        ("unknown=1", json!({"unknown": "1"})),
    ] {
        assert_eq!(parsed(&[pair]), Ok(value), "{pair}");
    }
}

#[test]
fn what_cannot_be_read_is_named_with_its_location() {
    for (pairs, message) in [
        (&["path"][..], "expected KEY=VALUE, got `path`"),
        (&["=x"], "expected KEY=VALUE, got `=x`"),
        (&["path=a", "path=b"], "`path` is given twice"),
        (&["line=twelve"], "`line`: expected a whole number, got `twelve`"),
        (&["all=yes"], "`all`: expected true or false or null, got `yes`"),
        (&["ratio=x"], "`ratio`: expected a number, got `x`"),
        (&["globs=ci"], "`globs`: expected a list such as globs='[\"ci\"]', got `ci`"),
        (
            &["globs:=[1,"],
            "`globs`: expected JSON, got `[1,`: EOF while parsing a value at line 1 column 3",
        ),
    ] {
        assert_eq!(parsed(pairs), Err(message.to_owned()));
    }
}

fn pairs(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// A tool that needs a path and a line.
fn needing() -> v1::Tool {
    let mut schema: Value = serde_json::from_str(&tool().parameters_json).unwrap();
    schema["required"] = json!(["path", "line"]);
    v1::Tool { parameters_json: schema.to_string(), ..tool() }
}

#[test]
fn word_without_a_key_is_offered_for_the_first_parameter_that_is_missing() {
    for (words, hint) in [
        (&["greeting.txt"][..], "did you mean path=greeting.txt?"),
        (&["path=a", "7"], "did you mean line=7?"),
        (&["lineNumber=7", "a b"], "did you mean path='a b'?"),
    ] {
        let error = parse(&pairs(words), &needing()).unwrap_err();
        assert_eq!(error.error.hint.as_deref(), Some(hint), "{words:?}");
    }
    let error = parse(&pairs(&["path=a", "line=1", "more"]), &needing()).unwrap_err();
    assert_eq!(error.error.hint, None);
}

#[test]
fn unknown_key_is_offered_as_the_one_parameter_that_is_missing() {
    let meant = |words: &[&str]| renamed(&pairs(words), &needing());
    assert_eq!(meant(&["file=a b", "line=1"]).as_deref(), Some("path='a b'"));
    assert_eq!(meant(&["path=a", "row:=3"]).as_deref(), Some("line=3"));
    // Nobody knows which of two is meant.
    assert_eq!(meant(&["file=a"]), None);
    assert_eq!(meant(&["file=a", "row=3"]), None);
    assert_eq!(meant(&["path=a", "line=1", "more=2"]), None);
}

#[test]
fn command_about_a_call_repeats_only_what_rules_look_at() {
    let given = |words: &[&str], args: Option<&str>| {
        let args = args.map(ToOwned::to_owned);
        ToolArguments { pairs: pairs(words), args }.command("moss policy explain", "create_file")
    };
    let long = format!("path={}", "x".repeat(REPEATED_CHARS_MAX + 1));
    for (words, args, expected) in [
        (&["path=a b.txt", "action:=\"end\""][..], None, " path='a b.txt' action:='\"end\"'"),
        (&["path=a=b", "content=secret"], None, " path='a=b' content=…"),
        (&["startLine:=3", "command=one\ntwo"], None, " startLine:=… command=…"),
        (&[long.as_str()], None, " path=…"),
        (&[], Some("-"), " --args -"),
        (&[], Some("{\"content\": \"secret\"}"), " --args JSON"),
        (&[], None, ""),
    ] {
        let command = format!("moss policy explain create_file{expected}");
        assert_eq!(given(words, args), command, "{words:?}");
    }
}

#[test]
fn path_from_a_subdirectory_is_offered_from_the_root() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("sub")).unwrap();
    std::fs::write(root.join("sub/here.txt"), "").unwrap();
    std::fs::write(root.join("top.txt"), "").unwrap();
    let meant = |pair: &str| {
        let arguments = ToolArguments { pairs: pairs(&["limit=3", pair]), args: None };
        arguments.path_from_root(&root.join("sub"), &root)
    };
    assert_eq!(meant("path=here.txt").as_deref(), Some("path=sub/here.txt"));
    assert_eq!(meant("filePath=./here.txt").as_deref(), Some("filePath=sub/here.txt"));
    assert_eq!(meant("path=../top.txt").as_deref(), Some("path=top.txt"));
    assert_eq!(meant("path=missing.txt"), None);
    assert_eq!(meant("path=../.."), None);
    assert_eq!(meant("pattern=here.txt"), None);
}
