//! One reply that is written for the client of an API while it comes.

use jiff::Timestamp;
use moss_dispatch::Reason;
use moss_model_bridge::{
    Api, NamespacedName, Reply, ReplyEvent,
    encode::{
        self, CallForms, FailureKind, FailureResponse, ReplyFailure, ReplyHead, ReplyStream,
        ReplyUsage, RetryAdvice, StreamOptions,
    },
};
use moss_proto::v1;
use moss_proto::v1::encode_failure::Again;
use moss_proto::v1::encode_request::Message;
use moss_proto::v1::encode_response::Part;
use prost::Message as _;
use tonic::Status;

use super::super::error::{self, invalid_field};
use super::super::from_proto;
use super::exchange::{self, Exchange, ExchangeEnd, ResponseSender, SHORT_BYTES_MAX};
use super::sequence::Sequence;
use super::tools::{TOOLS_BYTES_MAX, TOOLS_MAX};
use super::{requests, word};
use moss_dispatch::budget::{BudgetShare, object_bytes};

/// Longest piece of a body in a message, in bytes.
const PIECE_BYTES_MAX: usize = 256 << 10;
/// What a message has beside its piece of a body, in bytes, at most.
const FRAME_BYTES_MAX: usize = 16;
const JSON: &str = "application/json";

/// How often a streamed reply of Responses has its texts when it ends: kept, and said again by the
/// events that close an item and by the last.
const RESPONSES_COPIES: usize = 5;
/// How often another reply has them: kept, and as the body that they become.
const COPIES: usize = 2;
/// What of each reply needs no share: small ones are taken whatever else is written.
const FREE_BYTES: usize = 16 << 10;

/// A response on its way.
pub(super) struct EncodeExchange {
    answers: ResponseSender<v1::EncodeResponse>,
    /// Of what the connection, the caller, and all of the role may hold.
    share: BudgetShare<3>,
    /// How much the writer holds.
    held_bytes: usize,
    /// None while it is at work, and after the end.
    writer: Option<WireWriter>,
    /// How much was reported so far, in bytes of messages.
    bytes: usize,
}

/// Writes what is reported.
#[derive(Debug)]
pub(super) struct WireWriter {
    api: Api,
    head: ReplyHead,
    sequence: Sequence,
    form: WriterState,
    has_begun: bool,
    /// How much it holds before anything is reported, and of the arguments of whole calls.
    start_bytes: usize,
    arguments_bytes: usize,
}

#[derive(Debug)]
enum WriterState {
    /// What makes the reply.
    Whole(Vec<ReplyEvent>),
    Streamed(Box<ReplyStream>),
    Over,
}

/// What is to be sent.
#[derive(Debug, Default)]
struct EncodedPart {
    head: Option<v1::EncodeHead>,
    body: String,
    is_last: bool,
}

fn forms(start: &mut v1::EncodeStart, api: Api) -> Result<CallForms, Status> {
    let (free_form, namespaced) =
        (std::mem::take(&mut start.free_form_tools), std::mem::take(&mut start.namespaced_tools));
    let sizes = namespaced.iter().map(|(name, own)| name.len() + own.encoded_len());
    let fields = [
        ("start.free_form_tools", free_form.len(), free_form.iter().map(String::len).sum()),
        ("start.namespaced_tools", namespaced.len(), sizes.sum::<usize>()),
    ];
    for (field, count, bytes) in fields {
        if count > TOOLS_MAX || bytes > TOOLS_BYTES_MAX {
            let message = format!("more than {TOOLS_MAX} tools, or {TOOLS_BYTES_MAX} bytes");
            return Err(invalid_field(field, &message));
        }
    }
    if !matches!(api, Api::OpenAiChat | Api::OpenAiResponses) {
        // The others have no such forms.
        return Ok(CallForms::default());
    }
    let both =
        |own: v1::NamespacedTool| NamespacedName { namespace: own.namespace, name: own.name };
    Ok(CallForms {
        free_form: free_form.into_iter().collect(),
        namespaced: namespaced.into_iter().map(|(name, own)| (name, both(own))).collect(),
    })
}

fn failure(told: v1::EncodeFailure) -> Result<ReplyFailure, Status> {
    let v1::EncodeFailure { kind, message, param, again } = told;
    let failure = ReplyFailure::new(failure_kind(kind)?, message);
    let failure = if param.is_empty() { failure } else { failure.param(param) };
    Ok(match again {
        None => failure,
        Some(Again::Retry(false)) => failure.retry(RetryAdvice::Never),
        Some(Again::Retry(true)) => failure.retry(RetryAdvice::Soon),
        Some(Again::RetryAfterS(seconds)) => failure.retry(RetryAdvice::After(seconds)),
    })
}

fn failure_kind(kind: i32) -> Result<FailureKind, Status> {
    use v1::EncodeFailureKind as Kind;
    let no_such = |_| invalid_field("failure.kind", "no such value");
    Ok(match Kind::try_from(kind).map_err(no_such)? {
        Kind::InvalidRequest => FailureKind::InvalidRequest,
        Kind::ContextTooLong => FailureKind::ContextTooLong,
        Kind::Unauthenticated => FailureKind::Unauthenticated,
        Kind::Forbidden => FailureKind::Forbidden,
        Kind::UnknownModel => FailureKind::UnknownModel,
        Kind::TooLarge => FailureKind::TooLarge,
        Kind::RateLimited => FailureKind::RateLimited,
        Kind::Internal => FailureKind::Internal,
        Kind::Unspecified | Kind::Upstream => FailureKind::Upstream,
        Kind::UpstreamTimeout => FailureKind::UpstreamTimeout,
        Kind::Overloaded => FailureKind::Overloaded,
    })
}

fn response(part: Part) -> v1::EncodeResponse {
    v1::EncodeResponse { part: Some(part) }
}

fn head(http_status: u32, content_type: &str) -> v1::EncodeHead {
    let content_type = content_type.to_owned();
    v1::EncodeHead { http_status, content_type, ..v1::EncodeHead::default() }
}

/// How a stream begins, where it has not begun.
fn begin(has_begun: &mut bool, stream: &ReplyStream) -> Option<v1::EncodeHead> {
    let begins = !std::mem::replace(has_begun, true);
    begins.then(|| head(200, stream.content_type()))
}

/// Makes the status of a reply for which one of its budgets has no room.
fn full(which: usize, bytes_max: [usize; 3]) -> Status {
    let whose = ["this connection", "this caller", "all callers"][which];
    let limit = ["connection_encoding_bytes_max", "encoding_bytes_max"][which.min(1)];
    let max = bytes_max[which];
    let message = format!(
        "there is no memory for this reply next to those of {whose} that are being written: {max} bytes \
         (grpc.{limit}); wait for some of them to end, then begin it again; replies that are streamed \
         need the least room"
    );
    error::exhausted(Reason::RepliesFull, &message)
}

/// Keeps an event of a reply that is not streamed: what counts there is text, and calls as a whole.
fn keep(events: &mut Vec<ReplyEvent>, event: ReplyEvent) {
    match (events.last_mut(), event) {
        (_, ReplyEvent::ArgumentFragment { .. }) => {}
        (Some(ReplyEvent::Text(text)), ReplyEvent::Text(more)) => text.push_str(&more),
        (_, event) => events.push(event),
    }
}

// === impl EncodeExchange ===

impl EncodeExchange {
    /// Begins, where there is room for it.
    pub(super) fn new(
        answers: ResponseSender<v1::EncodeResponse>,
        writer: WireWriter,
        share: BudgetShare<3>,
    ) -> Result<Self, Status> {
        let held_bytes = writer.held_bytes();
        let mut writing = Self { answers, share, held_bytes, writer: Some(writer), bytes: 0 };
        writing.hold(0)?;
        Ok(writing)
    }

    /// Holds so much beside what the writer does.
    fn hold(&mut self, bytes: usize) -> Result<(), Status> {
        let bytes = self.held_bytes.saturating_add(bytes).saturating_sub(FREE_BYTES);
        self.share.hold(bytes).map_err(|which| full(which, self.share.bytes_max()))
    }

    async fn send(
        &mut self,
        EncodedPart { head, body, is_last }: EncodedPart,
    ) -> Result<(), ExchangeEnd> {
        self.hold(body.len()).map_err(ExchangeEnd::Refused)?;
        if let Some(head) = head {
            self.answers.send(response(Part::Head(head))).await?;
        }
        let room = self.answers.bytes_max().saturating_sub(FRAME_BYTES_MAX);
        for piece in body.as_bytes().chunks(room.clamp(1, PIECE_BYTES_MAX)) {
            self.answers.send(response(Part::Body(piece.to_vec()))).await?;
        }
        if is_last {
            return Err(ExchangeEnd::Done);
        }
        self.hold(0).map_err(ExchangeEnd::Refused)
    }
}

impl Exchange for EncodeExchange {
    type Request = v1::EncodeRequest;
    type Response = v1::EncodeResponse;
    const UNFINISHED: &'static str =
        "the request ended without `usage`; send `failure` if the reply ends early";

    fn responses(&self) -> &ResponseSender<v1::EncodeResponse> {
        &self.answers
    }

    async fn take(&mut self, request: v1::EncodeRequest) -> Result<(), ExchangeEnd> {
        self.bytes = self.bytes.saturating_add(request.encoded_len());
        self.hold(request.encoded_len()).map_err(ExchangeEnd::Refused)?;
        let Some(message) = request.message else { return Err(exchange::unknown_message()) };
        let takes_long = self.bytes > SHORT_BYTES_MAX;
        let written = self.answers.work(takes_long, &mut self.writer, move |mut writer| {
            let said = writer.take(message);
            let held_bytes = writer.held_bytes();
            (Some(writer), said.map(|said| (said, held_bytes)))
        });
        let (said, held_bytes) = written.await?.map_err(ExchangeEnd::Refused)?;
        self.held_bytes = held_bytes;
        self.send(said).await
    }
}

// === impl WireWriter ===

impl WireWriter {
    /// Checks the message that begins a stream, and prepares the writer of its API.
    pub(super) fn new(mut start: v1::EncodeStart) -> Result<Self, Status> {
        let api = requests::api("start.api", start.api)?;
        from_proto::bounded("start.model", &start.model, from_proto::NAME_BYTES_MAX)?;
        word("start.id", &start.id, "_")?;
        let start_bytes = start.encoded_len();
        let forms = forms(&mut start, api)?;
        let sequence = Sequence::new(forms.free_form.clone());
        let now = || u64::try_from(Timestamp::now().as_second()).unwrap_or_default();
        let head = ReplyHead {
            id: if start.id.is_empty() { moss_daemon::ids::random() } else { start.id },
            model: start.model,
            created_unix_s: if start.created_unix_s == 0 { now() } else { start.created_unix_s },
            input_tokens: start.input_tokens,
            forms,
        };
        let options = StreamOptions { include_usage: start.stream_usage };
        let form = match start.stream {
            true => WriterState::Streamed(Box::new(ReplyStream::new(api, head.clone(), options))),
            false => WriterState::Whole(Vec::new()),
        };
        let (has_begun, arguments_bytes) = (false, 0);
        Ok(Self { api, head, sequence, form, has_begun, start_bytes, arguments_bytes })
    }

    /// How much memory it holds, and will need for the end of the reply.
    fn held_bytes(&self) -> usize {
        let (told, open) = (self.sequence.reported_bytes(), self.sequence.open_bytes() * COPIES);
        let kept = match &self.form {
            WriterState::Whole(_) => told * COPIES + self.arguments_bytes,
            WriterState::Streamed(_) if self.api == Api::OpenAiResponses => told * RESPONSES_COPIES,
            WriterState::Streamed(_) | WriterState::Over => 0,
        };
        self.start_bytes * COPIES + open + kept
    }

    fn take(&mut self, message: Message) -> Result<EncodedPart, Status> {
        match message {
            Message::Start(_) => Err(invalid_field("message", "`start` was sent already")),
            Message::Event(event) => Ok(match self.sequence.take(event)? {
                Some(event) => self.event(event),
                None => EncodedPart::default(),
            }),
            Message::KeepAlive(_) => Ok(self.keep_alive()),
            Message::Usage(usage) => {
                self.sequence.is_reported("usage")?;
                Ok(self.finish(usage))
            }
            Message::Failure(told) => Ok(self.fail(&failure(told)?)),
        }
    }

    fn event(&mut self, event: ReplyEvent) -> EncodedPart {
        match &mut self.form {
            WriterState::Streamed(stream) => {
                let body = stream.push(&event);
                let begins = !body.is_empty();
                let head = begins.then(|| begin(&mut self.has_begun, stream)).flatten();
                EncodedPart { head, body, is_last: false }
            }
            WriterState::Whole(events) => {
                if let ReplyEvent::CallEnd { arguments, .. } = &event {
                    self.arguments_bytes += object_bytes(arguments);
                }
                keep(events, event);
                EncodedPart::default()
            }
            WriterState::Over => EncodedPart::default(),
        }
    }

    fn keep_alive(&mut self) -> EncodedPart {
        let WriterState::Streamed(stream) = &mut self.form else { return EncodedPart::default() };
        let head = begin(&mut self.has_begun, stream);
        EncodedPart { head, body: stream.keep_alive(), is_last: false }
    }

    fn finish(&mut self, told: v1::EncodeUsage) -> EncodedPart {
        let usage = ReplyUsage {
            input_tokens: told.input_tokens.unwrap_or(self.head.input_tokens),
            output_tokens: told.output_tokens.unwrap_or_else(|| self.sequence.tokens()),
            elapsed_ns: told.elapsed_ns,
        };
        let (head, body) = match std::mem::replace(&mut self.form, WriterState::Over) {
            WriterState::Streamed(stream) => {
                (begin(&mut self.has_begun, &stream), stream.finish(usage))
            }
            WriterState::Whole(events) => {
                let body = encode::whole(self.api, &self.head, &Reply::collect(events), usage);
                (Some(head(200, JSON)), body.to_string())
            }
            WriterState::Over => (None, String::new()),
        };
        EncodedPart { head, body, is_last: true }
    }

    /// Says why there is no reply: in the stream where that has begun, else by a status of its own.
    fn fail(&mut self, failure: &ReplyFailure) -> EncodedPart {
        let form = std::mem::replace(&mut self.form, WriterState::Over);
        if let (WriterState::Streamed(stream), true) = (form, self.has_begun) {
            return EncodedPart { head: None, body: stream.fail(failure), is_last: true };
        }
        let FailureResponse { status, headers, body } = encode::error(self.api, failure);
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value));
        let head = v1::EncodeHead { headers: headers.collect(), ..head(status.into(), JSON) };
        EncodedPart { head: Some(head), body: body.to_string(), is_last: true }
    }
}
