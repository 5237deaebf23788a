//! Tests of `patch`.

use moss_sdk::ErrorCode;
use moss_sdk::testing::MemoryHost;
use serde_json::{Value, json};

use crate::check::{call, refused};

fn patch(old: &str, new: &str, all: bool) -> Value {
    json!({ "path": "a", "old_string": old, "new_string": new, "replace_all": all })
}

#[test]
fn the_result_says_how_the_text_was_found() {
    let host = MemoryHost::new([("a", "fn f() {\n\tcall( a, b );\n}\n")]);
    let output =
        call(&host, "patch", patch("    call(a, b);\n", "    call(a, c);\n", false)).unwrap();
    assert_eq!(output["match_level"], "whitespace_normalized");
    assert_eq!(output["before"], json!({ "start_line": 2, "end_line": 2 }));
    assert_eq!(output.get("drift"), None);
    assert_eq!(host.text("a").unwrap(), "fn f() {\n\tcall( a, c );\n}\n");
    let matched = host.proposals()[0].changes[0].matched.clone().unwrap();
    assert_eq!((matched.level.as_str(), matched.drift), ("whitespace_normalized", Vec::new()));
}

#[test]
fn drift_is_part_of_the_proposal_and_of_the_result() {
    let text = "func a() {\n\tx := 1\n\ty := 2\n\tz := 3\n\treturn\n}\n";
    let host = MemoryHost::new([("a", text)]);
    let search = text.replace("y := 2", "y := 99");
    let output = call(&host, "patch", patch(&search, &search.replace("99", "100"), false)).unwrap();
    assert_eq!(host.text("a").unwrap(), text.replace("y := 2", "y := 100"));
    let drift = json!([{ "line": 3, "expected": "\ty := 99", "found": "\ty := 2" }]);
    assert_eq!(output["drift"], drift);
    let matched = host.proposals()[0].changes[0].matched.clone().unwrap();
    assert_eq!(json!(matched.drift), drift);
}

#[test]
fn all_locations_are_replaced_from_the_end_on() {
    let host = MemoryHost::new([("a", "x\r\ny\nx\n")]);
    let error = refused(&host, "patch", patch("x\n", "1\n2\n", false));
    assert_eq!(error.code, ErrorCode::Ambiguous);
    let output = call(&host, "patch", patch("x\n", "1\n2\n", true)).unwrap();
    assert_eq!(host.text("a").unwrap(), "1\r\n2\r\ny\n1\n2\n");
    assert_eq!((output.get("before"), &output["total_lines"]), (None, &json!(5)));
    let error = call(&host, "patch", patch("x\n", "y\n", true)).unwrap_err();
    assert_eq!(error.code, ErrorCode::NoMatch);
}

#[test]
fn an_edit_is_made_anew_where_the_file_changed_before_anybody_saw_it() {
    let host = MemoryHost::new([("a", "one\ntwo\nthree\n")]);
    host.write_before_next_proposal("a", "zero\none\n  two\nthree\n");
    let output = call(&host, "patch", patch("two\n", "2\n", false)).unwrap();
    assert_eq!(host.text("a").unwrap(), "zero\none\n  2\nthree\n");
    assert_eq!(output["before"], json!({ "start_line": 3, "end_line": 3 }));
    host.write_before_next_proposal("a", "zero\n");
    let error = call(&host, "patch", patch("three\n", "3\n", false)).unwrap_err();
    assert_eq!(error.code, ErrorCode::NoMatch);
    assert_eq!(host.text("a").unwrap(), "zero\n");
}
