//! Tests of `delete_file`.

use moss_sdk::ErrorCode;
use moss_sdk::edit::{ChangeKind, Retention};
use moss_sdk::testing::{MemoryHost, hash};
use serde_json::json;

use crate::check::{call, refused};

#[test]
fn a_file_is_deleted_and_the_way_back_named() {
    let host = MemoryHost::new([("a", "one\n"), ("b", "two\n")]);
    let output = call(&host, "delete_file", json!({ "path": "a" })).unwrap();
    assert_eq!(
        output,
        json!({
            "path": "a", "size_bytes": 4, "permanent": false, "history": 1, "applied": true,
            "restore": "undo history entry 1: moss history undo 1"
        })
    );
    assert_eq!((host.bytes("a"), host.text("b").as_deref()), (None, Some("two\n")));
    assert_eq!(
        host.proposals()[0].changes[0].kind,
        ChangeKind::Delete { base: hash(b"one\n"), retention: Retention::Recoverable }
    );
}

#[test]
fn a_permanent_deletion_promises_no_way_back() {
    let host = MemoryHost::new([]);
    host.write("a", b"\0binary");
    let arguments = json!({ "path": "a", "permanent": true });
    let output = call(&host, "delete_file", arguments).unwrap();
    assert_eq!((&output["permanent"], output.get("restore")), (&json!(true), None));
    assert_eq!(host.bytes("a"), None);
    assert_eq!(
        host.proposals()[0].changes[0].kind,
        ChangeKind::Delete { base: hash(b"\0binary"), retention: Retention::Permanent }
    );
}

#[test]
fn a_dry_run_deletes_nothing_and_says_so() {
    let host = MemoryHost::new([("a", "")]);
    host.set_dry_run();
    let output = call(&host, "delete_file", json!({ "path": "a" })).unwrap();
    assert_eq!((&output["applied"], output.get("restore")), (&json!(false), None));
    assert!(host.bytes("a").is_some());
}

#[test]
fn only_files_are_deleted() {
    let host = MemoryHost::new([("dir/a", "")]);
    let cases = [
        ("dir", ErrorCode::NotAFile),
        (".", ErrorCode::NotAFile),
        ("none", ErrorCode::NotFound),
        ("dir/", ErrorCode::InvalidPath),
        ("../a", ErrorCode::OutsideWorkspace),
    ];
    for (path, code) in cases {
        let error = refused(&host, "delete_file", json!({ "path": path }));
        assert_eq!(error.code, code, "{path}: {error}");
        assert!(error.hint.is_some() || code == ErrorCode::NotFound, "{path}: {error}");
    }
}
