//! Tests of `list_directory`.

use std::time::{Duration, SystemTime};

use moss_sdk::ErrorCode;
use moss_sdk::testing::MemoryHost;
use serde_json::{Value, json};

use crate::check::{call, refused};

/// Most entries of one result.
const ENTRIES_MAX: usize = 1_000;
/// 2026-03-31T00:00:00Z.
const DAY_S: u64 = 1_774_915_200;

fn host() -> MemoryHost {
    let host = MemoryHost::new([
        ("README.md", "1234"),
        ("src/a-b.rs", "12"),
        ("src/a/c.RS", "123"),
        ("src/a/d.ts", ""),
        ("src/main.rs", "12345"),
        ("target/debug/x.rs", "1"),
    ]);
    let at = |path: &str, seconds: u64| {
        host.set_modified(path, SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
    };
    at("README.md", DAY_S - 1);
    at("src/a-b.rs", DAY_S);
    at("src/a/c.RS", DAY_S + 3_600);
    at("src/main.rs", DAY_S + 7_200);
    host.ignore("target");
    host
}

fn paths(arguments: Value) -> Vec<String> {
    let output = call(&host(), "list_directory", arguments).unwrap();
    let entries = output["entries"].as_array().unwrap();
    assert_eq!(output["total"], entries.len());
    entries.iter().map(|entry| entry["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_entry_says_what_it_is() {
    let output = call(&host(), "list_directory", json!({ "path": "." })).unwrap();
    assert_eq!(
        output,
        json!({
            "path": ".",
            "entries": [
                {
                    "path": "README.md", "kind": "file", "size_bytes": 4,
                    "modified": "2026-03-30T23:59:59Z"
                },
                { "path": "src", "kind": "directory", "modified": "1970-01-01T00:00:00Z" }
            ],
            "total": 2,
            "truncated": false,
            "skipped": { "ignored": 1, "denied": 0, "unreadable": 0 }
        })
    );
}

#[test]
fn filters_keep_what_they_say() {
    let cases: [(Value, &[&str]); 16] = [
        (json!({ "path": "src" }), &["src/a", "src/a-b.rs", "src/main.rs"]),
        (json!({ "path": "src/" }), &["src/a", "src/a-b.rs", "src/main.rs"]),
        (json!({ "path": "./src/a" }), &["src/a/c.RS", "src/a/d.ts"]),
        (
            json!({ "path": "src", "recursive": true }),
            &["src/a", "src/a/c.RS", "src/a/d.ts", "src/a-b.rs", "src/main.rs"],
        ),
        (
            json!({ "path": ".", "recursive": true, "fileType": ".rs" }),
            &["src/a/c.RS", "src/a-b.rs", "src/main.rs"],
        ),
        (
            json!({ "path": ".", "recursive": true, "fileType": "TS, *.md" }),
            &["README.md", "src/a/d.ts"],
        ),
        (json!({ "path": "src", "fileType": "b.rs" }), &[]),
        (json!({ "path": ".", "recursive": true, "minSize": 4 }), &["README.md", "src/main.rs"]),
        (json!({ "path": "src", "recursive": true, "maxSize": 0 }), &["src/a/d.ts"]),
        (
            json!({ "path": "src", "recursive": true, "minSize": 2, "maxSize": 3 }),
            &["src/a/c.RS", "src/a-b.rs"],
        ),
        (
            json!({ "path": ".", "recursive": true, "modifiedAfter": "2026-03-31" }),
            &["src/a/c.RS", "src/a-b.rs", "src/main.rs"],
        ),
        (
            json!({ "path": ".", "recursive": true, "modifiedAfter": "2026-03-31T01:00:00" }),
            &["src/a/c.RS", "src/main.rs"],
        ),
        (
            json!({ "path": ".", "recursive": true, "modifiedAfter": "2026-03-31T03:00:00+01:00" }),
            &["src/main.rs"],
        ),
        (
            json!({ "path": ".", "recursive": true, "modifiedAfter": "2026-03-31T02:00:00.001Z" }),
            &[],
        ),
        (
            json!({ "path": ".", "recursive": true, "fileType": "rs", "minSize": 5 }),
            &["src/main.rs"],
        ),
        (json!({ "path": "src", "fileType": "a" }), &[]),
    ];
    for (arguments, expected) in cases {
        assert_eq!(paths(arguments.clone()), expected, "{arguments}");
    }
}

#[test]
fn entries_are_sorted_and_ties_broken_by_path() {
    let all = |by: &str, order: &str| {
        paths(json!({ "path": "src", "recursive": true, "sortBy": by, "sortOrder": order }))
    };
    let names = ["src/a", "src/a/c.RS", "src/a/d.ts", "src/a-b.rs", "src/main.rs"];
    assert_eq!(all("name", "asc"), names);
    assert!(all("name", "desc").iter().eq(names.iter().rev()));
    let sizes = ["src/a", "src/a/d.ts", "src/a-b.rs", "src/a/c.RS", "src/main.rs"];
    assert_eq!(all("size", "asc"), sizes);
    assert!(all("size", "desc").iter().eq(sizes.iter().rev()));
    // The directory and `d.ts` are equally old: by path in both orders.
    let oldest = ["src/a", "src/a/d.ts"];
    assert_eq!(all("modified", "asc")[..2], oldest);
    assert_eq!(
        all("modified", "desc"),
        ["src/main.rs", "src/a/c.RS", "src/a-b.rs", "src/a", "src/a/d.ts"]
    );
}

#[test]
fn more_entries_than_the_bound_are_counted_and_said() {
    let names: Vec<String> = (0..ENTRIES_MAX + 5).map(|n| format!("d/{n:05}")).collect();
    let host = MemoryHost::new(names.iter().map(|name| (name.as_str(), "")));
    let arguments = json!({ "path": "d", "sortOrder": "desc", "limit": ENTRIES_MAX });
    let output = call(&host, "list_directory", arguments).unwrap();
    let entries = output["entries"].as_array().unwrap();
    assert_eq!(entries.len(), ENTRIES_MAX);
    assert_eq!(entries[0]["path"], names[ENTRIES_MAX + 4].as_str(), "sorted before it is cut");
    assert_eq!(output["total"], ENTRIES_MAX + 5);
    assert_eq!(output["truncated"], true);
    assert!(output["note"].as_str().unwrap().starts_with("1000 of 1005 entries"));
}

#[test]
fn impossible_listings_are_refused() {
    let cases = [
        (json!({ "path": "README.md" }), ErrorCode::NotADirectory),
        (json!({ "path": "none" }), ErrorCode::NotFound),
        (json!({ "path": "" }), ErrorCode::InvalidPath),
        (json!({ "path": "src//" }), ErrorCode::InvalidPath),
        (json!({ "path": "/" }), ErrorCode::OutsideWorkspace),
        (json!({ "path": "../" }), ErrorCode::OutsideWorkspace),
        (json!({ "path": ".", "fileType": " , " }), ErrorCode::InvalidArguments),
        (json!({ "path": ".", "fileType": "*" }), ErrorCode::InvalidArguments),
        (json!({ "path": ".", "minSize": 2, "maxSize": 1 }), ErrorCode::InvalidArguments),
        (json!({ "path": ".", "modifiedAfter": "yesterday" }), ErrorCode::InvalidArguments),
        (json!({ "path": ".", "modifiedAfter": "2026-02-30" }), ErrorCode::InvalidArguments),
        (json!({ "path": ".", "modifiedAfter": "31.03.2026" }), ErrorCode::InvalidArguments),
        (json!({ "path": ".", "modifiedAfter": "" }), ErrorCode::InvalidArguments),
    ];
    for (arguments, code) in cases {
        let error = refused(&host(), "list_directory", arguments.clone());
        assert_eq!(error.code, code, "{arguments}: {error}");
    }
}

#[test]
fn pages_of_a_listing_are_the_whole() {
    let names: Vec<String> = (0..7).map(|number| format!("f{number}")).collect();
    let host = MemoryHost::new(names.iter().map(|name| (name.as_str(), "")));
    let mut seen = Vec::new();
    for (offset, note) in [
        (
            0,
            "3 of 7 entries: narrow the filters, list a directory below, or continue with `offset` 3",
        ),
        (3, "entries 4 to 6 of 7: continue with `offset` 6"),
        (6, "entries 7 to 7 of 7"),
        (9, "there are 7 entries: `offset` passes over all of them"),
    ] {
        let arguments = json!({ "path": ".", "limit": 3, "offset": offset });
        let output = call(&host, "list_directory", arguments).unwrap();
        assert_eq!((&output["total"], &output["note"]), (&json!(7), &json!(note)));
        assert_eq!(output["truncated"], offset < 6, "what earlier pages had is not missing");
        let entries = output["entries"].as_array().unwrap().iter();
        seen.extend(entries.map(|entry| entry["path"].as_str().unwrap().to_owned()));
    }
    assert_eq!(seen, names);
}

#[test]
fn pages_without_a_limit_are_small_and_together_the_whole() {
    let names: Vec<String> =
        (0..3_000).map(|n| format!("d/{n:05}-{}", "é".repeat(n % 90))).collect();
    let host = MemoryHost::new(names.iter().map(|name| (name.as_str(), "")));
    let mut seen = Vec::new();
    loop {
        let arguments = json!({ "path": "d", "offset": seen.len() });
        let output = call(&host, "list_directory", arguments).unwrap();
        let bytes = output.to_string().len();
        assert!(bytes <= 48_000, "{bytes}");
        let entries = output["entries"].as_array().unwrap().iter();
        let before = seen.len();
        seen.extend(entries.map(|entry| entry["path"].as_str().unwrap().to_owned()));
        assert!(seen.len() > before);
        let continued = format!("continue with `offset` {}", seen.len());
        let note = output["note"].as_str().unwrap();
        assert_eq!(note.ends_with(&continued), seen.len() < names.len(), "{note}");
        if seen.len() == names.len() {
            break;
        }
        assert!(bytes > 46_000, "{bytes}");
    }
    assert_eq!(seen, names);
}

#[test]
fn a_limit_that_is_named_has_as_much_as_it_says() {
    let names: Vec<String> = (0..ENTRIES_MAX).map(|n| format!("d/{n:0100}")).collect();
    let host = MemoryHost::new(names.iter().map(|name| (name.as_str(), "")));
    let arguments = json!({ "path": "d", "limit": ENTRIES_MAX });
    let output = call(&host, "list_directory", arguments).unwrap();
    assert_eq!(output["entries"].as_array().unwrap().len(), ENTRIES_MAX);
    assert_eq!(output["truncated"], false);
}

#[test]
fn where_a_walk_ended_there_are_pages_too() {
    let note = super::note(true, 3, 3, 7).unwrap();
    assert!(note.ends_with("; 3 of 7 entries: continue with `offset` 6"), "{note}");
    let note = super::note(true, 6, 1, 7).unwrap();
    assert!(note.ends_with("; 1 of 7 entries"), "{note}");
}
