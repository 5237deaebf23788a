//! Tests of the module `notation`.

use serde_json::json;

use super::*;

fn python_value(text: &str) -> Option<Value> {
    let calls = python::calls(&format!("f(a={text})")).ok()?;
    calls.into_iter().next()?.1.remove("a")
}

#[test]
fn values_of_python_are_read_and_nothing_is_computed() {
    for (text, expected) in [
        ("1", json!(1)),
        ("-1.5", json!(-1.5)),
        ("1e3", json!(1e3)),
        ("True", json!(true)),
        ("null", json!(null)),
        ("'a'", json!("a")),
        (r#"'it\'s "x"'"#, json!("it's \"x\"")),
        (r"'\d\n\x41\u4f60\U0001F600'", json!("\\d\nA你😀")),
        (r"'\ud83d\ude00'", json!("😀")),
        (r"r'\d\n'", json!("\\d\\n")),
        ("'''a'b\n'''", json!("a'b\n")),
        ("''", json!("")),
        ("[1, (2, 'x',), {'k': None}]", json!([1, [2, "x"], { "k": null }])),
    ] {
        assert_eq!(python_value(text), Some(expected), "{text}");
    }
    for text in [
        "x",
        "x.y",
        "g()",
        "1 + 2",
        "'a' + 'b'",
        "'a' 'b'",
        "f'{x}'",
        "[x for x in y]",
        "{1: 2}",
        "{'a': 1, 'a': 2}",
        "12345678901234567890123",
        "'\\ud83d'",
        "1,",
        "",
    ] {
        assert_eq!(python_value(text).filter(|_| text != "1,"), None, "{text}");
    }
    for text in ["f(1)", "f(a=1, a=2)", "f(a=1) x", "f(a=1", "[f(), g]", "f(=1)", "f(**x)"] {
        assert!(python::calls(text).is_err(), "{text}");
    }
}

#[test]
fn braces_of_gemma_are_read() {
    let read = |text| gemma::arguments(text, "<|\"|>").ok();
    let (arguments, changes) =
        read(r#"{ a : 1 , b:<|"|>say "x", {y}<|"|>,c:[<|"|>p<|"|>,true],d:{e:null}}"#).unwrap();
    let expected = json!({ "a": 1, "b": "say \"x\", {y}", "c": ["p", true], "d": { "e": null } });
    assert_eq!((Value::Object(arguments), changes.len()), (expected, 0));
    let (arguments, changes) = read("{a:New York}").unwrap();
    assert_eq!((&arguments["a"], changes), (&json!("New York"), vec![RepairKind::Quotes]));
    for text in ["{a}", "{a:}", "{:1}", "{a:1,a:2}", "{a:1} x", "{a:[1}", "{a:\"x\"}", "{a:b:c}"] {
        assert!(read(text).is_none(), "{text}");
    }
}

#[test]
fn what_nests_too_deep_is_no_call() {
    let deep = |depth: usize| format!("f(a={}{})", "[".repeat(depth), "]".repeat(depth));
    assert!(python::calls(&deep(DEPTH_MAX - 1)).is_ok());
    assert!(python::calls(&deep(100_000)).is_err());
}
