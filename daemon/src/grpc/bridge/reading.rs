//! One reply that is read while it comes.
//!
//! What came is read before more is taken, and what was read is passed on before more is read: a
//! slow reader slows who sends, and nothing piles up. Once a reply is long, its pieces are read off
//! the workers that serve everybody.

use std::sync::Arc;

use moss_model_bridge::{Event, Finish, Options, Parser, Registry};
use moss_proto::v1;
use moss_proto::v1::parse_request::Message;
use prost::Message as _;
use tokio::sync::mpsc;
use tonic::{Code, Status, Streaming};

use super::super::error::{self, invalid_field};
use super::super::pass;
use super::{events, heavy, too_large};
use crate::state::Daemon;

/// Largest reply, in bytes.
const REPLY_BYTES_MAX: usize = 16 << 20;
/// How much of a reply is read at once, in bytes.
const PIECE_BYTES: usize = 64 << 10;
/// Up to how many bytes a reply is read where it comes: it takes less time than to go elsewhere.
const SHORT_BYTES_MAX: usize = 16 << 10;

/// A reply on its way.
pub(super) struct Reading {
    daemon: Arc<Daemon>,
    /// None while it is at work, and after the end.
    parser: Option<Parser>,
    /// How much came.
    bytes: usize,
    sender: mpsc::Sender<Result<v1::ParseResponse, Status>>,
}

/// Why a reading is over.
enum End {
    /// All was read and told.
    Done,
    /// The reader is gone or takes nothing.
    Left,
    /// It cannot go on.
    Refused(Status),
}

// === impl Reading ===

impl Reading {
    pub(super) fn new(
        daemon: Arc<Daemon>,
        registry: Arc<Registry>,
        options: Options,
        sender: mpsc::Sender<Result<v1::ParseResponse, Status>>,
    ) -> Self {
        let parser = Some(Parser::new(registry, options));
        Self { daemon, parser, bytes: 0, sender }
    }

    /// Reads all that comes. Ends when the reader is gone.
    pub(super) async fn run(mut self, mut told: Streaming<v1::ParseRequest>) {
        let (sender, daemon) = (self.sender.clone(), Arc::clone(&self.daemon));
        let end = tokio::select! {
            () = daemon.draining.cancelled() => {
                End::Refused(Status::unavailable("the daemon stops: read the reply again later"))
            }
            () = sender.closed() => End::Left,
            end = self.read(&mut told) => end,
        };
        if let End::Refused(status) = end {
            // One that is gone has no use for the reason.
            pass(&sender, Err(status), &daemon.draining).await;
        }
    }

    async fn read(&mut self, told: &mut Streaming<v1::ParseRequest>) -> End {
        loop {
            let taken = match told.message().await {
                Ok(Some(v1::ParseRequest { message })) => self.take(message).await,
                Ok(None) => Err(End::Refused(invalid_field(
                    "message",
                    "the request ended without `finish`; send `REPLY_FINISH_LENGTH` for a reply \
                     that broke off",
                ))),
                // It has gone, or sent what cannot be read, such as a message that is too large.
                Err(status) => Err(End::Refused(status)),
            };
            if let Err(end) = taken {
                return end;
            }
        }
    }

    async fn take(&mut self, message: Option<Message>) -> Result<(), End> {
        match message {
            Some(Message::Chunk(chunk)) => self.feed(&chunk).await,
            Some(Message::Finish(finish)) => {
                let finish = events::finish(finish).map_err(End::Refused)?;
                self.finish(finish).await?;
                Err(End::Done)
            }
            Some(Message::Start(_)) => {
                Err(End::Refused(invalid_field("message", "`start` was said already")))
            }
            None => {
                let message = "a message of a kind that this version does not know";
                Err(End::Refused(invalid_field("message", message)))
            }
        }
    }

    async fn feed(&mut self, chunk: &[u8]) -> Result<(), End> {
        self.bytes = self.bytes.saturating_add(chunk.len());
        if self.bytes > REPLY_BYTES_MAX {
            let message = format!("chunk: the reply has more than {REPLY_BYTES_MAX} bytes");
            let facts = [("field", "chunk")];
            let code = Code::InvalidArgument;
            return Err(End::Refused(error::status(code, "REPLY_TOO_LARGE", &message, &facts)));
        }
        for piece in chunk.chunks(PIECE_BYTES) {
            let Some(mut parser) = self.parser.take() else { return Err(End::Done) };
            let read = if self.bytes <= SHORT_BYTES_MAX {
                let read = parser.feed(piece);
                self.parser = Some(parser);
                read
            } else {
                let piece = piece.to_vec();
                let work = move || {
                    let read = parser.feed(&piece);
                    (parser, read)
                };
                let (parser, read) = heavy(&self.daemon, work).await.map_err(End::Refused)?;
                self.parser = Some(parser);
                read
            };
            self.tell(read).await?;
        }
        Ok(())
    }

    async fn finish(&mut self, finish: Finish) -> Result<(), End> {
        let Some(parser) = self.parser.take() else { return Err(End::Done) };
        let read = match self.bytes <= SHORT_BYTES_MAX {
            true => parser.finish(finish),
            false => {
                let work = move || parser.finish(finish);
                heavy(&self.daemon, work).await.map_err(End::Refused)?
            }
        };
        self.tell(read).await
    }

    async fn tell(&self, read: Vec<Event>) -> Result<(), End> {
        let bytes_max = self.daemon.config().grpc.response_bytes_max;
        for event in read.into_iter().flat_map(events::to_wire) {
            let event = Some(v1::ReplyEvent { event: Some(event) });
            let response = v1::ParseResponse { event };
            let size = response.encoded_len();
            if size > bytes_max {
                let status = too_large("an event", size, bytes_max);
                return Err(End::Refused(status));
            }
            if !pass(&self.sender, Ok(response), &self.daemon.draining).await {
                return Err(End::Left);
            }
        }
        Ok(())
    }
}
