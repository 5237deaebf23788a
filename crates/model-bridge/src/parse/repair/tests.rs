//! Tests of JSON that is repaired.

use serde_json::json;

use super::*;
use crate::registry::Registry;

fn repaired(text: &str) -> Option<(Vec<Value>, Vec<RepairKind>)> {
    let repaired = values(text, true, KnownKeys::default()).ok()?;
    Some((repaired.values, repaired.changes))
}

#[test]
fn what_is_json_is_not_touched() {
    for text in [
        r#"{"a":"他说：“你好”，然后。"}"#,
        r#"{"a":"x, }","b":"// no","c":"/* no */"}"#,
        r#"{"a":[1,2.50,-3e4,true,null,"\ud83d\ude00"]}"#,
        " {} \n [] ",
        "{\"a\":1},\n{\"a\":2}",
    ] {
        let (values, changes) = repaired(text).unwrap();
        assert_eq!(changes, [], "{text}");
        assert_eq!(Ok(values), strict(text));
    }
}

#[test]
fn what_models_write_is_repaired() {
    use RepairKind::*;
    for (text, expected, changes) in [
        ("{“a”：“b”}", json!({ "a": "b" }), vec![Quotes, FullWidth]),
        ("{\"a\"：1，\"b\"：2}", json!({ "a": 1, "b": 2 }), vec![FullWidth]),
        ("{\"a\":[1,2,],}", json!({ "a": [1, 2] }), vec![TrailingComma]),
        ("{a: 1, b_c: 2}", json!({ "a": 1, "b_c": 2 }), vec![BareKey]),
        ("{'a': 'it\\'s \"b\"'}", json!({ "a": "it's \"b\"" }), vec![BadEscape, SingleQuotes]),
        ("{\"a\":1 /* x } */, // y }\n\"b\":2}", json!({ "a": 1, "b": 2 }), vec![Comment]),
        ("{\"a\":\"x\ny\tz\"}", json!({ "a": "x\ny\tz" }), vec![RawControl]),
        (r#"{"a":"D:\new\src\main.rs"}"#, json!({ "a": r"D:\new\src\main.rs" }), vec![BadEscape]),
        (r#"{"a":"\d+\s"}"#, json!({ "a": r"\d+\s" }), vec![BadEscape]),
        ("{\"a\":\"b\"\n\"c\":1}", json!({ "a": "b", "c": 1 }), vec![MissingComma]),
        ("{\"a\":\"b\" \"c\":1}", json!({ "a": "b", "c": 1 }), vec![MissingComma]),
        ("{\"a\":{\"b\":1}", json!({ "a": { "b": 1 } }), vec![MissingBracket]),
        ("{\"a\":[1,2}", json!({ "a": [1, 2] }), vec![MissingBracket]),
        ("{\"a\":1}}", json!({ "a": 1 }), vec![ExtraBracket]),
        ("{\"a\":True,\"b\":None}", json!({ "a": true, "b": null }), vec![Literal]),
        (r#"{"a":"m -m "fix bug""}"#, json!({ "a": "m -m \"fix bug\"" }), vec![InnerQuotes]),
        (
            r#"{"a":"say "hi", then go","b":1}"#,
            json!({ "a": "say \"hi\", then go", "b": 1 }),
            vec![InnerQuotes],
        ),
        (r#"{"a":"\ud83d x"}"#, json!({ "a": "\u{fffd} x" }), vec![LoneSurrogate]),
        ("{\"a\":1}\nThat is all.", json!({ "a": 1 }), vec![SurroundingText]),
    ] {
        let (values, told) = repaired(text).unwrap_or_else(|| panic!("not repaired: {text}"));
        assert_eq!(values, [expected], "{text}");
        assert_eq!(told, changes, "{text}");
    }
}

#[test]
fn what_cannot_be_known_is_not_made_up() {
    for text in [
        "",
        "  ",
        "read_file",
        "{\"tool\" read_file parameters path}",
        "{\"a\":",
        "{\"a\"",
        "{\"a\":\"x",
        "{\"a\":\"x}",
        "{\"a\" 1}",
        "{\"a\":read}",
        "{\"a\":123456789012345678901234567890}",
    ] {
        assert_eq!(repaired(text).filter(|(values, _)| !values.is_empty()), None, "{text}");
    }
    // A quote whose string continues further than anybody looks: nothing of it is cut off.
    let far = format!("{{\"a\":\"5\"}} {}\"}}", "and more ".repeat(300));
    assert_eq!(values(&far, true, KnownKeys::default()), Err(JsonFault::Malformed));
    assert!(values("{\"a\":1", false, KnownKeys::default()).is_err());
    assert!(values(&"[".repeat(DEPTH_MAX + 1), true, KnownKeys::default()).is_err());
    let deep = format!("{}{}", "[".repeat(DEPTH_MAX + 1), "]".repeat(DEPTH_MAX + 1));
    assert!(values(&deep, true, KnownKeys::default()).is_err());
    let allowed = format!("{}{}", "[".repeat(DEPTH_MAX), "]".repeat(DEPTH_MAX));
    assert!(values(&allowed, true, KnownKeys::default()).is_ok());
}

#[test]
fn very_many_commas_and_keys_are_gone_through_once() {
    let commas = format!("{{\"a\":[1{}],}}", " ,\n，".repeat(200_000));
    let expected = json!({ "a": [1] });
    let changes = [RepairKind::FullWidth, RepairKind::TrailingComma];
    let (values, told) = repaired(&commas).unwrap();
    assert_eq!(values, [expected]);
    assert!(told.iter().all(|change| changes.contains(change)), "{told:?}");
    // One value may be missing behind all of them.
    assert_eq!(repaired("{\"a\":[1,, ,2]}"), None);

    let registry = Registry::default();
    let keys = KnownKeys::of_arguments(&registry, None);
    let fields: Vec<String> = (0..200_000).map(|number| format!("k{number}:1")).collect();
    let fields = fields.join(",");
    let read = super::values(&format!("{{{fields}}}"), true, keys).unwrap();
    assert_eq!(read.values[0].as_object().unwrap().len(), 200_000);
    let twice = super::values(&format!("{{{fields},k7:2}}"), true, keys);
    assert_eq!(twice, Err(JsonFault::Twice("k7".to_owned())));
}
