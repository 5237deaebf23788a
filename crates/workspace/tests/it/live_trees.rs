//! Whole trees by way of a live tree: what a walk lists, by the rules of the moment and as it is now,
//! and nobody is asked twice about the same.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use moss_sdk::RelPath;
use moss_sdk::file::{Entry, ListOptions, Listing};
use moss_sdk::tree_listing::TreeListing;
use moss_workspace::{GateKey, ListingGate, LiveOptions, LiveTree, Resolver, Workspace};

use crate::fixture::{memory, open, rel};

const ENTRIES_MAX: usize = 100_000;
const ALL: ListOptions = ListOptions { recursive: true, entries_max: ENTRIES_MAX };

/// Rules that have a name.
static NAME: LazyLock<GateKey> =
    LazyLock::new(|| GateKey { rules: Arc::new("by name"), facts: String::new() });

/// Denies by name, as a policy might.
fn lists(path: &RelPath) -> bool {
    !path.as_str().ends_with(['g', 'c'])
}

/// The same as a listing in path order, without what a tree does not say.
fn as_listing(tree: &TreeListing) -> Listing {
    let names = tree.names();
    let entry = |number: &u32| Entry {
        path: names.path(*number),
        kind: names.kind(*number),
        size_bytes: tree.size_bytes(*number),
        modified: tree.modified(*number),
        changed: None,
    };
    Listing {
        entries: names.in_order().iter().map(entry).collect(),
        skipped: names.skipped(),
        truncated: names.is_truncated(),
    }
}

/// Asserts that a live tree lists all beneath a directory as a walk does; returns whether it knew it.
#[track_caller]
pub(crate) fn trees_agree(workspace: &Workspace, tree: &LiveTree, path: &str) -> bool {
    let mut is_known = false;
    // By its name, so that what an earlier step came to is used again where it may be.
    for (lists_all, name) in [(true, None), (true, Some(&*NAME)), (false, None)] {
        let keep = |path: &RelPath| lists_all || lists(path);
        let gate = ListingGate { lists: &keep, lists_all, cancelled: &|| false, name };
        let by_tree = tree.list_tree(&rel(path), ENTRIES_MAX, gate);
        match (by_tree, workspace.list(&rel(path), ALL, &keep, &|| false)) {
            (Ok(Some(by_tree)), by_walk) => {
                let mut by_walk = by_walk.unwrap();
                by_walk.entries.iter_mut().for_each(|entry| entry.changed = None);
                assert_eq!(as_listing(&by_tree), by_walk, "{path} {lists_all}");
                let found = by_walk.entries.iter().map(|entry| by_tree.names().find(&entry.path));
                let in_order = by_tree.names().in_order().iter().copied().map(Some);
                assert!(found.eq(in_order), "{path}");
                is_known = true;
            }
            (Ok(None), _) => {}
            (Err(by_tree), by_walk) => {
                assert_eq!(by_tree.to_string(), by_walk.unwrap_err().to_string(), "{path}");
            }
        }
    }
    is_known
}

/// The size of a file by a listing of the whole tree, whose names are used again.
pub(crate) fn size_in_tree(tree: &LiveTree, path: &str) -> Option<u64> {
    let cancelled = || false;
    let gate =
        ListingGate { lists: &|_| true, lists_all: true, cancelled: &cancelled, name: Some(&NAME) };
    let listed = tree.list_tree(&rel("."), ENTRIES_MAX, gate).unwrap().unwrap();
    listed.size_bytes(listed.names().find(&rel(path))?)
}

#[test]
fn entries_are_asked_about_again_where_names_or_rules_are_others() {
    let temp = memory();
    let root = temp.path().join("root");
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/c"), "1").unwrap();
    fs::write(root.join("d.log"), "1").unwrap();
    let workspace = Arc::new(open(&root, Resolver::Kernel));
    let tree = LiveTree::new(Arc::clone(&workspace), LiveOptions::default());
    tree.build(&|| false);
    let asked = AtomicUsize::new(0);
    let list = |path: &str, name: &GateKey, denied: &'static str| {
        asked.store(0, Ordering::Relaxed);
        let lists = |path: &RelPath| {
            asked.fetch_add(1, Ordering::Relaxed);
            path.file_name() != Some(denied)
        };
        let gate =
            ListingGate { lists: &lists, lists_all: false, cancelled: &|| false, name: Some(name) };
        let listed = tree.list_tree(&rel(path), ENTRIES_MAX, gate).unwrap().unwrap();
        let size = listed.names().find(&rel("a/b/c")).and_then(|file| listed.size_bytes(file));
        (listed.names().len(), asked.load(Ordering::Relaxed), size)
    };
    assert_eq!(list(".", &NAME, ""), (4, 4, Some(1)));
    assert_eq!(list(".", &NAME, ""), (4, 0, Some(1)));
    // Another content is seen without asking about names.
    fs::write(root.join("a/b/c"), "123").unwrap();
    assert_eq!(list(".", &NAME, ""), (4, 0, Some(3)));
    assert_eq!(list("a", &NAME, ""), (2, 2, Some(3)));
    // Other rules, and others of the same name of rules that are gone.
    let facts = GateKey { facts: "facts".to_owned(), ..NAME.clone() };
    assert_eq!(list(".", &facts, "b"), (2, 3, None));
    assert_eq!(list(".", &NAME, ""), (4, 0, Some(3)));
    let other = GateKey { rules: Arc::new("by name"), facts: String::new() };
    assert_eq!(list(".", &other, "c"), (3, 4, None));
    // Other names.
    fs::write(root.join("a/e"), "1").unwrap();
    assert_eq!(list(".", &NAME, ""), (5, 5, Some(3)));
    fs::rename(root.join("a/e"), root.join("a/f")).unwrap();
    assert_eq!(list(".", &NAME, ""), (5, 5, Some(3)));
    fs::remove_dir_all(root.join("a/b")).unwrap();
    assert_eq!(list(".", &NAME, ""), (3, 3, None));
    fs::write(root.join(".ignore"), "*.log\n").unwrap();
    assert_eq!(list(".", &NAME, ""), (3, 3, None));
}

#[test]
fn a_listing_names_the_files_that_changed_last() {
    let temp = memory();
    let root = temp.path().join("root");
    fs::create_dir_all(root.join("a/b")).unwrap();
    let files = ["a/b/c", "a/d", "e", "f"];
    files.iter().for_each(|file| fs::write(root.join(file), "1").unwrap());
    let tree = LiveTree::new(Arc::new(open(&root, Resolver::Kernel)), LiveOptions::default());
    tree.build(&|| false);
    let changed = |path: &str| -> Vec<String> {
        let gate =
            ListingGate { lists: &|_| true, lists_all: true, cancelled: &|| false, name: None };
        let listed = tree.list_tree(&rel(path), ENTRIES_MAX, gate).unwrap().unwrap();
        listed.changed_last().map(|path| path.to_string()).collect()
    };
    assert!(changed(".").is_empty(), "nothing changed since it was built");
    for (at, file) in ["f", "a/d", "a/b/c", "a/d", "f"].into_iter().enumerate() {
        fs::write(root.join(file), "1".repeat(at + 2)).unwrap();
        assert_eq!(changed(".")[0], file);
    }
    assert_eq!(changed("."), ["f", "a/d", "a/b/c"]);
    assert_eq!(changed("a"), ["a/d", "a/b/c"]);
    fs::remove_file(root.join("f")).unwrap();
    assert_eq!(changed("."), ["a/d", "a/b/c"]);
}

#[test]
fn larger_trees_than_wanted_are_walked_and_cancelling_ends_a_listing() {
    let temp = memory();
    let root = temp.path().join("root");
    fs::create_dir(&root).unwrap();
    for name in ["a", "b", "c"] {
        fs::write(root.join(name), "").unwrap();
    }
    let workspace = Arc::new(open(&root, Resolver::Kernel));
    let tree = LiveTree::new(Arc::clone(&workspace), LiveOptions::default());
    let list = |entries_max, is_cancelled: bool| {
        let cancelled = || is_cancelled;
        let gate =
            ListingGate { lists: &|_| true, lists_all: true, cancelled: &cancelled, name: None };
        tree.list_tree(&rel("."), entries_max, gate)
    };
    assert!(list(3, false).unwrap().is_none());
    tree.build(&|| false);
    assert_eq!(list(3, false).unwrap().unwrap().names().len(), 3);
    assert!(list(2, false).unwrap().is_none());
    assert!(list(3, true).is_err());
}
