//! An in-memory host for the tests of tools: files are fixture bytes, proposals are applied in
//! memory, what was read is kept.
//!
//! It knows UTF-8 with and without a byte-order mark; everything else is binary. It has no policy
//! and asks nobody. It never touches the machine it runs on. That it does with files what a real
//! workspace does is checked in [`conformance`].

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};
use std::time::SystemTime;

use serde_json::Value;

use crate::command::{CommandReport, CommandRequest};
use crate::content::ContentPart;
use crate::context::{BlockingWork, BoxFuture, Context, Editors, Host, Progress, ProposalOutcome};
use crate::edit::ChangeSet;
use crate::error::{ErrorCode, ToolError};
use crate::hash::ContentHash;
use crate::history::{Past, PastChange, PastQuery, Recalled};
use crate::job::{JobReport, JobRequest};
use crate::path::RelPath;
use crate::plugin::{PluginRegistered, PluginRequest};
use crate::prompt::{PromptApplied, PromptChange};
use crate::todo::{TodoChange, TodoItem};
use crate::tool::AnyTool;

mod changes;
mod checks;
mod code;
mod configuration;
pub mod conformance;
mod editor;
mod files;
mod language_server;
mod reading;
mod text;
mod tree;

pub use text::{decode, hash};

/// The absolute path of the workspace of every [`MemoryHost`].
pub const ROOT: &str = "/workspace";
/// The size of the largest file that is read as a whole or edited, as the daemon has it by default.
pub const EDIT_BYTES_MAX: u64 = 10 << 20;

/// A workspace in memory, with one caller. Cheap to clone; clones share their files.
#[derive(Clone, Default)]
pub struct MemoryHost(Arc<Mutex<MemoryHostState>>);

#[derive(Default)]
struct MemoryHostState {
    files: BTreeMap<RelPath, MemoryFile>,
    /// Directories that stay though their files were deleted.
    directories: BTreeSet<RelPath>,
    ignored: BTreeSet<RelPath>,
    denied: BTreeSet<RelPath>,
    read: HashMap<RelPath, ContentHash>,
    /// The last one last.
    read_order: Vec<RelPath>,
    proposals: Vec<ChangeSet>,
    /// What `past` returns, the oldest first.
    past: Vec<PastChange>,
    /// What `recall` returns, the oldest first.
    recalled: Vec<Recalled>,
    history: u64,
    interference: Option<(RelPath, Vec<u8>)>,
    todos: Vec<TodoItem>,
    user_prompt: String,
    plugins: Vec<PluginRequest>,
    commands: Vec<CommandRequest>,
    checks: checks::MemoryChecks,
    code: code::MemoryCode,
    job_requests: Vec<JobRequest>,
    content: Vec<ContentPart>,
    dry_run: bool,
    cancelled: bool,
    editor: editor::MemoryEditor,
    servers: language_server::MemoryServers,
}

#[derive(Clone)]
struct MemoryFile {
    bytes: Vec<u8>,
    modified: SystemTime,
}

/// Runs a future that never waits.
fn finish<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut std::task::Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("an in-memory host replies at once"),
    }
}

// === impl MemoryHost ===

impl MemoryHost {
    /// Makes a workspace of texts.
    ///
    /// # Panics
    ///
    /// On a malformed path, as the other methods do: fixtures are written by hand.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let host = Self::default();
        for (path, text) in files {
            host.write(path, text);
        }
        host
    }

    /// Writes a file past every tool, as another program would.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let file = MemoryFile { bytes: bytes.as_ref().to_vec(), modified: SystemTime::UNIX_EPOCH };
        self.state().files.insert(fixture(path), file);
    }

    /// Sets when a file last changed.
    pub fn set_modified(&self, path: &str, modified: SystemTime) {
        let mut state = self.state();
        state.files.get_mut(&fixture(path)).expect("the fixture exists").modified = modified;
    }

    /// Leaves a file or a directory out of listings, as an ignore file would.
    pub fn ignore(&self, path: &str) {
        self.state().ignored.insert(fixture(path));
    }

    /// Keeps a file from whatever asks nobody, as a policy would.
    pub fn deny(&self, path: &str) {
        self.state().denied.insert(fixture(path));
    }

    /// From now on nothing is written.
    pub fn set_dry_run(&self) {
        self.state().dry_run = true;
    }

    /// From now on the call is cancelled.
    pub fn cancel(&self) {
        self.state().cancelled = true;
    }

    /// Returns the bytes of a file; none where there is no file.
    pub fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        self.state().files.get(&fixture(path)).map(|file| file.bytes.clone())
    }

    /// Returns a file as text; none where there is no file.
    ///
    /// # Panics
    ///
    /// If it is not UTF-8.
    pub fn text(&self, path: &str) -> Option<String> {
        self.bytes(path).map(|bytes| String::from_utf8(bytes).expect("the file is UTF-8"))
    }

    /// Has somebody else write a file right before the next proposal is looked at.
    pub fn write_before_next_proposal(&self, path: &str, text: &str) {
        self.state().interference = Some((fixture(path), text.as_bytes().to_vec()));
    }

    /// Returns every change set that was proposed so far.
    pub fn proposals(&self) -> Vec<ChangeSet> {
        self.state().proposals.clone()
    }

    /// Adds a change that can be recalled, as the newest.
    pub fn add_recalled(&self, change: Recalled) {
        self.state().recalled.push(change);
    }

    /// Adds a change to what the past shows, as the newest. Proposals do not get there by
    /// themselves.
    pub fn add_past(&self, change: PastChange) {
        self.state().past.push(change);
    }

    /// Returns the plugins that were registered.
    pub fn plugins(&self) -> Vec<PluginRequest> {
        self.state().plugins.clone()
    }

    /// Returns the commands that were to be run, those of checks too. None is: each is reported as one that
    /// did nothing.
    pub fn commands(&self) -> Vec<CommandRequest> {
        self.state().commands.clone()
    }

    /// Returns what was asked of jobs. No job exists.
    pub fn job_requests(&self) -> Vec<JobRequest> {
        self.state().job_requests.clone()
    }

    /// Returns what was shown beside outputs.
    pub fn content(&self) -> Vec<ContentPart> {
        self.state().content.clone()
    }

    /// Returns the user's own prompt.
    pub fn user_prompt(&self) -> String {
        self.state().user_prompt.clone()
    }

    /// Returns the host's side of a call.
    pub fn context(&self) -> Context {
        Context::new(Arc::new(self.clone()))
    }

    /// Calls a tool and waits for its result.
    ///
    /// # Errors
    ///
    /// What the tool says.
    pub fn call(&self, tool: &dyn AnyTool, arguments: Value) -> Result<Value, ToolError> {
        finish(tool.call(arguments, self.context()))
    }

    fn state(&self) -> MutexGuard<'_, MemoryHostState> {
        self.0.lock().expect("no test panics while it holds the lock")
    }
}

impl Host for MemoryHost {
    fn editors(&self) -> &dyn Editors {
        self
    }

    fn propose(&self, changes: ChangeSet) -> BoxFuture<'_, Result<ProposalOutcome, ToolError>> {
        let proposed = match self.state().propose(changes) {
            Err(error) if error.code == ErrorCode::Conflict => Ok(ProposalOutcome::Stale(error)),
            result => result.map(ProposalOutcome::Applied),
        };
        Box::pin(async { proposed })
    }

    fn past(&self, query: PastQuery) -> BoxFuture<'_, Result<Past, ToolError>> {
        let concerned = |change: &PastChange| {
            let has = |path: &RelPath| change.files.iter().any(|file| file.path == *path);
            query.path.as_ref().is_none_or(has) && query.number.is_none_or(|n| n == change.number)
        };
        let mut changes: Vec<_> = self.state().past.iter().rev().cloned().collect();
        changes.retain(concerned);
        let has_more = changes.len() > query.changes_max;
        changes.truncate(query.changes_max);
        Box::pin(async move { Ok(Past { changes, has_more }) })
    }

    fn recall(&self, index: usize) -> BoxFuture<'_, Result<Recalled, ToolError>> {
        let state = self.state();
        let found = state.recalled.iter().rev().nth(index).cloned();
        let is_denied =
            |change: &Recalled| change.files.iter().any(|file| state.denied.contains(&file.path));
        let recalled = match found {
            Some(change) if is_denied(&change) => {
                let message = format!("change {} has a file that is denied", change.number);
                Err(ToolError::new(ErrorCode::Denied, message))
            }
            Some(change) => Ok(change),
            None => Err(ToolError::new(ErrorCode::NotFound, format!("no change {index}"))),
        };
        drop(state);
        Box::pin(async move { recalled })
    }

    fn change_user_prompt(
        &self,
        change: PromptChange,
    ) -> BoxFuture<'_, Result<PromptApplied, ToolError>> {
        let applied = self.state().change_user_prompt(&change);
        Box::pin(async { Ok(applied) })
    }

    fn register_plugin(
        &self,
        request: PluginRequest,
    ) -> BoxFuture<'_, Result<PluginRegistered, ToolError>> {
        let registered = self.state().register_plugin(request);
        Box::pin(async { registered })
    }

    fn run_command(
        &self,
        request: CommandRequest,
    ) -> BoxFuture<'_, Result<CommandReport, ToolError>> {
        let report = self.state().run_command(request);
        Box::pin(async { Ok(report) })
    }

    fn job(&self, request: JobRequest) -> BoxFuture<'_, Result<JobReport, ToolError>> {
        self.state().job_requests.push(request);
        Box::pin(async { Ok(JobReport::default()) })
    }

    fn todos(&self) -> BoxFuture<'_, Result<Vec<TodoItem>, ToolError>> {
        let todos = self.state().todos.clone();
        Box::pin(async { Ok(todos) })
    }

    fn change_todos(&self, change: TodoChange) -> BoxFuture<'_, Result<Vec<TodoItem>, ToolError>> {
        let mut state = self.state();
        let changed = change(state.todos.clone());
        if let (Ok(todos), false) = (&changed, state.dry_run) {
            state.todos.clone_from(todos);
        }
        Box::pin(async { changed })
    }

    fn compute_untyped(
        &self,
        work: BlockingWork,
    ) -> BoxFuture<'_, Result<Box<dyn Any + Send>, ToolError>> {
        let value = work();
        Box::pin(async { Ok(value) })
    }

    fn add_content(&self, part: ContentPart) -> Result<(), ToolError> {
        self.state().content.push(part);
        Ok(())
    }

    fn progress(&self, _: Progress) {}

    fn is_cancelled(&self) -> bool {
        self.state().cancelled
    }
}

fn fixture(path: &str) -> RelPath {
    RelPath::parse(path).expect("fixture paths are well-formed")
}
