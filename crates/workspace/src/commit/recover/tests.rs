//! Every state that a crash can leave, laid by hand: what the file holds times what lies beside
//! it, for each kind of change.

use std::fs;
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
    assert_eq!(fs::read(site.root().join(TEMP)).unwrap(), large);
    fs::remove_file(site.root().join(TEMP)).unwrap();
    assert_eq!(site.recover().rolled_back, 1);
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
        let change = Change::new(RelPath::parse("x").unwrap(), kind(action));
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
