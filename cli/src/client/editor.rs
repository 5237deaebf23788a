//! The terminal as an editor that can do one thing: put questions to the person.

use moss_dispatch::Role;
use moss_proto::v1;
use moss_proto::v1::attach_request::Message;
use moss_proto::v1::attach_response::Message as DaemonMessage;
use moss_proto::v1::editor_answer::Answer;
use moss_proto::v1::editor_question::Question;
use moss_proto::v1::editor_service_client::EditorServiceClient;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use super::{Client, RESPONSE_BYTES_MAX, RequestFailure, body};

/// Messages that wait to be sent: a person replies to one question after the other.
const MESSAGES_MAX: usize = 4;

/// A terminal that is attached. Questions come for as long as it lives.
#[derive(Debug)]
pub(crate) struct AttachedTerminal {
    sender: mpsc::Sender<v1::AttachRequest>,
    received: Streaming<v1::AttachResponse>,
}

/// A question to the person.
#[derive(Debug)]
pub(crate) struct TerminalQuestion {
    id: String,
    pub(crate) question: String,
    pub(crate) choices: Vec<String>,
}

// === impl Client ===

impl Client {
    /// Attaches this terminal for the questions of a call; results of tools say under which name they
    /// have their replies.
    ///
    /// # Errors
    ///
    /// [`RequestFailure`], for example where the credentials are not an approver's.
    pub(crate) async fn attach(&self, name: &str) -> Result<AttachedTerminal, RequestFailure> {
        let (sender, messages) = mpsc::channel(MESSAGES_MAX);
        let hello = v1::EditorHello {
            name: name.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            workspace: self.workspace.clone(),
            capabilities: vec![v1::EditorCapability::Clarify.into()],
            instance: String::new(),
        };
        let hello = v1::AttachRequest { message: Some(Message::Hello(hello)) };
        // The channel is new and has room.
        let _ = sender.send(hello).await;
        let request = self.request(Role::Approver, ReceiverStream::new(messages));
        let mut service = EditorServiceClient::new(self.channel.clone())
            .max_decoding_message_size(RESPONSE_BYTES_MAX);
        let mut received = body(service.attach(request).await)?;
        match received.message().await.map_err(|status| RequestFailure::from(&status))? {
            Some(v1::AttachResponse { message: Some(DaemonMessage::Attached(_)) }) => {
                Ok(AttachedTerminal { sender, received })
            }
            _ => Err(RequestFailure::incomplete("attachment")),
        }
    }
}

// === impl AttachedTerminal ===

impl AttachedTerminal {
    /// Waits for a question; none when no more will come.
    pub(crate) async fn next(&mut self) -> Option<TerminalQuestion> {
        loop {
            let message = self.received.message().await.ok()??.message;
            if let Some(DaemonMessage::Question(v1::EditorQuestion {
                id,
                question: Some(Question::Clarify(v1::ClarifyQuestion { question, choices })),
                ..
            })) = message
            {
                return Some(TerminalQuestion { id, question, choices });
            }
        }
    }

    /// Sends what the person said; empty text closes the question.
    pub(crate) async fn reply(&self, asked: TerminalQuestion, text: String) {
        let reply =
            v1::EditorAnswer { question_id: asked.id, answer: Some(Answer::Clarification(text)) };
        let message = v1::AttachRequest { message: Some(Message::Answer(reply)) };
        // Where the daemon has gone, its call says so.
        let _ = self.sender.send(message).await;
    }
}
