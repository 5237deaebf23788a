//! Listing: order, ignore files, links, what is left out and counted.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use moss_sdk::file::{EntryKind, ListOptions, Listing, Skipped};
use moss_workspace::{Error, Workspace};

use crate::fixture::{Fixture, RESOLVERS, rel};

const ALL: ListOptions = ListOptions { recursive: true, entries_max: 10_000 };

fn list(workspace: &Workspace, path: &str, options: ListOptions) -> Listing {
    workspace.list(&rel(path), options, &|_| true, &|| false).unwrap()
}

fn paths(listing: &Listing) -> Vec<&str> {
    listing.entries.iter().map(|entry| entry.path.as_str()).collect()
}

#[test]
fn entries_come_in_path_order_with_kinds() {
    for resolver in RESOLVERS {
        let fixture = Fixture::with(resolver);
        for path in ["b/x", "b.txt", "a/z", "a/.hidden", "B", "é"] {
            fixture.put(path, "1234");
        }
        symlink("a", fixture.root().join("link")).unwrap();
        let listing = list(&fixture.workspace, ".", ALL);
        let expected = ["B", "a", "a/.hidden", "a/z", "b", "b/x", "b.txt", "link", "é"];
        assert_eq!(paths(&listing), expected);
        let kind = |path: &str| {
            listing.entries.iter().find(|entry| entry.path.as_str() == path).unwrap().kind
        };
        assert_eq!((kind("a"), kind("link")), (EntryKind::Directory, EntryKind::Symlink));
        assert_eq!(listing.entries[0].size_bytes, Some(4));
        assert!(listing.entries.iter().all(|entry| entry.modified.is_some()));

        let flat = list(&fixture.workspace, ".", ListOptions { recursive: false, ..ALL });
        assert_eq!(paths(&flat), ["B", "a", "b", "b.txt", "link", "é"]);
        assert_eq!(paths(&list(&fixture.workspace, "link", ALL)), ["link/.hidden", "link/z"]);
        let cut = list(&fixture.workspace, ".", ListOptions { entries_max: 3, ..ALL });
        assert_eq!((paths(&cut).len(), cut.truncated), (3, true));
    }
}

#[test]
fn ignore_files_are_applied_from_the_root_down() {
    for resolver in RESOLVERS {
        let fixture = Fixture::with(resolver);
        for path in [
            "target/x",
            "a.log",
            "keep.log",
            "sub/b.log",
            "sub/c.tmp",
            "sub/deep/target/y",
            "sub/deep/only",
            "only",
            ".git/config",
            "sub/deep/d.tmp",
        ] {
            fixture.put(path, "");
        }
        fixture.put(".gitignore", "\u{feff}target/\n*.log\n!keep.log\n/only\n[broken\n# c\n");
        fixture.put("sub/.gitignore", "!b.log\n*.tmp\n");
        fixture.put("sub/deep/.ignore", "!d.tmp\n");
        let listing = list(&fixture.workspace, ".", ALL);
        let expected = [
            ".gitignore",
            "keep.log",
            "sub",
            "sub/.gitignore",
            "sub/b.log",
            "sub/deep",
            "sub/deep/.ignore",
            "sub/deep/d.tmp",
            "sub/deep/only",
        ];
        assert_eq!(paths(&listing), expected);
        assert_eq!(listing.skipped, Skipped { ignored: 6, denied: 0, unreadable: 0 });
        // Rules of the directories above apply to a part of the tree too.
        let deep = list(&fixture.workspace, "sub/deep", ALL);
        assert_eq!(paths(&deep), ["sub/deep/.ignore", "sub/deep/d.tmp", "sub/deep/only"]);
        // What is asked for by name is shown.
        assert_eq!(paths(&list(&fixture.workspace, "target", ALL)), ["target/x"]);
    }
}

#[test]
fn rules_of_one_repository_end_where_another_starts() {
    for resolver in RESOLVERS {
        let fixture = Fixture::with(resolver);
        for path in ["a.log", "b.tmp", "c.tmp", "clone/a.log", "clone/b.tmp", "clone/d", "in/b.tmp"]
        {
            fixture.put(path, "");
        }
        fixture.put(".gitignore", "*.log\n!c.tmp\n");
        fixture.put(".git/info/exclude", "*.tmp\n");
        fixture.put("clone/.git", "gitdir: elsewhere\n");
        fixture.put("clone/.gitignore", "d\n");
        let listing = list(&fixture.workspace, ".", ALL);
        let clone = ["clone", "clone/.gitignore", "clone/a.log", "clone/b.tmp"];
        let expected: Vec<&str> =
            [".gitignore", "c.tmp"].into_iter().chain(clone).chain(["in"]).collect();
        assert_eq!(paths(&listing), expected);
        assert_eq!(paths(&list(&fixture.workspace, "clone", ALL)), clone[1..]);
        assert_eq!(paths(&list(&fixture.workspace, "in", ALL)), [""; 0]);
        // Rules for every program hold everywhere, and are stronger than git's.
        fixture.put(".ignore", "!*.log\n");
        fixture.put("clone/.ignore", "b.tmp\n");
        let expected = [".gitignore", ".ignore", "a.log", "c.tmp", "clone", "clone/.gitignore"];
        let listing = list(&fixture.workspace, ".", ALL);
        assert_eq!(paths(&listing)[..6], expected);
        assert_eq!(paths(&listing)[6..], ["clone/.ignore", "clone/a.log", "in"]);
    }
}

#[test]
fn what_policy_refuses_is_counted_and_not_entered() {
    let fixture = Fixture::new();
    fixture.put("secret/a", "");
    fixture.put("open/b", "");
    symlink("secret", fixture.root().join("link")).unwrap();
    let keep = |path: &moss_sdk::RelPath| path.components().next() != Some("secret");
    let listing = fixture.workspace.list(&rel("."), ALL, &keep, &|| false).unwrap();
    assert_eq!(paths(&listing), ["link", "open", "open/b"]);
    assert_eq!(listing.skipped.denied, 1);
    let through = fixture.workspace.list(&rel("link"), ALL, &keep, &|| false).unwrap();
    assert_eq!((paths(&through).len(), through.skipped.denied), (0, 1));
}

#[test]
fn odd_names_are_counted_and_cancelling_ends_the_walk() {
    let fixture = Fixture::new();
    fixture.put("a", "");
    fs::write(fixture.root().join(std::ffi::OsStr::from_bytes(b"\xff")), "").unwrap();
    fs::write(fixture.root().join("new\nline"), "").unwrap();
    let listing = list(&fixture.workspace, ".", ALL);
    assert_eq!((paths(&listing), listing.skipped.unreadable), (vec!["a"], 2));
    let cancelled = fixture.workspace.list(&rel("."), ALL, &|_| true, &|| true);
    assert!(matches!(cancelled, Err(Error::Cancelled)));
    assert!(matches!(
        fixture.workspace.list(&rel("a"), ALL, &|_| true, &|| false),
        Err(Error::NotADirectory { .. })
    ));
}

#[test]
fn deep_trees_end_at_the_longest_path() {
    let fixture = Fixture::new();
    let mut directory = fixture.root();
    for _ in 0..140 {
        directory.push("d");
    }
    fs::create_dir_all(&directory).unwrap();
    let listing = list(&fixture.workspace, ".", ALL);
    assert_eq!(listing.entries.len(), moss_sdk::path::COMPONENTS_MAX);
    assert_eq!(listing.skipped.unreadable, 1);
}
