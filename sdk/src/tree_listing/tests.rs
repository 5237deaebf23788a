//! Tests of listings of whole trees.

use std::time::{Duration, SystemTime};

use super::*;
use crate::file::Entry;

fn rel(path: &str) -> RelPath {
    RelPath::parse(path).unwrap()
}

/// A listing of paths in path order: directories end in a slash; sizes and times by their numbers.
fn listing(paths: &[&str]) -> Listing {
    let entry = |(number, path): (u64, &&str)| {
        let kind = if path.ends_with('/') { EntryKind::Directory } else { EntryKind::File };
        Entry {
            path: rel(path.trim_end_matches('/')),
            kind,
            size_bytes: (kind == EntryKind::File).then_some(number),
            modified: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(number)),
            changed: None,
        }
    };
    let entries = (0..).zip(paths).map(entry).collect();
    Listing { entries, ..Listing::default() }
}

const PATHS: [&str; 9] = ["a/", "a/b/", "a/b/c.rs", "a/b-c", "a/d/", "a/d/e", "a/é", "a-b", "z.rs"];

#[test]
fn a_tree_has_the_entries_of_the_listing_in_its_order() {
    let listing = listing(&PATHS);
    let tree = TreeListing::of(&RelPath::root(), listing.clone());
    let names = tree.names();
    let entry = |number: &EntryNumber| Entry {
        path: names.path(*number),
        kind: names.kind(*number),
        size_bytes: tree.size_bytes(*number),
        modified: tree.modified(*number),
        changed: None,
    };
    let entries: Vec<Entry> = names.in_order().iter().map(entry).collect();
    assert_eq!(entries, listing.entries);
    let directories: Vec<_> = names.directories().iter().map(|one| one.path.as_str()).collect();
    assert_eq!(directories, [".", "a", "a/b", "a/d"]);
    for directory in names.directories() {
        let own = directory.entry.map_or_else(RelPath::root, |own| names.path(own));
        assert_eq!(own, directory.path);
        let parents = directory.entries.clone().map(|number| names.path(number).parent().unwrap());
        parents.for_each(|parent| assert_eq!(parent, directory.path));
    }
}

#[test]
fn entries_are_found_by_path_and_nothing_else_is() {
    let tree = TreeListing::of(&RelPath::root(), listing(&PATHS));
    let names = tree.names();
    for number in names.in_order() {
        assert_eq!(names.find(&names.path(*number)), Some(*number));
    }
    for path in [".", "b", "a/a", "a/b/c", "a/b/c.rs/d", "a/é/x", "zz", "a/d/f"] {
        assert_eq!(names.find(&rel(path)), None, "{path}");
    }
    let none = TreeListing::of(&RelPath::root(), Listing::default());
    assert!(none.names().is_empty() && none.names().find(&rel("a")).is_none());
}

#[test]
fn directories_are_seen_from_the_one_that_was_listed() {
    let seen = |base: &str, paths: &[&str]| {
        let tree = TreeListing::of(&rel(base), listing(paths));
        let names = tree.names();
        let seen = names.directories().iter().map(|one| names.seen(one).to_owned());
        seen.collect::<Vec<_>>()
    };
    assert_eq!(seen(".", &PATHS), ["", "a", "a/b", "a/d"]);
    assert_eq!(seen("a", &["a/b/", "a/b/c/", "a/b/c/d"]), ["", "b", "b/c"]);
}

#[test]
fn what_is_worked_out_is_kept_by_its_type() {
    let tree = TreeListing::of(&RelPath::root(), listing(&PATHS));
    let names = tree.names();
    let first = names.derived(TreeNames::len);
    assert_eq!((*first, *names.derived(|_| 0_usize)), (PATHS.len(), PATHS.len()));
    assert_eq!(*names.derived(|_| 7_u8), 7);
    // It goes with the names.
    let same = TreeListing::new(
        Arc::clone(names),
        vec![EntryFacts { size_bytes: 1, modified: None }; PATHS.len()],
    );
    assert!(Arc::ptr_eq(&first, &same.names().derived(|_| 0_usize)));
}
