//! Tests of `create_file`.

use moss_sdk::ErrorCode;
use moss_sdk::edit::ChangeKind;
use moss_sdk::testing::{MemoryHost, hash};
use serde_json::json;

use crate::check::{call, refused};

#[test]
fn a_new_file_is_made_where_its_directories_are_missing() {
    let host = MemoryHost::new([]);
    let arguments = json!({ "path": "a/b/c.txt", "content": "one\ntwo" });
    let output = call(&host, "create_file", arguments).unwrap();
    assert_eq!(
        output,
        json!({
            "path": "a/b/c.txt", "overwritten": false, "total_lines": 2, "size_bytes": 7,
            "hash": hash(b"one\ntwo"), "history": 1, "applied": true
        })
    );
    assert_eq!(host.text("a/b/c.txt").unwrap(), "one\ntwo");
    assert!(matches!(host.proposals()[0].changes[0].kind, ChangeKind::Create { .. }));
}

#[test]
fn content_is_written_as_it_is() {
    for content in ["", "\r\n", "a\r\nb\n", "$& \\1 {}", "\u{feff}bom\n", "中文\n"] {
        let host = MemoryHost::new([]);
        call(&host, "create_file", json!({ "path": "a", "content": content })).unwrap();
        assert_eq!(host.text("a").unwrap(), content);
    }
}

#[test]
fn overwriting_replaces_text_and_binary_files() {
    for before in [b"old\n".as_slice(), b"\0binary"] {
        let host = MemoryHost::new([]);
        host.write("a", before);
        let arguments = json!({ "path": "a", "content": "new\n", "overwrite": true });
        let output = call(&host, "create_file", arguments).unwrap();
        assert_eq!(output["overwritten"], true);
        assert_eq!(host.text("a").unwrap(), "new\n");
        let ChangeKind::Write { base, .. } = host.proposals()[0].changes[0].kind else {
            panic!("not a write: {:?}", host.proposals());
        };
        assert_eq!(base, hash(before));
    }
}

#[test]
fn a_file_in_the_way_is_refused() {
    let host = MemoryHost::new([("a", "old\n"), ("dir/b", ""), ("bom", "\u{feff}x")]);
    let cases = [
        (json!({ "path": "a", "content": "new" }), ErrorCode::AlreadyExists),
        (json!({ "path": "a", "content": "old\n" }), ErrorCode::NoChange),
        (json!({ "path": "a", "content": "old\n", "overwrite": true }), ErrorCode::NoChange),
        (json!({ "path": "bom", "content": "\u{feff}x", "overwrite": true }), ErrorCode::NoChange),
        (json!({ "path": "dir", "content": "" }), ErrorCode::NotAFile),
        (json!({ "path": "dir", "content": "", "overwrite": true }), ErrorCode::NotAFile),
        (json!({ "path": ".", "content": "" }), ErrorCode::NotAFile),
        (json!({ "path": "a/", "content": "" }), ErrorCode::InvalidPath),
        (json!({ "path": "../a", "content": "" }), ErrorCode::OutsideWorkspace),
    ];
    for (arguments, code) in cases {
        let error = refused(&host, "create_file", arguments.clone());
        assert_eq!(error.code, code, "{arguments}: {error}");
    }
}

#[test]
fn a_mark_at_the_start_is_a_difference() {
    let host = MemoryHost::new([("bom", "\u{feff}x")]);
    let arguments = json!({ "path": "bom", "content": "x", "overwrite": true });
    call(&host, "create_file", arguments).unwrap();
    assert_eq!(host.text("bom").unwrap(), "x");
}

#[test]
fn a_file_that_changed_since_it_was_read_is_not_overwritten() {
    let host = MemoryHost::new([("a", "one\n")]);
    call(&host, "read_file", json!({ "path": "a" })).unwrap();
    host.write("a", "theirs\n");
    let arguments = json!({ "path": "a", "content": "mine\n", "overwrite": true });
    let error = refused(&host, "create_file", arguments.clone());
    assert_eq!(error.code, ErrorCode::Conflict);
    call(&host, "read_file", json!({ "path": "a" })).unwrap();
    call(&host, "create_file", arguments).unwrap();
    assert_eq!(host.text("a").unwrap(), "mine\n");
}

#[test]
fn the_caller_knows_what_it_wrote() {
    let host = MemoryHost::new([]);
    call(&host, "create_file", json!({ "path": "a", "content": "a\nb\n" })).unwrap();
    let lines = json!({ "path": "a", "startLine": 1, "endLine": 1 });
    call(&host, "delete_lines", lines.clone()).unwrap();
    host.write("a", "theirs\n");
    let error = call(&host, "delete_lines", lines).unwrap_err();
    assert_eq!(error.code, ErrorCode::Conflict);
}

#[test]
fn a_dry_run_writes_nothing_and_says_so() {
    let host = MemoryHost::new([]);
    host.set_dry_run();
    let output = call(&host, "create_file", json!({ "path": "a", "content": "x" })).unwrap();
    assert_eq!(output["applied"], false);
    assert!(output.get("history").is_none());
    assert_eq!(host.bytes("a"), None);
}

#[test]
fn a_file_is_not_replaced_by_one_that_leaves_lines_out() {
    let host = MemoryHost::new([("a", "one\ntwo\n")]);
    let arguments = |content: &str| json!({ "path": "a", "content": content, "overwrite": true });
    let error = refused(&host, "create_file", arguments("one\n# ... existing code ...\n"));
    assert_eq!(error.code, ErrorCode::InvalidArguments, "{error}");
    let blocks = "------- SEARCH\n=======\n// ... rest of the code ...\n+++++++ REPLACE\n";
    let error = refused(&host, "editTool", json!({ "filePath": "a", "diffContent": blocks }));
    assert_eq!(error.code, ErrorCode::InvalidArguments, "{error}");
    call(&host, "create_file", arguments("def f():\n    ...\n")).unwrap();
}
