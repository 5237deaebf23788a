//! One reply that is read while it comes.

use std::sync::Arc;

use moss_model_bridge::{Finish, ParseOptions, Parser, Registry, ReplyEvent};
use moss_proto::v1;
use moss_proto::v1::parse_request::Message;

use super::events;
use super::exchange::{
    self, Exchange, ExchangeEnd, REPLY_BYTES_MAX, ResponseSender, SHORT_BYTES_MAX,
};

/// How much of a reply is read at once, in bytes.
const PIECE_BYTES: usize = 64 << 10;

/// A reply on its way.
pub(super) struct ParseExchange {
    answers: ResponseSender<v1::ParseResponse>,
    /// What is wrong with the tools, which was not reported yet.
    warnings: Vec<ReplyEvent>,
    /// None while it is at work, and after the end.
    parser: Option<Parser>,
    /// How much of the reply came, in bytes.
    bytes: usize,
}

// === impl ParseExchange ===

impl ParseExchange {
    pub(super) fn new(
        answers: ResponseSender<v1::ParseResponse>,
        registry: Arc<Registry>,
        options: ParseOptions,
    ) -> Self {
        let warnings = registry.warnings().iter().cloned().map(ReplyEvent::Diagnostic).collect();
        Self { answers, warnings, parser: Some(Parser::new(registry, options)), bytes: 0 }
    }

    async fn feed(&mut self, chunk: &[u8]) -> Result<(), ExchangeEnd> {
        self.bytes = self.bytes.saturating_add(chunk.len());
        if self.bytes > REPLY_BYTES_MAX {
            let what = format!("{REPLY_BYTES_MAX} bytes");
            return Err(ExchangeEnd::Refused(exchange::reply_too_large("chunk", &what)));
        }
        for piece in chunk.chunks(PIECE_BYTES) {
            let piece = piece.to_vec();
            let read = self.work(move |mut parser| {
                let read = parser.feed(&piece);
                (Some(parser), read)
            });
            let read = read.await?;
            self.send(read).await?;
        }
        Ok(())
    }

    async fn finish(&mut self, finish: Finish) -> Result<(), ExchangeEnd> {
        let read = self.work(move |parser| (None, parser.finish(finish))).await?;
        self.send(read).await
    }

    async fn work(
        &mut self,
        work: impl FnOnce(Parser) -> (Option<Parser>, Vec<ReplyEvent>) + Send + 'static,
    ) -> Result<Vec<ReplyEvent>, ExchangeEnd> {
        self.answers.work(self.bytes > SHORT_BYTES_MAX, &mut self.parser, work).await
    }

    async fn send(&self, read: Vec<ReplyEvent>) -> Result<(), ExchangeEnd> {
        for event in read.into_iter().flat_map(events::to_wire) {
            let event = Some(v1::ReplyEvent { event: Some(event) });
            self.answers.send(v1::ParseResponse { event }).await?;
        }
        Ok(())
    }
}

impl Exchange for ParseExchange {
    type Request = v1::ParseRequest;
    type Response = v1::ParseResponse;
    const UNFINISHED: &'static str = "the request ended without `finish`; send \
                                      `REPLY_FINISH_LENGTH` for a reply that was interrupted";

    fn responses(&self) -> &ResponseSender<v1::ParseResponse> {
        &self.answers
    }

    async fn take(&mut self, request: v1::ParseRequest) -> Result<(), ExchangeEnd> {
        let warnings = std::mem::take(&mut self.warnings);
        self.send(warnings).await?;
        match request.message {
            Some(Message::Chunk(chunk)) => self.feed(&chunk).await,
            Some(Message::Finish(finish)) => {
                let finish = events::finish("finish", finish).map_err(ExchangeEnd::Refused)?;
                self.finish(finish).await?;
                Err(ExchangeEnd::Done)
            }
            Some(Message::Start(_)) => Err(exchange::said_already("start")),
            None => Err(exchange::unknown_message()),
        }
    }
}
