//! A workspace and a state directory in a temporary directory.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use moss_sdk::edit::{Change, ChangeKind, ChangeSet, Retention, Splice};
use moss_sdk::{ContentHash, RelPath};
use moss_workspace::{
    Committed, Error, History, HistoryLimits, Origin, Resolver, UndoTarget, Workspace,
    WorkspaceOptions, hash,
};
use tempfile::TempDir;

pub(crate) const RESOLVERS: [Resolver; 2] = [Resolver::Kernel, Resolver::Walk];

pub(crate) struct Fixture {
    pub(crate) temp: TempDir,
    pub(crate) workspace: Workspace,
    pub(crate) history: History,
}

/// Says what this system does not let a test try. Written past the test runner, which shows nothing of a
/// test that passes.
pub(crate) fn not_tested(what: &str) {
    std::io::stderr().write_all(format!("\nNOT TESTED: {what}\n").as_bytes()).unwrap();
}

pub(crate) fn rel(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

pub(crate) fn open(root: &Path, resolver: Resolver) -> Workspace {
    let options = WorkspaceOptions { resolver: Some(resolver), ..WorkspaceOptions::default() };
    Workspace::open(root, options).unwrap()
}

pub(crate) fn history(state: &Path) -> History {
    History::open(state, HistoryLimits::default()).unwrap()
}

pub(crate) fn origin(summary: &str) -> Origin {
    Origin { summary: summary.to_owned(), tool: "test".to_owned(), ..Origin::default() }
}

pub(crate) fn create(path: &str, content: &str) -> Change {
    Change::new(rel(path), ChangeKind::Create { content: content.to_owned() })
}

pub(crate) fn write(path: &str, base: &[u8], content: &str) -> Change {
    let kind = ChangeKind::Write { base: hash(base), content: content.to_owned() };
    Change::new(rel(path), kind)
}

pub(crate) fn edit(path: &str, base: ContentHash, splices: Vec<Splice>) -> Change {
    Change::new(rel(path), ChangeKind::Edit { base, splices })
}

pub(crate) fn delete(path: &str, base: &[u8], retention: Retention) -> Change {
    Change::new(rel(path), ChangeKind::Delete { base: hash(base), retention })
}

/// A directory in shared memory, or else an ordinary one.
pub(crate) fn memory() -> TempDir {
    let shared = Path::new("/dev/shm");
    if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() }.unwrap()
}

/// Every name beneath a directory, with its content where it is a file.
pub(crate) fn tree(root: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            let content = kind.is_file().then(|| fs::read(entry.path()).unwrap());
            found.push((entry.path().strip_prefix(root).unwrap().to_owned(), content));
            if kind.is_dir() {
                open.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// Ends the other thread when this one ends, even where it fails.
pub(crate) struct SetOnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Waits until something is there that other threads, which may be kept from running, bring about.
pub(crate) fn eventually<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    const WAIT_MAX: Duration = Duration::from_secs(60);
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < WAIT_MAX, "never: {what}");
        std::thread::yield_now();
    }
}

// === impl Fixture ===

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(Resolver::Kernel)
    }

    /// In memory: no test here loses power, and waiting for a disk that others use shows nothing.
    pub(crate) fn with(resolver: Resolver) -> Self {
        Self::beneath(memory(), resolver)
    }

    pub(crate) fn on_disk(resolver: Resolver) -> Self {
        Self::beneath(tempfile::tempdir().unwrap(), resolver)
    }

    fn beneath(temp: TempDir, resolver: Resolver) -> Self {
        fs::create_dir(temp.path().join("root")).unwrap();
        let workspace = open(&temp.path().join("root"), resolver);
        let history = history(&temp.path().join("state"));
        Self { temp, workspace, history }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.temp.path().join("root")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.temp.path().join("state")
    }

    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn get(&self, path: &str) -> Vec<u8> {
        fs::read(self.root().join(path)).unwrap()
    }

    pub(crate) fn commit(&self, changes: Vec<Change>) -> Result<Committed, Error> {
        let plan = self.workspace.plan(&ChangeSet { changes })?;
        self.workspace.commit(&plan, &self.history, &origin("a test"))
    }

    pub(crate) fn undo(&self, number: u64) -> Result<Committed, Error> {
        self.undo_target(&UndoTarget::Entry(number))
    }

    pub(crate) fn undo_target(&self, target: &UndoTarget) -> Result<Committed, Error> {
        let plan = self.history.plan_undo(&self.workspace, target)?;
        self.workspace.commit(&plan, &self.history, &origin("an undo"))
    }
}
