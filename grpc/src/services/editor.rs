//! `moss.v1.EditorService`: one stream for each attached editor. Only approvers get here: see the
//! table in `auth`.
//!
//! What an editor reports is read one message after the other; one that takes nothing itself for
//! too long is detached. Whatever ends the stream detaches the editor.

mod messages;
mod replies;

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use moss_dispatch::{Confirmation, Reason, blocking::blocking, confirmation::ConfirmationState};
use moss_proto::v1;
use moss_proto::v1::attach_request::Message as EditorMessage;
use moss_proto::v1::attach_response::Message as Said;
use moss_proto::v1::editor_service_server::EditorService;
use moss_sdk::{ContentHash, RelPath};
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

use super::methods::methods;
use super::{error, from_proto, pass};
use moss_daemon::confirm::{ConfirmationDecision, ConfirmationWatch};
use moss_daemon::recorded_decision::settle;
use moss_daemon::state::{Daemon, WorkspaceState};
use moss_editors::{Attachment, Buffer, BufferState, EditorCapability, EditorRefusal, ToEditor};

/// Messages to an editor that wait for the transport.
const STREAM_QUEUE_MAX: usize = 16;
/// How long an editor may take to say what it is.
const HELLO_WAIT_MAX: Duration = Duration::from_secs(10);
/// Confirmations that are remembered as shown. More than can wait at once.
const SHOWN_MAX: usize = 1024;

#[derive(Debug, Clone)]
pub(super) struct EditorRpc(pub(super) Arc<Daemon>);

type AttachStream = Pin<Box<dyn Stream<Item = Result<v1::AttachResponse, Status>> + Send>>;

/// One attached editor, from its first message until the stream ends.
struct EditorSession {
    daemon: Arc<Daemon>,
    workspace: Arc<WorkspaceState>,
    attachment: Attachment,
    /// Where the editor shows confirmations.
    watch: Option<ConfirmationWatch>,
    /// Confirmations that were shown and are not over.
    shown: HashSet<String>,
    sender: mpsc::Sender<Result<v1::AttachResponse, Status>>,
}

/// Why a message could not be used.
pub(super) struct MessageProblem {
    code: &'static str,
    message: String,
    /// The file or question that it was about.
    subject: String,
}

/// Whether a session continues.
enum SessionFlow {
    On,
    End,
}

methods! {
    EditorService for EditorRpc {
        type AttachStream = AttachStream;
        fn attach(Streaming<v1::AttachRequest>) -> AttachStream;
    }
}

impl EditorRpc {
    async fn attach(
        &self,
        request: Request<Streaming<v1::AttachRequest>>,
    ) -> Result<Response<AttachStream>, Status> {
        let mut told = request.into_inner();
        let first = tokio::time::timeout(HELLO_WAIT_MAX, told.message());
        let first = first.await.map_err(|_| no_hello("nothing came"))??;
        let Some(v1::AttachRequest { message: Some(EditorMessage::Hello(hello)) }) = first else {
            return Err(no_hello("something else came"));
        };
        let workspace = from_proto::workspace(&self.0, &hello.workspace)?;
        let hello = messages::hello(hello)?;
        let shows_confirmations = hello.capabilities.contains(&EditorCapability::Confirm);
        tracing::info!(editor = hello.name, version = hello.version, "an editor attaches");
        let (attachment, questions) = workspace
            .editors
            .attach(hello)
            .map_err(|refusal| error::status(Reason::EditorsFull, &refusal.to_string(), &[]))?;
        let watch = shows_confirmations
            .then(|| self.0.confirmations.watch(Some(workspace.name().to_owned())));
        let (sender, stream) = mpsc::channel(STREAM_QUEUE_MAX);
        let session = EditorSession {
            daemon: Arc::clone(&self.0),
            workspace,
            attachment,
            watch,
            shown: HashSet::new(),
            sender,
        };
        self.0.tasks.spawn(session.run(told, questions));
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }
}

fn no_hello(what: &str) -> Status {
    let message = format!("the first message must be `hello`, within 10 seconds; {what}");
    error::invalid_field("message", &message)
}

// === impl EditorSession ===

impl EditorSession {
    async fn run(
        mut self,
        mut told: Streaming<v1::AttachRequest>,
        mut questions: mpsc::Receiver<ToEditor>,
    ) {
        let attached = v1::EditorAttached {
            editor_id: self.attachment.id().to_string(),
            workspace: self.workspace.name().to_owned(),
        };
        let mut next = self.say(Said::Attached(attached)).await;
        while let SessionFlow::On = next {
            next = tokio::select! {
                () = self.daemon.draining.cancelled() => {
                    let message = "the daemon stops: attach again later";
                    self.end(Status::unavailable(message)).await
                }
                () = self.sender.closed() => SessionFlow::End,
                told = told.message() => match told {
                    Ok(Some(v1::AttachRequest { message })) => self.take(message).await,
                    Ok(None) => SessionFlow::End,
                    // It has gone, or sent what cannot be read, such as a message that is too large.
                    Err(status) => self.end(status).await,
                },
                question = questions.recv() => match question {
                    Some(ToEditor::Asked { id, question, timeout }) => {
                        self.say(messages::question(id, &question, timeout)).await
                    }
                    Some(ToEditor::Over { id, end }) => self.say(messages::over(id, end)).await,
                    Some(ToEditor::Replaced) | None => {
                        let message = "the same instance has attached again";
                        let replaced = error::status(Reason::EditorReplaced, message, &[]);
                        self.end(replaced).await
                    }
                },
                confirmation = next_confirmation(&mut self.watch) => {
                    self.show(&confirmation).await
                }
            };
        }
    }

    /// Shows a confirmation, or that it is over.
    async fn show(&mut self, confirmation: &Confirmation) -> SessionFlow {
        let is_shown = self.shown.contains(&confirmation.id);
        match (&confirmation.state, is_shown) {
            (ConfirmationState::Pending, false) => {
                if self.shown.len() >= SHOWN_MAX {
                    self.shown.clear();
                }
                self.shown.insert(confirmation.id.clone());
                self.say(messages::confirmation(confirmation)).await
            }
            (ConfirmationState::Pending, true) | (_, false) => SessionFlow::On,
            (state, true) => {
                self.shown.remove(&confirmation.id);
                let end = messages::end_of(state);
                self.say(messages::over(confirmation.id.clone(), end)).await
            }
        }
    }

    /// Handles what the editor reports; says so where it cannot.
    async fn take(&mut self, told: Option<EditorMessage>) -> SessionFlow {
        let taken = match told {
            Some(EditorMessage::Hello(_)) => {
                let twice = error::invalid_field("message", "`hello` was sent already");
                return self.end(twice).await;
            }
            Some(EditorMessage::View(view)) => self.look(view),
            Some(EditorMessage::Buffer(buffer)) => self.hold(buffer).await,
            Some(EditorMessage::Closed(closed)) => {
                self.path(&closed.path).map(|path| self.attachment.close(&path))
            }
            Some(EditorMessage::Diagnostics(said)) => self.diagnose(said),
            Some(EditorMessage::Answer(answer)) => self.take_reply(answer).await,
            Some(EditorMessage::Sync(sync)) => return self.say(Said::Synced(sync)).await,
            None => Err(MessageProblem {
                code: "unknown_message",
                message: "a message of a kind that this version does not know".to_owned(),
                subject: String::new(),
            }),
        };
        match taken {
            Ok(()) => SessionFlow::On,
            Err(MessageProblem { code, message, subject }) => {
                let code = code.to_owned();
                self.say(Said::Problem(v1::EditorProblem { code, message, subject })).await
            }
        }
    }

    fn look(&self, view: v1::EditorView) -> Result<(), MessageProblem> {
        // A file elsewhere has the focus: then no file of the workspace has.
        self.attachment.look(None);
        if view.path.is_empty() {
            return Ok(());
        }
        let path = self.path(&view.path)?;
        self.attachment.look(Some(messages::view(path, &view)));
        Ok(())
    }

    async fn hold(&self, told: v1::EditorBuffer) -> Result<(), MessageProblem> {
        let path = self.path(&told.path)?;
        let about = |code, message| MessageProblem { code, message, subject: told.path.clone() };
        let (workspace, wanted) = (Arc::clone(&self.workspace), path.clone());
        let resolve = move || workspace.files.resolve(&wanted);
        let resolved = blocking(resolve).await;
        let resolved = resolved.map_err(|broken| about("internal", broken.to_string()))?;
        let real = resolved.map_err(|error| about(error.code().as_str(), error.to_string()))?.path;
        let held =
            told.unsaved_text.map_or(BufferState::Saved, |text| BufferState::Text(text.into()));
        let unusable = self.unusable(&held).map(|(code, message)| about(code, message));
        let buffer = Buffer { path, real, version: told.version, held, told_at: 0 };
        match unusable {
            Some(problem) => {
                self.attachment.lose(buffer);
                Err(problem)
            }
            None => self
                .attachment
                .hold(buffer)
                .map_err(|refusal| MessageProblem::new(&refusal, &told.path)),
        }
    }

    /// Why a text cannot be that of a file that tools read and change.
    fn unusable(&self, held: &BufferState) -> Option<(&'static str, String)> {
        let BufferState::Text(text) = held else { return None };
        let bytes_max = self.workspace.files.limits().edit_bytes_max;
        if text.len() as u64 > bytes_max {
            let message = format!("larger than {bytes_max} bytes (files.edit_bytes_max)");
            return Some(("too_large", message));
        }
        text.contains('\0').then(|| ("binary", "the text has a NUL character".to_owned()))
    }

    fn diagnose(&self, said: v1::FileDiagnostics) -> Result<(), MessageProblem> {
        let path = self.path(&said.path)?;
        let diagnostics = messages::diagnostics(said.diagnostics);
        self.attachment
            .diagnose(path, diagnostics)
            .map_err(|refusal| MessageProblem::new(&refusal, &said.path))
    }

    async fn take_reply(&self, answer: v1::EditorAnswer) -> Result<(), MessageProblem> {
        let v1::EditorAnswer { question_id: id, answer } = answer;
        match replies::read(&id, answer)? {
            replies::IncomingReply::Question(answer) => self
                .attachment
                .reply(&id, answer)
                .map_err(|refusal| MessageProblem::new(&refusal, &id)),
            replies::IncomingReply::Confirmation { digest, verdict } => {
                self.resolve(id, digest, verdict).await
            }
        }
    }

    /// Decides a confirmation, and says where the decision could not be remembered as it was wanted.
    async fn resolve(
        &self,
        id: String,
        digest: ContentHash,
        verdict: ConfirmationDecision,
    ) -> Result<(), MessageProblem> {
        let taken = self.daemon.confirmations.take(&id, digest, verdict);
        let taken = taken.map_err(|refusal| replies::unresolved(&refusal, &id))?;
        // On a task of its own: an editor that goes meanwhile has decided.
        let daemon = Arc::clone(&self.daemon);
        let settled = self.daemon.tasks.spawn(async move { settle(&daemon, taken).await }).await;
        let problem = match settled.map(|settled| settled.remembered) {
            Ok(None | Some(Ok(_))) => return Ok(()),
            Ok(Some(Err(error))) => error.to_string(),
            Err(error) => error.to_string(),
        };
        Err(MessageProblem { code: "not_remembered", message: problem, subject: id })
    }

    fn path(&self, text: &str) -> Result<RelPath, MessageProblem> {
        self.workspace.files.path(text).map_err(|error| MessageProblem {
            code: error.code().as_str(),
            message: error.to_string(),
            subject: text.to_owned(),
        })
    }

    async fn say(&self, message: Said) -> SessionFlow {
        let message = v1::AttachResponse { message: Some(message) };
        match pass(&self.sender, Ok(message), &self.daemon.draining).await {
            true => SessionFlow::On,
            false => SessionFlow::End,
        }
    }

    async fn end(&self, status: Status) -> SessionFlow {
        // One that is gone has no use for the reason.
        pass(&self.sender, Err(status), &self.daemon.draining).await;
        SessionFlow::End
    }
}

/// Waits for the next change of a confirmation; for ever where the editor shows none.
async fn next_confirmation(watch: &mut Option<ConfirmationWatch>) -> Arc<Confirmation> {
    match watch {
        Some(watch) => watch.next().await,
        None => std::future::pending().await,
    }
}

// === impl MessageProblem ===

impl MessageProblem {
    fn new(refusal: &EditorRefusal, subject: &str) -> Self {
        Self { code: refusal.code(), message: refusal.to_string(), subject: subject.to_owned() }
    }
}
