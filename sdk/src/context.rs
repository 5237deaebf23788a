//! All that a running tool has. A tool reads files, proposes changes and reports progress through
//! its [`Context`]; there is no other way to an effect.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::checks::Checks;
use crate::code_map::CodeMap;
use crate::code_search::{CodeSearch, CodeSearchFound};
use crate::command::{CommandReport, CommandRequest};
use crate::content::ContentPart;
use crate::edit::ChangeSet;
use crate::editor::{
    DefinitionKind, Definitions, EditorState, Position, Symbol, UserQuestion, UserReply,
};
use crate::error::ToolError;
use crate::file::{
    Content, FileBytes, FileDigest, FileLines, FileSnapshot, LineWindow, ListOptions, Listing,
    VisitOptions, Visited, VisitedText,
};
use crate::hash::ContentHash;
use crate::history::{Past, PastQuery, Recalled};
use crate::job::{JobReport, JobRequest};
use crate::path::RelPath;
use crate::plugin::{PluginRegistered, PluginRequest};
use crate::prompt::{PromptApplied, PromptChange};
use crate::todo::{TodoChange, TodoItem};
use crate::tree_listing::TreeListing;

pub use crate::pace::{ScanPace, ScanWindows};
pub use crate::progress::{BoxFuture, Progress};
pub use crate::proposal::{Applied, AppliedFile, ProposalOutcome};
pub use crate::visitor::{PartScanner, PartVerdict, TextFinding, TextScanner, TextVisitor};

/// A visitor that has been round, and what became of its walk.
pub type FinishedVisit = (Box<dyn TextVisitor>, Visited);

/// Work for a thread of its own; what it returns has lost its type.
pub type BlockingWork = Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>;

/// What was found in the text of one file, and what became of it.
pub type ScannedText = (Option<TextFinding>, Visited);

/// A handle on what the host does for one call. Cheap to clone.
#[derive(Clone)]
pub struct Context(Arc<dyn Host>);

/// Read-only access to the workspace of the call, filtered by the policy.
pub trait Files: Send + Sync {
    /// Reads a path as a caller writes it: relative, or absolute beneath the workspace root.
    ///
    /// # Errors
    ///
    /// As [`RelPath::parse`].
    fn path(&self, text: &str) -> Result<RelPath, ToolError>;

    /// Reads a whole regular file, up to the limit on editable files.
    fn read<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Result<FileSnapshot, ToolError>>;

    /// Reads a file as [`Files::read`] does, but asks nobody: none where the policy denies it or
    /// would ask.
    fn read_unasked<'a>(
        &'a self,
        path: &'a RelPath,
    ) -> BoxFuture<'a, Result<Option<FileSnapshot>, ToolError>>;

    /// Hashes a regular file of any kind, up to the limit on files that are read in windows.
    fn digest<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Result<FileDigest, ToolError>>;

    /// Reads a regular file of any kind as the bytes that it has; none where these are more than
    /// `bytes_max`, or more than the limit on editable files.
    fn read_bytes<'a>(
        &'a self,
        path: &'a RelPath,
        bytes_max: u64,
    ) -> BoxFuture<'a, Result<Option<FileBytes>, ToolError>>;

    /// Reads a window of lines of a text file of any size.
    fn read_lines<'a>(
        &'a self,
        path: &'a RelPath,
        window: LineWindow,
    ) -> BoxFuture<'a, Result<FileLines, ToolError>>;

    /// Lists a directory, leaving out what ignore files name.
    fn list<'a>(
        &'a self,
        path: &'a RelPath,
        options: ListOptions,
    ) -> BoxFuture<'a, Result<Listing, ToolError>>;

    /// Lists all that is beneath a directory, up to so many entries, as [`Files::list`] does: for those who
    /// look through many entries and want few. A host may hand out what it has at hand.
    ///
    /// # Errors
    ///
    /// As [`Files::list`].
    fn list_tree<'a>(
        &'a self,
        path: &'a RelPath,
        entries_max: usize,
    ) -> BoxFuture<'a, Result<TreeListing, ToolError>> {
        Box::pin(async move {
            let listing = self.list(path, ListOptions { recursive: true, entries_max }).await?;
            Ok(TreeListing::of(path, listing))
        })
    }

    /// Has scanners of a visitor look at the text of every regular file beneath a directory, on
    /// threads that may wait for disks, and hands it what they found in the order of
    /// [`ranking`](crate::ranking). Files are those that [`Files::list`] lists and are decoded as
    /// [`Files::read`] decodes them, but nobody is asked: what the policy denies or would ask about
    /// is left out and counted, unread.
    ///
    /// The result does not depend on how many threads there are. What is left out by its name is
    /// counted over the whole walk; what turns out to be no text, up to where the visitor ends it.
    ///
    /// Returns the visitor, with what it has gathered: [`Context::visit`] does so with its type.
    ///
    /// # Errors
    ///
    /// As [`Files::list`]; `Cancelled`.
    fn visit_texts<'a>(
        &'a self,
        path: &'a RelPath,
        options: VisitOptions,
        visitor: Box<dyn TextVisitor>,
    ) -> BoxFuture<'a, Result<FinishedVisit, ToolError>>;

    /// Has a scanner look at the text of one file, whatever ignore files say, as [`Files::visit_texts`] has it look
    /// at those beneath a directory: up to the same size, and what has no text is counted. Whether the file may be
    /// read is asked as for [`Files::read`].
    ///
    /// # Errors
    ///
    /// As [`Files::read`], but for what the file holds.
    fn scan_text<'a>(
        &'a self,
        path: &'a RelPath,
        mut scanner: Box<dyn TextScanner>,
    ) -> BoxFuture<'a, Result<ScannedText, ToolError>> {
        Box::pin(async move {
            let mut visited = Visited::default();
            let Content::Text(text) = self.read(path).await?.content else {
                visited.skipped.binary = 1;
                return Ok((None, visited));
            };
            visited.files = 1;
            Ok((scanner.scan(VisitedText { path, text: &text.text }), visited))
        })
    }

    /// Puts a question to what is kept of the code of the workspace, brought up to date: what is on
    /// disk or unsaved by now, of the files that the policy lets the caller read without asking. None
    /// where nothing is kept: then a tool reads the files itself.
    ///
    /// # Errors
    ///
    /// `Cancelled`.
    fn search_code(
        &self,
        _: CodeSearch,
    ) -> BoxFuture<'_, Result<Option<CodeSearchFound>, ToolError>> {
        Box::pin(async { Ok(None) })
    }

    /// Says which files beneath a directory others use most, from what is kept as for
    /// [`Files::search_code`]. None where nothing is kept, or not enough of it yet.
    ///
    /// # Errors
    ///
    /// `Cancelled`.
    fn map_code<'a>(&'a self, _: &'a RelPath) -> BoxFuture<'a, Result<Option<CodeMap>, ToolError>> {
        Box::pin(async { Ok(None) })
    }

    /// Remembers that the caller of this session has seen this content.
    fn note_read(&self, path: &RelPath, hash: ContentHash);

    /// Returns the content that the caller of this session has seen last, if any.
    fn last_read(&self, path: &RelPath) -> Option<ContentHash>;

    /// Returns up to so many files that the caller of this session has seen, the last one first.
    fn recently_read(&self, files_max: usize) -> Vec<RelPath>;
}

/// The editors that are attached to the workspace of the call, filtered by the policy. One that
/// does not reply in time is as good as none.
pub trait Editors: Send + Sync {
    /// Returns what the editor shows that was used last; none where no editor is attached.
    fn state(&self) -> Option<EditorState>;

    /// Asks an editor for the symbols of a file; none where no editor knows.
    fn symbols<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Option<Vec<Symbol>>>;

    /// Asks an editor where the symbol at a position is defined; none where no editor knows.
    fn definitions<'a>(
        &'a self,
        path: &'a RelPath,
        position: Position,
        kind: DefinitionKind,
    ) -> BoxFuture<'a, Option<Definitions>>;

    /// Asks the person, and waits.
    fn clarify(&self, query: UserQuestion) -> BoxFuture<'_, UserReply>;
}

/// What the host does for one call.
pub trait Host: Files + Checks + crate::language_server::LanguageServers {
    /// The editors of the workspace.
    fn editors(&self) -> &dyn Editors;

    /// Shows the changes, lets policy and people decide, commits all of them or none. What is
    /// committed counts as read by the session, where it had read what the change was made on.
    ///
    /// Changes of one file take turns. Who meets [`ProposalOutcome::Stale`] keeps its turn: other calls
    /// wait until it has proposed again, or has ended.
    ///
    /// # Errors
    ///
    /// `Denied`, `Unconfirmed`, `Conflict` and what writing can meet. A tool passes them on.
    fn propose(&self, changes: ChangeSet) -> BoxFuture<'_, Result<ProposalOutcome, ToolError>>;

    /// Looks at past changes of the workspace, as far as the caller may read their files.
    fn past(&self, query: PastQuery) -> BoxFuture<'_, Result<Past, ToolError>>;

    /// Returns one past change whole: the one that `index` others are newer than.
    ///
    /// # Errors
    ///
    /// `NotFound` where there are not so many; `Denied` where the caller may not read one of its
    /// files; `TooLarge` where a content is larger than files may be that are edited.
    fn recall(&self, index: usize) -> BoxFuture<'_, Result<Recalled, ToolError>>;

    /// Shows a change of the user's own prompt, lets policy and people decide, keeps it.
    ///
    /// # Errors
    ///
    /// `TooLarge` and `InvalidArguments` for what is no prompt, `NoChange`; as [`Host::propose`].
    fn change_user_prompt(
        &self,
        change: PromptChange,
    ) -> BoxFuture<'_, Result<PromptApplied, ToolError>>;

    /// Shows a plugin and what it would be granted, lets policy and people decide, puts it into the
    /// user's list.
    ///
    /// # Errors
    ///
    /// What the component is refused for, `AlreadyExists` and `Conflict` for names that are taken;
    /// as [`Host::propose`].
    fn register_plugin(
        &self,
        request: PluginRequest,
    ) -> BoxFuture<'_, Result<PluginRegistered, ToolError>>;

    /// Shows a command, lets policy and people decide, runs it in the sandbox and waits for its end. Its
    /// output goes to the watchers of the call as it comes. In a dry run it is not run. In the background it
    /// is only waited for a moment: see [`Host::job`].
    ///
    /// # Errors
    ///
    /// `NotADirectory` and `NotFound` for its directory; `LimitExceeded` where the machine cannot isolate it
    /// as well as the policy demands; as [`Host::propose`].
    fn run_command(
        &self,
        request: CommandRequest,
    ) -> BoxFuture<'_, Result<CommandReport, ToolError>>;

    /// Looks at the caller's commands in the background and does something with one: waits for it, ends it
    /// or, after policy and people decided, writes to it. In a dry run nothing is written or ended.
    ///
    /// # Errors
    ///
    /// `NotFound` where the caller has no such job; `Conflict` where it has ended or reads no more; as
    /// [`Host::propose`].
    fn job(&self, request: JobRequest) -> BoxFuture<'_, Result<JobReport, ToolError>>;

    /// Returns the task list of the caller's session; without a session, the caller's own of the
    /// workspace.
    fn todos(&self) -> BoxFuture<'_, Result<Vec<TodoItem>, ToolError>>;

    /// Changes that task list and returns it as it is then; nobody else changes it meanwhile. In a
    /// dry run the result is not kept.
    ///
    /// # Errors
    ///
    /// What the change says; where the list cannot be kept.
    fn change_todos(&self, change: TodoChange) -> BoxFuture<'_, Result<Vec<TodoItem>, ToolError>>;

    /// Does work that takes long and waits for nothing, on a thread where it holds up no other
    /// call. [`Context::compute`] does so with its type.
    fn compute_untyped(
        &self,
        work: BlockingWork,
    ) -> BoxFuture<'_, Result<Box<dyn Any + Send>, ToolError>>;

    /// Shows something beside the output, where the call succeeds: in the order in which it is added.
    ///
    /// # Errors
    ///
    /// `LimitExceeded` for more than [`CONTENT_PARTS_MAX`](crate::content::CONTENT_PARTS_MAX) parts,
    /// `TooLarge` for more bytes than a result may have.
    fn add_content(&self, part: ContentPart) -> Result<(), ToolError>;

    /// Reports the progress of the call to its watchers.
    fn progress(&self, progress: Progress);

    /// Whether the caller has gone or cancelled. Loops ask this.
    fn is_cancelled(&self) -> bool;
}

// === impl Context ===

impl Context {
    /// Wraps the host's side of one call.
    pub fn new(host: Arc<dyn Host>) -> Self {
        Self(host)
    }

    /// Does work that takes long as [`Host::compute_untyped`] does, and returns what it returns.
    ///
    /// # Errors
    ///
    /// `Internal` where the work panics: a defect.
    pub async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ToolError> {
        let value = self.compute_untyped(Box::new(move || Box::new(work()))).await?;
        Ok(*value.downcast::<T>().expect("a host returns what the work returned"))
    }

    /// Walks over texts as [`Files::visit_texts`] does, and returns the visitor as what it is.
    ///
    /// # Errors
    ///
    /// As [`Files::visit_texts`].
    pub async fn visit<V: TextVisitor>(
        &self,
        path: &RelPath,
        options: VisitOptions,
        visitor: V,
    ) -> Result<(V, Visited), ToolError> {
        let (visitor, visited) = self.visit_texts(path, options, Box::new(visitor)).await?;
        let visitor: Box<dyn Any> = visitor;
        let visitor =
            visitor.downcast::<V>().expect("a host returns the visitor that it was given");
        Ok((*visitor, visited))
    }
}

impl Deref for Context {
    type Target = dyn Host;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Context")
    }
}
