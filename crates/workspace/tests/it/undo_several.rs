//! Undo of several entries: of a call, of everything since an entry; with undos among them, with
//! files that moved on, all or nothing.

use moss_sdk::ErrorCode;
use moss_sdk::edit::{ChangeSet, Retention};
use moss_workspace::{Error, HistoryFilter, Origin, UndoTarget};
use proptest::prelude::*;

use crate::fixture::{Fixture, create, delete, origin, tree, write};

const TEXT: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

/// Commits the next content of a file, and returns the number of the entry.
fn next(fixture: &Fixture, path: &str, content: &str) -> u64 {
    let change = match std::fs::read(fixture.root().join(path)) {
        Ok(bytes) => write(path, &bytes, content),
        Err(_) => create(path, content),
    };
    fixture.commit(vec![change]).unwrap().number
}

fn in_call(fixture: &Fixture, call_id: &str, path: &str, content: &str) -> u64 {
    let before = fixture.get(path);
    let changes = ChangeSet { changes: vec![write(path, &before, content)] };
    let plan = fixture.workspace.plan(&changes).unwrap();
    let origin = Origin { call_id: call_id.to_owned(), ..origin("a call") };
    fixture.workspace.commit(&plan, &fixture.history, &origin).unwrap().number
}

fn since(number: u64) -> UndoTarget {
    UndoTarget::Since(number)
}

fn call(call_id: &str) -> UndoTarget {
    UndoTarget::Call(call_id.to_owned())
}

#[test]
fn everything_since_an_entry_goes_back_in_one_change() {
    let fixture = Fixture::new();
    fixture.put("a", TEXT);
    fixture.put("gone", "gone\n");
    let first = next(&fixture, "a", &TEXT.replace('1', "one"));
    let then = tree(&fixture.root());
    next(&fixture, "a", &TEXT.replace('1', "one").replace('9', "nine"));
    next(&fixture, "new", "new\n");
    fixture.commit(vec![delete("gone", b"gone\n", Retention::Recoverable)]).unwrap();
    next(&fixture, "new", "newer\n");
    let now = tree(&fixture.root());

    let plan = fixture.history.plan_undo(&fixture.workspace, &since(first)).unwrap();
    assert_eq!((plan.undo_of(), plan.files().len()), (&[5, 4, 3, 2][..], 3));
    assert!(plan.files().iter().all(|file| !file.merged));
    let undone = fixture.undo_target(&since(first)).unwrap().number;
    assert_eq!(tree(&fixture.root()), then);
    let entry = fixture.history.get(undone).unwrap();
    assert_eq!((&entry.undo_of[..], entry.files.len()), (&[5, 4, 3, 2][..], 3));
    assert_eq!(fixture.history.get(4).unwrap().undone_by, [undone]);
    assert!(fixture.history.get(first).unwrap().undone_by.is_empty());

    // The undo is an entry of its own: it goes back as a whole.
    fixture.undo(undone).unwrap();
    assert_eq!(tree(&fixture.root()), now);
    fixture.undo_target(&since(first)).unwrap();
    assert_eq!(tree(&fixture.root()), then);
    fixture.undo_target(&since(0)).unwrap();
    assert_eq!((fixture.get("a"), fixture.get("gone")), (TEXT.into(), b"gone\n".to_vec()));
}

#[test]
fn undos_among_the_entries_compose() {
    let fixture = Fixture::new();
    fixture.put("a", TEXT);
    let first = next(&fixture, "a", &TEXT.replace('1', "one"));
    let second = next(&fixture, "a", &TEXT.replace('1', "one").replace('9', "nine"));
    let undo = fixture.undo(first).unwrap().number;
    let redo = fixture.undo(undo).unwrap().number;
    assert_eq!(fixture.get("a"), TEXT.replace('1', "one").replace('9', "nine").as_bytes());
    fixture.undo(redo).unwrap();
    fixture.undo(second).unwrap();
    assert_eq!(fixture.get("a"), TEXT.as_bytes());
    // Undone already, so only what is left of it: nothing.
    let error = fixture.undo(second).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NoChange);
    assert!(error.to_string().contains("before change 2 (change 6 undid it)"), "{error}");
    fixture.undo_target(&since(second)).unwrap();
    assert_eq!(fixture.get("a"), TEXT.replace('1', "one").replace('9', "nine").as_bytes());
}

#[test]
fn a_call_goes_back_and_what_others_did_between_stays() {
    let fixture = Fixture::new();
    fixture.put("a", TEXT);
    fixture.put("b", "b\n");
    let mine = TEXT.replace('1', "one");
    in_call(&fixture, "mine", "a", &mine);
    in_call(&fixture, "other", "a", &mine.replace('5', "five"));
    in_call(&fixture, "mine", "b", "B\n");
    in_call(&fixture, "mine", "a", &mine.replace('5', "five").replace('9', "nine"));
    let plan = fixture.history.plan_undo(&fixture.workspace, &call("mine")).unwrap();
    assert_eq!(plan.undo_of(), [4, 3, 1]);
    let undone = fixture.undo_target(&call("mine")).unwrap().number;
    assert_eq!(fixture.get("a"), TEXT.replace('5', "five").as_bytes());
    assert_eq!(fixture.get("b"), b"b\n");
    let again = fixture.undo_target(&call("mine")).unwrap_err();
    assert_eq!(again.code(), ErrorCode::NoChange, "{again}");
    let filter = HistoryFilter { call_id: Some("mine".into()), ..HistoryFilter::default() };
    for entry in fixture.history.list(&filter).unwrap() {
        assert_eq!(entry.undone_by, [undone]);
    }
}

#[test]
fn an_undone_change_is_not_undone_again() {
    let fixture = Fixture::new();
    fixture.put("a", "1\n");
    fixture.put("b", "1\n");
    in_call(&fixture, "mine", "a", "2\n");
    in_call(&fixture, "mine", "b", "2\n");
    fixture.undo(2).unwrap();
    let undone = fixture.undo_target(&call("mine")).unwrap().number;
    assert_eq!((fixture.get("a"), fixture.get("b")), (b"1\n".to_vec(), b"1\n".to_vec()));
    assert_eq!(fixture.history.get(undone).unwrap().undo_of, [1]);
}

#[test]
fn all_conflicts_are_reported_and_nothing_is_written() {
    let fixture = Fixture::new();
    for path in ["a", "b", "fine"] {
        fixture.put(path, TEXT);
    }
    let base = next(&fixture, "base", "base\n");
    for path in ["a", "b", "fine"] {
        next(&fixture, path, &TEXT.replace('5', "five"));
    }
    next(&fixture, "made", "made\n");
    fixture.put("a", format!("0\n{}", TEXT.replace('5', "V")));
    std::fs::remove_file(fixture.root().join("b")).unwrap();
    fixture.put("made", "by hand\n");
    let before = tree(&fixture.root());
    let error = fixture.undo_target(&since(base)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "nothing was undone: made was changed again since change 5; b is gone since change 3; \
         a was changed again at line 6 since change 2"
    );
    assert_eq!(error.code(), ErrorCode::Conflict);
    assert_eq!(tree(&fixture.root()), before);
    assert_eq!(fixture.history.list(&HistoryFilter::default()).unwrap().len(), 5);
}

#[test]
fn files_that_are_as_they_were_already_are_left_alone() {
    let fixture = Fixture::new();
    let base = next(&fixture, "base", "base\n");
    next(&fixture, "made", "1\n");
    next(&fixture, "made", "2\n");
    next(&fixture, "other", "1\n");
    // Deleted outside: as it was before it was made.
    std::fs::remove_file(fixture.root().join("made")).unwrap();
    let plan = fixture.history.plan_undo(&fixture.workspace, &since(base)).unwrap();
    assert_eq!(plan.undo_of(), [4]);
    std::fs::remove_file(fixture.root().join("other")).unwrap();
    let error = fixture.undo_target(&since(base)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NoChange);
    assert!(error.to_string().contains("since change 1 is as it was then"), "{error}");
}

#[test]
fn what_is_not_there_is_reported() {
    let fixture = Fixture::new();
    let nothing = fixture.undo_target(&since(0)).unwrap_err();
    assert!(nothing.to_string().contains("nothing was changed through moss"), "{nothing}");
    let newest = next(&fixture, "a", "1\n");
    let nothing = fixture.undo_target(&since(newest)).unwrap_err();
    assert_eq!(nothing.code(), ErrorCode::NoChange);
    for number in [newest + 1, u64::MAX] {
        let beyond = fixture.undo_target(&since(number)).unwrap_err();
        assert!(matches!(beyond, Error::NoEntry { .. }), "{beyond}");
    }
    let unknown = fixture.undo_target(&call("nobody's")).unwrap_err();
    assert_eq!(unknown.code(), ErrorCode::NotFound);
    assert!(unknown.to_string().contains("nobody's"), "{unknown}");
}

#[test]
fn an_entry_whose_contents_are_gone_is_named() {
    let fixture = Fixture::new();
    let base = next(&fixture, "base", "base\n");
    next(&fixture, "x", "1\n");
    next(&fixture, "y", "1\n");
    fixture.commit(vec![delete("x", b"1\n", Retention::Permanent)]).unwrap();
    let error = fixture.undo_target(&since(3)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the history no longer has the content of x, which change 4 changed"
    );
    // Before it was made it was not there: for that no content is needed.
    let plan = fixture.history.plan_undo(&fixture.workspace, &since(base)).unwrap();
    assert_eq!(plan.undo_of(), [3]);
}

#[test]
fn entries_are_found_by_what_made_them() {
    let fixture = Fixture::new();
    fixture.put("a", "1\n");
    in_call(&fixture, "one", "a", "2\n");
    in_call(&fixture, "two", "a", "3\n");
    fixture.undo(2).unwrap();
    let found = |filter: HistoryFilter| -> Vec<u64> {
        fixture.history.list(&filter).unwrap().iter().map(|entry| entry.number).collect()
    };
    let all = HistoryFilter::default;
    assert_eq!(found(HistoryFilter { since: Some(1), ..all() }), [3, 2]);
    assert_eq!(found(HistoryFilter { since: Some(1), before: Some(3), ..all() }), [2]);
    assert_eq!(found(HistoryFilter { call_id: Some("one".into()), ..all() }), [1]);
    assert_eq!(found(HistoryFilter { tool: Some("test".into()), ..all() }), [3, 2, 1]);
    assert_eq!(found(HistoryFilter { tool: Some("other".into()), ..all() }), [] as [u64; 0]);
    assert_eq!(found(HistoryFilter { caller: Some("nobody".into()), ..all() }), [] as [u64; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Whatever was changed, made, deleted and undone: since an entry is as it was after it.
    #[test]
    fn since_restores_what_was_there(
        steps in prop::collection::vec((0..3_usize, 0..4_u8, 0..9_usize), 2..12),
        back_to in any::<prop::sample::Index>(),
    ) {
        let fixture = Fixture::new();
        let mut states = vec![(0, tree(&fixture.root()))];
        for (file, what, line) in steps {
            let path = ["a", "b", "c"][file];
            let present = std::fs::read_to_string(fixture.root().join(path)).ok();
            let number = match (what, present) {
                (0, Some(text)) => {
                    let change = delete(path, text.as_bytes(), Retention::Recoverable);
                    fixture.commit(vec![change]).unwrap().number
                }
                (1, _) if states.len() > 1 => {
                    let Ok(undone) = fixture.undo(states[line % states.len()].0) else { continue };
                    undone.number
                }
                (_, Some(text)) => {
                    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                    let place = line % lines.len();
                    lines[place].push('x');
                    next(&fixture, path, &(lines.join("\n") + "\n"))
                }
                (_, None) => next(&fixture, path, TEXT),
            };
            states.push((number, tree(&fixture.root())));
        }
        let (number, then) = back_to.get(&states).clone();
        match fixture.undo_target(&since(number)) {
            Ok(_) | Err(Error::NothingToUndo { .. }) => {}
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
        prop_assert_eq!(tree(&fixture.root()), then);
    }

    /// What others have written since is kept, or the undo is a conflict and writes nothing.
    #[test]
    fn what_others_wrote_stays(
        edits in prop::collection::vec((0..9_usize, any::<bool>()), 1..6),
        back_to in any::<prop::sample::Index>(),
    ) {
        let fixture = Fixture::new();
        fixture.put("a", TEXT);
        let mut numbers = vec![0];
        let mut others = Vec::new();
        for (count, (line, by_moss)) in edits.into_iter().enumerate() {
            let mut lines: Vec<String> =
                String::from_utf8(fixture.get("a")).unwrap().lines().map(str::to_owned).collect();
            let line = line % lines.len();
            if by_moss {
                lines[line] = format!("moss {count}");
                numbers.push(next(&fixture, "a", &(lines.join("\n") + "\n")));
            } else {
                others.push(format!("other {count}"));
                lines.insert(line, format!("other {count}"));
                fixture.put("a", lines.join("\n") + "\n");
            }
        }
        let kept = |text: &[u8]| -> Vec<String> {
            let text = String::from_utf8(text.to_vec()).unwrap();
            let is_others = |line: &&str| others.iter().any(|other| other == line);
            text.lines().filter(is_others).map(str::to_owned).collect()
        };
        let before = fixture.get("a");
        match fixture.undo_target(&since(*back_to.get(&numbers))) {
            Ok(_) => {
                let after = kept(&fixture.get("a"));
                prop_assert!(kept(&before).iter().all(|line| after.contains(line)), "{after:?}");
            }
            Err(Error::Merge(_) | Error::NothingToUndo { .. }) => {
                prop_assert_eq!(fixture.get("a"), before);
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
    }
}

#[test]
fn permission_bits_come_back_where_a_file_was_deleted_and_made_anew() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = Fixture::new();
    fixture.put("run.sh", "one\n");
    let path = fixture.root().join("run.sh");
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
    fixture.commit(vec![delete("run.sh", b"one\n", Retention::Recoverable)]).unwrap();
    next(&fixture, "run.sh", "two\n");
    let made = mode();
    assert_ne!(made, 0o750);
    let plan = fixture.history.plan_undo(&fixture.workspace, &since(0)).unwrap();
    let shown = &plan.files()[0].diff;
    assert!(shown.starts_with(&format!("old mode {made:o}\nnew mode 750\n")), "{shown}");
    let undone = fixture.undo_target(&since(0)).unwrap().number;
    assert_eq!((fixture.get("run.sh"), mode()), (b"one\n".to_vec(), 0o750));
    // The way forth has its bits as well.
    fixture.undo_target(&UndoTarget::Entry(undone)).unwrap();
    assert_eq!(fixture.get("run.sh"), b"two\n");
}
