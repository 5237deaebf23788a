//! Questions to editors and people: put to one editor or to all that can show them, with one reply,
//! over when somebody replied, nobody did in time, or whoever asked has gone.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use moss_sdk::RelPath;
use moss_sdk::editor::{DefinitionKind, Position, Span, Symbol, TextEdit, UserQuestion};
use tokio::sync::oneshot;

use super::{EditorCapability, EditorId, EditorRefusal, EditorRegistry, ToEditor};

/// Questions that are over and remembered, so that a late reply is refused with the reason.
const OVER_MAX: usize = 256;

/// What an editor or a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditorQuestion {
    /// The symbols of a file.
    Symbols {
        /// Path relative to the workspace root.
        path: RelPath,
    },
    /// Where the symbol at a position is defined.
    Definitions {
        /// Path relative to the workspace root.
        path: RelPath,
        /// Where the symbol stands.
        position: Position,
        /// The thing or its type.
        kind: DefinitionKind,
    },
    /// Something that only the person knows.
    Clarify(UserQuestion),
    /// To change a buffer that is not saved.
    Apply {
        /// Path relative to the workspace root.
        path: RelPath,
        /// The version of the buffer that the edits are for.
        version: u64,
        /// The replacements, for that version.
        edits: Vec<TextEdit>,
        /// The call that wants it.
        call_id: String,
        /// Name of the tool.
        tool: String,
    },
}

/// What an editor or a person replies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditorReply {
    /// The symbols of a file.
    Symbols(Vec<Symbol>),
    /// Places, as the editor names them.
    Places(Vec<EditorLocation>),
    /// What the person says; empty where the question was closed without a reply.
    Clarified(String),
    /// The buffer was changed.
    Applied {
        /// The version that it has now.
        version: u64,
    },
    /// There is no reply, and why.
    Failed(String),
}

/// A location in a file that may lie outside of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorLocation {
    /// The file, as the editor names it.
    pub path: String,
    /// The lines and characters that it covers.
    pub span: Span,
}

/// Which editor a question goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whom<'a> {
    /// This editor and no other.
    One(EditorId),
    /// The editor that knows this file best.
    Knowing(&'a RelPath),
    /// The person, wherever the person is.
    Person,
}

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoReply {
    /// No attached editor can be asked this.
    #[error("no editor is attached that could be asked")]
    Nobody,
    /// So many questions of the caller wait already.
    #[error("{0} questions of this caller wait already (editors.questions_max)")]
    TooMany(usize),
    /// Who was asked has gone.
    #[error("the editor {0} detached without a response")]
    Gone(String),
    /// The editor that was asked did not respond in time.
    #[error("the editor {editor} did not respond within {} ms", timeout.as_millis())]
    Silent {
        /// The name of that editor.
        editor: String,
        /// How long was waited.
        timeout: Duration,
    },
}

/// Why a question is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionEnd {
    /// An editor or a person replied.
    Answered,
    /// Nobody replied in time.
    Expired,
    /// Who asked has gone.
    Withdrawn,
}

/// The questions that wait, and the newest that are over.
#[derive(Debug, Default)]
pub(super) struct Questions {
    open: HashMap<String, OpenQuestion>,
    over: VecDeque<String>,
}

#[derive(Debug)]
struct OpenQuestion {
    question: Arc<EditorQuestion>,
    /// The caller in whose name it is; none for the approver.
    asker: Option<String>,
    /// Who may still reply.
    asked: Vec<EditorId>,
    sender: oneshot::Sender<(EditorId, EditorReply)>,
}

/// A question that was put. Dropping it withdraws the question.
pub(super) struct Put {
    editors: Arc<EditorRegistry>,
    id: String,
}

// === impl EditorRegistry ===

impl EditorRegistry {
    /// Asks in the name of a caller, and waits for the reply; says who gave it. Without a name it is the approver, who
    /// may always ask.
    ///
    /// # Errors
    ///
    /// Where there is no reply.
    pub async fn ask(
        self: &Arc<Self>,
        (asker, whom): (Option<&str>, Whom<'_>),
        question: EditorQuestion,
        timeout: Duration,
    ) -> Result<(EditorReply, String), NoReply> {
        let (put, names, mut answer) = self.put((asker, whom), question, timeout)?;
        let answered = tokio::time::timeout(timeout, &mut answer).await;
        let (editor, answer) = match answered {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => return Err(NoReply::Gone(names)),
            Err(_) => {
                self.end(&put.id, QuestionEnd::Expired);
                // A reply may have come in the very instant of the expiry: it counts.
                let silent = |_| NoReply::Silent { editor: names, timeout };
                answer.try_recv().map_err(silent)?
            }
        };
        let inner = self.lock();
        let name = inner.attached.get(&editor).map(|attached| attached.hello.name.clone());
        Ok((answer, name.unwrap_or_default()))
    }

    /// Puts a question. The receiver fails where everybody who was asked has gone.
    #[expect(clippy::type_complexity, reason = "the three belong to one caller")]
    pub(super) fn put(
        self: &Arc<Self>,
        (asker, whom): (Option<&str>, Whom<'_>),
        question: EditorQuestion,
        timeout: Duration,
    ) -> Result<(Put, String, oneshot::Receiver<(EditorId, EditorReply)>), NoReply> {
        let id = (self.new_id)();
        let question = Arc::new(question);
        let (sender, receiver) = oneshot::channel();
        let mut inner = self.lock();
        inner.questions.admit(asker, self.limits.questions_max)?;
        let (mut asked, mut names) = (Vec::new(), Vec::new());
        for editor in inner.able(whom, question.needs()) {
            let attached = &inner.attached[&editor];
            let message =
                ToEditor::Asked { id: id.clone(), question: Arc::clone(&question), timeout };
            // One that does not even take the question would not reply to it either.
            if attached.send(message) {
                asked.push(editor);
                names.push(attached.hello.name.clone());
            }
        }
        if asked.is_empty() {
            return Err(NoReply::Nobody);
        }
        let asker = asker.map(str::to_owned);
        inner.questions.open.insert(id.clone(), OpenQuestion { question, asker, asked, sender });
        drop(inner);
        Ok((Put { editors: Arc::clone(self), id }, names.join(", "), receiver))
    }

    pub(super) fn reply(
        &self,
        from: EditorId,
        id: &str,
        answer: EditorReply,
    ) -> Result<(), EditorRefusal> {
        let mut inner = self.lock();
        let Some(open) = inner.questions.open.get_mut(id) else {
            let is_over = inner.questions.over.iter().any(|over| over == id);
            let refusal =
                if is_over { EditorRefusal::QuestionOver } else { EditorRefusal::UnknownQuestion };
            return Err(refusal(id.to_owned()));
        };
        let Some(index) = open.asked.iter().position(|asked| *asked == from) else {
            return Err(EditorRefusal::UnknownQuestion(id.to_owned()));
        };
        if !open.question.wants(&answer) {
            return Err(EditorRefusal::WrongReply(id.to_owned()));
        }
        if answer.is_none() && open.asked.len() > 1 {
            open.asked.swap_remove(index);
            return Ok(());
        }
        if let Some(open) = inner.end(id, QuestionEnd::Answered, Some(from)) {
            // Who asked may have gone in this instant.
            let _ = open.sender.send((from, answer));
        }
        Ok(())
    }

    fn end(&self, id: &str, end: QuestionEnd) {
        self.lock().end(id, end, None);
    }
}

// === impl Inner ===

impl super::EditorsState {
    /// The attached editors that can be asked, the best first.
    fn able(&self, whom: Whom<'_>, needs: EditorCapability) -> Vec<EditorId> {
        let mut able: Vec<_> =
            self.attached.iter().filter(|(_, attached)| attached.can(needs)).collect();
        match whom {
            Whom::One(wanted) => able.retain(|(id, _)| **id == wanted),
            Whom::Knowing(path) => {
                able.sort_by_key(|(_, one)| (one.has_open(path), one.looked_at));
                able.drain(..able.len().saturating_sub(1));
            }
            Whom::Person => able.sort_by_key(|(_, one)| std::cmp::Reverse(one.looked_at)),
        }
        able.into_iter().map(|(id, _)| *id).collect()
    }

    /// Ends a question that waits, and notifies everybody who was asked but the one who replied.
    fn end(&mut self, id: &str, end: QuestionEnd, by: Option<EditorId>) -> Option<OpenQuestion> {
        let open = self.questions.open.remove(id)?;
        self.questions.over.push_back(id.to_owned());
        if self.questions.over.len() > OVER_MAX {
            self.questions.over.pop_front();
        }
        let others = open.asked.iter().filter(|asked| Some(**asked) != by);
        for attached in others.filter_map(|asked| self.attached.get(asked)) {
            attached.send(ToEditor::Over { id: id.to_owned(), end });
        }
        Some(open)
    }
}

// === impl Questions ===

impl Questions {
    /// Refuses a question of a caller that has its share: all while nobody else asks, half of them otherwise, and of
    /// what others leave at least one.
    fn admit(&self, asker: Option<&str>, questions_max: usize) -> Result<(), NoReply> {
        let Some(asker) = asker else { return Ok(()) };
        let counted: Vec<_> = self.open.values().filter_map(|open| open.asker.as_deref()).collect();
        let own = counted.iter().filter(|other| **other == asker).count();
        let has_half = own < counted.len() && own >= questions_max / 2;
        let is_full = counted.len() >= questions_max || has_half;
        if own > 0 && is_full { Err(NoReply::TooMany(own)) } else { Ok(()) }
    }

    /// Takes an editor out of all questions. One that nobody is left to decide is dropped, which
    /// ends the wait of whoever asked.
    pub(super) fn leave(&mut self, editor: EditorId) {
        self.open.retain(|_, open| {
            open.asked.retain(|asked| *asked != editor);
            !open.asked.is_empty()
        });
    }
}

// === impl EditorQuestion ===

impl EditorQuestion {
    /// What an editor must be able to do to be asked.
    const fn needs(&self) -> EditorCapability {
        match self {
            Self::Symbols { .. } => EditorCapability::DocumentSymbols,
            Self::Definitions { kind: DefinitionKind::Symbol, .. } => EditorCapability::Definitions,
            Self::Definitions { kind: DefinitionKind::Type, .. } => {
                EditorCapability::TypeDefinitions
            }
            Self::Clarify(_) => EditorCapability::Clarify,
            Self::Apply { .. } => EditorCapability::ApplyEdit,
        }
    }

    const fn wants(&self, answer: &EditorReply) -> bool {
        matches!(
            (self, answer),
            (_, EditorReply::Failed(_))
                | (Self::Symbols { .. }, EditorReply::Symbols(_))
                | (Self::Definitions { .. }, EditorReply::Places(_))
                | (Self::Clarify(_), EditorReply::Clarified(_))
                | (Self::Apply { .. }, EditorReply::Applied { .. })
        )
    }
}

// === impl EditorReply ===

impl EditorReply {
    /// Whether it is empty: then others who were asked may still say something.
    fn is_none(&self) -> bool {
        match self {
            Self::Failed(_) => true,
            Self::Clarified(text) => text.trim().is_empty(),
            _ => false,
        }
    }
}

// === impl Put ===

impl Drop for Put {
    fn drop(&mut self) {
        self.editors.end(&self.id, QuestionEnd::Withdrawn);
    }
}
