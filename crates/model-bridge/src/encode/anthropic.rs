//! Anthropic Messages: `POST /v1/messages`.
//!
//! Sources: the types and stream readers of `anthropic-sdk-python` and `anthropic-sdk-typescript`.
//! What they are strict about: events are chosen by their `event:` line, blocks are numbered from 0
//! without gaps and one is open at a time, `message_delta` has `usage.output_tokens`.

use serde_json::{Value, json};

use super::failure::ReplyFailure;
use super::flow::{Emission, FinishReason};
use super::{ReplyHead, ReplyUsage, wire};
use crate::event::Reply;

/// Writes a streamed reply.
#[derive(Debug)]
pub(super) struct AnthropicStream {
    head: ReplyHead,
    has_begun: bool,
    blocks: usize,
    open: Option<ContentBlock>,
}

/// What is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ContentBlock {
    Text,
    Call,
    /// A call that was abandoned. Nothing says that it ended, unless something follows it.
    Broken,
}

/// Writes a reply as a whole.
pub(super) fn whole(head: &ReplyHead, reply: &Reply, usage: ReplyUsage) -> Value {
    let text = super::shown(&reply.text);
    let text = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
    let calls = reply.calls.iter().map(|call| {
        json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments })
    });
    let content: Vec<Value> = text.into_iter().chain(calls).collect();
    let ending = FinishReason::of(reply.finish, !reply.calls.is_empty());
    message(head, &content.into(), stop_reason(ending).into(), usage)
}

/// The body of an error, whole or streamed.
pub(super) fn failure(failure: &ReplyFailure) -> Value {
    json!({
        "type": "error",
        "error": { "type": failure.kind.anthropic_type(), "message": failure.message },
    })
}

fn message(head: &ReplyHead, content: &Value, stop_reason: Value, usage: ReplyUsage) -> Value {
    json!({
        "id": format!("msg_{}", head.id),
        "type": "message",
        "role": "assistant",
        "model": head.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": counts(usage),
    })
}

fn counts(usage: ReplyUsage) -> Value {
    json!({ "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens })
}

fn stop_reason(ending: FinishReason) -> &'static str {
    match ending {
        FinishReason::Stop => "end_turn",
        FinishReason::Calls => "tool_use",
        FinishReason::Length => "max_tokens",
        FinishReason::ContentFilter => "refusal",
    }
}

// === impl AnthropicStream ===

impl AnthropicStream {
    pub(super) fn new(head: ReplyHead) -> Self {
        Self { head, has_begun: false, blocks: 0, open: None }
    }

    /// Says that there is a message, once.
    pub(super) fn begin(&mut self, out: &mut String) {
        if self.has_begun {
            return;
        }
        self.has_begun = true;
        // The API itself counts a token before there is any; a count that is not zero is what
        // editors show how full their context is from.
        let usage = ReplyUsage {
            input_tokens: self.head.input_tokens,
            output_tokens: 1,
            ..ReplyUsage::default()
        };
        let message = message(&self.head, &json!([]), Value::Null, usage);
        send(&json!({ "type": "message_start", "message": message }), out);
    }

    pub(super) fn step(&mut self, step: Emission<'_>, out: &mut String) {
        match step {
            Emission::Text(text) => {
                if self.open != Some(ContentBlock::Text) {
                    self.open(ContentBlock::Text, &json!({ "type": "text", "text": "" }), out);
                }
                self.delta(&json!({ "type": "text_delta", "text": text }), out);
            }
            Emission::CallOpen { id, name } => {
                let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
                self.open(ContentBlock::Call, &block, out);
            }
            Emission::Arguments(piece) => {
                self.delta(&json!({ "type": "input_json_delta", "partial_json": piece }), out);
            }
            Emission::CallClose(_) => self.close(out),
            Emission::CallBroken => self.open = Some(ContentBlock::Broken),
        }
    }

    pub(super) fn finish(mut self, ending: FinishReason, usage: ReplyUsage, out: &mut String) {
        self.begin(out);
        if self.open != Some(ContentBlock::Broken) {
            self.close(out);
        }
        let delta = json!({ "stop_reason": stop_reason(ending), "stop_sequence": null });
        send(&json!({ "type": "message_delta", "delta": delta, "usage": counts(usage) }), out);
        send(&json!({ "type": "message_stop" }), out);
    }

    /// Ends with an error.
    pub(super) fn fail(self, failure: &ReplyFailure, out: &mut String) {
        send(&self::failure(failure), out);
    }

    /// Says that the reply continues.
    pub(super) fn keep_alive(&mut self, out: &mut String) {
        self.begin(out);
        send(&json!({ "type": "ping" }), out);
    }

    fn open(&mut self, kind: ContentBlock, block: &Value, out: &mut String) {
        self.close(out);
        let index = self.blocks;
        self.blocks += 1;
        self.open = Some(kind);
        let start =
            json!({ "type": "content_block_start", "index": index, "content_block": block });
        send(&start, out);
        if index == 0 {
            self.keep_alive(out);
        }
    }

    fn delta(&self, delta: &Value, out: &mut String) {
        let index = self.blocks.saturating_sub(1);
        send(&json!({ "type": "content_block_delta", "index": index, "delta": delta }), out);
    }

    fn close(&mut self, out: &mut String) {
        if self.open.take().is_some() {
            let index = self.blocks.saturating_sub(1);
            send(&json!({ "type": "content_block_stop", "index": index }), out);
        }
    }
}

/// Adds an event that is named by its type.
fn send(event: &Value, out: &mut String) {
    wire::event(out, event["type"].as_str().unwrap_or_default(), event);
}
