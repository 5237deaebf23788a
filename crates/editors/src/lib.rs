//! The editors that are attached to one workspace: what a person sees there and has not saved, and
//! questions to editors and people.
//!
//! Nothing here decides whether a tool may see any of it, and nothing knows the wire. What an editor
//! reports is bounded, and forgotten when it goes.

mod attached;
mod question;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moss_sdk::RelPath;
use moss_sdk::editor::Diagnostic;
use moss_workspace::Buffers;
use tokio::sync::mpsc;

use self::attached::AttachedEditor;
pub use self::attached::{Buffer, BufferState, EditorCapability, EditorView, Hello};
use self::question::Questions;
pub use self::question::{EditorLocation, EditorQuestion, EditorReply, NoReply, QuestionEnd, Whom};

/// Messages to an editor that wait for the transport; one that takes no more is not asked.
const OUTGOING_MAX: usize = 64;

/// Names an attachment, within one daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EditorId(u64);

/// The attached editors of a workspace.
#[derive(Debug)]
pub struct EditorRegistry {
    limits: moss_config::EditorsConfig,
    /// Makes the id of a question, which nobody can guess.
    new_id: fn() -> String,
    inner: Mutex<EditorsState>,
    /// How many buffers are not saved, over all editors: reads look here first.
    unsaved: AtomicUsize,
}

#[derive(Debug, Default)]
struct EditorsState {
    /// Rises with everything that is reported: what is greater is newer.
    clock: u64,
    attached: BTreeMap<EditorId, AttachedEditor>,
    questions: Questions,
}

/// What an editor receives.
#[derive(Debug, Clone)]
pub enum ToEditor {
    /// A question that waits for a response of this editor.
    Asked {
        /// The id that the response names.
        id: String,
        /// The question as the editor gets it.
        question: Arc<EditorQuestion>,
        /// How long a question waits for its reply.
        timeout: std::time::Duration,
    },
    /// A question is over.
    Over {
        /// The id of the question.
        id: String,
        /// Why no response is waited for any more.
        end: QuestionEnd,
    },
    /// The same instance has attached again: this attachment is over.
    Replaced,
}

/// An editor's side of its attachment. Dropping it detaches the editor.
#[derive(Debug)]
pub struct Attachment {
    editors: Arc<EditorRegistry>,
    id: EditorId,
}

/// A message of an editor that cannot be used. Everything is as before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditorRefusal {
    /// As many editors are attached as there may be.
    #[error("{0} editors are attached already (editors.attached_max)")]
    TooManyEditors(usize),
    /// Too many open files.
    #[error("{0} files are open already (editors.buffers_max)")]
    TooManyBuffers(usize),
    /// The unsaved texts of this editor would be larger than the limit, in bytes.
    #[error("more than {0} bytes of unsaved text (editors.unsaved_bytes_max)")]
    TooMuchUnsaved(usize),
    /// The diagnostics of this editor would be more than the limit.
    #[error("more than {0} diagnostics (editors.diagnostics_max)")]
    TooManyDiagnostics(usize),
    /// A version that is not newer than the one that is known.
    #[error("the version {told} is older than {known}, which is known already")]
    OldVersion {
        /// The version in the message.
        told: u64,
        /// The version that the daemon has.
        known: u64,
    },
    /// There is no such question, or it was put to somebody else.
    #[error("there is no question `{0}` for this editor")]
    UnknownQuestion(String),
    /// It does not wait any more.
    #[error("the question `{0}` is over")]
    QuestionOver(String),
    /// It is another kind of reply than was asked for.
    #[error("this response is not of the type that the question `{0}` expects")]
    WrongReply(String),
}

/// The unsaved text of a file.
#[derive(Debug, Clone)]
pub struct Unsaved {
    /// The whole text, as the editor has it.
    pub text: Arc<str>,
    /// Its version in the editor.
    pub version: u64,
    /// The path that the editor knows it by.
    pub path: RelPath,
    /// The editor that reported it last.
    pub editor: EditorId,
    /// What the editor calls itself.
    pub name: String,
    /// Whether the editor takes edits.
    pub takes_edits: bool,
    /// Another editor that holds another unsaved text of the same file.
    pub contested_by: Option<String>,
}

/// The editor that was used last.
#[derive(Debug, Clone)]
pub struct Active {
    /// What it calls itself.
    pub name: String,
    /// Where the person is.
    pub view: Option<EditorView>,
    /// What is said of the file that has the focus.
    pub diagnostics: Vec<Diagnostic>,
    /// The open files, by path.
    pub open: Vec<EditorFile>,
}

/// A file that is open in an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorFile {
    /// The path that the editor knows it by.
    pub path: RelPath,
    /// The path after all links.
    pub real: RelPath,
    /// Whether it has changes that are not saved.
    pub unsaved: bool,
}

/// One attached editor, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overview {
    /// What it calls itself.
    pub name: String,
    /// The version that it states of itself; it may be empty.
    pub version: String,
    /// How many files it has open.
    pub open: usize,
    /// Files that are not saved.
    pub unsaved: usize,
}

// === impl EditorRegistry ===

impl EditorRegistry {
    /// Makes a registry without editors; `new_id` makes the ids of questions, each another.
    pub fn new(limits: moss_config::EditorsConfig, new_id: fn() -> String) -> Arc<Self> {
        Arc::new(Self { limits, new_id, inner: Mutex::default(), unsaved: AtomicUsize::new(0) })
    }

    /// Attaches an editor; its messages come out of the receiver.
    ///
    /// # Errors
    ///
    /// Where too many are attached.
    pub fn attach(
        self: &Arc<Self>,
        hello: Hello,
    ) -> Result<(Attachment, mpsc::Receiver<ToEditor>), EditorRefusal> {
        let (sender, receiver) = mpsc::channel(OUTGOING_MAX);
        let mut inner = self.lock();
        let same = |attached: &AttachedEditor| {
            hello.instance.is_some() && attached.hello.instance == hello.instance
        };
        let before = inner.attached.iter().find(|(_, attached)| same(attached)).map(|(id, _)| *id);
        if before.is_none() && inner.attached.len() >= self.limits.attached_max {
            return Err(EditorRefusal::TooManyEditors(self.limits.attached_max));
        }
        if let Some(gone) = before.and_then(|id| self.remove(&mut inner, id)) {
            gone.send(ToEditor::Replaced);
        }
        let id = EditorId(inner.tick());
        inner.attached.insert(id, AttachedEditor::new(hello, sender, id.0));
        drop(inner);
        Ok((Attachment { editors: Arc::clone(self), id }, receiver))
    }

    /// Returns the editor that was used last; none where none is attached.
    pub fn active(&self) -> Option<Active> {
        let inner = self.lock();
        let (_, attached) = inner.attached.iter().max_by_key(|(id, one)| (one.looked_at, **id))?;
        Some(attached.active())
    }

    /// Returns what editors hold of a file, by its real path, and have not saved.
    pub fn unsaved_buffer(&self, real: &RelPath) -> Option<Unsaved> {
        if self.unsaved.load(Ordering::Acquire) == 0 {
            return None;
        }
        let inner = self.lock();
        let mut held: Vec<_> = inner
            .attached
            .iter()
            .filter_map(|(id, attached)| Some((*id, attached, attached.unsaved(real)?)))
            .collect();
        held.sort_by_key(|(.., buffer)| buffer.told_at);
        let (editor, attached, buffer) = held.pop()?;
        let BufferState::Text(text) = buffer.held.clone() else { return None };
        let other = held.iter().find(|(.., other)| other.held != buffer.held);
        Some(Unsaved {
            text,
            version: buffer.version,
            path: buffer.path.clone(),
            editor,
            name: attached.hello.name.clone(),
            takes_edits: attached.can(EditorCapability::ApplyEdit),
            contested_by: other.map(|(_, other, _)| other.hello.name.clone()),
        })
    }

    /// Takes note that an editor has changed a buffer as it was asked to. Whatever it has reported
    /// the file since it was asked stays.
    pub fn note_applied(&self, asked: &Unsaved, version: u64, text: &str) {
        let mut inner = self.lock();
        let now = inner.tick();
        if let Some(attached) = inner.attached.get_mut(&asked.editor) {
            attached.note_applied(asked, (version, text), now);
        }
    }

    /// Lists the attached editors, in the order of their attachment.
    pub fn overview(&self) -> Vec<Overview> {
        self.lock().attached.values().map(AttachedEditor::overview).collect()
    }

    /// Removes an editor. Callers that wait for it alone learn that it is gone.
    fn remove(&self, inner: &mut EditorsState, id: EditorId) -> Option<AttachedEditor> {
        let attached = inner.attached.remove(&id)?;
        self.unsaved.fetch_sub(attached.unsaved_count(), Ordering::AcqRel);
        inner.questions.leave(id);
        Some(attached)
    }

    fn lock(&self) -> MutexGuard<'_, EditorsState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buffers for EditorRegistry {
    fn unsaved(&self, real: &RelPath) -> Option<Arc<str>> {
        self.unsaved_buffer(real).map(|unsaved| unsaved.text)
    }

    fn unsaved_paths(&self) -> Vec<RelPath> {
        match self.unsaved.load(Ordering::Acquire) {
            0 => Vec::new(),
            _ => self.lock().attached.values().flat_map(AttachedEditor::unsaved_paths).collect(),
        }
    }

    fn holds(&self, real: &RelPath) -> bool {
        self.unsaved.load(Ordering::Acquire) > 0
            && self.lock().attached.values().any(|attached| attached.unsaved(real).is_some())
    }
}

// === impl EditorsState ===

impl EditorsState {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
}

// === impl Attachment ===

impl Attachment {
    /// Returns the name of the attachment.
    pub fn id(&self) -> EditorId {
        self.id
    }

    /// Takes where the person is; none where no file of the workspace has the focus.
    pub fn look(&self, view: Option<EditorView>) {
        self.with(|attached, _, now| {
            attached.view = view;
            attached.looked_at = now;
        });
    }

    /// Takes an open file. What cannot be taken is unknown, and its file is not written.
    ///
    /// # Errors
    ///
    /// `OldVersion`, which changes nothing; `TooManyBuffers`, `TooMuchUnsaved`.
    pub fn hold(&self, buffer: Buffer) -> Result<(), EditorRefusal> {
        self.with(|attached, limits, now| attached.hold(Buffer { told_at: now, ..buffer }, limits))
            .unwrap_or(Ok(()))
    }

    /// Takes note that an open file holds something that cannot be taken: it is not written.
    pub fn lose(&self, buffer: Buffer) {
        self.with(|attached, _, now| attached.lose(Buffer { told_at: now, ..buffer }));
    }

    /// Forgets a file that is not open any more.
    pub fn close(&self, path: &RelPath) {
        self.with(|attached, _, _| attached.close(path));
    }

    /// Takes what is said of a file; nothing to forget it.
    ///
    /// # Errors
    ///
    /// `TooManyDiagnostics`.
    pub fn diagnose(&self, path: RelPath, said: Vec<Diagnostic>) -> Result<(), EditorRefusal> {
        self.with(|attached, limits, _| attached.diagnose(path, said, limits)).unwrap_or(Ok(()))
    }

    /// Takes the reply to a question.
    ///
    /// # Errors
    ///
    /// `UnknownQuestion`, `QuestionOver`, `WrongReply`.
    pub fn reply(&self, question: &str, reply: EditorReply) -> Result<(), EditorRefusal> {
        self.editors.reply(self.id, question, reply)
    }

    /// Changes what is known of the editor, where it is still attached, and counts its buffers anew.
    fn with<T>(
        &self,
        change: impl FnOnce(&mut AttachedEditor, &moss_config::EditorsConfig, u64) -> T,
    ) -> Option<T> {
        let mut inner = self.editors.lock();
        let now = inner.tick();
        let attached = inner.attached.get_mut(&self.id)?;
        let before = attached.unsaved_count();
        let changed = change(attached, &self.editors.limits, now);
        let after = attached.unsaved_count();
        self.editors.unsaved.fetch_add(after, Ordering::AcqRel);
        self.editors.unsaved.fetch_sub(before, Ordering::AcqRel);
        Some(changed)
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        let mut inner = self.editors.lock();
        self.editors.remove(&mut inner, self.id);
    }
}

// === impl EditorRefusal ===

impl EditorRefusal {
    /// Returns the stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooManyEditors(_)
            | Self::TooManyBuffers(_)
            | Self::TooMuchUnsaved(_)
            | Self::TooManyDiagnostics(_) => "limit_exceeded",
            Self::OldVersion { .. } => "old_version",
            Self::UnknownQuestion(_) => "unknown_question",
            Self::QuestionOver(_) => "question_over",
            Self::WrongReply(_) => "wrong_answer",
        }
    }
}

// === impl EditorId ===

impl std::fmt::Display for EditorId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "editor-{}", self.0)
    }
}

#[cfg(test)]
mod tests;
