//! Every state that a crash can leave, laid by hand: what the file holds times what lies beside
//! it, for each kind of change.

use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use moss_sdk::edit::{Change, ChangeKind, ChangeSet, Retention};
use tempfile::TempDir;

use super::*;
use crate::history::HistoryLimits;
use crate::options::{FileLimits, WorkspaceOptions};
use crate::origin::Origin;

const OLD: &[u8] = b"old\n";
const NEW: &[u8] = b"new content\n";
const FOREIGN: &[u8] = b"somebody else's\n";
const PARTIAL: &[u8] = b"new con";
const TEMP: &str = ".moss-0.tmp";

/// A workspace and its history.
struct Site {
    temp: TempDir,
    workspace: Workspace,
    history: History,
}

/// What a crash left: what the file holds, and what lies beside it.
#[derive(Debug, Clone, Copy)]
struct State<'a> {
    action: &'a str,
    present: Option<&'a [u8]>,
    beside: Option<&'a [u8]>,
}

/// Checks every state that a crash can leave.
fn every_state(check: fn(State<'_>)) {
    let contents = [None, Some(OLD), Some(NEW), Some(FOREIGN), Some(PARTIAL)];
    for action in ["create", "modify", "delete"] {
        for present in contents {
            for beside in contents {
                check(State { action, present, beside });
            }
        }
    }
}

/// A directory in shared memory, or else an ordinary one: there are many states to lay.
fn memory() -> TempDir {
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
fn every_interrupted_commit_is_rolled_back_and_no_bytes_are_lost() {
    every_state(check_begun);
}

fn check_begun(state: State<'_>) {
    let site = Site::new();
    fs::create_dir(site.root().join("made")).unwrap();
    site.begin(state.action, &[RelPath::parse("made").unwrap()]);
    site.lay(state);

    assert_eq!(site.recover().rolled_back, 1, "{state:?}");
    site.check(state, expected(state.action, state.present, state.beside), 0);
    assert!(!site.root().join("made").exists(), "{state:?}");
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
    every_state(check_finished);
}

fn check_finished(state: State<'_>) {
    let site = Site::new();
    site.finish(state.action);
    site.lay(state);

    assert_eq!(site.recover(), Recovered { rolled_back: 0, swept: 1 }, "{state:?}");
    site.check(state, completed(state.action, state.present, state.beside), 1);
}

#[test]
fn another_programs_large_file_is_kept_before_it_is_removed_from_beside() {
    let large = "somebody else's\n".repeat(10).into_bytes();
    for action in ["create", "modify", "delete"] {
        let limits = FileLimits { read_bytes_max: 32, ..FileLimits::default() };
        let site = Site::with(WorkspaceOptions { limits, ..WorkspaceOptions::default() });
        site.begin(action, &[]);
        site.lay(State { action, present: Some(FOREIGN), beside: Some(&large) });
        assert_eq!(site.recover().rolled_back, 1, "{action}");
        assert_eq!(fs::read(site.root().join("x")).unwrap(), FOREIGN, "{action}");
        assert!(!site.root().join(TEMP).exists(), "{action}");
        assert_eq!(site.history.content(&handle::hash(&large)).unwrap(), Some(large.clone()));
    }
}

#[test]
fn another_programs_file_that_is_too_large_to_be_kept_stays_and_is_named() {
    let large = "somebody else's\n".repeat(10).into_bytes();
    let limits = FileLimits { change_bytes_max: 32, ..FileLimits::default() };
    let site = Site::with(WorkspaceOptions { limits, ..WorkspaceOptions::default() });
    site.begin("delete", &[]);
    site.lay(State { action: "delete", present: Some(FOREIGN), beside: Some(&large) });
    let error = recover(&site.workspace, &site.history).unwrap_err();
    assert!(matches!(&error, Error::TooLarge { path, .. } if path.as_str() == TEMP), "{error}");
    assert!(error.hint().unwrap().starts_with("move it away"), "{error}");
    assert_eq!(fs::read(site.root().join(TEMP)).unwrap(), large);
    fs::remove_file(site.root().join(TEMP)).unwrap();
    assert_eq!(site.recover().rolled_back, 1);
}

#[test]
fn a_deleted_content_whose_name_is_taken_is_kept_unless_it_was_to_be_forgotten() {
    for retention in [Retention::Recoverable, Retention::Permanent] {
        let site = Site::new();
        lay(&site.root(), "x", Some(OLD));
        let kind = ChangeKind::Delete { base: handle::hash(OLD), retention };
        site.begin_change(kind, &[]);
        site.lay(State { action: "delete", present: Some(FOREIGN), beside: Some(OLD) });
        assert_eq!(site.recover().rolled_back, 1);
        assert_eq!(fs::read(site.root().join("x")).unwrap(), FOREIGN);
        assert!(!site.root().join(TEMP).exists());
        let kept: Vec<_> = site.history.kept().unwrap().into_iter().map(|kept| kept.hash).collect();
        let expected = (retention == Retention::Recoverable).then(|| handle::hash(OLD));
        assert_eq!(kept, Vec::from_iter(expected), "{retention:?}");
    }
}

#[test]
fn an_old_content_that_a_rollback_was_writing_is_written_anew() {
    for cut in [&b""[..], b"ol", PARTIAL, OLD] {
        let site = Site::new();
        site.begin("modify", &[]);
        site.lay(State { action: "modify", present: Some(NEW), beside: None });
        lay(&site.root(), ".moss-0-old.tmp", Some(cut));
        assert_eq!(site.recover().rolled_back, 1, "{cut:?}");
        assert_eq!(fs::read(site.root().join("x")).unwrap(), OLD, "{cut:?}");
        assert_eq!(fs::read_dir(site.root()).unwrap().count(), 1, "{cut:?}");
    }
}

#[test]
fn old_versions_of_finished_changes_are_swept() {
    let site = Site::new();
    site.finish("modify");
    site.lay(State { action: "modify", present: Some(NEW), beside: Some(OLD) });
    assert_eq!(site.recover(), Recovered { rolled_back: 0, swept: 1 });
    assert_eq!(fs::read(site.root().join("x")).unwrap(), NEW);
    assert!(!site.root().join(TEMP).exists());
    assert_eq!(site.recover().swept, 0);
}

#[test]
fn what_cannot_be_looked_at_is_looked_at_again() {
    let site = Site::new();
    site.finish("modify");
    site.lay(State { action: "modify", present: Some(NEW), beside: Some(OLD) });
    let call_it = |name: &str| {
        let sql = "UPDATE files SET temp = ?1";
        site.history.connection().execute(sql, [name]).unwrap();
    };
    // No file system takes such a name: what lies there is not known.
    call_it(&"x".repeat(300));
    for _ in 0..2 {
        assert_eq!(site.recover(), Recovered::default());
    }
    call_it(TEMP);
    assert_eq!(site.recover(), Recovered { rolled_back: 0, swept: 1 });
    assert!(!site.root().join(TEMP).exists());
}

#[test]
fn a_link_in_the_place_of_a_directory_does_not_stop_recovery() {
    for (target, is_finished) in
        [".", "..", "/", "d", "none"].iter().flat_map(|to| [(to, false), (to, true)])
    {
        let site = Site::new();
        let directory = site.root().join("d");
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("x"), OLD).unwrap();
        let change = Change::new(RelPath::parse("d/x").unwrap(), kind("modify"));
        let plan = site.workspace.plan(&ChangeSet { changes: vec![change] }).unwrap();
        let (origin, temps) = (Origin::default(), [TEMP.to_owned()]);
        let mut connection = site.history.connection();
        let number = store::begin(&mut connection, &plan, &origin, &[], &temps).unwrap();
        if is_finished {
            store::finish(&mut connection, number).unwrap();
        }
        drop(connection);
        fs::rename(&directory, site.root().join("moved")).unwrap();
        symlink(target, &directory).unwrap();
        let [rolled_back, swept] = [!is_finished, is_finished].map(u64::from);
        assert_eq!(site.recover(), Recovered { rolled_back, swept }, "{target}");
        assert_eq!(site.recover(), Recovered::default(), "{target}");
        assert_eq!(fs::read(site.root().join("moved/x")).unwrap(), OLD, "{target}");
    }
}

#[test]
fn an_entry_counts_as_swept_and_may_go_once_the_removal_beside_its_files_is_durable() {
    let temp = memory();
    let root = temp.path().join("root");
    fs::create_dir(&root).unwrap();
    let workspace = Workspace::open(&root, WorkspaceOptions::default()).unwrap();
    let limits = HistoryLimits { bytes_max: 1, ..HistoryLimits::default() };
    let state = temp.path().join("state");
    let history = History::open(&state, HistoryLimits::default()).unwrap();
    for path in ["d/x", "e/x", "f/x", "e/y", "last"] {
        let change = Change::new(RelPath::parse(path).unwrap(), kind("create"));
        let plan = workspace.plan(&ChangeSet { changes: vec![change] }).unwrap();
        workspace.commit(&plan, &history, &Origin::default()).unwrap();
    }
    drop(history);
    let history = History::open(&state, limits).unwrap();
    let swept = || store::swept(&history.connection()).unwrap();
    let is_there = |number| history.get(number).is_ok();
    assert_eq!(swept(), 0);
    let synced = RefCell::new(Vec::new());
    let sync = |refused: &'static str| {
        let (synced, history) = (&synced, &history);
        move |spot: &Spot| {
            // Nothing is written down before.
            assert_eq!(store::swept(&history.connection()).unwrap().min(1), 0);
            synced.borrow_mut().push(spot.path.to_string());
            let full = Error::io(&spot.path, "make durable", Errno::IO);
            if spot.path.as_str() == refused { Err(full) } else { Ok(()) }
        }
    };
    note_swept(&workspace, &history, 4, sync("d/x")).unwrap();
    assert_eq!((synced.take(), swept()), (vec!["d/x".to_owned()], 0));
    history.prune(5).unwrap();
    assert!(is_there(1));
    note_swept(&workspace, &history, 4, sync("f/x")).unwrap();
    assert_eq!((synced.take(), swept()), (["d/x", "e/x", "f/x"].map(str::to_owned).to_vec(), 2));
    history.prune(5).unwrap();
    assert_eq!([1, 2, 3, 4, 5].map(is_there), [false, false, true, true, true]);
    let all = |_: &Spot| Ok(());
    note_swept(&workspace, &history, 4, all).unwrap();
    history.prune(5).unwrap();
    assert_eq!(([3, 4, 5].map(is_there), swept()), ([false, false, true], 4));
}

// === impl Site ===

impl Site {
    fn new() -> Self {
        Self::with(WorkspaceOptions::default())
    }

    fn with(options: WorkspaceOptions) -> Self {
        let temp = memory();
        let root = temp.path().join("root");
        fs::create_dir(&root).unwrap();
        let workspace = Workspace::open(&root, options).unwrap();
        let history = History::open(&temp.path().join("state"), HistoryLimits::default()).unwrap();
        Self { temp, workspace, history }
    }

    fn root(&self) -> PathBuf {
        self.temp.path().join("root")
    }

    /// Writes the intent of a change that makes directories; returns its number.
    fn begin(&self, action: &str, made: &[RelPath]) -> u64 {
        lay(&self.root(), "x", (action != "create").then_some(OLD));
        self.begin_change(kind(action), made)
    }

    fn begin_change(&self, kind: ChangeKind, made: &[RelPath]) -> u64 {
        let change = Change::new(RelPath::parse("x").unwrap(), kind);
        let plan = self.workspace.plan(&ChangeSet { changes: vec![change] }).unwrap();
        let (origin, temps) = (Origin::default(), [TEMP.to_owned()]);
        store::begin(&mut self.history.connection(), &plan, &origin, made, &temps).unwrap()
    }

    /// Writes the intent of a change, and that it is done.
    fn finish(&self, action: &str) {
        let number = self.begin(action, &[]);
        store::finish(&mut self.history.connection(), number).unwrap();
    }

    fn lay(&self, State { present, beside, .. }: State<'_>) {
        lay(&self.root(), "x", present);
        lay(&self.root(), TEMP, beside);
    }

    fn recover(&self) -> Recovered {
        recover(&self.workspace, &self.history).unwrap()
    }

    /// Fails unless the file holds what it must, nothing lies beside it, nobody's bytes are lost, and
    /// there is nothing more to recover.
    fn check(&self, state: State<'_>, expected: Option<&[u8]>, entries: u64) {
        let now = fs::read(self.root().join("x")).ok();
        assert_eq!(now.as_deref(), expected, "{state:?}");
        assert!(!self.root().join(TEMP).exists(), "{state:?}");
        let laid = [state.present, state.beside].into_iter().flatten();
        for bytes in laid.filter(|bytes| *bytes == FOREIGN) {
            let kept = self.history.content(&handle::hash(bytes)).unwrap().is_some();
            assert!(now.as_deref() == Some(bytes) || kept, "{state:?}: lost");
        }
        assert_eq!(self.history.stats().unwrap().entries, entries, "{state:?}");
        assert_eq!(self.recover(), Recovered::default(), "{state:?}");
    }
}
