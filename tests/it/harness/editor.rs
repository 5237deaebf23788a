//! An editor: it attaches, tells what it has, and answers as a test says.

use moss_proto::v1;
use moss_proto::v1::attach_request::Message as EditorMessage;
use moss_proto::v1::attach_response::Message as Said;
use moss_proto::v1::editor_answer::Answer;
use moss_proto::v1::editor_question::Question;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use super::{Client, within};

/// Everything that an editor can do.
const CAPABILITIES: [v1::EditorCapability; 6] = [
    v1::EditorCapability::DocumentSymbols,
    v1::EditorCapability::Definitions,
    v1::EditorCapability::TypeDefinitions,
    v1::EditorCapability::Clarify,
    v1::EditorCapability::Confirm,
    v1::EditorCapability::ApplyEdit,
];

/// An attached editor. Dropping it detaches it.
pub(crate) struct Editor {
    told: mpsc::Sender<v1::AttachRequest>,
    said: Streaming<v1::AttachResponse>,
    syncs: u64,
}

/// A range from a line and character to another, both counted from 0.
pub(crate) fn range(start: (u32, u32), end: (u32, u32)) -> v1::Range {
    let place = |(line, character)| Some(v1::Position { line, character });
    v1::Range { start: place(start), end: place(end) }
}

// === impl Editor ===

impl Editor {
    /// What an editor of this name that can do everything says of itself.
    pub(crate) fn hello(name: &str) -> v1::EditorHello {
        v1::EditorHello {
            name: name.to_owned(),
            version: "1".to_owned(),
            capabilities: CAPABILITIES.map(Into::into).to_vec(),
            ..Default::default()
        }
    }

    /// Attaches an editor that can do everything.
    pub(crate) async fn attach(client: &Client, name: &str) -> Self {
        Self::attach_as(client, Self::hello(name)).await.unwrap()
    }

    /// Attaches an editor that says this of itself.
    pub(crate) async fn attach_as(client: &Client, hello: v1::EditorHello) -> Result<Self, Status> {
        let mut editor = Self::open(client, EditorMessage::Hello(hello)).await?;
        match editor.next().await? {
            Some(Said::Attached(_)) => Ok(editor),
            other => panic!("expected to be attached, got {other:?}"),
        }
    }

    /// Opens a channel with any first message.
    pub(crate) async fn open(client: &Client, first: EditorMessage) -> Result<Self, Status> {
        let (told, stream) = mpsc::channel(64);
        told.send(v1::AttachRequest { message: Some(first) }).await.unwrap();
        let mut service = client.editor();
        let attached = within("attaching", service.attach(ReceiverStream::new(stream))).await?;
        Ok(Self { told, said: attached.into_inner(), syncs: 0 })
    }

    /// Sends a message, whether or not the daemon still reads.
    pub(crate) async fn tell(&self, message: EditorMessage) {
        // A daemon that has ended the stream takes nothing more.
        let _ = self.told.send(v1::AttachRequest { message: Some(message) }).await;
    }

    /// Reports something that can be used, and waits until it is in effect.
    pub(crate) async fn told(&mut self, message: EditorMessage) {
        self.tell(message).await;
        if let Some(problem) = self.synced().await {
            panic!("{problem:?}");
        }
    }

    /// Reports something that cannot be used; returns why.
    pub(crate) async fn refused(&mut self, message: EditorMessage) -> v1::EditorProblem {
        self.tell(message).await;
        self.synced().await.expect("a problem")
    }

    /// Waits until all that was told is in effect; returns a problem with it.
    async fn synced(&mut self) -> Option<v1::EditorProblem> {
        self.syncs += 1;
        let mut problem = None;
        self.tell(EditorMessage::Sync(v1::EditorSync { id: self.syncs })).await;
        loop {
            match self.next().await.unwrap() {
                Some(Said::Synced(sync)) if sync.id == self.syncs => return problem,
                Some(Said::Problem(one)) => problem = Some(one),
                // A question that came in between is over for the tests that wait here.
                Some(Said::Over(_)) => {}
                other => panic!("expected to be in sync, got {other:?}"),
            }
        }
    }

    /// Holds a buffer with this unsaved text; saved where there is none.
    pub(crate) async fn hold(&mut self, path: &str, version: u64, text: Option<&str>) {
        self.told(Self::buffer(path, version, text)).await;
    }

    /// What is shown of a buffer.
    pub(crate) fn buffer(path: &str, version: u64, text: Option<&str>) -> EditorMessage {
        let unsaved_text = text.map(str::to_owned);
        EditorMessage::Buffer(v1::EditorBuffer { path: path.to_owned(), version, unsaved_text })
    }

    /// Puts the cursor into a file.
    pub(crate) async fn look(&mut self, path: &str, line: u32, character: u32) {
        let cursor = Some(v1::Position { line, character });
        let view = v1::EditorView { path: path.to_owned(), cursor, ..Default::default() };
        self.told(EditorMessage::View(view)).await;
    }

    /// Returns the next message; none at the end of the stream.
    pub(crate) async fn next(&mut self) -> Result<Option<Said>, Status> {
        let message = within("a message to an editor", self.said.message()).await?;
        Ok(message.map(|message| message.message.expect("a message says something")))
    }

    /// Returns the next question, with its id.
    pub(crate) async fn question(&mut self) -> (String, Question) {
        match self.next().await.unwrap() {
            Some(Said::Question(asked)) => (asked.id, asked.question.expect("it asks something")),
            other => panic!("expected a question, got {other:?}"),
        }
    }

    /// Returns how the next question that ends came to its end.
    pub(crate) async fn over(&mut self) -> (String, v1::QuestionEnd) {
        match self.next().await.unwrap() {
            Some(Said::Over(over)) => (over.question_id.clone(), over.end()),
            other => panic!("expected the end of a question, got {other:?}"),
        }
    }

    pub(crate) async fn answer(&self, question_id: &str, answer: Answer) {
        let question_id = question_id.to_owned();
        self.tell(EditorMessage::Answer(v1::EditorAnswer { question_id, answer: Some(answer) }))
            .await;
    }

    pub(crate) async fn resolve(&self, asked: &v1::Confirmation, verdict: v1::Verdict) {
        self.resolve_as(asked, verdict, "").await;
    }

    /// Answers a confirmation, and wants the answer to be remembered as an offer says.
    pub(crate) async fn resolve_as(
        &self,
        asked: &v1::Confirmation,
        verdict: v1::Verdict,
        remember: &str,
    ) {
        let answer = v1::ConfirmationAnswer {
            verdict: verdict.into(),
            digest: asked.digest.clone(),
            reason: String::new(),
            remember: remember.to_owned(),
        };
        self.answer(&asked.id, Answer::Confirmation(answer)).await;
    }
}
