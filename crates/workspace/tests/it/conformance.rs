//! What every host of tools does alike, with the files of a real workspace: between it and a tool the
//! daemon puts policy and sessions, which no check is about.

use std::fs;
use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use moss_sdk::context::{
    Applied, AppliedFile, BoxFuture, Files, FinishedVisit, ProposalOutcome, TextVisitor,
};
use moss_sdk::edit::ChangeSet;
use moss_sdk::file::{
    FileBytes, FileDigest, FileLines, FileSnapshot, LineWindow, ListOptions, Listing, VisitOptions,
};
use moss_sdk::testing::conformance::{ConformanceHost, failing};
use moss_sdk::{ContentHash, RelPath, ToolError};
use moss_workspace::{
    Error, FileLimits, MayRead, NoBuffers, Resolver, VisitGate, Workspace, WorkspaceOptions,
};

use crate::fixture::{Fixture, RESOLVERS, origin, rel};

const EDIT_BYTES_MAX: u64 = 1 << 20;
const SEARCH_BYTES_MAX: u64 = 12 << 20;

/// A workspace as the daemon gives it to a tool that may do everything.
struct Host {
    fixture: Fixture,
    denied: Mutex<Vec<RelPath>>,
    cancelled: AtomicBool,
    dry_run: AtomicBool,
}

#[test]
fn a_workspace_does_as_every_host() {
    for resolver in RESOLVERS {
        assert_eq!(failing(|| Host::new(resolver)), [""; 0], "{resolver:?}");
    }
}

/// What is at hand at once.
fn ready<'a, T: Send + 'a>(value: Result<T, Error>) -> BoxFuture<'a, Result<T, ToolError>> {
    Box::pin(std::future::ready(value.map_err(ToolError::from)))
}

// === impl Host ===

impl Host {
    fn new(resolver: Resolver) -> Self {
        let mut fixture = Fixture::with(resolver);
        let limits = FileLimits {
            edit_bytes_max: EDIT_BYTES_MAX,
            search_bytes_max: SEARCH_BYTES_MAX,
            ..FileLimits::default()
        };
        let options =
            WorkspaceOptions { resolver: Some(resolver), limits, ..WorkspaceOptions::default() };
        fixture.workspace = Workspace::open(&fixture.root(), options).unwrap();
        Self {
            fixture,
            denied: Mutex::default(),
            cancelled: AtomicBool::new(false),
            dry_run: AtomicBool::new(false),
        }
    }

    fn workspace(&self) -> &Workspace {
        &self.fixture.workspace
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn carry_out(&self, changes: &ChangeSet) -> Result<Applied, Error> {
        let plan = self.workspace().plan(changes)?;
        let history = match self.dry_run.load(Ordering::Relaxed) {
            true => None,
            false => {
                let Fixture { workspace, history, .. } = &self.fixture;
                Some(workspace.commit(&plan, history, &origin("a check"))?.number)
            }
        };
        let files = plan.files().iter();
        let files = files.map(|file| AppliedFile { path: file.path.clone(), hash: file.after });
        Ok(Applied { history, files: files.collect() })
    }
}

impl Files for Host {
    fn path(&self, text: &str) -> Result<RelPath, ToolError> {
        Ok(self.workspace().path(text)?)
    }

    fn read<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Result<FileSnapshot, ToolError>> {
        ready(self.workspace().read(path))
    }

    fn read_unasked<'a>(
        &'a self,
        path: &'a RelPath,
    ) -> BoxFuture<'a, Result<Option<FileSnapshot>, ToolError>> {
        ready(self.workspace().read(path).map(Some))
    }

    fn digest<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Result<FileDigest, ToolError>> {
        ready(self.workspace().open_for_reading(path).and_then(|opened| opened.digest()))
    }

    fn read_bytes<'a>(
        &'a self,
        path: &'a RelPath,
        bytes_max: u64,
    ) -> BoxFuture<'a, Result<Option<FileBytes>, ToolError>> {
        let opened = self.workspace().open_for_reading(path);
        ready(opened.and_then(|opened| opened.read_bytes(bytes_max)))
    }

    fn read_lines<'a>(
        &'a self,
        path: &'a RelPath,
        window: LineWindow,
    ) -> BoxFuture<'a, Result<FileLines, ToolError>> {
        ready(self.workspace().read_lines(path, window))
    }

    fn list<'a>(
        &'a self,
        path: &'a RelPath,
        options: ListOptions,
    ) -> BoxFuture<'a, Result<Listing, ToolError>> {
        ready(self.workspace().list(path, options, &|_| true, &|| self.is_cancelled()))
    }

    fn visit_texts<'a>(
        &'a self,
        path: &'a RelPath,
        options: VisitOptions,
        mut visitor: Box<dyn TextVisitor>,
    ) -> BoxFuture<'a, Result<FinishedVisit, ToolError>> {
        let denied = self.denied.lock().unwrap();
        let reads = |real: &RelPath, _: &RelPath| match denied.contains(real) {
            true => MayRead::No,
            false => MayRead::Yes,
        };
        let gate = VisitGate {
            lists: &|_| true,
            reads: &reads,
            one_name: false,
            is_apart: false,
            buffers: &NoBuffers,
            cancelled: &|| self.is_cancelled(),
            name: None,
        };
        let visited = self.workspace().visit_texts(path, options, gate, visitor.as_mut());
        ready(visited.map(|visited| (visitor, visited)))
    }

    fn note_read(&self, _: &RelPath, _: ContentHash) {}

    fn last_read(&self, _: &RelPath) -> Option<ContentHash> {
        None
    }

    fn recently_read(&self, _: usize) -> Vec<RelPath> {
        Vec::new()
    }
}

impl ConformanceHost for Host {
    fn root(&self) -> String {
        self.workspace().root().to_str().unwrap().to_owned()
    }

    fn put(&self, path: &str, bytes: &[u8]) {
        self.fixture.put(path, bytes);
    }

    fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.fixture.root().join(path)).ok()
    }

    fn ignore(&self, path: &str) {
        let file = self.fixture.root().join(".gitignore");
        let mut file = fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        writeln!(file, "/{path}").unwrap();
    }

    fn deny(&self, path: &str) {
        self.denied.lock().unwrap().push(rel(path));
    }

    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    fn set_dry_run(&self) {
        self.dry_run.store(true, Ordering::Relaxed);
    }

    fn edit_bytes_max(&self) -> u64 {
        EDIT_BYTES_MAX
    }

    fn search_bytes_max(&self) -> u64 {
        SEARCH_BYTES_MAX
    }

    fn propose(&self, changes: ChangeSet) -> Result<ProposalOutcome, ToolError> {
        match self.carry_out(&changes) {
            Ok(applied) => Ok(ProposalOutcome::Applied(applied)),
            Err(stale @ Error::Changed { .. }) => Ok(ProposalOutcome::Stale(stale.into())),
            Err(error) => Err(error.into()),
        }
    }
}
