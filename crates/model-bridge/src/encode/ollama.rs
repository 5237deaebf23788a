//! Ollama: `POST /api/chat`.
//!
//! Source: the types of `ollama-python`, `ollama-js` and of Ollama itself. A stream is lines of
//! JSON; a call comes in one of them, its arguments are an object.

use serde_json::{Map, Value, json};

use super::failure::ReplyFailure;
use super::flow::{Emission, FinishReason};
use super::{ReplyHead, ReplyUsage, wire};
use crate::conversation::ToolCall;
use crate::event::Reply;

/// Writes a streamed reply.
#[derive(Debug)]
pub(super) struct OllamaStream {
    head: ReplyHead,
    /// The id and the name of the call that is being written.
    call: (String, String),
    calls: usize,
}

/// Writes a reply as a whole.
pub(super) fn whole(head: &ReplyHead, reply: &Reply, usage: ReplyUsage) -> Value {
    let mut message = json!({ "role": "assistant", "content": super::shown(&reply.text) });
    let calls = reply.calls.iter().zip(0..).map(|(call, index)| {
        let ToolCall { id, name, arguments } = call;
        self::call(index, id, name, arguments)
    });
    let calls: Vec<Value> = calls.collect();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    last(head, message, FinishReason::of(reply.finish, false), usage)
}

/// The body of an error, whole or streamed.
pub(super) fn failure(failure: &ReplyFailure) -> Value {
    json!({ "error": failure.message })
}

/// What ends a stream, and is all of a reply that is not streamed.
fn last(head: &ReplyHead, message: Value, ending: FinishReason, usage: ReplyUsage) -> Value {
    let mut last = line(head, message);
    let facts = json!({
        "done": true,
        "done_reason": done_reason(ending),
        "total_duration": usage.elapsed_ns,
        "load_duration": 0,
        "prompt_eval_count": usage.input_tokens,
        "prompt_eval_duration": 0,
        "eval_count": usage.output_tokens,
        "eval_duration": usage.elapsed_ns,
    });
    if let (Value::Object(last), Value::Object(facts)) = (&mut last, facts) {
        last.extend(facts);
    }
    last
}

fn line(head: &ReplyHead, message: Value) -> Value {
    json!({
        "model": head.model,
        "created_at": created_at(head.created_unix_s),
        "message": message,
        "done": false,
    })
}

fn call(index: usize, id: &str, name: &str, arguments: &Map<String, Value>) -> Value {
    json!({ "id": id, "function": { "index": index, "name": name, "arguments": arguments } })
}

/// The time in the form of RFC 3339; the beginning of time for one that has no such form.
fn created_at(unix_s: u64) -> String {
    let second = i64::try_from(unix_s).unwrap_or_default();
    jiff::Timestamp::from_second(second).unwrap_or_default().to_string()
}

/// Ollama itself knows `stop` and `length`; clients take any text.
fn done_reason(ending: FinishReason) -> &'static str {
    match ending {
        FinishReason::Stop | FinishReason::Calls => "stop",
        FinishReason::Length => "length",
        FinishReason::ContentFilter => "content_filter",
    }
}

// === impl OllamaStream ===

impl OllamaStream {
    pub(super) fn new(head: ReplyHead) -> Self {
        Self { head, call: Default::default(), calls: 0 }
    }

    pub(super) fn step(&mut self, step: Emission<'_>, out: &mut String) {
        let message = match step {
            Emission::Text(text) => json!({ "role": "assistant", "content": text }),
            Emission::CallOpen { id, name } => {
                self.call = (id.to_owned(), name.to_owned());
                return;
            }
            Emission::CallClose(arguments) => {
                let call = call(self.calls, &self.call.0, &self.call.1, arguments);
                self.calls += 1;
                json!({ "role": "assistant", "content": "", "tool_calls": [call] })
            }
            Emission::Arguments(_) | Emission::CallBroken => return,
        };
        wire::line(out, &line(&self.head, message));
    }

    pub(super) fn finish(self, ending: FinishReason, usage: ReplyUsage, out: &mut String) {
        let message = json!({ "role": "assistant", "content": "" });
        wire::line(out, &last(&self.head, message, ending, usage));
    }

    /// Ends with an error.
    pub(super) fn fail(self, failure: &ReplyFailure, out: &mut String) {
        wire::line(out, &self::failure(failure));
    }
}
