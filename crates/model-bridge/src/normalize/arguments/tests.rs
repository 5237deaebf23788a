//! Tests of arguments in every way in which a history has them.

use serde_json::json;

use super::*;

#[test]
fn arguments_are_kept_as_far_as_they_go() {
    use ArgumentRepair::{Cut, Repaired, TwiceWritten, Wrapped};
    for (written, expected, repaired) in [
        (json!(null), json!({}), None),
        (json!(""), json!({}), None),
        (json!("  \n"), json!({}), None),
        (json!("null"), json!({}), None),
        (json!("{}"), json!({}), None),
        (json!({ "a": [1] }), json!({ "a": [1] }), None),
        (
            json!(r#"{"a":"x, }","b":9007199254740993}"#),
            json!({"a":"x, }","b":9007199254740993_u64}),
            None,
        ),
        (json!(r#""{\"a\":1}""#), json!({ "a": 1 }), Some(TwiceWritten)),
        (json!(r#"{"path":"a.rs","content":"long te"#), json!({ "path": "a.rs" }), Some(Cut)),
        (
            json!(r#"{"a":1,"b":{"c":[2,3]},"d":"x,y"#),
            json!({ "a": 1, "b": { "c": [2, 3] } }),
            Some(Cut),
        ),
        (json!(r#"{"a":1,"b":bad,"c":3}"#), json!({ "a": 1 }), Some(Cut)),
        (
            json!("{\n\"a\":1,\n\n\"文\": \"x\",\n \"c\" 3}"),
            json!({ "a": 1, "文": "x" }),
            Some(Cut),
        ),
        (json!(r#"{"a":1,"b",}"#), json!({ "a": 1 }), Some(Cut)),
        (json!(r#"{"a":1,,"b":2}"#), json!({ "a": 1 }), Some(Cut)),
        (json!("{\"a\":1,\"b\":\"x\ny\"}"), json!({ "a": 1, "b": "x\ny" }), Some(Repaired)),
        (json!(r#"{"a":1,"b":2},"#), json!({ "a": 1, "b": 2 }), Some(Repaired)),
        (json!(r#"{"a":1}{"a":2}"#), json!({ "a": 1 }), Some(Cut)),
        (json!(r#"{"a":1,}"#), json!({ "a": 1 }), Some(Repaired)),
        (json!("{“a”：1}"), json!({ "a": 1 }), Some(Repaired)),
        // A number that may continue is not taken.
        (json!(r#"{"a":1,"b":2"#), json!({ "a": 1 }), Some(Cut)),
        (json!(r#"  {"a":1, "#), json!({ "a": 1 }), Some(Cut)),
        (
            json!(r#"{"content":"long te"#),
            json!({ "input": r#"{"content":"long te"# }),
            Some(Wrapped),
        ),
        (json!("ls -l"), json!({ "input": "ls -l" }), Some(Wrapped)),
        (json!(r#""ls -l""#), json!({ "input": "ls -l" }), Some(Wrapped)),
        (json!([1, 2]), json!({ "input": [1, 2] }), Some(Wrapped)),
        (json!("[1]"), json!({ "input": [1] }), Some(Wrapped)),
        (json!(7), json!({ "input": 7 }), Some(Wrapped)),
        (json!("[1,2"), json!({ "input": "[1,2" }), Some(Wrapped)),
        (json!(",,,"), json!({ "input": ",,," }), Some(Wrapped)),
    ] {
        let read = read(Some(written.clone()));
        assert_eq!((Value::Object(read.map), read.repaired), (expected, repaired), "{written}");
    }
    assert_eq!(read(None).map, Map::new());
    assert_eq!(free_form("{}".to_owned()).map, *json!({ "input": "{}" }).as_object().unwrap());
}

#[test]
fn text_with_very_many_members_is_read_soon() {
    let text = format!("{{{}\"last\":", "\"k\":1,".repeat(50_000));
    assert_eq!(read(Some(Value::String(text))).repaired, Some(ArgumentRepair::Cut));
    let deep = "[".repeat(1_000_000);
    assert_eq!(read(Some(Value::String(deep))).repaired, Some(ArgumentRepair::Wrapped));
}
