//! Tests of `insert_line`.

use moss_sdk::ErrorCode;
use moss_sdk::testing::{MemoryHost, hash};
use serde_json::json;

use crate::check::{call, refused};

#[test]
fn lines_go_before_a_line_or_to_the_end() {
    let cases = [
        ("a\nb\n", 1, "x", "x\na\nb\n"),
        ("a\nb\n", 2, "x\n", "a\nx\nb\n"),
        ("a\nb\n", 2, "x\n\n", "a\nx\n\nb\n"),
        ("a\nb\n", 3, "x\ny", "a\nb\nx\ny\n"),
        ("a\nb", 3, "x\n", "a\nb\nx"),
        ("a\r\nb", 3, "x\ny", "a\r\nb\r\nx\r\ny"),
        ("a\r\nb\r\n", 2, "x", "a\r\nx\r\nb\r\n"),
        ("a\r\nb\n", 2, "x", "a\r\nx\nb\n"),
        ("", 1, "x", "x\n"),
        ("", 1, "", "\n"),
        ("a\n", 1, "", "\na\n"),
        ("a\nb\n", 2, "\n", "a\n\nb\n"),
        ("\u{feff}a\n", 1, "x", "\u{feff}x\na\n"),
    ];
    for (before, line, text, after) in cases {
        let host = MemoryHost::new([("a", before)]);
        let arguments = json!({ "path": "a", "line": line, "text": text });
        call(&host, "insert_line", arguments).unwrap();
        assert_eq!(host.text("a").unwrap(), after, "{before:?} {line} {text:?}");
    }
}

#[test]
fn the_result_names_the_new_lines() {
    let host = MemoryHost::new([("a", "1\n2\n")]);
    let arguments = json!({ "path": "a", "line": 3, "text": "3\n4" });
    assert_eq!(
        call(&host, "insert_line", arguments).unwrap(),
        json!({
            "path": "a", "after": { "start_line": 3, "end_line": 4 }, "total_lines": 4,
            "hash": hash(b"1\n2\n3\n4\n"), "history": 1, "applied": true
        })
    );
}

#[test]
fn impossible_insertions_are_refused() {
    let host = MemoryHost::new([("a", "1\n2\n"), ("empty", "")]);
    let cases = [
        (json!({ "path": "a", "line": 4, "text": "x" }), ErrorCode::OutOfRange, "use line 3"),
        (json!({ "path": "empty", "line": 2, "text": "x" }), ErrorCode::OutOfRange, "use line 1"),
        (json!({ "path": "a", "line": u64::MAX, "text": "" }), ErrorCode::OutOfRange, "use line 3"),
        (
            json!({ "path": "a", "line": 1, "text": "     1\tx" }),
            ErrorCode::InvalidArguments,
            "send the lines alone",
        ),
    ];
    for (arguments, code, hint) in cases {
        let error = refused(&host, "insert_line", arguments.clone());
        assert_eq!(error.code, code, "{arguments}: {error}");
        assert!(error.hint.as_deref().unwrap_or_default().contains(hint), "{arguments}: {error}");
    }
}
