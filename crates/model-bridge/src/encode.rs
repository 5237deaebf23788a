//! Replies in the form of each API: exactly what its official clients need, whole and streamed.
//!
//! A reader's [`ReplyEvent`]s go in, wire text comes out. Nothing here knows a connection, a clock or
//! randomness: ids, times and counts are the caller's. A client cannot detect that the model behind
//! it has no calls of its own (requirement B8): text is shown as it comes, arguments while they are
//! written, what a model thinks aloud not at all.
//!
//! A call that began and was abandoned ([`ReplyEvent::CallAbandoned`]) must not run. Where nothing was shown of
//! it, what the model wrote is text. Otherwise its arguments stay without the brackets that would
//! complete them, the reply ends as one that was cut off (`length`, `max_tokens`,
//! `response.incomplete`), and the event by which a client takes a call for whole never comes, but
//! for the end of a block of Anthropic's that something follows.

mod anthropic;
mod failure;
mod flow;
mod ollama;
mod openai_chat;
mod openai_responses;
mod wire;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::api::Api;
use crate::event::{Reply, ReplyEvent};
use flow::{Emission, FinishReason, Flow, Grain};

pub use crate::call_form::CallForms;
pub use failure::{FailureKind, ReplyFailure, RetryAdvice};

/// Letters and signs of ASCII that make about a token, by the rule of thumb of the vendors.
const ASCII_PER_TOKEN: u64 = 4;
/// The first of the letters that stand for a syllable or a word: about a token each.
const WIDE_FIRST: char = '\u{2e80}';

/// What a reply begins with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReplyHead {
    /// What distinguishes the reply from every other, of letters, digits and `_`, without the
    /// prefix of an API: `chatcmpl-`, `resp_` or `msg_` is put before it.
    pub id: String,
    /// The model, as the client named it.
    pub model: String,
    /// When it began, in seconds since 1970.
    pub created_unix_s: u64,
    /// How long the request is, in tokens: streams of Anthropic's say it at the beginning.
    pub input_tokens: u64,
    /// Which calls the client expects in a form of their own.
    pub forms: CallForms,
}

/// What a reply cost, known when it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplyUsage {
    /// How long the request is, in tokens.
    pub input_tokens: u64,
    /// How long the reply is, in tokens.
    pub output_tokens: u64,
    /// How long it took, in nanoseconds, which Ollama says; 0 where nobody knows.
    pub elapsed_ns: u64,
}

/// What [`estimate_tokens`] says of a text that comes in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenEstimate {
    ascii: u64,
    narrow: u64,
    wide: u64,
}

/// What a client may choose about a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamOptions {
    /// Whether a stream of Chat Completions ends with the counts of tokens; the other APIs always
    /// say them.
    pub include_usage: bool,
}

/// Writes a reply while it is read.
///
/// Everything that it returns is to be sent as it is, in order; it may be empty. After
/// [`ReplyStream::finish`] or [`ReplyStream::fail`] the body is over.
#[derive(Debug)]
pub struct ReplyStream {
    flow: Flow,
    wire: Wire,
}

/// An HTTP response that says a failure.
#[derive(Debug, Clone, PartialEq)]
pub struct FailureResponse {
    /// The HTTP status code, such as 429.
    pub status: u16,
    /// Its headers, by their names in lower case: `retry-after` in seconds, and `x-should-retry`,
    /// which the clients of OpenAI and Anthropic obey whatever the status is.
    pub headers: Vec<(&'static str, String)>,
    /// HTTP body, as JSON of the API.
    pub body: Value,
}

#[derive(Debug)]
enum Wire {
    OpenAiChat(openai_chat::OpenaiChatStream),
    OpenAiResponses(openai_responses::OpenaiResponsesStream),
    Anthropic(anthropic::AnthropicStream),
    Ollama(ollama::OllamaStream),
}

/// Writes a reply as a whole: the JSON of a response with the status 200.
pub fn whole(api: Api, head: &ReplyHead, reply: &Reply, usage: ReplyUsage) -> Value {
    match api {
        Api::OpenAiChat => openai_chat::whole(head, reply, usage),
        Api::OpenAiResponses => openai_responses::whole(head, reply, usage),
        Api::AnthropicMessages => anthropic::whole(head, reply, usage),
        Api::Ollama => ollama::whole(head, reply, usage),
    }
}

/// Says a failure as an API does.
pub fn error(api: Api, failure: &ReplyFailure) -> FailureResponse {
    let body = match api {
        Api::OpenAiChat | Api::OpenAiResponses => openai_chat::failure(failure),
        Api::AnthropicMessages => anthropic::failure(failure),
        Api::Ollama => ollama::failure(failure),
    };
    let mut headers = vec![("x-should-retry", (failure.retry != RetryAdvice::Never).to_string())];
    if let RetryAdvice::After(seconds) = failure.retry {
        headers.push(("retry-after", seconds.to_string()));
    }
    FailureResponse { status: failure.kind.status(api), headers, body }
}

/// Guesses how many tokens a text has, for callers whose model does not count.
///
/// An estimate, made without any model's vocabulary: a token for four characters of ASCII, for two
/// of other alphabets, and for each of Chinese, Japanese and Korean. Good enough to show how full a
/// context is; no limit and no bill should hang on it.
pub fn estimate_tokens(text: &str) -> u64 {
    let mut estimate = TokenEstimate::default();
    estimate.add(text);
    estimate.tokens()
}

/// The text of a whole reply as it is shown: white space alone counts as empty.
fn shown(text: &str) -> &str {
    if text.trim().is_empty() { "" } else { text }
}

// === impl ReplyUsage ===

impl ReplyUsage {
    fn total_tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

// === impl TokenEstimate ===

impl TokenEstimate {
    /// Adds the next piece.
    pub fn add(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                c if c.is_ascii() => self.ascii += 1,
                c if c >= WIDE_FIRST => self.wide += 1,
                _ => self.narrow += 1,
            }
        }
    }

    /// About how many tokens all of it has.
    pub fn tokens(self) -> u64 {
        self.ascii.div_ceil(ASCII_PER_TOKEN) + self.narrow.div_ceil(2) + self.wide
    }
}

// === impl ReplyStream ===

impl ReplyStream {
    /// Begins a reply; nothing is written yet.
    pub fn new(api: Api, head: ReplyHead, options: StreamOptions) -> Self {
        let grain = match api {
            Api::OpenAiChat | Api::OpenAiResponses => {
                Grain::PiecesBut(head.forms.free_form.clone())
            }
            Api::AnthropicMessages => Grain::PiecesBut(BTreeSet::new()),
            Api::Ollama => Grain::Calls,
        };
        let wire = match api {
            Api::OpenAiChat => Wire::OpenAiChat(openai_chat::OpenaiChatStream::new(head, options)),
            Api::OpenAiResponses => {
                Wire::OpenAiResponses(openai_responses::OpenaiResponsesStream::new(head))
            }
            Api::AnthropicMessages => Wire::Anthropic(anthropic::AnthropicStream::new(head)),
            Api::Ollama => Wire::Ollama(ollama::OllamaStream::new(head)),
        };
        Self { flow: Flow::new(grain), wire }
    }

    /// The `content-type` of the response.
    pub const fn content_type(&self) -> &'static str {
        match self.wire {
            Wire::Ollama(_) => "application/x-ndjson",
            _ => "text/event-stream; charset=utf-8",
        }
    }

    /// Writes what an event shows.
    pub fn push(&mut self, event: &ReplyEvent) -> String {
        let mut out = String::new();
        let Self { flow, wire } = self;
        wire.begin(&mut out);
        flow.push(event, &mut |step| wire.step(step, &mut out));
        out
    }

    /// Writes something that a client reads over, for times in which the model shows nothing:
    /// clients time out on idle connections. Ollama has no such thing: empty.
    pub fn keep_alive(&mut self) -> String {
        let mut out = String::new();
        match &mut self.wire {
            Wire::OpenAiChat(_) => out.push_str(": keep-alive\n\n"),
            Wire::OpenAiResponses(stream) => {
                stream.begin(&mut out);
                out.push_str(": keep-alive\n\n");
            }
            Wire::Anthropic(stream) => stream.keep_alive(&mut out),
            Wire::Ollama(_) => {}
        }
        out
    }

    /// Writes the end. A reply without [`ReplyEvent::Finish`] was cut off, and ends so.
    pub fn finish(self, usage: ReplyUsage) -> String {
        let mut out = String::new();
        let Self { mut flow, mut wire } = self;
        let ending = flow.finish(&mut |step| wire.step(step, &mut out));
        wire.finish(ending, usage, &mut out);
        out
    }

    /// Writes the end of a failed reply: the client sees a failure, and nothing that was open is
    /// closed.
    pub fn fail(self, failure: &ReplyFailure) -> String {
        let mut out = String::new();
        match self.wire {
            Wire::OpenAiChat(stream) => stream.fail(failure, &mut out),
            Wire::OpenAiResponses(stream) => stream.fail(failure, &mut out),
            Wire::Anthropic(stream) => stream.fail(failure, &mut out),
            Wire::Ollama(stream) => stream.fail(failure, &mut out),
        }
        out
    }
}

// === impl Wire ===

impl Wire {
    /// Writes what comes before everything else, where that does not depend on what comes.
    fn begin(&mut self, out: &mut String) {
        match self {
            Self::OpenAiResponses(stream) => stream.begin(out),
            Self::Anthropic(stream) => stream.begin(out),
            Self::OpenAiChat(_) | Self::Ollama(_) => {}
        }
    }

    fn step(&mut self, step: Emission<'_>, out: &mut String) {
        match self {
            Self::OpenAiChat(stream) => stream.step(step, out),
            Self::OpenAiResponses(stream) => stream.step(step, out),
            Self::Anthropic(stream) => stream.step(step, out),
            Self::Ollama(stream) => stream.step(step, out),
        }
    }

    fn finish(self, ending: FinishReason, usage: ReplyUsage, out: &mut String) {
        match self {
            Self::OpenAiChat(stream) => stream.finish(ending, usage, out),
            Self::OpenAiResponses(stream) => stream.finish(ending, usage, out),
            Self::Anthropic(stream) => stream.finish(ending, usage, out),
            Self::Ollama(stream) => stream.finish(ending, usage, out),
        }
    }
}

#[cfg(test)]
mod tests;
