//! Tests of `replace_lines`, and of what the line tools have in common.

use moss_sdk::ErrorCode;
use moss_sdk::testing::{MemoryHost, hash};
use serde_json::{Value, json};

use crate::check::{call, refused};

fn replace(start: u64, end: u64, new: &str) -> Value {
    json!({ "path": "a", "startLine": start, "endLine": end, "newText": new })
}

#[test]
fn lines_replace_lines() {
    let cases = [
        ("a\nb\nc\n", 2, 2, "B", "a\nB\nc\n"),
        ("a\nb\nc\n", 2, 2, "B\n", "a\nB\nc\n"),
        ("a\nb\nc\n", 2, 2, "B\n\n", "a\nB\n\nc\n"),
        ("a\nb\nc\n", 1, 3, "x", "x\n"),
        ("a\nb\nc\n", 2, 3, "", "a\n"),
        ("a\nb\nc\n", 2, 2, "\n", "a\n\nc\n"),
        ("a\r\nb\r\nc\r\n", 2, 2, "x\ny", "a\r\nx\r\ny\r\nc\r\n"),
        ("a\nb\n", 1, 1, "x\r\ny\r\n", "x\ny\nb\n"),
        ("a\nb\r\nc\n", 2, 2, "B", "a\nB\r\nc\n"),
        ("a\nb", 2, 2, "B\n", "a\nB"),
        ("\u{feff}a\nb\n", 1, 1, "A", "\u{feff}A\nb\n"),
        ("a\nb\n", 1, 1, "$& \\1 $$", "$& \\1 $$\nb\n"),
        ("a\nb\n", 1, 2, "", ""),
        ("a", 1, 1, "1\tid\n2\tname", "1\tid\n2\tname"),
    ];
    for (before, start, end, new, after) in cases {
        let host = MemoryHost::new([("a", before)]);
        call(&host, "replace_lines", replace(start, end, new)).unwrap();
        assert_eq!(host.text("a").unwrap(), after, "{before:?} {start}-{end} {new:?}");
    }
}

#[test]
fn the_result_says_what_changed() {
    let host = MemoryHost::new([("a", "1\n2\n3\n4\n")]);
    let output = call(&host, "replace_lines", replace(2, 3, "x\ny\nz")).unwrap();
    assert_eq!(
        output,
        json!({
            "path": "a",
            "before": { "start_line": 2, "end_line": 3 },
            "after": { "start_line": 2, "end_line": 4 },
            "total_lines": 5,
            "hash": hash(b"1\nx\ny\nz\n4\n"),
            "history": 1,
            "applied": true
        })
    );
    let output = call(&host, "replace_lines", replace(2, 4, "")).unwrap();
    assert_eq!((output.get("after"), &output["total_lines"]), (None, &json!(2)));
}

#[test]
fn a_dry_run_writes_nothing_and_says_so() {
    let host = MemoryHost::new([("a", "1\n")]);
    host.set_dry_run();
    let output = call(&host, "replace_lines", replace(1, 1, "x\ny")).unwrap();
    assert_eq!((&output["applied"], output.get("history")), (&json!(false), None));
    assert_eq!(output["total_lines"], 2);
    assert_eq!(output["hash"], json!(hash(b"x\ny\n")));
    assert_eq!(host.text("a").unwrap(), "1\n");
}

#[test]
fn impossible_edits_are_refused() {
    let host = MemoryHost::new([("a", "1\n2\n"), ("empty", ""), ("dir/b", "")]);
    host.write("binary", b"a\0b\n");
    let at = |path: &str| json!({ "path": path, "startLine": 1, "endLine": 1, "newText": "x" });
    let cases = [
        (replace(2, 1, "x"), ErrorCode::InvalidArguments, "`endLine` (1) comes before"),
        (replace(2, 3, "x"), ErrorCode::OutOfRange, "has 2 lines, so there is no line 3"),
        (replace(5, 9, "x"), ErrorCode::OutOfRange, "no line 5"),
        (replace(1, u64::MAX, "x"), ErrorCode::OutOfRange, "has 2 lines"),
        (replace(1, 2, "1\n2"), ErrorCode::NoChange, "already"),
        (replace(1, 1, "     1\tx"), ErrorCode::InvalidArguments, "line number and a tab"),
        (replace(1, 2, "1\tx\n     2\ty\n"), ErrorCode::InvalidArguments, "line number"),
        (at("empty"), ErrorCode::OutOfRange, "has 0 lines"),
        (at("dir"), ErrorCode::NotAFile, "dir"),
        (at("none"), ErrorCode::NotFound, "none"),
        (at("binary"), ErrorCode::Binary, "not a text file"),
        (at("../a"), ErrorCode::OutsideWorkspace, ".."),
    ];
    for (arguments, code, message) in cases {
        let error = refused(&host, "replace_lines", arguments.clone());
        assert_eq!(error.code, code, "{arguments}: {error}");
        assert!(error.message.contains(message), "{arguments}: {error}");
    }
}

#[test]
fn numbers_of_another_version_are_refused_with_the_lines_of_now() {
    let host = MemoryHost::new([("a", "1\n2\n3\n")]);
    call(&host, "read_file", json!({ "path": "a" })).unwrap();
    host.write("a", "0\n1\n2\n3\n");
    for (tool, arguments) in [
        ("replace_lines", replace(1, 1, "x")),
        ("delete_lines", json!({ "path": "a", "startLine": 9, "endLine": 9 })),
        ("insert_line", json!({ "path": "a", "line": 9, "text": "x" })),
    ] {
        call(&host, "read_file", json!({ "path": "a" })).unwrap();
        host.write("a", format!("{}0\n", host.text("a").unwrap()));
        let error = refused(&host, tool, arguments);
        assert_eq!(error.code, ErrorCode::Conflict, "{tool}: {error}");
        assert!(error.message.contains("changed since it was read"), "{tool}: {error}");
    }
}

#[test]
fn a_conflict_shows_enough_to_try_again() {
    let host = MemoryHost::new([("a", "1\n2\n3\n")]);
    call(&host, "read_file", json!({ "path": "a" })).unwrap();
    host.write("a", "0\n1\n2\n3\n");
    let error = refused(&host, "replace_lines", replace(2, 2, "two"));
    assert!(error.message.ends_with("     1\t0\n     2\t1\n     3\t2\n     4\t3"), "{error}");
    assert!(error.message.contains("it has 4 lines now"), "{error}");
    call(&host, "replace_lines", replace(3, 3, "two")).unwrap();
    assert_eq!(host.text("a").unwrap(), "0\n1\ntwo\n3\n");
}

#[test]
fn a_conflict_that_cannot_show_all_lines_asks_to_read_again() {
    let host = MemoryHost::new([("a", "x\n".repeat(100).as_str())]);
    call(&host, "read_file", json!({ "path": "a" })).unwrap();
    host.write("a", "y\n".repeat(100));
    for _ in 0..2 {
        let error = refused(&host, "replace_lines", replace(1, 90, "z"));
        assert_eq!(error.code, ErrorCode::Conflict);
        assert!(error.hint.unwrap().starts_with("read the file again"));
    }
}

#[test]
fn own_edits_count_as_reads_but_do_not_hide_others() {
    let host = MemoryHost::new([("a", "1\n2\n3\n")]);
    call(&host, "read_file", json!({ "path": "a" })).unwrap();
    call(&host, "replace_lines", replace(1, 1, "one")).unwrap();
    call(&host, "replace_lines", replace(2, 2, "two")).unwrap();
    // Somebody adds a line; an edit by text still goes through, line numbers stay suspect.
    host.write("a", "new\none\ntwo\n3\n");
    let arguments = json!({ "path": "a", "oldText": "3", "newText": "three" });
    call(&host, "replace_text", arguments).unwrap();
    let error = call(&host, "replace_lines", replace(1, 1, "ONE")).unwrap_err();
    assert_eq!(error.code, ErrorCode::Conflict);
}

#[test]
fn without_a_recorded_read_there_is_no_check() {
    let host = MemoryHost::new([("a", "1\n")]);
    call(&host, "replace_lines", replace(1, 1, "x")).unwrap();
    host.write("a", "2\n");
    call(&host, "replace_lines", replace(1, 1, "y")).unwrap();
    assert_eq!(host.text("a").unwrap(), "y\n");
}

#[test]
fn lines_that_moved_before_anybody_saw_the_edit_are_replaced_where_they_are() {
    let edit = || json!({ "path": "a", "startLine": 3, "endLine": 3, "newText": "C" });
    let host = MemoryHost::new([("a", "a\nb\nc\nd\ne\n")]);
    host.write_before_next_proposal("a", "x\ny\na\nb\nc\nd\nE\n");
    let output = call(&host, "replace_lines", edit()).unwrap();
    assert_eq!(host.text("a").unwrap(), "x\ny\na\nb\nC\nd\nE\n");
    assert_eq!(output["before"], json!({ "start_line": 5, "end_line": 5 }));
    for changed in ["a\nb\nX\nd\ne\n", "a\nB\nc\nd\ne\n", "a\nb\nc\nx\nd\n", ""] {
        let host = MemoryHost::new([("a", "a\nb\nc\nd\ne\n")]);
        host.write_before_next_proposal("a", changed);
        let error = call(&host, "replace_lines", edit()).unwrap_err();
        assert_eq!(error.code, ErrorCode::Conflict, "{changed:?}");
        assert_eq!(host.text("a").unwrap(), changed);
    }
}
