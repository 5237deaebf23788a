//! Stores that other versions have made, and damaged ones.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use moss_sdk::edit::{Change, ChangeKind, ChangeSet};

use super::*;
use crate::history::{History, HistoryFilter, HistoryLimits, UndoTarget};
use crate::options::WorkspaceOptions;
use crate::root::Workspace;

/// The whole database as version 1 has written it.
const VERSION_1: &str = include_str!("version_1.sql");

fn lay(state: &Path, sql: &str) {
    fs::create_dir(state).unwrap();
    fs::set_permissions(state, fs::Permissions::from_mode(0o700)).unwrap();
    let connection = Connection::open(state.join(FILE)).unwrap();
    connection.execute_batch(sql).unwrap();
    drop(connection);
    fs::set_permissions(state.join(FILE), fs::Permissions::from_mode(0o600)).unwrap();
}

fn open(state: &Path) -> Result<History, Error> {
    let limits = HistoryLimits { age_max: Duration::MAX, ..HistoryLimits::default() };
    History::open(state, limits)
}

fn tables(connection: &Connection) -> Vec<(String, Option<String>)> {
    let sql = "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn history_of_version_1_is_carried_over_whole() {
    let temp = tempfile::tempdir().unwrap();
    let (state, root) = (temp.path().join("state"), temp.path().join("root"));
    lay(&state, VERSION_1);
    fs::create_dir(&root).unwrap();
    fs::write(root.join("a.txt"), "one\ntwo\n").unwrap();
    // A look changes nothing.
    let before = fs::read(state.join(FILE)).unwrap();
    assert_eq!(History::examine(&state).unwrap(), 5);
    assert_eq!(fs::read(state.join(FILE)).unwrap(), before);
    // The second time there is nothing to carry over.
    for _ in 0..2 {
        let history = open(&state).unwrap();
        history.check_integrity().unwrap();
        let entries = history.list(&HistoryFilter::default()).unwrap();
        let told: Vec<_> = entries
            .iter()
            .map(|e| (e.number, e.origin.tool.as_str(), &e.undo_of[..], &e.undone_by[..]))
            .collect();
        let none: &[u64] = &[];
        assert_eq!(
            told,
            [
                (5, "delete_file", none, none),
                (4, "create_file", none, none),
                (3, "undo", &[2][..], none),
                (2, "replace_text", none, &[3][..]),
                (1, "create_file", none, none),
            ]
        );
        assert!(entries.iter().all(|entry| entry.files[0].match_level.is_none()));
        let diff = history.diff(&entries[3].files[0]).unwrap().unwrap();
        assert!(diff.ends_with("-one\n+1\n two\n"), "{diff}");
    }
    let history = open(&state).unwrap();
    let fresh = open(&temp.path().join("fresh")).unwrap();
    assert_eq!(tables(&history.connection()), tables(&fresh.connection()));

    // It continues where it was, and goes back to before it.
    let workspace = Workspace::open(&root, WorkspaceOptions::default()).unwrap();
    let nothing = history.plan_undo(&workspace, &UndoTarget::Since(1)).unwrap_err();
    assert!(matches!(nothing, Error::NothingToUndo { .. }), "{nothing}");
    let plan = history.plan_undo(&workspace, &UndoTarget::Entry(5)).unwrap();
    let number = workspace.commit(&plan, &history, &Origin::default()).unwrap().number;
    assert_eq!((number, fs::read(root.join("b.txt")).unwrap()), (6, b"b\n".to_vec()));
    assert_eq!(history.get(5).unwrap().undone_by, [6]);
    let plan = history.plan_undo(&workspace, &UndoTarget::Since(2)).unwrap();
    assert_eq!(plan.undo_of(), [6, 5, 4, 3]);
    workspace.commit(&plan, &history, &Origin::default()).unwrap();
    assert_eq!(fs::read(root.join("a.txt")).unwrap(), b"1\ntwo\n");
    assert!(!root.join("b.txt").exists());
}

#[test]
fn history_of_a_later_version_or_of_another_program_is_left_alone() {
    for (pragma, why) in [
        (
            "PRAGMA user_version = 5",
            "a newer moss wrote it (version 5 of its tables, this one knows 4)",
        ),
        ("PRAGMA user_version = -1", "it has version -1"),
        ("PRAGMA application_id = 7", "it belongs to another application (0x7)"),
    ] {
        let temp = tempfile::tempdir().unwrap();
        let state = temp.path().join("state");
        lay(&state, &format!("{VERSION_1};{pragma}"));
        let before = fs::read(state.join(FILE)).unwrap().len();
        for error in [open(&state).unwrap_err(), History::examine(&state).unwrap_err()] {
            assert!(error.to_string().contains(why), "{error}");
        }
        assert_eq!(fs::read(state.join(FILE)).unwrap().len(), before);
        let connection = Connection::open(state.join(FILE)).unwrap();
        let entries: i64 = connection
            .query_row("SELECT count(*) FROM entries WHERE undo_of = 2", [], |row| row.get(0))
            .unwrap();
        assert_eq!(entries, 1);
    }
}

#[test]
fn a_damaged_content_is_written_anew_by_the_next_change_that_has_it() {
    let temp = tempfile::tempdir().unwrap();
    let (state, root) = (temp.path().join("state"), temp.path().join("root"));
    fs::create_dir(&root).unwrap();
    let history = open(&state).unwrap();
    let workspace = Workspace::open(&root, WorkspaceOptions::default()).unwrap();
    let commit = |path: &str, kind: ChangeKind| {
        let changes = vec![Change::new(RelPath::parse(path).unwrap(), kind)];
        let plan = workspace.plan(&ChangeSet { changes }).unwrap();
        workspace.commit(&plan, &history, &Origin::default()).unwrap().number
    };
    let create = |path: &str| commit(path, ChangeKind::Create { content: "old\n".to_owned() });
    create("a");
    let base = handle::hash(b"old\n");
    let edited = commit("a", ChangeKind::Write { base, content: "new\n".to_owned() });
    let plan = || history.plan_undo(&workspace, &UndoTarget::Entry(edited));
    for (damaged, copy) in [(&b"odd\n"[..], "b"), (b"o", "c"), (b"", "d")] {
        let sql = "UPDATE blobs SET content = ?1 WHERE hash = ?2";
        history.connection().execute(sql, params![damaged, base.as_bytes()]).unwrap();
        let refused = plan().unwrap_err();
        assert!(matches!(refused, Error::History { damaged: true, .. }), "{refused}");
        create(copy);
        plan().unwrap();
        assert_eq!(history.stats().unwrap().bytes, 8);
    }
    workspace.commit(&plan().unwrap(), &history, &Origin::default()).unwrap();
    assert_eq!(fs::read(root.join("a")).unwrap(), b"old\n");
}
