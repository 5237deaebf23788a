//! Checks of proposed changes.

use super::super::hash;
use super::{ConformanceHost, check_refused, finish, rel};
use crate::context::{Applied, AppliedFile, ProposalOutcome};
use crate::edit::{Change, ChangeKind, ChangeSet, Retention, Splice};
use crate::error::{ErrorCode, ToolError};
use crate::file::ListOptions;

pub(super) fn files_are_made_with_their_directories(host: &dyn ConformanceHost) {
    host.put("d/old", b"");
    let first = applied(host, [create("d/e/f/new", "one\r\n"), create("d/empty", "")]);
    let made = [("d/e/f/new", Some("one\r\n")), ("d/empty", Some(""))];
    assert_eq!(first.files, made.map(|(path, text)| file(path, text)));
    assert_eq!(host.bytes("d/e/f/new").as_deref(), Some(&b"one\r\n"[..]));
    assert_eq!(host.bytes("d/empty").as_deref(), Some(&b""[..]));
    let second = applied(host, [create("another", "")]);
    assert!(first.history.is_some() && second.history > first.history);
}

pub(super) fn files_are_replaced_and_edited(host: &dyn ConformanceHost) {
    let before = "\u{feff}one\r\ntwo\r\n";
    host.put("edited", before.as_bytes());
    host.put("written", before.as_bytes());
    let splices = [(0..3, "1"), (8..8, "and\nmore")];
    applied(host, [edit("edited", before, splices), write("written", before, "new\n")]);
    // An edit keeps the form of the text, and a line end becomes one of those around it.
    let edited = "\u{feff}1\r\ntwoand\r\nmore\r\n";
    assert_eq!(host.bytes("edited").as_deref(), Some(edited.as_bytes()));
    assert_eq!(host.bytes("written").as_deref(), Some(&b"new\n"[..]));
}

pub(super) fn a_deleted_file_leaves_its_directory(host: &dyn ConformanceHost) {
    host.put("d/e/a", b"1");
    host.put("d/e/b", b"\0");
    let kept = delete("d/e/a", "1", Retention::Recoverable);
    let gone = delete("d/e/b", "\0", Retention::Permanent);
    let deleted = applied(host, [kept, gone]);
    assert_eq!(deleted.files, [file("d/e/a", None), file("d/e/b", None)]);
    assert_eq!((host.bytes("d/e/a"), host.bytes("d/e/b")), (None, None));
    let options = ListOptions { recursive: true, entries_max: 10 };
    let listing = finish(host.list(&rel("."), options)).expect("the root is a directory");
    let paths: Vec<_> = listing.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(paths, ["d", "d/e"]);
}

pub(super) fn a_dry_run_says_what_would_be(host: &dyn ConformanceHost) {
    host.put("a", b"1");
    host.put("b", b"2");
    host.set_dry_run();
    let deleted = delete("b", "2", Retention::Recoverable);
    let would_be = applied(host, [write("a", "1", "one"), deleted, create("c", "3")]);
    let files = [("a", Some("one")), ("b", None), ("c", Some("3"))];
    let files = files.map(|(path, text)| file(path, text)).to_vec();
    assert_eq!(would_be, Applied { history: None, files });
    let found = ["a", "b", "c"].map(|path| host.bytes(path));
    assert_eq!(found, [Some(b"1".to_vec()), Some(b"2".to_vec()), None]);
    check_refused(propose(host, [create("a", "")]), ErrorCode::AlreadyExists, "a");
}

pub(super) fn changes_of_other_content_are_stale(host: &dyn ConformanceHost) {
    host.put("a", b"now");
    for change in [
        write("a", "then", "new"),
        edit("a", "then", [(0..1, "x")]),
        delete("a", "then", Retention::Recoverable),
        delete("a", "then", Retention::Permanent),
    ] {
        let Ok(ProposalOutcome::Stale(error)) = propose(host, [change]) else {
            panic!("it is stale")
        };
        assert_eq!(error.code, ErrorCode::Conflict);
        assert_eq!(host.bytes("a").as_deref(), Some(&b"now"[..]));
    }
}

pub(super) fn what_cannot_be_made_is_refused(host: &dyn ConformanceHost) {
    host.put("d/a", b"1");
    let large = "x".repeat(usize::try_from(host.edit_bytes_max()).expect("it is held") + 1);
    for (path, content, code) in [
        ("d/a", "2", ErrorCode::AlreadyExists),
        ("d/a", "1", ErrorCode::AlreadyExists),
        ("d", "", ErrorCode::AlreadyExists),
        (".", "", ErrorCode::AlreadyExists),
        ("d/a/b", "", ErrorCode::NotADirectory),
        ("d/a/b/c", "", ErrorCode::NotADirectory),
        ("new", "a\0b", ErrorCode::Encoding),
        ("new", &large, ErrorCode::TooLarge),
    ] {
        check_refused(propose(host, [create(path, content)]), code, path);
    }
    assert_eq!((host.bytes("d/a"), host.bytes("new")), (Some(b"1".to_vec()), None));
}

pub(super) fn what_cannot_be_changed_is_refused(host: &dyn ConformanceHost) {
    host.put("d/a", b"one\ntwo\n");
    host.put("binary", b"\0");
    let large = "x".repeat(usize::try_from(host.edit_bytes_max()).expect("it is held") + 1);
    host.put("large", large.as_bytes());
    let text = "one\ntwo\n";
    let at = |range| edit("d/a", text, [(range, "x")]);
    for (change, code) in [
        (write("none", "", ""), ErrorCode::NotFound),
        (edit("none", "", [(0..0, "x")]), ErrorCode::NotFound),
        (delete("none", "", Retention::Recoverable), ErrorCode::NotFound),
        (write("d", "", ""), ErrorCode::NotAFile),
        (delete("d", "", Retention::Permanent), ErrorCode::NotAFile),
        (write("d/a/b", "", ""), ErrorCode::NotADirectory),
        (write("d/a", text, text), ErrorCode::NoChange),
        (edit("d/a", text, []), ErrorCode::NoChange),
        (edit("d/a", text, [(0..3, "one")]), ErrorCode::NoChange),
        (write("d/a", text, "a\0"), ErrorCode::Encoding),
        (edit("d/a", text, [(0..1, "\0")]), ErrorCode::Encoding),
        (write("d/a", text, &large), ErrorCode::TooLarge),
        (edit("d/a", text, [(0..1, large.as_str())]), ErrorCode::TooLarge),
        (at(7..9), ErrorCode::InvalidArguments),
        (edit("d/a", text, [(4..5, "x"), (0..1, "y")]), ErrorCode::InvalidArguments),
        (edit("binary", "\0", [(0..1, "x")]), ErrorCode::Binary),
        (write("large", &large, ""), ErrorCode::TooLarge),
        (edit("large", &large, [(0..1, "")]), ErrorCode::TooLarge),
        (delete("large", &large, Retention::Recoverable), ErrorCode::TooLarge),
    ] {
        let path = change.path.to_string();
        check_refused(propose(host, [change]), code, &path);
    }
    assert_eq!(host.bytes("d/a").as_deref(), Some(text.as_bytes()));
    applied(host, [delete("large", &large, Retention::Permanent)]);
    assert_eq!(host.bytes("large"), None);
}

pub(super) fn changes_that_clash_are_refused(host: &dyn ConformanceHost) {
    host.put("a", b"1");
    for (one, other) in [
        (write("a", "1", "2"), write("a", "1", "3")),
        (write("a", "1", "2"), delete("a", "1", Retention::Recoverable)),
        (create("new", ""), create("new", "")),
        (create("new", ""), create("new/inner", "")),
        (create("new/inner/most", ""), create("new", "")),
    ] {
        for changes in [[one.clone(), other.clone()], [other, one]] {
            check_refused(propose(host, changes), ErrorCode::InvalidArguments, "");
        }
    }
    assert_eq!((host.bytes("a"), host.bytes("new")), (Some(b"1".to_vec()), None));
    applied(host, [create("new/b", ""), create("new/c", ""), create("new-er", "")]);
}

pub(super) fn one_refused_change_refuses_all(host: &dyn ConformanceHost) {
    host.put("a", b"1");
    let kept = || delete("a", "1", Retention::Recoverable);
    check_refused(propose(host, [kept(), write("b", "1", "")]), ErrorCode::NotFound, "b");
    let stale = propose(host, [kept(), create("new", ""), write("a/b", "1", "")]);
    check_refused(stale, ErrorCode::NotADirectory, "a/b");
    assert_eq!((host.bytes("a"), host.bytes("new")), (Some(b"1".to_vec()), None));
}

fn create(path: &str, content: &str) -> Change {
    Change::new(rel(path), ChangeKind::Create { content: content.to_owned() })
}

fn write(path: &str, before: &str, content: &str) -> Change {
    let (base, content) = (hash(before.as_bytes()), content.to_owned());
    Change::new(rel(path), ChangeKind::Write { base, content })
}

fn edit<'a>(
    path: &str,
    before: &str,
    splices: impl IntoIterator<Item = (std::ops::Range<usize>, &'a str)>,
) -> Change {
    let splices = splices.into_iter().map(|(range, text)| Splice { range, text: text.to_owned() });
    let (base, splices) = (hash(before.as_bytes()), splices.collect());
    Change::new(rel(path), ChangeKind::Edit { base, splices })
}

fn delete(path: &str, before: &str, retention: Retention) -> Change {
    Change::new(rel(path), ChangeKind::Delete { base: hash(before.as_bytes()), retention })
}

fn file(path: &str, after: Option<&str>) -> AppliedFile {
    AppliedFile { path: rel(path), hash: after.map(|text| hash(text.as_bytes())) }
}

fn propose<const N: usize>(
    host: &dyn ConformanceHost,
    changes: [Change; N],
) -> Result<ProposalOutcome, ToolError> {
    host.propose(ChangeSet { changes: changes.into() })
}

fn applied<const N: usize>(host: &dyn ConformanceHost, changes: [Change; N]) -> Applied {
    match propose(host, changes) {
        Ok(ProposalOutcome::Applied(applied)) => applied,
        refused => panic!("not applied: {refused:?}"),
    }
}
