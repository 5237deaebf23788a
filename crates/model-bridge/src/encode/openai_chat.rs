//! OpenAI Chat Completions: `POST /v1/chat/completions`.
//!
//! Sources: the types and stream readers of `openai-python` and `openai-node`. What they are strict
//! about: `role`, `id` and `name` come once (strings are joined), the index of a call is a number
//! without gaps, counts of tokens come last.

use serde_json::{Value, json};

use super::failure::Failure;
use super::flow::{Ending, Step, pieces};
use super::{Head, StreamOptions, Usage, wire};
use crate::call_form::free_form_text;
use crate::event::Reply;

/// Most calls in a stream: `openai-node` fails where the index of one is greater than 127.
const CALLS_MAX: usize = 128;

/// Writes a streamed reply.
#[derive(Debug)]
pub(super) struct Stream {
    head: Head,
    options: StreamOptions,
    has_begun: bool,
    /// How many calls began, those too many counted.
    calls: usize,
    /// Whether the call that is open takes free text.
    is_free_form: bool,
}

/// Writes a reply as a whole.
pub(super) fn whole(head: &Head, reply: &Reply, usage: Usage) -> Value {
    let calls: Vec<Value> = reply
        .calls
        .iter()
        .map(|call| {
            if head.forms.free_form.contains(&call.name) {
                let custom = json!({ "name": call.name, "input": free_form_text(&call.arguments) });
                return json!({ "id": call.id, "type": "custom", "custom": custom });
            }
            let arguments = Value::Object(call.arguments.clone()).to_string();
            json!({
                "id": call.id,
                "type": "function",
                "function": { "name": call.name, "arguments": arguments },
            })
        })
        .collect();
    let text = super::shown(&reply.text);
    let content = if text.is_empty() && !calls.is_empty() { Value::Null } else { text.into() };
    let mut message = json!({ "role": "assistant", "content": content, "refusal": null });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    json!({
        "id": id(head),
        "object": "chat.completion",
        "created": head.created_unix_s,
        "model": head.model,
        "choices": [{
            "index": 0,
            "message": message,
            "logprobs": null,
            "finish_reason": finish_reason(Ending::of(reply.finish, !reply.calls.is_empty())),
        }],
        "usage": counts(usage),
    })
}

/// The body of an error, whole or streamed.
pub(super) fn failure(failure: &Failure) -> Value {
    json!({ "error": {
        "message": failure.message,
        "type": failure.kind.openai_type(),
        "param": failure.param,
        "code": failure.kind.openai_code(),
    } })
}

fn id(head: &Head) -> String {
    format!("chatcmpl-{}", head.id)
}

fn counts(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens(),
    })
}

fn finish_reason(ending: Ending) -> &'static str {
    match ending {
        Ending::Stop => "stop",
        Ending::Calls => "tool_calls",
        Ending::Length => "length",
        Ending::ContentFilter => "content_filter",
    }
}

// === impl Stream ===

impl Stream {
    pub(super) fn new(head: Head, options: StreamOptions) -> Self {
        Self { head, options, has_begun: false, calls: 0, is_free_form: false }
    }

    /// Writes a step. Calls too many are left out, and the reply ends as one that was cut off.
    pub(super) fn step(&mut self, step: Step<'_>, out: &mut String) {
        match step {
            Step::CallOpen { .. } if self.calls >= CALLS_MAX => self.calls = CALLS_MAX + 1,
            Step::Arguments(_) | Step::CallClose(_) if self.calls > CALLS_MAX => {}
            Step::Text(text) => {
                self.begin("".into(), out);
                self.delta(&json!({ "content": text }), out);
            }
            Step::CallOpen { id, name } => {
                self.begin(Value::Null, out);
                self.is_free_form = self.head.forms.free_form.contains(name);
                let (kind, of_kind) = if self.is_free_form {
                    ("custom", json!({ "name": name, "input": "" }))
                } else {
                    ("function", json!({ "name": name, "arguments": "" }))
                };
                let call = json!({ "index": self.calls, "id": id, "type": kind, kind: of_kind });
                self.calls += 1;
                self.delta(&json!({ "tool_calls": [call] }), out);
            }
            Step::Arguments(piece) => {
                let index = self.calls.saturating_sub(1);
                let call = json!({ "index": index, "function": { "arguments": piece } });
                self.delta(&json!({ "tool_calls": [call] }), out);
            }
            Step::CallClose(arguments) if self.is_free_form => {
                let index = self.calls.saturating_sub(1);
                for piece in pieces(free_form_text(arguments)) {
                    let call = json!({ "index": index, "custom": { "input": piece } });
                    self.delta(&json!({ "tool_calls": [call] }), out);
                }
            }
            Step::CallClose(_) | Step::CallBroken => {}
        }
    }

    pub(super) fn finish(mut self, ending: Ending, usage: Usage, out: &mut String) {
        self.begin("".into(), out);
        let ending =
            if ending == Ending::Calls && self.calls > CALLS_MAX { Ending::Length } else { ending };
        self.choice(&json!({}), finish_reason(ending).into(), out);
        if self.options.include_usage {
            wire::data(out, &self.chunk(json!([]), counts(usage)));
        }
        out.push_str("data: [DONE]\n\n");
    }

    /// Ends with an error, and without the mark of a good end.
    pub(super) fn fail(self, failure: &Failure, out: &mut String) {
        wire::data(out, &self::failure(failure));
    }

    /// Says the role, once.
    fn begin(&mut self, content: Value, out: &mut String) {
        if !self.has_begun {
            self.has_begun = true;
            self.delta(&json!({ "role": "assistant", "content": content }), out);
        }
    }

    fn delta(&self, delta: &Value, out: &mut String) {
        self.choice(delta, Value::Null, out);
    }

    fn choice(&self, delta: &Value, finish_reason: Value, out: &mut String) {
        let choice = json!({
            "index": 0,
            "delta": delta,
            "logprobs": null,
            "finish_reason": finish_reason,
        });
        wire::data(out, &self.chunk(json!([choice]), Value::Null));
    }

    fn chunk(&self, choices: Value, usage: Value) -> Value {
        let mut chunk = json!({
            "id": id(&self.head),
            "object": "chat.completion.chunk",
            "created": self.head.created_unix_s,
            "model": self.head.model,
            "choices": choices,
        });
        if self.options.include_usage {
            chunk["usage"] = usage;
        }
        chunk
    }
}
