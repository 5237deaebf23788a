//! Tests of `delete_lines`.

use moss_sdk::ErrorCode;
use moss_sdk::testing::{MemoryHost, hash};
use serde_json::json;

use crate::check::{call, refused};

#[test]
fn lines_go_with_their_line_ends() {
    let cases = [
        ("a\nb\nc\n", 2, 2, "a\nc\n"),
        ("a\nb\nc\n", 1, 2, "c\n"),
        ("a\nb\nc\n", 1, 3, ""),
        ("a\r\nb\nc\r\n", 2, 2, "a\r\nc\r\n"),
        ("a\r\nb", 2, 2, "a"),
        ("a\nb", 1, 1, "b"),
        ("\n\n", 1, 1, "\n"),
        ("\u{feff}a\n", 1, 1, "\u{feff}"),
    ];
    for (before, start, end, after) in cases {
        let host = MemoryHost::new([("a", before)]);
        let arguments = json!({ "path": "a", "startLine": start, "endLine": end });
        call(&host, "delete_lines", arguments).unwrap();
        assert_eq!(host.text("a").unwrap(), after, "{before:?} {start}-{end}");
    }
}

#[test]
fn the_result_names_the_lines_that_are_gone() {
    let host = MemoryHost::new([("a", "1\n2\n3\n")]);
    let arguments = json!({ "path": "a", "startLine": 1, "endLine": 2 });
    assert_eq!(
        call(&host, "delete_lines", arguments).unwrap(),
        json!({
            "path": "a", "before": { "start_line": 1, "end_line": 2 }, "total_lines": 1,
            "hash": hash(b"3\n"), "history": 1, "applied": true
        })
    );
}

#[test]
fn impossible_deletions_are_refused() {
    let host = MemoryHost::new([("a", "1\n2\n"), ("empty", "")]);
    let cases = [
        (json!({ "path": "a", "startLine": 2, "endLine": 1 }), ErrorCode::InvalidArguments),
        (json!({ "path": "a", "startLine": 1, "endLine": 3 }), ErrorCode::OutOfRange),
        (json!({ "path": "empty", "startLine": 1, "endLine": 1 }), ErrorCode::OutOfRange),
        (json!({ "path": "none", "startLine": 1, "endLine": 1 }), ErrorCode::NotFound),
    ];
    for (arguments, code) in cases {
        let error = refused(&host, "delete_lines", arguments.clone());
        assert_eq!(error.code, code, "{arguments}: {error}");
    }
}
