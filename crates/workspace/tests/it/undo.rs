//! History: undo after later changes, permanent deletion, limits.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use moss_sdk::ErrorCode;
use moss_sdk::edit::{ChangeSet, Retention};
use moss_workspace::{
    Error, History, HistoryFilter, HistoryLimits, NoBuffers, UndoBounds, UndoTarget, hash,
};

use crate::fixture::{Fixture, create, delete, origin, rel, write};

const TEXT: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

#[test]
fn later_changes_of_other_lines_are_kept() {
    let fixture = Fixture::new();
    fixture.put("x", TEXT);
    let changed = TEXT.replace("2\n", "two\n");
    let first = fixture.commit(vec![write("x", TEXT.as_bytes(), &changed)]).unwrap();
    let again = changed.replace("8\n", "eight\n");
    fixture.put("x", &again);
    let plan =
        fixture.history.plan_undo(&fixture.workspace, &UndoTarget::Entry(first.number)).unwrap();
    assert!(plan.files()[0].merged);
    fixture.undo(first.number).unwrap();
    assert_eq!(fixture.get("x"), TEXT.replace("8\n", "eight\n").as_bytes());
}

#[test]
fn later_changes_of_the_same_lines_are_a_conflict_that_names_them() {
    let fixture = Fixture::new();
    fixture.put("x", TEXT);
    let changed = TEXT.replace("5\n", "five\n");
    let first = fixture.commit(vec![write("x", TEXT.as_bytes(), &changed)]).unwrap();
    fixture.put("x", changed.replace("five\n", "FIVE\n"));
    let error = fixture.undo(first.number).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Conflict);
    assert!(error.to_string().contains("at line 5 since change 1"), "{error}");
    assert_eq!(fixture.get("x"), changed.replace("five\n", "FIVE\n").as_bytes());
}

#[test]
fn planning_an_undo_of_many_files_looks_between_them_whether_anybody_waits() {
    const FILES: usize = 7;
    let fixture = Fixture::new();
    let names: Vec<String> = (0..FILES).map(|number| format!("f{number}")).collect();
    names.iter().for_each(|name| fixture.put(name, TEXT));
    let changed = TEXT.replace("2\n", "two\n");
    let changes = names.iter().map(|name| write(name, TEXT.as_bytes(), &changed)).collect();
    let number = fixture.commit(changes).unwrap().number;
    let looks = AtomicUsize::new(0);
    let plan = |looks_max: usize| {
        looks.store(0, Ordering::Relaxed);
        let cancelled = || looks.fetch_add(1, Ordering::Relaxed) + 1 > looks_max;
        let bounds = UndoBounds { cancelled: &cancelled, ..UndoBounds::default() };
        let (history, target) = (&fixture.history, UndoTarget::Entry(number));
        history
            .plan_undo_over(&fixture.workspace, &target, &NoBuffers, bounds)
            .map(|_| looks.load(Ordering::Relaxed))
    };
    // Before each is read, while it is brought back, and before what becomes of it is compared.
    let all = plan(usize::MAX).unwrap();
    assert!(all >= 3 * FILES, "{all}");
    for looks_max in 0..all {
        assert!(matches!(plan(looks_max), Err(Error::Cancelled)), "{looks_max}");
    }
}

#[test]
fn planning_an_undo_ends_where_it_is_cancelled_or_its_contents_have_no_room() {
    let fixture = Fixture::new();
    fixture.put("x", TEXT);
    let changed = TEXT.replace("2\n", "two\n");
    let first = fixture.commit(vec![write("x", TEXT.as_bytes(), &changed)]).unwrap();
    fixture.put("x", changed.replace("8\n", "eight\n"));
    let plan = |bounds: UndoBounds<'_>| {
        let (history, workspace) = (&fixture.history, &fixture.workspace);
        let target = UndoTarget::Entry(first.number);
        history.plan_undo_over(workspace, &target, &NoBuffers, bounds)
    };
    let cancelled = plan(UndoBounds { cancelled: &|| true, ..UndoBounds::default() });
    assert!(matches!(cancelled, Err(Error::Cancelled)), "{cancelled:?}");
    let contents = changed.len() as u64;
    let hold = |bytes| if bytes > contents { Err(contents) } else { Ok(()) };
    let full = plan(UndoBounds { hold: &hold, ..UndoBounds::default() }).unwrap_err();
    assert_eq!(full.code(), ErrorCode::LimitExceeded);
    assert!(full.to_string().contains("(calls.caller_bytes_max)"), "{full}");
    let late = plan(UndoBounds { merging_max: Duration::ZERO, ..UndoBounds::default() });
    assert_eq!(late.unwrap_err().code(), ErrorCode::LimitExceeded);
    assert!(plan(UndoBounds::default()).unwrap().files()[0].merged);
}

#[test]
fn a_created_file_that_was_changed_since_stays() {
    let fixture = Fixture::new();
    let made = fixture.commit(vec![create("x", "one\n")]).unwrap();
    fixture.put("x", "two\n");
    assert!(matches!(fixture.undo(made.number), Err(Error::Merge { .. })));
    fixture.put("x", "one\n");
    let undone = fixture.undo(made.number).unwrap();
    assert!(!fixture.root().join("x").exists());
    fixture.undo(undone.number).unwrap();
    assert_eq!(fixture.get("x"), b"one\n");
    assert!(matches!(fixture.undo(99), Err(Error::NoEntry { number: 99 })));
}

#[test]
fn a_deleted_file_comes_back_with_its_mode_and_bytes() {
    let fixture = Fixture::new();
    let bytes = b"\x7fELF\0\xff\xfe";
    fixture.put("bin/x", bytes);
    let path = fixture.root().join("bin/x");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    let gone = fixture.commit(vec![delete("bin/x", bytes, Retention::Recoverable)]).unwrap();
    fs::remove_dir(fixture.root().join("bin")).unwrap();
    // Who is asked sees that the file can be run.
    let target = UndoTarget::Entry(gone.number);
    let plan = fixture.history.plan_undo(&fixture.workspace, &target).unwrap();
    let shown = &plan.files()[0].diff;
    assert!(shown.starts_with("new file mode 750\n"), "{shown}");
    fixture.undo(gone.number).unwrap();
    assert_eq!(fixture.get("bin/x"), bytes);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o750);
    // A new file in its place is nobody's to overwrite.
    fixture.commit(vec![delete("bin/x", bytes, Retention::Recoverable)]).unwrap();
    fixture.put("bin/x", "new\n");
    assert!(matches!(fixture.undo(gone.number), Err(Error::Merge { .. })));
}

#[test]
fn a_permanent_deletion_leaves_no_content_anywhere() {
    let secret = "a very particular secret that is nowhere else\n";
    let older = "an older version of that very particular secret\n";
    let fixture = Fixture::new();
    let made = fixture.commit(vec![create("x", older), create("copy", "both\n")]).unwrap();
    let edited = fixture.commit(vec![write("x", older.as_bytes(), secret)]).unwrap();
    let gone = fixture.commit(vec![delete("x", secret.as_bytes(), Retention::Permanent)]).unwrap();
    assert!(!fixture.root().join("x").exists());
    for number in [edited.number, gone.number] {
        assert!(matches!(fixture.undo(number), Err(Error::Merge { .. } | Error::Forgotten { .. })));
        let entry = fixture.history.get(number).unwrap();
        assert!(entry.files[0].forgotten);
        assert_eq!(fixture.history.diff(&entry.files[0]).unwrap(), None);
    }
    let kept = &fixture.history.get(made.number).unwrap().files[1];
    assert!(fixture.history.diff(kept).unwrap().is_some());
    for text in [secret, older] {
        assert_eq!(fixture.history.content(&hash(text.as_bytes())).unwrap(), None);
        for entry in fs::read_dir(fixture.state()).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            let found = bytes.windows(20).any(|window| window == &text.as_bytes()[..20]);
            assert!(!found, "{path:?} still holds it");
        }
    }
}

#[test]
fn a_permanent_deletion_keeps_what_another_file_needs() {
    let fixture = Fixture::new();
    fixture.commit(vec![create("x", "same\n"), create("y", "same\n")]).unwrap();
    let edited = fixture.commit(vec![write("y", b"same\n", "other\n")]).unwrap();
    fixture.commit(vec![delete("x", b"same\n", Retention::Permanent)]).unwrap();
    fixture.undo(edited.number).unwrap();
    assert_eq!(fixture.get("y"), b"same\n");
}

#[test]
fn the_oldest_entries_make_room_and_the_newest_stays() {
    let fixture = Fixture::new();
    let limits = HistoryLimits { bytes_max: 10_000, ..HistoryLimits::default() };
    let history = History::open(&fixture.temp.path().join("small"), limits).unwrap();
    let commit = |content: &str, base: Option<&str>| {
        let change = match base {
            None => create("x", content),
            Some(base) => write("x", base.as_bytes(), content),
        };
        let plan = fixture.workspace.plan(&ChangeSet { changes: vec![change] }).unwrap();
        fixture.workspace.commit(&plan, &history, &origin("limits")).unwrap().number
    };
    let content = |number: u64| format!("{number}\n").repeat(1_000);
    commit(&content(1), None);
    for number in 2..10 {
        let newest = commit(&content(number), Some(&content(number - 1)));
        assert!(history.stats().unwrap().bytes <= 10_000);
        assert_eq!(
            history.get(newest).unwrap().files[0].after,
            Some(hash(content(number).as_bytes()))
        );
    }
    // One entry alone may be larger than the limit: it stays.
    let large = "large\n".repeat(10_000);
    let newest = commit(&large, Some(&content(9)));
    let listed = history.list(&HistoryFilter::default()).unwrap();
    assert_eq!(listed.iter().map(|entry| entry.number).collect::<Vec<_>>(), [newest]);
    assert_eq!(history.content(&hash(large.as_bytes())).unwrap().unwrap(), large.as_bytes());
}

#[test]
fn old_entries_go_by_age_except_the_newest_few() {
    let fixture = Fixture::new();
    let limits =
        HistoryLimits { age_max: Duration::ZERO, entries_min: 2, ..HistoryLimits::default() };
    let history = History::open(&fixture.temp.path().join("short"), limits).unwrap();
    for number in 0..5 {
        let changes = ChangeSet { changes: vec![create(&format!("f{number}"), "x\n")] };
        let plan = fixture.workspace.plan(&changes).unwrap();
        fixture.workspace.commit(&plan, &history, &origin("age")).unwrap();
    }
    let kept = history.list(&HistoryFilter::default()).unwrap().len();
    assert!((2..=4).contains(&kept), "{kept}");
}

#[test]
fn entries_are_found_by_either_path() {
    let fixture = Fixture::new();
    fixture.put("real/x", "1\n");
    std::os::unix::fs::symlink("real", fixture.root().join("link")).unwrap();
    fixture.commit(vec![write("link/x", b"1\n", "2\n")]).unwrap();
    fixture.commit(vec![create("y", "1\n")]).unwrap();
    for path in ["link/x", "real/x"] {
        let filter = HistoryFilter { path: Some(rel(path)), ..HistoryFilter::default() };
        assert_eq!(fixture.history.list(&filter).unwrap().len(), 1, "{path}");
    }
    let filter = HistoryFilter { before: Some(2), ..HistoryFilter::default() };
    assert_eq!(fixture.history.list(&filter).unwrap()[0].number, 1);
}

#[test]
fn undo_of_a_creation_removes_the_directories_that_it_made_and_that_are_empty() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.root().join("there")).unwrap();
    let made = fixture.commit(vec![create("there/a/b/x", "one\n")]).unwrap();
    let undone = fixture.undo(made.number).unwrap();
    assert!(fixture.root().join("there").is_dir());
    assert!(!fixture.root().join("there/a").exists());
    // The undo is undone as well, and what another program put there stays.
    let again = fixture.undo(undone.number).unwrap();
    assert_eq!(fixture.get("there/a/b/x"), b"one\n");
    fixture.put("there/a/mine", "two\n");
    fixture.undo(again.number).unwrap();
    assert!(!fixture.root().join("there/a/b").exists());
    assert_eq!(fixture.get("there/a/mine"), b"two\n");
}
