//! Tests of `todo`: replacing, merging, and what no list may be.

use moss_sdk::testing::MemoryHost;
use serde_json::{Value, json};

use super::*;
use crate::check;

fn call(host: &MemoryHost, arguments: Value) -> Value {
    check::call(host, "todo", arguments).unwrap()
}

/// The list as `id:status`, in order.
fn short(output: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let items = output["items"].as_array().unwrap();
    items.iter().map(|item| format!("{}:{}", text(&item["id"]), text(&item["status"]))).collect()
}

fn two() -> Value {
    json!({ "items": [
        { "id": "a", "content": "read", "status": "in_progress" },
        { "id": "b", "content": "write" },
    ] })
}

#[test]
fn the_whole_list_comes_back_in_order_with_counts() {
    let host = MemoryHost::default();
    let output = call(&host, two());
    let expected = json!({
        "items": [
            { "id": "a", "content": "read", "status": "in_progress" },
            { "id": "b", "content": "write", "status": "pending" },
        ],
        "counts":
            { "total": 2, "pending": 1, "in_progress": 1, "completed": 0, "cancelled": 0 },
        "note": "continue with `a`; mark it completed as soon as it is done",
    });
    assert_eq!(output, expected);
    assert_eq!(call(&host, json!({})), expected);
    assert_eq!(call(&host, json!({ "merge": true })), expected);
    assert_eq!(host.proposals(), []);
}

#[test]
fn merging_changes_items_where_they_stand_and_appends_the_others() {
    let host = MemoryHost::default();
    call(&host, two());
    let output = call(
        &host,
        json!({ "merge": true, "items": [
            { "id": "c", "content": "test" },
            { "id": "b", "status": "in_progress" },
            { "id": "a", "content": "read all", "status": "completed" },
        ] }),
    );
    assert_eq!(short(&output), ["a:completed", "b:in_progress", "c:pending"]);
    assert_eq!(output["items"][0]["content"], "read all");
    assert_eq!(output["items"][1]["content"], "write");
    let output = call(&host, json!({ "items": [{ "id": "b", "content": "new" }] }));
    assert_eq!(short(&output), ["b:pending"], "without `merge` the list is replaced");
}

#[test]
fn an_empty_list_clears_and_merging_nothing_changes_nothing() {
    let host = MemoryHost::default();
    call(&host, two());
    let output = call(&host, json!({ "items": [], "merge": true }));
    assert_eq!(short(&output), ["a:in_progress", "b:pending"]);
    let output = call(&host, json!({ "items": [] }));
    assert_eq!(short(&output), [""; 0]);
    assert_eq!(output["note"], "the list is empty");
}

#[test]
fn the_note_says_what_comes_next() {
    let host = MemoryHost::default();
    for (status, note) in [
        ("in_progress", "continue with `a`; mark it completed as soon as it is done"),
        ("pending", "mark `a` in_progress when you begin with it"),
        ("cancelled", "nothing is left to do"),
    ] {
        let items = json!([{ "id": "a", "content": "x", "status": status }]);
        assert_eq!(call(&host, json!({ "items": items }))["note"], note);
    }
}

#[test]
fn two_items_in_progress_are_refused_with_both_names() {
    let host = MemoryHost::default();
    call(&host, two());
    let second = json!([{ "id": "b", "status": "in_progress" }]);
    let arguments = json!({ "items": second, "merge": true });
    let error = check::refused(&host, "todo", arguments);
    assert_eq!(error.code, ErrorCode::InvalidArguments);
    assert!(error.message.contains("`a` and `b`"), "{error}");
    assert_eq!(short(&call(&host, json!({}))), ["a:in_progress", "b:pending"]);
}

#[test]
fn what_is_no_list_is_refused_and_leaves_the_old_one() {
    let host = MemoryHost::default();
    call(&host, two());
    let long = |bytes: usize| "x".repeat(bytes);
    for (items, merge) in [
        (json!([{ "id": "a", "content": "x" }, { "id": "a", "content": "y" }]), false),
        (json!([{ "id": "a", "content": "x" }, { "id": "a", "content": "y" }]), true),
        (json!([{ "id": " ", "content": "x" }]), false),
        (json!([{ "id": long(ID_BYTES_MAX + 1), "content": "x" }]), false),
        (json!([{ "id": "a" }]), false),
        (json!([{ "id": "c", "status": "pending" }]), true),
        (json!([{ "id": "a", "content": "\n" }]), true),
        (json!([{ "id": "c", "content": long(CONTENT_BYTES_MAX + 1) }]), true),
    ] {
        let arguments = json!({ "items": items, "merge": merge });
        assert_eq!(check::refused(&host, "todo", arguments).code, ErrorCode::InvalidArguments);
    }
    assert_eq!(short(&call(&host, json!({}))), ["a:in_progress", "b:pending"]);
}

#[test]
fn a_list_has_an_end() {
    let host = MemoryHost::default();
    let item = |n: usize| json!({ "id": n.to_string(), "content": "x" });
    let full: Vec<_> = (0..ITEMS_MAX).map(item).collect();
    assert_eq!(call(&host, json!({ "items": full }))["counts"]["total"], ITEMS_MAX);
    let one_more = json!({ "items": [item(ITEMS_MAX)], "merge": true });
    assert_eq!(check::refused(&host, "todo", one_more).code, ErrorCode::InvalidArguments);
}

#[test]
fn a_dry_run_shows_the_list_and_keeps_the_old_one() {
    let host = MemoryHost::default();
    host.set_dry_run();
    assert_eq!(call(&host, two())["counts"]["total"], 2);
    assert_eq!(call(&host, json!({}))["counts"]["total"], 0);
}
