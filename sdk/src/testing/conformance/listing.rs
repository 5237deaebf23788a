//! Checks of listing.

use super::{ConformanceHost, check_refused, finish, rel};
use crate::error::{ErrorCode, ToolError};
use crate::file::{EntryKind, ListOptions, Listing, Skipped};

const ALL: ListOptions = ListOptions { recursive: true, entries_max: 1_000 };
const FLAT: ListOptions = ListOptions { recursive: false, ..ALL };

pub(super) fn entries_come_in_path_order_with_kinds_and_sizes(host: &dyn ConformanceHost) {
    for path in ["b/x", "b.txt", "a/z", "a/.hidden", "B", "é", "a/deep/er/y"] {
        host.put(path, b"1234");
    }
    let all = list(host, ".", ALL).expect("a directory");
    let expected = [
        "B",
        "a",
        "a/.hidden",
        "a/deep",
        "a/deep/er",
        "a/deep/er/y",
        "a/z",
        "b",
        "b/x",
        "b.txt",
        "é",
    ];
    assert_eq!(paths(&all), expected);
    assert_eq!((all.skipped, all.truncated), (Skipped::default(), false));
    let flat = list(host, ".", FLAT).expect("a directory");
    assert_eq!(paths(&flat), ["B", "a", "b", "b.txt", "é"]);
    let kinds: Vec<_> = flat.entries.iter().map(|entry| (entry.kind, entry.size_bytes)).collect();
    let (file, directory) = ((EntryKind::File, Some(4)), (EntryKind::Directory, None));
    assert_eq!(kinds, [file, directory, directory, file, file]);
    assert!(flat.entries.iter().all(|entry| entry.modified.is_some()));
    let beneath = list(host, "a", ALL).expect("a directory");
    assert_eq!(paths(&beneath), expected[2..7]);
}

pub(super) fn what_is_not_a_directory_is_not_listed(host: &dyn ConformanceHost) {
    host.put("d/a", b"");
    for (path, code) in [
        ("none", ErrorCode::NotFound),
        ("d/none", ErrorCode::NotFound),
        ("d/a", ErrorCode::NotADirectory),
        ("d/a/b", ErrorCode::NotADirectory),
    ] {
        check_refused(list(host, path, ALL), code, path);
    }
}

pub(super) fn ignored_names_are_counted_and_not_entered(host: &dyn ConformanceHost) {
    for path in ["d/a", "d/log", "d/out/a", "d/out/b", "d/sub/x", "d/sub/.git/config"] {
        host.put(path, b"");
    }
    host.ignore("d/log");
    host.ignore("d/out");
    let all = list(host, "d", ALL).expect("a directory");
    assert_eq!(paths(&all), ["d/a", "d/sub", "d/sub/x"]);
    assert_eq!(all.skipped, Skipped { ignored: 3, ..Skipped::default() });
    let flat = list(host, "d", FLAT).expect("a directory");
    assert_eq!((paths(&flat), flat.skipped.ignored), (vec!["d/a", "d/sub"], 2));
}

pub(super) fn an_ignored_directory_is_listed_by_its_name(host: &dyn ConformanceHost) {
    host.put("d/out/sub/a", b"");
    host.ignore("d/out");
    let listing = list(host, "d/out", ALL).expect("a directory");
    assert_eq!(paths(&listing), ["d/out/sub", "d/out/sub/a"]);
    assert_eq!(listing.skipped.ignored, 0);
}

pub(super) fn the_bound_on_entries_counts_what_is_left_out(host: &dyn ConformanceHost) {
    for path in ["d/a", "d/b", "d/c", "d/e"] {
        host.put(path, b"");
    }
    host.ignore("d/a");
    host.ignore("d/e");
    let bound = |entries_max| {
        let listing = list(host, "d", ListOptions { entries_max, ..ALL }).expect("a directory");
        let ignored = listing.skipped.ignored;
        (listing.entries.len(), ignored, listing.truncated)
    };
    assert_eq!(bound(0), (0, 0, true));
    assert_eq!(bound(2), (1, 1, true));
    assert_eq!(bound(3), (2, 1, true));
    assert_eq!(bound(4), (2, 2, false));
}

pub(super) fn a_cancelled_call_lists_nothing(host: &dyn ConformanceHost) {
    host.put("d/a", b"");
    assert_eq!(paths(&list(host, "d", ALL).expect("a directory")), ["d/a"]);
    host.cancel();
    let cancelled = list(host, "d", ALL).expect_err("the call is cancelled");
    assert_eq!(cancelled.code, ErrorCode::Cancelled);
}

fn list(
    host: &dyn ConformanceHost,
    path: &str,
    options: ListOptions,
) -> Result<Listing, ToolError> {
    finish(host.list(&rel(path), options))
}

fn paths(listing: &Listing) -> Vec<&str> {
    listing.entries.iter().map(|entry| entry.path.as_str()).collect()
}
