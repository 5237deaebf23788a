//! What a native tool sees of attached editors, and changes that an editor carries out in a buffer
//! that is not saved.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use moss_sdk::context::{Applied, BoxFuture, Editors};
use moss_sdk::editor::{
    DefinitionKind, Definitions, EditorState, Focus, Location, OpenFile, Position, Symbol,
    UserQuestion, UserReply,
};
use moss_sdk::{ErrorCode, RelPath, ToolError};
use moss_workspace::{Plan, PlannedFile};

use super::CallScope;
use super::effect::{Effects, FileNames};
use super::host::CallHost;
use crate::call::stop::EffectStop;
use moss_dispatch::{Role, change::ChangeStatus};
use moss_editors::{
    EditorFile, EditorLocation, EditorQuestion, EditorReply, NoReply, Unsaved, Whom,
};
use moss_policy::Verdict;

/// What to do about a file that is not saved.
const SAVE_FIRST: &str = "ask for it to be saved in the editor, then try again";

impl Editors for CallHost {
    fn state(&self) -> Option<EditorState> {
        let active = self.scope.workspace.editors.active()?;
        let reader = self.reader();
        let mut open = active.open;
        open.retain(|file| reader.lists(&file.path) && reader.lists(&file.real));
        let focus = active.view.filter(|view| reader.lists(&view.path)).map(|view| {
            let names = FileNames { real: &view.path, asked: &view.path };
            let may_read =
                self.effects.decide_read(&reader.policy, names).verdict == Verdict::Allow;
            Focus {
                // What a compiler says quotes the file.
                diagnostics: if may_read { active.diagnostics } else { Vec::new() },
                path: view.path,
                cursor: view.cursor,
                selection: view.selection,
                visible: view.visible,
            }
        });
        let shown = |file: EditorFile| OpenFile { path: file.path, unsaved: file.unsaved };
        let open = open.into_iter().map(shown).collect();
        Some(EditorState { editor: active.name, focus, open })
    }

    fn symbols<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Option<Vec<Symbol>>> {
        Box::pin(async move {
            let question = EditorQuestion::Symbols { path: path.clone() };
            match self.ask_editor(Whom::Knowing(path), question).await? {
                EditorReply::Symbols(symbols) => Some(symbols),
                _ => None,
            }
        })
    }

    fn definitions<'a>(
        &'a self,
        path: &'a RelPath,
        position: Position,
        kind: DefinitionKind,
    ) -> BoxFuture<'a, Option<Definitions>> {
        Box::pin(async move {
            let question = EditorQuestion::Definitions { path: path.clone(), position, kind };
            match self.ask_editor(Whom::Knowing(path), question).await? {
                EditorReply::Places(places) => Some(self.definitions_at(places).await),
                _ => None,
            }
        })
    }

    fn clarify(&self, query: UserQuestion) -> BoxFuture<'_, UserReply> {
        Box::pin(async move {
            let timeout = Duration::from_millis(self.scope.daemon.config().editors.clarify_ms);
            let editors = &self.scope.workspace.editors;
            let question = EditorQuestion::Clarify(query);
            let whom = (asker(&self.scope), Whom::Person);
            let asked = self.scope.parked(editors.ask(whom, question, timeout)).await;
            match asked {
                Ok((EditorReply::Clarified(answer), editor)) if !answer.trim().is_empty() => {
                    UserReply::Answered { answer, editor }
                }
                Err(NoReply::Nobody) => UserReply::NobodyThere,
                Err(NoReply::TooMany(_)) => UserReply::Busy,
                _ => UserReply::Unanswered,
            }
        })
    }
}

// === impl CallHost ===

impl CallHost {
    /// Asks an editor what it knows by itself; none where it does not say.
    async fn ask_editor(&self, whom: Whom<'_>, question: EditorQuestion) -> Option<EditorReply> {
        if self.met_silence.load(Ordering::Relaxed) {
            return None;
        }
        let editors = &self.scope.workspace.editors;
        let whom = (asker(&self.scope), whom);
        let asked = editors.ask(whom, question, reply_timeout(&self.scope));
        match self.scope.parked(asked).await {
            Ok((answer, _)) => Some(answer),
            Err(error) => {
                // Waiting once is enough for a call; an editor that cannot be asked costs nothing.
                if matches!(error, NoReply::Silent { .. }) {
                    self.met_silence.store(true, Ordering::Relaxed);
                }
                tracing::debug!(%error, "an editor did not respond");
                None
            }
        }
    }

    /// The locations that the caller may see, by the names that they are reported by and by their
    /// real ones.
    async fn definitions_at(&self, places: Vec<EditorLocation>) -> Definitions {
        let reader = self.reader();
        let workspace = Arc::clone(&self.scope.workspace);
        let looked = self.scope.blocking(move || {
            let mut definitions = Definitions::default();
            for place in places {
                let path = workspace.files.path(&place.path);
                let shown = path.and_then(|path| Ok((workspace.files.resolve(&path)?.path, path)));
                match shown {
                    Ok((real, path)) if reader.lists(&path) && reader.lists(&real) => {
                        definitions.locations.push(Location { path, span: place.span });
                    }
                    _ => definitions.elsewhere += 1,
                }
            }
            definitions
        });
        looked.await.unwrap_or_default()
    }
}

// === impl Effects ===

impl Effects {
    /// Refuses early what no editor could carry out.
    pub(super) fn check_buffers(&self, plan: &Plan) -> Result<(), ToolError> {
        plan.files()
            .iter()
            .filter(|file| file.unsaved)
            .try_for_each(|file| self.buffer_of(file).map(|_| ()))
    }

    /// Has an editor change the buffer that a plan is for, and records it. The person may have typed
    /// since the plan was made: then nothing is changed.
    pub(super) async fn commit_in_editor(
        self: &Arc<Self>,
        plan: &Plan,
    ) -> Result<Applied, EffectStop> {
        self.check_not_cancelled()?;
        let (effects, path) =
            (Arc::clone(self), plan.files().first().map(|file| file.path.clone()));
        let reserve = move || effects.reserve_room(path.as_ref().map(RelPath::as_str));
        self.scope().blocking(reserve).await??;
        let scope = self.scope();
        let file = plan.files().first().expect("a plan changes at least one file");
        let buffer = self.buffer_of(file)?;
        let edits = file.text_edits().ok_or_else(|| changed_since(file))?;
        let question = EditorQuestion::Apply {
            path: buffer.path.clone(),
            version: buffer.version,
            edits,
            call_id: scope.call_id.clone(),
            tool: scope.call.tool().to_owned(),
        };
        let editors = &scope.workspace.editors;
        let whom = (asker(scope), Whom::One(buffer.editor));
        let asked = editors.ask(whom, question, reply_timeout(scope)).await;
        let version = match asked {
            Ok((EditorReply::Applied { version }, _)) if version > buffer.version => version,
            Ok((EditorReply::Failed(reason), editor)) => {
                return Err(self.not_applied(file, &format!("{editor} did not: {reason}")).into());
            }
            Ok(_) => return Err(self.not_applied(file, "the response was not usable").into()),
            Err(error) => return Err(self.not_applied(file, &error.to_string()).into()),
        };
        if let Some(text) = file.text_after() {
            editors.note_applied(&buffer, version, text);
        }
        Ok(self.record_applied(plan).await?)
    }

    /// Records what an editor has done: it is history like any other.
    async fn record_applied(&self, plan: &Plan) -> Result<Applied, ToolError> {
        let workspace = Arc::clone(&self.scope().workspace);
        let (recorded, origin) = (plan.clone(), self.origin());
        let number = self
            .scope()
            .blocking(move || workspace.history.record(&recorded, &origin))
            .await?
            .map_err(|error| {
                let message = format!("the editor has changed its buffer, but history: {error}");
                ToolError::new(ErrorCode::Io, message)
            })?;
        Ok(self.committed(plan, number))
    }

    /// The buffer that a planned change is for, as it is now.
    fn buffer_of(&self, file: &PlannedFile) -> Result<Unsaved, ToolError> {
        let editors = &self.scope().workspace.editors;
        let buffer = editors.unsaved_buffer(&file.real).ok_or_else(|| changed_since(file))?;
        if Some(&*buffer.text) != file.text_before() {
            return Err(changed_since(file));
        }
        if let Some(other) = &buffer.contested_by {
            let message = format!(
                "{} has different unsaved changes in two editors, {} and {other}",
                file.path, buffer.name
            );
            return Err(ToolError::new(ErrorCode::Conflict, message).hint(SAVE_FIRST));
        }
        if !buffer.takes_edits {
            let message = format!(
                "{} has unsaved changes in {}, which takes no edits",
                file.path, buffer.name
            );
            return Err(ToolError::new(ErrorCode::Conflict, message).hint(SAVE_FIRST));
        }
        Ok(buffer)
    }

    /// An editor that was asked is not asked again.
    fn not_applied(&self, file: &PlannedFile, why: &str) -> ToolError {
        self.leave_turn();
        self.mark(ChangeStatus::Conflict);
        let message = format!("{} was to be changed in an editor, but {why}", file.path);
        ToolError::new(ErrorCode::Conflict, message)
            .hint("read it again to see its current content")
    }
}

fn changed_since(file: &PlannedFile) -> ToolError {
    let message = format!("{} was changed in an editor since it was read", file.path);
    ToolError::new(ErrorCode::Conflict, message)
        .hint("read it again, then retry with the current content")
}

/// In whose share of the questions one of a call is; none where the approver calls.
fn asker(scope: &CallScope) -> Option<&str> {
    let caller = &scope.call.caller;
    (caller.role() != Role::Approver).then(|| caller.name())
}

fn reply_timeout(scope: &CallScope) -> Duration {
    Duration::from_millis(scope.daemon.config().editors.response_ms)
}
