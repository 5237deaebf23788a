//! OpenAI Chat Completions: `POST /v1/chat/completions`.
//!
//! Sources: the types and stream readers of `openai-python` and `openai-node`. What they are strict
//! about: `role`, `id` and `name` come once (strings are joined), the index of a call is a number
//! without gaps, counts of tokens come last.

use serde_json::{Value, json};

use super::failure::ReplyFailure;
use super::flow::{Emission, FinishReason, pieces};
use super::{ReplyHead, ReplyUsage, StreamOptions, wire};
use crate::call_form::free_form_text;
use crate::event::Reply;

/// Most calls in a stream: `openai-node` fails where the index of one is greater than 127.
const CALLS_MAX: usize = 128;

/// Writes a streamed reply.
#[derive(Debug)]
pub(super) struct OpenaiChatStream {
    head: ReplyHead,
    options: StreamOptions,
    has_begun: bool,
    /// How many calls began, those too many counted.
    calls: usize,
    /// Whether the call that is open takes free text.
    is_free_form: bool,
}

/// Writes a reply as a whole.
pub(super) fn whole(head: &ReplyHead, reply: &Reply, usage: ReplyUsage) -> Value {
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
            "finish_reason": finish_reason(FinishReason::of(reply.finish, !reply.calls.is_empty())),
        }],
        "usage": counts(usage),
    })
}

/// The body of an error, whole or streamed.
pub(super) fn failure(failure: &ReplyFailure) -> Value {
    json!({ "error": {
        "message": failure.message,
        "type": failure.kind.openai_type(),
        "param": failure.param,
        "code": failure.kind.openai_code(),
    } })
}

fn id(head: &ReplyHead) -> String {
    format!("chatcmpl-{}", head.id)
}

fn counts(usage: ReplyUsage) -> Value {
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens(),
    })
}

fn finish_reason(ending: FinishReason) -> &'static str {
    match ending {
        FinishReason::Stop => "stop",
        FinishReason::Calls => "tool_calls",
        FinishReason::Length => "length",
        FinishReason::ContentFilter => "content_filter",
    }
}

// === impl OpenaiChatStream ===

impl OpenaiChatStream {
    pub(super) fn new(head: ReplyHead, options: StreamOptions) -> Self {
        Self { head, options, has_begun: false, calls: 0, is_free_form: false }
    }

    /// Writes a step. Calls too many are left out, and the reply ends as one that was cut off.
    pub(super) fn step(&mut self, step: Emission<'_>, out: &mut String) {
        match step {
            Emission::CallOpen { .. } if self.calls >= CALLS_MAX => self.calls = CALLS_MAX + 1,
            Emission::Arguments(_) | Emission::CallClose(_) if self.calls > CALLS_MAX => {}
            Emission::Text(text) => {
                self.begin("".into(), out);
                self.delta(&json!({ "content": text }), out);
            }
            Emission::CallOpen { id, name } => {
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
            Emission::Arguments(piece) => {
                let index = self.calls.saturating_sub(1);
                let call = json!({ "index": index, "function": { "arguments": piece } });
                self.delta(&json!({ "tool_calls": [call] }), out);
            }
            Emission::CallClose(arguments) if self.is_free_form => {
                let index = self.calls.saturating_sub(1);
                for piece in pieces(free_form_text(arguments)) {
                    let call = json!({ "index": index, "custom": { "input": piece } });
                    self.delta(&json!({ "tool_calls": [call] }), out);
                }
            }
            Emission::CallClose(_) | Emission::CallBroken => {}
        }
    }

    pub(super) fn finish(mut self, ending: FinishReason, usage: ReplyUsage, out: &mut String) {
        self.begin("".into(), out);
        let ending = if ending == FinishReason::Calls && self.calls > CALLS_MAX {
            FinishReason::Length
        } else {
            ending
        };
        self.choice(&json!({}), finish_reason(ending).into(), out);
        if self.options.include_usage {
            wire::data(out, &self.chunk(json!([]), counts(usage)));
        }
        out.push_str("data: [DONE]\n\n");
    }

    /// Ends with an error, and without the mark of a good end.
    pub(super) fn fail(self, failure: &ReplyFailure, out: &mut String) {
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
