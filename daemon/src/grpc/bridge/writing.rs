//! One reply that is written for the client of an API while it comes.

use jiff::Timestamp;
use moss_model_bridge::encode::{
    self, CallForms, Failure, FailureKind, FailureResponse, Head, Retry, Stream, StreamOptions,
    Usage,
};
use moss_model_bridge::{Api, Event, NamespacedName, Reply};
use moss_proto::v1;
use moss_proto::v1::encode_failure::Again;
use moss_proto::v1::encode_request::Message;
use moss_proto::v1::encode_response::Part;
use prost::Message as _;
use tonic::Status;

use super::super::error::invalid_field;
use super::super::from_proto;
use super::exchange::{self, Answers, End, Exchange, SHORT_BYTES_MAX};
use super::sequence::Sequence;
use super::tools::{TOOLS_BYTES_MAX, TOOLS_MAX};
use super::{requests, word};

/// Longest piece of a body in a message, in bytes.
const PIECE_BYTES_MAX: usize = 256 << 10;
/// What a message has beside its piece of a body, in bytes, at most.
const FRAME_BYTES_MAX: usize = 16;
const JSON: &str = "application/json";

/// An answer on its way.
pub(super) struct Writing {
    answers: Answers<v1::EncodeResponse>,
    /// None while it is at work, and after the end.
    writer: Option<Writer>,
    /// How much came.
    bytes: usize,
}

/// Writes what is told.
#[derive(Debug)]
pub(super) struct Writer {
    api: Api,
    head: Head,
    sequence: Sequence,
    form: Form,
    has_begun: bool,
}

#[derive(Debug)]
enum Form {
    /// What makes the reply.
    Whole(Vec<Event>),
    Streamed(Box<Stream>),
    Over,
}

/// What is to be sent.
#[derive(Debug, Default)]
struct Said {
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

fn failure(told: v1::EncodeFailure) -> Result<Failure, Status> {
    let v1::EncodeFailure { kind, message, param, again } = told;
    let failure = Failure::new(failure_kind(kind)?, message);
    let failure = if param.is_empty() { failure } else { failure.param(param) };
    Ok(match again {
        None => failure,
        Some(Again::Retry(false)) => failure.retry(Retry::Never),
        Some(Again::Retry(true)) => failure.retry(Retry::Soon),
        Some(Again::RetryAfterS(seconds)) => failure.retry(Retry::After(seconds)),
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
fn begin(has_begun: &mut bool, stream: &Stream) -> Option<v1::EncodeHead> {
    let begins = !std::mem::replace(has_begun, true);
    begins.then(|| head(200, stream.content_type()))
}

/// Keeps an event of a reply that is not streamed: what counts there is text, and calls as a whole.
fn keep(events: &mut Vec<Event>, event: Event) {
    match (events.last_mut(), event) {
        (_, Event::ArgumentFragment { .. }) => {}
        (Some(Event::Text(text)), Event::Text(more)) => text.push_str(&more),
        (_, event) => events.push(event),
    }
}

// === impl Writing ===

impl Writing {
    pub(super) fn new(answers: Answers<v1::EncodeResponse>, writer: Writer) -> Self {
        Self { answers, writer: Some(writer), bytes: 0 }
    }

    async fn tell(&self, Said { head, body, is_last }: Said) -> Result<(), End> {
        if let Some(head) = head {
            self.answers.tell(response(Part::Head(head))).await?;
        }
        let room = self.answers.bytes_max().saturating_sub(FRAME_BYTES_MAX);
        for piece in body.as_bytes().chunks(room.clamp(1, PIECE_BYTES_MAX)) {
            self.answers.tell(response(Part::Body(piece.to_vec()))).await?;
        }
        if is_last { Err(End::Done) } else { Ok(()) }
    }
}

impl Exchange for Writing {
    type Request = v1::EncodeRequest;
    type Response = v1::EncodeResponse;
    const UNFINISHED: &'static str = "the request ended without `usage`; say `failure` where there \
                                      is no more of the reply";

    fn answers(&self) -> &Answers<v1::EncodeResponse> {
        &self.answers
    }

    async fn take(&mut self, request: v1::EncodeRequest) -> Result<(), End> {
        self.bytes = self.bytes.saturating_add(request.encoded_len());
        let Some(message) = request.message else { return Err(exchange::unknown_message()) };
        let takes_long = self.bytes > SHORT_BYTES_MAX;
        let written = self.answers.work(takes_long, &mut self.writer, move |mut writer| {
            let said = writer.take(message);
            (Some(writer), said)
        });
        let said = written.await?.map_err(End::Refused)?;
        self.tell(said).await
    }
}

// === impl Writer ===

impl Writer {
    /// Begins an answer.
    pub(super) fn new(mut start: v1::EncodeStart) -> Result<Self, Status> {
        let api = requests::api("start.api", start.api)?;
        from_proto::bounded("start.model", &start.model, from_proto::NAME_BYTES_MAX)?;
        word("start.id", &start.id, "_")?;
        let forms = forms(&mut start, api)?;
        let sequence = Sequence::new(forms.free_form.clone());
        let now = || u64::try_from(Timestamp::now().as_second()).unwrap_or_default();
        let head = Head {
            id: if start.id.is_empty() { crate::ids::random() } else { start.id },
            model: start.model,
            created_unix_s: if start.created_unix_s == 0 { now() } else { start.created_unix_s },
            input_tokens: start.input_tokens,
            forms,
        };
        let options = StreamOptions { include_usage: start.stream_usage };
        let form = match start.stream {
            true => Form::Streamed(Box::new(Stream::new(api, head.clone(), options))),
            false => Form::Whole(Vec::new()),
        };
        Ok(Self { api, head, sequence, form, has_begun: false })
    }

    fn take(&mut self, message: Message) -> Result<Said, Status> {
        match message {
            Message::Start(_) => Err(invalid_field("message", "`start` was said already")),
            Message::Event(event) => Ok(match self.sequence.take(event)? {
                Some(event) => self.event(event),
                None => Said::default(),
            }),
            Message::KeepAlive(_) => Ok(self.keep_alive()),
            Message::Usage(usage) => {
                self.sequence.is_told("usage")?;
                Ok(self.finish(usage))
            }
            Message::Failure(told) => Ok(self.fail(&failure(told)?)),
        }
    }

    fn event(&mut self, event: Event) -> Said {
        match &mut self.form {
            Form::Streamed(stream) => {
                let body = stream.push(&event);
                let begins = !body.is_empty();
                let head = begins.then(|| begin(&mut self.has_begun, stream)).flatten();
                Said { head, body, is_last: false }
            }
            Form::Whole(events) => {
                keep(events, event);
                Said::default()
            }
            Form::Over => Said::default(),
        }
    }

    fn keep_alive(&mut self) -> Said {
        let Form::Streamed(stream) = &mut self.form else { return Said::default() };
        let head = begin(&mut self.has_begun, stream);
        Said { head, body: stream.keep_alive(), is_last: false }
    }

    fn finish(&mut self, told: v1::EncodeUsage) -> Said {
        let usage = Usage {
            input_tokens: told.input_tokens.unwrap_or(self.head.input_tokens),
            output_tokens: told.output_tokens.unwrap_or_else(|| self.sequence.tokens()),
            elapsed_ns: told.elapsed_ns,
        };
        let (head, body) = match std::mem::replace(&mut self.form, Form::Over) {
            Form::Streamed(stream) => (begin(&mut self.has_begun, &stream), stream.finish(usage)),
            Form::Whole(events) => {
                let body = encode::whole(self.api, &self.head, &Reply::collect(events), usage);
                (Some(head(200, JSON)), body.to_string())
            }
            Form::Over => (None, String::new()),
        };
        Said { head, body, is_last: true }
    }

    /// Says why there is no reply: in the stream where that has begun, else by a status of its own.
    fn fail(&mut self, failure: &Failure) -> Said {
        let form = std::mem::replace(&mut self.form, Form::Over);
        if let (Form::Streamed(stream), true) = (form, self.has_begun) {
            return Said { head: None, body: stream.fail(failure), is_last: true };
        }
        let FailureResponse { status, headers, body } = encode::error(self.api, failure);
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value));
        let head = v1::EncodeHead { headers: headers.collect(), ..head(status.into(), JSON) };
        Said { head: Some(head), body: body.to_string(), is_last: true }
    }
}
