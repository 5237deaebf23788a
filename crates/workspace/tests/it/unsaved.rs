//! Plans over what editors have not saved: never written to disk, recorded, and undone there.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use moss_sdk::RelPath;
use moss_sdk::edit::{ChangeSet, Retention, Splice};
use moss_sdk::editor::{Position, Span, TextEdit};
use moss_sdk::file::{Content, LineWindow};
use moss_workspace::{Buffers, Error, Plan, UndoBounds, UndoTarget, hash, recover};

use crate::fixture::{Fixture, RESOLVERS, create, delete, edit, origin, rel, write};

/// Unsaved texts by real path.
struct Held(BTreeMap<RelPath, Arc<str>>);

impl Buffers for Held {
    fn unsaved(&self, real: &RelPath) -> Option<Arc<str>> {
        self.0.get(real).cloned()
    }

    fn unsaved_paths(&self) -> Vec<RelPath> {
        self.0.keys().cloned().collect()
    }
}

fn held(path: &str, text: &str) -> Held {
    Held(BTreeMap::from([(rel(path), text.into())]))
}

fn plan(fixture: &Fixture, change: moss_sdk::edit::Change, held: &Held) -> Result<Plan, Error> {
    fixture.workspace.plan_over(&ChangeSet { changes: vec![change] }, held, &|| false)
}

/// A splice in place of the first `len` bytes.
fn first(len: usize, text: &str) -> Splice {
    Splice { range: 0..len, text: text.to_owned() }
}

#[test]
fn text_of_an_editor_is_read_in_place_of_the_file_whatever_name_it_is_asked_by() {
    for resolver in RESOLVERS {
        let fixture = Fixture::with(resolver);
        fixture.put("dir/a", "on disk\n");
        symlink("dir/a", fixture.root().join("link")).unwrap();
        let held = held("dir/a", "held\r\ntwo");
        for path in ["dir/a", "link"] {
            let opened = fixture.workspace.open_for_reading(&rel(path)).unwrap().over(&held);
            let read = opened.read().unwrap();
            let Content::Text(text) = read.content else { panic!("it is text") };
            assert_eq!((text.text.as_str(), read.unsaved), ("held\r\ntwo", true));
            assert_eq!((read.hash, read.size_bytes), (hash(b"held\r\ntwo"), 9));
            let all = LineWindow { start: 1, lines_max: 9, bytes_max: 99, line_bytes_max: 99 };
            let lines = opened.read_lines(all).unwrap();
            assert_eq!((lines.lines_total, lines.unsaved), (2, true));
        }
        assert!(!fixture.workspace.read(&rel("dir/a")).unwrap().unsaved);
    }
}

#[test]
fn plan_for_a_buffer_is_not_written_but_recorded_and_undone_there() {
    let fixture = Fixture::new();
    fixture.put("a", "one\n");
    let before = held("a", "ONE\ntwo\n");
    let change = edit("a", hash(b"ONE\ntwo\n"), vec![first(3, "1")]);
    let planned = plan(&fixture, change.clone(), &before).unwrap();
    assert!(planned.is_unsaved());
    assert!(planned.files()[0].diff.contains("-ONE\n+1\n"), "{}", planned.files()[0].diff);
    let refused = fixture.workspace.commit(&planned, &fixture.history, &origin("")).unwrap_err();
    assert!(matches!(refused, Error::Unsaved { .. }), "{refused}");
    let number = fixture.history.record(&planned, &origin("")).unwrap();
    assert!(fixture.history.get(number).unwrap().files[0].unsaved);
    assert_eq!(fixture.get("a"), b"one\n");
    // Nothing of it is for recovery.
    recover(&fixture.workspace, &fixture.history).unwrap();
    assert_eq!(fixture.get("a"), b"one\n");

    let after = held("a", "1\ntwo\nthree\n");
    let back = fixture
        .history
        .plan_undo_over(
            &fixture.workspace,
            &UndoTarget::Entry(number),
            &after,
            UndoBounds::default(),
        )
        .unwrap();
    assert!(back.is_unsaved() && back.files()[0].merged);
    assert_eq!(back.files()[0].text_after(), Some("ONE\ntwo\nthree\n"));
    // Saved meanwhile: the file has it now.
    fixture.put("a", "1\ntwo\n");
    fixture.undo(number).unwrap();
    assert_eq!(fixture.get("a"), b"ONE\ntwo\n");
    // The same change of the file is another effect.
    fixture.put("a", "ONE\ntwo\n");
    let of_file = fixture.workspace.plan(&ChangeSet { changes: vec![change] }).unwrap();
    assert_eq!(of_file.files()[0].after, planned.files()[0].after);
    assert_ne!(of_file.digest(), planned.digest());
}

#[test]
fn undo_of_several_is_for_one_buffer_or_for_files() {
    let fixture = Fixture::new();
    fixture.put("a", "1\nstays\n");
    fixture.put("b", "1\n");
    for (path, before, after) in
        [("a", "1\nstays\n", "2\nstays\n"), ("a", "2\nstays\n", "3\nstays\n"), ("b", "1\n", "2\n")]
    {
        fixture.commit(vec![write(path, before.as_bytes(), after)]).unwrap();
    }
    let typed = held("a", "3\nstays\ntyped\n");
    let mixed = UndoTarget::Since(0);
    let mixed = fixture
        .history
        .plan_undo_over(&fixture.workspace, &mixed, &typed, UndoBounds::default())
        .unwrap_err();
    assert!(matches!(mixed, Error::Unsaved { .. }), "{mixed}");
    fixture.undo(3).unwrap();
    let both = UndoTarget::Since(0);
    let both = fixture
        .history
        .plan_undo_over(&fixture.workspace, &both, &typed, UndoBounds::default())
        .unwrap();
    assert!(both.is_unsaved());
    assert_eq!(both.files()[0].text_after(), Some("1\nstays\ntyped\n"));
    let number = fixture.history.record(&both, &origin("")).unwrap();
    assert_eq!(fixture.history.get(number).unwrap().undo_of, [4, 3, 2, 1]);
    assert_eq!((fixture.get("a"), fixture.get("b")), (b"3\nstays\n".to_vec(), b"1\n".to_vec()));
}

#[test]
fn file_that_an_editor_holds_by_the_time_of_the_commit_is_left_alone() {
    let fixture = Fixture::new();
    fixture.put("a", "one\n");
    fixture.put("b", "one\n");
    let changes = vec![write("a", b"one\n", "two\n"), write("b", b"one\n", "two\n")];
    let planned = fixture.workspace.plan(&ChangeSet { changes }).unwrap();
    let held = held("b", "one and more\n");
    let committed = fixture.workspace.commit_over(&planned, &fixture.history, &origin(""), &held);
    assert!(matches!(committed, Err(Error::Unsaved { .. })), "{committed:?}");
    assert_eq!((fixture.get("a"), fixture.get("b")), (b"one\n".to_vec(), b"one\n".to_vec()));
    assert!(fixture.history.get(1).is_err());
    fixture.workspace.commit(&planned, &fixture.history, &origin("")).unwrap();
    assert_eq!(fixture.get("b"), b"two\n");
}

#[test]
fn edits_of_a_buffer_count_its_byte_order_mark() {
    let fixture = Fixture::new();
    fixture.put("a", "disk");
    let text = "\u{feff}abc";
    let change = edit("a", hash(text.as_bytes()), vec![first(3, "abX")]);
    let planned = plan(&fixture, change, &held("a", text)).unwrap();
    let file = &planned.files()[0];
    assert_eq!(file.text_after(), Some("\u{feff}abX"));
    let edits = file.text_edits().unwrap();
    let whole = Span { start: Position::default(), end: Position { line: 0, character: 4 } };
    assert_eq!(edits, [TextEdit { span: whole, text: "\u{feff}abX".into() }]);
}

#[test]
fn what_a_buffer_cannot_take_is_refused() {
    let fixture = Fixture::new();
    fixture.put("a", "disk\n");
    fixture.put("b", "b\n");
    fs::create_dir(fixture.root().join("dir")).unwrap();
    let mut buffers = held("a", "held\n");
    buffers.0.insert(rel("dir/new"), "text".into());
    let refused = |change| match plan(&fixture, change, &buffers) {
        Err(error @ Error::Unsaved { .. }) => assert_eq!(error.code().as_str(), "conflict"),
        other => panic!("{other:?}"),
    };
    refused(delete("a", b"held\n", Retention::Recoverable));
    refused(delete("a", b"disk\n", Retention::Permanent));
    refused(create("dir/new", "x"));
    // What was made for the file on disk does not fit the buffer.
    let stale = plan(&fixture, write("a", b"disk\n", "x"), &buffers);
    assert!(matches!(stale, Err(Error::Changed { .. })), "{stale:?}");
    let both = vec![write("a", b"held\n", "x"), write("b", b"b\n", "y")];
    let mixed = fixture.workspace.plan_over(&ChangeSet { changes: both }, &buffers, &|| false);
    assert!(matches!(mixed, Err(Error::Unsaved { .. })), "{mixed:?}");
    let nul = plan(&fixture, write("a", b"held\n", "\0"), &buffers);
    assert!(matches!(nul, Err(Error::Encoding { .. })), "{nul:?}");
}
