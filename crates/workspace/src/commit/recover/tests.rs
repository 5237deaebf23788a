//! Every state that a crash can leave, laid by hand: what the file holds times what lies beside
//! it, for each kind of change.

use std::fs;
use std::path::Path;

use moss_sdk::edit::{Change, ChangeKind, ChangeSet, Retention};

use super::*;
use crate::history::HistoryLimits;
use crate::options::Options;
use crate::origin::Origin;

const OLD: &[u8] = b"old\n";
const NEW: &[u8] = b"new content\n";
const FOREIGN: &[u8] = b"somebody else's\n";
const PARTIAL: &[u8] = b"new con";
const TEMP: &str = ".moss-0.tmp";

/// A directory in shared memory, or else an ordinary one: there are many states to lay.
fn memory() -> tempfile::TempDir {
    let shared = Path::new("/dev/shm");
    if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() }.unwrap()
}

fn kind(name: &str) -> ChangeKind {
    let base = handle::hash(OLD);
    let content = String::from_utf8(NEW.to_vec()).unwrap();
    match name {
        "create" => ChangeKind::Create { content },
        "modify" => ChangeKind::Write { base, content },
        _ => ChangeKind::Delete { base, retention: Retention::Recoverable },
    }
}

fn lay(root: &Path, name: &str, content: Option<&[u8]>) {
    let path = root.join(name);
    let _ = fs::remove_file(&path);
    if let Some(content) = content {
        fs::write(path, content).unwrap();
    }
}

/// What the file must hold afterwards.
fn expected<'a>(
    action: &str,
    present: Option<&'a [u8]>,
    beside: Option<&'a [u8]>,
) -> Option<&'a [u8]> {
    match (action, present, beside) {
        // Exchanged: what came out goes back in. A cut-off version beside means that somebody
        // else wrote the very same bytes, and ours never came in.
        ("modify", Some(NEW), Some(PARTIAL | NEW)) => present,
        ("modify", Some(NEW), Some(beside)) => Some(beside),
        ("modify", Some(NEW), None) => Some(OLD),
        // Put in by a rename: nothing is left beside.
        ("create", Some(NEW), None) => None,
        ("delete", None, Some(beside)) => Some(beside),
        _ => present,
    }
}

#[test]
fn every_state_is_taken_back_and_nobodys_bytes_are_lost() {
    let contents = [None, Some(OLD), Some(NEW), Some(FOREIGN), Some(PARTIAL)];
    for action in ["create", "modify", "delete"] {
        for present in contents {
            for beside in contents {
                let what = format!("{action} {present:?} {beside:?}");
                check(action, present, beside, &what);
            }
        }
    }
}

fn check(action: &str, present: Option<&[u8]>, beside: Option<&[u8]>, what: &str) {
    let temp = memory();
    let root = temp.path().join("root");
    fs::create_dir(&root).unwrap();
    let workspace = Workspace::open(&root, Options::default()).unwrap();
    let history = History::open(&temp.path().join("state"), HistoryLimits::default()).unwrap();
    lay(&root, "x", (action != "create").then_some(OLD));
    let change = Change::new(RelPath::parse("x").unwrap(), kind(action));
    let plan = workspace.plan(&ChangeSet { changes: vec![change] }).unwrap();
    let made = [RelPath::parse("made").unwrap()];
    fs::create_dir(root.join("made")).unwrap();
    let temps = [TEMP.to_owned()];
    store::begin(&mut history.connection(), &plan, &Origin::default(), &made, &temps).unwrap();
    lay(&root, "x", present);
    lay(&root, TEMP, beside);

    assert_eq!(recover(&workspace, &history).unwrap().taken_back, 1, "{what}");
    let now = fs::read(root.join("x")).ok();
    assert_eq!(now.as_deref(), expected(action, present, beside), "{what}");
    assert!(!root.join(TEMP).exists() && !root.join("made").exists(), "{what}");
    for bytes in [present, beside].into_iter().flatten().filter(|bytes| *bytes == FOREIGN) {
        let kept = history.content(&handle::hash(bytes)).unwrap().is_some();
        assert!(now.as_deref() == Some(bytes) || kept, "{what}: lost");
    }
    assert_eq!(history.stats().unwrap().entries, 0, "{what}");
    assert_eq!(recover(&workspace, &history).unwrap(), Recovered::default(), "{what}");
}

/// What the file must hold after a finished change: what it holds, but where its exchange is lost.
fn completed<'a>(
    action: &str,
    present: Option<&'a [u8]>,
    beside: Option<&'a [u8]>,
) -> Option<&'a [u8]> {
    match (action, present, beside) {
        ("modify", Some(OLD), Some(NEW)) | ("create", None, Some(NEW)) => beside,
        _ => present,
    }
}

#[test]
fn finished_changes_are_completed_and_nobodys_bytes_are_lost() {
    let contents = [None, Some(OLD), Some(NEW), Some(FOREIGN), Some(PARTIAL)];
    for action in ["create", "modify", "delete"] {
        for present in contents {
            for beside in contents {
                let what = format!("{action} {present:?} {beside:?}");
                check_finished(action, present, beside, &what);
            }
        }
    }
}

fn check_finished(action: &str, present: Option<&[u8]>, beside: Option<&[u8]>, what: &str) {
    let temp = memory();
    let root = temp.path().join("root");
    fs::create_dir(&root).unwrap();
    let workspace = Workspace::open(&root, Options::default()).unwrap();
    let history = History::open(&temp.path().join("state"), HistoryLimits::default()).unwrap();
    lay(&root, "x", (action != "create").then_some(OLD));
    let change = Change::new(RelPath::parse("x").unwrap(), kind(action));
    let plan = workspace.plan(&ChangeSet { changes: vec![change] }).unwrap();
    let temps = [TEMP.to_owned()];
    let origin = Origin::default();
    let number = store::begin(&mut history.connection(), &plan, &origin, &[], &temps).unwrap();
    store::finish(&mut history.connection(), number).unwrap();
    lay(&root, "x", present);
    lay(&root, TEMP, beside);

    let recovered = recover(&workspace, &history).unwrap();
    assert_eq!(recovered, Recovered { taken_back: 0, swept: 1 }, "{what}");
    let now = fs::read(root.join("x")).ok();
    assert_eq!(now.as_deref(), completed(action, present, beside), "{what}");
    assert!(!root.join(TEMP).exists(), "{what}");
    for bytes in [present, beside].into_iter().flatten().filter(|bytes| *bytes == FOREIGN) {
        let kept = history.content(&handle::hash(bytes)).unwrap().is_some();
        assert!(now.as_deref() == Some(bytes) || kept, "{what}: lost");
    }
    assert_eq!(history.stats().unwrap().entries, 1, "{what}");
    assert_eq!(recover(&workspace, &history).unwrap(), Recovered::default(), "{what}");
}

#[test]
fn old_versions_of_finished_changes_are_swept() {
    let temp = memory();
    let root = temp.path().join("root");
    fs::create_dir(&root).unwrap();
    let workspace = Workspace::open(&root, Options::default()).unwrap();
    let history = History::open(&temp.path().join("state"), HistoryLimits::default()).unwrap();
    lay(&root, "x", Some(OLD));
    let change = Change::new(RelPath::parse("x").unwrap(), kind("modify"));
    let plan = workspace.plan(&ChangeSet { changes: vec![change] }).unwrap();
    let temps = [TEMP.to_owned()];
    let number =
        store::begin(&mut history.connection(), &plan, &Origin::default(), &[], &temps).unwrap();
    store::finish(&mut history.connection(), number).unwrap();
    lay(&root, "x", Some(NEW));
    lay(&root, TEMP, Some(OLD));
    let recovered = recover(&workspace, &history).unwrap();
    assert_eq!(recovered, Recovered { taken_back: 0, swept: 1 });
    assert_eq!(fs::read(root.join("x")).unwrap(), NEW);
    assert!(!root.join(TEMP).exists());
    assert_eq!(recover(&workspace, &history).unwrap().swept, 0);
}
