//! What a native tool sees of the world: files through the policy, effects through [`Effects`].

use std::any::Any;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use moss_sdk::code_map::CodeMap;
use moss_sdk::code_search::{CodeSearch, CodeSearchFound, CodeSearchGoal};
use moss_sdk::command::{CommandReport, CommandRequest};
use moss_sdk::content::ContentPart;
use moss_sdk::context::{
    BlockingWork, BoxFuture, Editors, Files, FinishedVisit, Host, Progress, ProposalOutcome,
    ScannedText, TextScanner, TextVisitor,
};
use moss_sdk::edit::ChangeSet;
use moss_sdk::file::{
    FileBytes, FileDigest, FileLines, FileSnapshot, LineWindow, ListOptions, Listing, VisitOptions,
};
use moss_sdk::history::{Past, PastQuery, Recalled};
use moss_sdk::job::{JobReport, JobRequest};
use moss_sdk::plugin::{PluginRegistered, PluginRequest};
use moss_sdk::prompt::{PromptApplied, PromptChange};
use moss_sdk::todo::{TodoChange, TodoItem};
use moss_sdk::tree_listing::TreeListing;
use moss_sdk::{ContentHash, ErrorCode, RelPath, ToolError};
use moss_workspace::{Error, OpenedFile, VisitGate};

use super::CallScope;
use super::effect::{Effects, FileNames, ReadableByAll};
use super::parse_ahead::FILE_BYTES_MIN;
use super::read_access::{NotRead, ReadAccess};
use super::searching;
use super::stop::EffectStop;
use crate::artifacts::{READING_BYTES, SCHEME};
use crate::todos::TodoKey;
use moss_dispatch::Event;

/// The host's side of one call of a native tool.
pub(super) struct CallHost {
    pub(super) scope: Arc<CallScope>,
    pub(super) effects: Arc<Effects>,
    /// An editor did not respond.
    pub(super) met_silence: AtomicBool,
}

// === impl CallHost ===

impl CallHost {
    pub(super) fn new(scope: Arc<CallScope>, effects: Arc<Effects>) -> Self {
        Self { scope, effects, met_silence: AtomicBool::new(false) }
    }

    /// Opens a file, asks the policy about its real name, and reads it. What is in memory is read
    /// at once; whatever may have to wait for a disk does so on the blocking pool.
    async fn reading<T: Send + 'static>(
        &self,
        path: &RelPath,
        read: impl Fn(&OpenedFile<'_>) -> Result<T, moss_workspace::Error> + Clone + Send + 'static,
    ) -> Result<T, ToolError> {
        let mut reader = self.reader();
        if let Some(value) = reader.read_cached(path, &read) {
            return Ok(value);
        }
        loop {
            let (read_now, asked, read) = (reader.clone(), path.clone(), read.clone());
            match self.scope.blocking(move || read_now.read(&asked, read)).await? {
                Ok(value) => return Ok(value),
                Err(NotRead::Failed(error)) => return Err(self.with_near_name(path, error).await),
                Err(NotRead::Ask(real, decision)) => {
                    let names = FileNames { real: &real, asked: path };
                    let asked = self.effects.ask_read(names, &decision).await;
                    asked.map_err(|stop| self.effects.pass_on(stop))?;
                    // The rules may be others by now.
                    reader = self.reader();
                }
                Err(NotRead::Denied(path, decision)) => {
                    let denied = self.effects.deny_read(&path, &decision).await;
                    return Err(self.effects.pass_on(denied));
                }
            }
        }
    }

    /// Reads lines of what a command wrote.
    async fn read_artifact(
        &self,
        path: &RelPath,
        window: LineWindow,
    ) -> Result<FileLines, ToolError> {
        let (scope, path) = (Arc::clone(&self.scope), path.to_string());
        let read = move || {
            let room = scope.room();
            let full = |bytes_max| Error::Memory { bytes: READING_BYTES, bytes_max };
            room.hold(READING_BYTES).map_err(full)?;
            let cancelled = || scope.cancel.is_cancelled();
            scope.workspace.artifacts.read_lines(&path, &scope.call.caller, window, &cancelled)
        };
        self.scope.blocking(read).await?
    }

    fn todo_key(&self) -> TodoKey {
        let call = &self.scope.call;
        TodoKey { caller: call.caller.name().to_owned(), session: call.session_id.clone() }
    }

    /// Has an effect carried out for the tool, which only gets an error of its own kind.
    pub(super) async fn effect<T>(
        &self,
        effect: impl Future<Output = Result<T, EffectStop>>,
    ) -> Result<T, ToolError> {
        effect.await.map_err(|stop| self.effects.pass_on(stop))
    }

    /// What decides about reads by the rules of this moment.
    pub(super) fn reader(&self) -> ReadAccess {
        ReadAccess::new(&self.scope, &self.effects)
    }
}

impl Files for CallHost {
    fn path(&self, text: &str) -> Result<RelPath, ToolError> {
        Ok(self.scope.workspace.files.path(text)?)
    }

    fn read<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Result<FileSnapshot, ToolError>> {
        Box::pin(self.reading(path, |opened: &OpenedFile<'_>| opened.read()))
    }

    fn read_unasked<'a>(
        &'a self,
        path: &'a RelPath,
    ) -> BoxFuture<'a, Result<Option<FileSnapshot>, ToolError>> {
        let reader = self.reader();
        Box::pin(async move {
            let read = |opened: &OpenedFile<'_>| opened.read();
            if let Some(snapshot) = reader.read_cached(path, read) {
                return Ok(Some(snapshot));
            }
            let path = path.clone();
            match self.scope.blocking(move || reader.read(&path, read)).await? {
                Ok(snapshot) => Ok(Some(snapshot)),
                Err(NotRead::Ask(..) | NotRead::Denied(..)) => Ok(None),
                Err(NotRead::Failed(error)) => Err(error),
            }
        })
    }

    fn digest<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Result<FileDigest, ToolError>> {
        Box::pin(self.reading(path, |opened: &OpenedFile<'_>| opened.digest()))
    }

    fn read_bytes<'a>(
        &'a self,
        path: &'a RelPath,
        bytes_max: u64,
    ) -> BoxFuture<'a, Result<Option<FileBytes>, ToolError>> {
        Box::pin(self.reading(path, move |opened: &OpenedFile<'_>| opened.read_bytes(bytes_max)))
    }

    fn read_lines<'a>(
        &'a self,
        path: &'a RelPath,
        window: LineWindow,
    ) -> BoxFuture<'a, Result<FileLines, ToolError>> {
        if path.as_str().starts_with(SCHEME) {
            return Box::pin(self.read_artifact(path, window));
        }
        let read = move |opened: &OpenedFile<'_>| opened.read_lines(window);
        Box::pin(async move {
            let lines = self.reading(path, read).await?;
            if lines.size_bytes >= FILE_BYTES_MIN {
                self.reader().parse_ahead(path);
            }
            Ok(lines)
        })
    }

    fn list<'a>(
        &'a self,
        path: &'a RelPath,
        options: ListOptions,
    ) -> BoxFuture<'a, Result<Listing, ToolError>> {
        Box::pin(async move {
            match self.list_names(path, options).await {
                Ok(listing) => Ok(listing),
                Err(error) => Err(self.with_near_name(path, error).await),
            }
        })
    }

    fn list_tree<'a>(
        &'a self,
        path: &'a RelPath,
        entries_max: usize,
    ) -> BoxFuture<'a, Result<TreeListing, ToolError>> {
        Box::pin(async move {
            match self.tree_names(path, entries_max).await {
                Ok(listing) => Ok(listing),
                Err(error) => Err(self.with_near_name(path, error).await),
            }
        })
    }

    fn scan_text<'a>(
        &'a self,
        path: &'a RelPath,
        scanner: Box<dyn TextScanner>,
    ) -> BoxFuture<'a, Result<ScannedText, ToolError>> {
        let scanner = Arc::new(Mutex::new(scanner));
        Box::pin(self.reading(path, move |opened: &OpenedFile<'_>| {
            opened.scan_text(&mut **scanner.lock().unwrap_or_else(PoisonError::into_inner))
        }))
    }

    fn visit_texts<'a>(
        &'a self,
        path: &'a RelPath,
        options: VisitOptions,
        mut visitor: Box<dyn TextVisitor>,
    ) -> BoxFuture<'a, Result<FinishedVisit, ToolError>> {
        let reader = self.reader();
        let path = path.clone();
        Box::pin(async move {
            let visit = move || {
                let workspace = reader.workspace();
                let name = reader.name();
                let gate = VisitGate {
                    lists: &|path| reader.lists(path),
                    reads: &|real, asked| reader.reads(real, asked),
                    one_name: false,
                    is_apart: reader.is_apart(),
                    buffers: &*workspace.editors,
                    cancelled: &|| reader.is_cancelled(),
                    name: name.as_ref(),
                };
                let rules = ReadableByAll(workspace);
                let visitor_mut = visitor.as_mut();
                let visited = workspace.visit_texts(&path, options, gate, visitor_mut, &rules);
                visited.map(|visited| (visitor, visited))
            };
            Ok(self.scope.blocking(visit).await??)
        })
    }

    fn search_code(
        &self,
        search: CodeSearch,
    ) -> BoxFuture<'_, Result<Option<CodeSearchFound>, ToolError>> {
        let reader = self.reader();
        Box::pin(async move {
            let is_question = matches!(search.goal, CodeSearchGoal::Question(_));
            let sees_commits = is_question && self.effects.follow_commits().await;
            let meaning = self.meaning_of(&search).await?;
            let search = move || searching::search(&reader, &search, sees_commits, meaning);
            Ok(self.scope.blocking(search).await??)
        })
    }

    fn map_code<'a>(
        &'a self,
        beneath: &'a RelPath,
    ) -> BoxFuture<'a, Result<Option<CodeMap>, ToolError>> {
        let (reader, beneath) = (self.reader(), beneath.clone());
        let map = move || searching::map(&reader, &beneath);
        Box::pin(async move { Ok(self.scope.blocking(map).await?) })
    }

    fn note_read(&self, path: &RelPath, hash: ContentHash) {
        if let Some(session) = self.scope.call.session() {
            self.scope.workspace.sessions.note(&session, path, hash);
        }
    }

    fn last_read(&self, path: &RelPath) -> Option<ContentHash> {
        let session = self.scope.call.session()?;
        self.scope.workspace.sessions.last(&session, path)
    }

    fn recently_read(&self, files_max: usize) -> Vec<RelPath> {
        let session = self.scope.call.session();
        session.map_or_else(Vec::new, |session| {
            self.scope.workspace.sessions.recent(&session, files_max)
        })
    }
}

impl Host for CallHost {
    fn editors(&self) -> &dyn Editors {
        self
    }

    fn propose(&self, changes: ChangeSet) -> BoxFuture<'_, Result<ProposalOutcome, ToolError>> {
        let lints = self.lints_of(&changes);
        Box::pin(self.effect(self.effects.propose(changes, lints)))
    }

    fn past(&self, query: PastQuery) -> BoxFuture<'_, Result<Past, ToolError>> {
        let scope = Arc::clone(&self.scope);
        let look = move || super::past::look(&scope, &query);
        Box::pin(async move { self.scope.blocking(look).await? })
    }

    fn recall(&self, index: usize) -> BoxFuture<'_, Result<Recalled, ToolError>> {
        let scope = Arc::clone(&self.scope);
        let recall = move || super::past::recall(&scope, index);
        Box::pin(async move { self.scope.blocking(recall).await? })
    }

    fn change_user_prompt(
        &self,
        change: PromptChange,
    ) -> BoxFuture<'_, Result<PromptApplied, ToolError>> {
        Box::pin(self.effect(self.effects.change_user_prompt(change)))
    }

    fn register_plugin(
        &self,
        request: PluginRequest,
    ) -> BoxFuture<'_, Result<PluginRegistered, ToolError>> {
        Box::pin(self.effect(self.effects.register_plugin(request)))
    }

    fn run_command(
        &self,
        request: CommandRequest,
    ) -> BoxFuture<'_, Result<CommandReport, ToolError>> {
        if self.scope.behalf.is_some() {
            let message = "a plugin does not run commands";
            let denied = ToolError::new(ErrorCode::Denied, message);
            return Box::pin(std::future::ready(Err(denied)));
        }
        Box::pin(self.effect(self.effects.run_command(request)))
    }

    fn job(&self, request: JobRequest) -> BoxFuture<'_, Result<JobReport, ToolError>> {
        if self.scope.behalf.is_some() {
            let message = "a plugin does not see the jobs of the caller";
            let denied = ToolError::new(ErrorCode::Denied, message);
            return Box::pin(std::future::ready(Err(denied)));
        }
        Box::pin(self.effect(self.effects.job(request)))
    }

    fn todos(&self) -> BoxFuture<'_, Result<Vec<TodoItem>, ToolError>> {
        let (scope, key) = (Arc::clone(&self.scope), self.todo_key());
        let get = move || scope.workspace.todos.get(&key);
        Box::pin(async move { self.scope.blocking(get).await? })
    }

    fn change_todos(&self, change: TodoChange) -> BoxFuture<'_, Result<Vec<TodoItem>, ToolError>> {
        if self.scope.behalf.is_some() {
            let message = "a plugin does not change the task list of the caller";
            let denied = ToolError::new(ErrorCode::Denied, message);
            return Box::pin(std::future::ready(Err(denied)));
        }
        let (scope, key) = (Arc::clone(&self.scope), self.todo_key());
        let change = move || {
            let todos = &scope.workspace.todos;
            match scope.call.dry_run {
                true => change(todos.get(&key)?),
                false => todos.change(&key, change),
            }
        };
        Box::pin(async move { self.scope.blocking(change).await? })
    }

    fn compute_untyped(
        &self,
        work: BlockingWork,
    ) -> BoxFuture<'_, Result<Box<dyn Any + Send>, ToolError>> {
        Box::pin(async move { Ok(self.scope.blocking(work).await?) })
    }

    fn add_content(&self, part: ContentPart) -> Result<(), ToolError> {
        self.scope.content.add(part, self.scope.daemon.config().calls.output_bytes_max)
    }

    fn progress(&self, progress: Progress) {
        self.scope.events.offer(Event::Progress(progress));
    }

    fn is_cancelled(&self) -> bool {
        self.scope.cancel.is_cancelled()
    }
}
