//! OpenAI Responses: `POST /v1/responses`.
//!
//! Sources: the types and stream readers of `openai-python` and `openai-node`, and what codex reads.
//! Every event has a number; those of an item its position and id. Some clients read only the
//! deltas, others only `response.output_item.done`, which is why a call that must not run never
//! gets one.

use serde_json::{Map, Value, json};

use super::failure::ReplyFailure;
use super::flow::{Emission, FinishReason, pieces};
use super::{CallForms, ReplyHead, ReplyUsage, wire};
use crate::call_form::free_form_text;
use crate::event::Reply;

/// Writes a streamed reply.
#[derive(Debug)]
pub(super) struct OpenaiResponsesStream {
    head: ReplyHead,
    has_begun: bool,
    /// The number of the next event.
    sequence: u64,
    /// How many items began.
    items: usize,
    open: Option<OutputItem>,
    /// The items that ended.
    output: Vec<Value>,
}

/// The item that is being written.
#[derive(Debug)]
enum OutputItem {
    Message { id: String, text: String },
    Call { call: CallHeader, arguments: String },
}

/// A call without its arguments.
#[derive(Debug)]
struct CallHeader {
    id: String,
    call_id: String,
    name: String,
    namespace: Option<String>,
    /// Whether it takes free text: an item, and events, of another kind.
    is_free_form: bool,
}

/// How a response stands.
#[derive(Debug, Clone, Copy)]
enum ResponseStatus<'a> {
    InProgress,
    Ended(FinishReason, ReplyUsage),
    Failed(&'a ReplyFailure),
}

/// Writes a reply as a whole.
pub(super) fn whole(head: &ReplyHead, reply: &Reply, usage: ReplyUsage) -> Value {
    let ending = FinishReason::of(reply.finish, !reply.calls.is_empty());
    let text = super::shown(&reply.text);
    let mut output = Vec::new();
    if !text.is_empty() {
        let id = format!("msg_{}_0", head.id);
        let status = if reply.calls.is_empty() { text_status(ending) } else { "completed" };
        output.push(message(&id, text, status));
    }
    for made in &reply.calls {
        let call = CallHeader::new(head, output.len(), &made.id, &made.name);
        let arguments = if call.is_free_form {
            free_form_text(&made.arguments).to_owned()
        } else {
            Value::Object(made.arguments.clone()).to_string()
        };
        output.push(call.item(&arguments, "completed"));
    }
    response(head, output.into(), ResponseStatus::Ended(ending, usage))
}

fn message(id: &str, text: &str, status: &str) -> Value {
    json!({
        "id": id,
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": [text_part(text)],
    })
}

fn text_part(text: &str) -> Value {
    json!({ "type": "output_text", "annotations": [], "logprobs": [], "text": text })
}

/// The status of the text that a reply ends with.
fn text_status(ending: FinishReason) -> &'static str {
    match ending {
        FinishReason::Stop | FinishReason::Calls => "completed",
        FinishReason::Length | FinishReason::ContentFilter => "incomplete",
    }
}

fn response(head: &ReplyHead, output: Value, status: ResponseStatus<'_>) -> Value {
    let (name, reason) = match status {
        ResponseStatus::InProgress => ("in_progress", None),
        ResponseStatus::Ended(FinishReason::Stop | FinishReason::Calls, _) => ("completed", None),
        ResponseStatus::Ended(FinishReason::Length, _) => ("incomplete", Some("max_output_tokens")),
        ResponseStatus::Ended(FinishReason::ContentFilter, _) => {
            ("incomplete", Some("content_filter"))
        }
        ResponseStatus::Failed(_) => ("failed", None),
    };
    let error = match status {
        ResponseStatus::Failed(failure) => json!({
            "code": failure.kind.openai_code().unwrap_or("invalid_prompt"),
            "message": failure.message,
        }),
        _ => Value::Null,
    };
    let usage = match status {
        ResponseStatus::Ended(_, usage) => counts(usage),
        _ => Value::Null,
    };
    json!({
        "id": format!("resp_{}", head.id),
        "object": "response",
        "created_at": head.created_unix_s,
        "status": name,
        "background": false,
        "error": error,
        "incomplete_details": reason.map(|reason| json!({ "reason": reason })),
        "instructions": null,
        "max_output_tokens": null,
        "metadata": {},
        "model": head.model,
        "output": output,
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "reasoning": { "effort": null, "summary": null },
        "store": false,
        "temperature": null,
        "text": { "format": { "type": "text" } },
        "tool_choice": "auto",
        "tools": [],
        "top_p": null,
        "truncation": "disabled",
        "usage": usage,
        "user": null,
    })
}

fn counts(usage: ReplyUsage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": usage.total_tokens(),
    })
}

// === impl CallHeader ===

impl CallHeader {
    fn new(head: &ReplyHead, place: usize, call_id: &str, name: &str) -> Self {
        let CallForms { free_form, namespaced } = &head.forms;
        let is_free_form = free_form.contains(name);
        let prefix = if is_free_form { "ctc" } else { "fc" };
        let both = namespaced.get(name);
        Self {
            id: format!("{prefix}_{}_{place}", head.id),
            call_id: call_id.to_owned(),
            name: both.map_or(name, |both| &both.name).to_owned(),
            namespace: both.map(|both| both.namespace.clone()),
            is_free_form,
        }
    }

    fn item(&self, arguments: &str, status: &str) -> Value {
        let (kind, field) = if self.is_free_form {
            ("custom_tool_call", "input")
        } else {
            ("function_call", "arguments")
        };
        let mut item = json!({
            "id": self.id,
            "type": kind,
            "status": status,
            "call_id": self.call_id,
            "name": self.name,
            field: arguments,
        });
        if let Some(namespace) = &self.namespace {
            item["namespace"] = namespace.as_str().into();
        }
        item
    }
}

// === impl OpenaiResponsesStream ===

impl OpenaiResponsesStream {
    pub(super) fn new(head: ReplyHead) -> Self {
        Self { head, has_begun: false, sequence: 0, items: 0, open: None, output: Vec::new() }
    }

    /// Says that there is a response, once.
    pub(super) fn begin(&mut self, out: &mut String) {
        if self.has_begun {
            return;
        }
        self.has_begun = true;
        for name in ["response.created", "response.in_progress"] {
            let response = response(&self.head, json!([]), ResponseStatus::InProgress);
            self.send(name, json!({ "response": response }), out);
        }
    }

    pub(super) fn step(&mut self, step: Emission<'_>, out: &mut String) {
        match step {
            Emission::Text(text) => self.text(text, out),
            Emission::CallOpen { id, name } => self.open_call(id, name, out),
            Emission::Arguments(piece) => {
                if let Some(OutputItem::Call { arguments, .. }) = &mut self.open {
                    arguments.push_str(piece);
                }
                let delta = json!({ "delta": piece });
                self.send_of_item("response.function_call_arguments.delta", delta, out);
            }
            Emission::CallClose(arguments) => {
                self.free_text(arguments, out);
                self.close("completed", out);
            }
            Emission::CallBroken => self.open = None,
        }
    }

    pub(super) fn finish(mut self, ending: FinishReason, usage: ReplyUsage, out: &mut String) {
        self.begin(out);
        self.close(text_status(ending), out);
        let output = Value::Array(std::mem::take(&mut self.output));
        let response = response(&self.head, output, ResponseStatus::Ended(ending, usage));
        let name = match ending {
            FinishReason::Stop | FinishReason::Calls => "response.completed",
            FinishReason::Length | FinishReason::ContentFilter => "response.incomplete",
        };
        self.send(name, json!({ "response": response }), out);
    }

    /// Ends with an error. What is open stays so.
    pub(super) fn fail(mut self, failure: &ReplyFailure, out: &mut String) {
        self.begin(out);
        let output = Value::Array(std::mem::take(&mut self.output));
        let response = response(&self.head, output, ResponseStatus::Failed(failure));
        self.send("response.failed", json!({ "response": response }), out);
    }

    fn text(&mut self, piece: &str, out: &mut String) {
        if !matches!(self.open, Some(OutputItem::Message { .. })) {
            self.close("completed", out);
            let id = format!("msg_{}_{}", self.head.id, self.items);
            let item = json!({
                "id": id,
                "type": "message",
                "status": "in_progress",
                "role": "assistant",
                "content": [],
            });
            self.open(OutputItem::Message { id, text: String::new() }, item, out);
            let part = json!({ "content_index": 0, "part": text_part("") });
            self.send_of_item("response.content_part.added", part, out);
        }
        if let Some(OutputItem::Message { text, .. }) = &mut self.open {
            text.push_str(piece);
        }
        let delta = json!({ "content_index": 0, "delta": piece, "logprobs": [] });
        self.send_of_item("response.output_text.delta", delta, out);
    }

    fn open_call(&mut self, call_id: &str, name: &str, out: &mut String) {
        self.close("completed", out);
        let call = CallHeader::new(&self.head, self.items, call_id, name);
        let item = call.item("", "in_progress");
        self.open(OutputItem::Call { call, arguments: String::new() }, item, out);
    }

    /// Writes what a call of free text has, now that it is whole.
    fn free_text(&mut self, arguments: &Map<String, Value>, out: &mut String) {
        let Some(OutputItem::Call { call, arguments: written }) = &mut self.open else { return };
        if !call.is_free_form {
            return;
        }
        let input = free_form_text(arguments);
        written.push_str(input);
        for piece in pieces(input) {
            let delta = json!({ "delta": piece });
            self.send_of_item("response.custom_tool_call_input.delta", delta, out);
        }
    }

    fn open(&mut self, item: OutputItem, value: Value, out: &mut String) {
        self.open = Some(item);
        let place = self.items;
        self.items += 1;
        self.send(
            "response.output_item.added",
            json!({ "output_index": place, "item": value }),
            out,
        );
    }

    fn close(&mut self, status: &str, out: &mut String) {
        let item = match &self.open {
            None => return,
            Some(OutputItem::Message { id, text }) => {
                let item = message(id, text, status);
                let done = json!({ "content_index": 0, "text": text, "logprobs": [] });
                let part = json!({ "content_index": 0, "part": text_part(text) });
                self.send_of_item("response.output_text.done", done, out);
                self.send_of_item("response.content_part.done", part, out);
                item
            }
            Some(OutputItem::Call { call, arguments }) => {
                let item = call.item(arguments, status);
                let (name, done) = if call.is_free_form {
                    ("response.custom_tool_call_input.done", json!({ "input": arguments }))
                } else {
                    let done = json!({ "name": call.name, "arguments": arguments });
                    ("response.function_call_arguments.done", done)
                };
                self.send_of_item(name, done, out);
                item
            }
        };
        self.open = None;
        let done = json!({ "output_index": self.items.saturating_sub(1), "item": item });
        self.send("response.output_item.done", done, out);
        self.output.push(item);
    }

    /// Adds an event that is about the open item.
    fn send_of_item(&mut self, name: &str, more: Value, out: &mut String) {
        let id = match &self.open {
            Some(OutputItem::Message { id, .. }) => id,
            Some(OutputItem::Call { call, .. }) => &call.id,
            None => return,
        };
        let mut event = json!({ "item_id": id, "output_index": self.items.saturating_sub(1) });
        if let (Value::Object(event), Value::Object(more)) = (&mut event, more) {
            event.extend(more);
        }
        self.send(name, event, out);
    }

    fn send(&mut self, name: &str, more: Value, out: &mut String) {
        let mut event = Map::new();
        event.insert("type".to_owned(), name.into());
        event.insert("sequence_number".to_owned(), self.sequence.into());
        if let Value::Object(more) = more {
            event.extend(more);
        }
        self.sequence += 1;
        wire::event(out, name, &Value::Object(event));
    }
}
