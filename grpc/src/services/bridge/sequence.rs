//! Events of a reply that are sent back, held to what a reader of replies says: whoever writes them
//! for a client need not look again.

use std::collections::BTreeSet;

use moss_model_bridge::{CALLS_MAX, ReplyEvent, encode::TokenEstimate};
use moss_proto::v1;
use moss_proto::v1::reply_event::Event as Wire;
use serde_json::{Map, Value};
use tonic::Status;

use super::super::error::invalid_field;
use super::events;
use super::exchange::{self, REPLY_BYTES_MAX};
use moss_schema::arguments;

const ARGUMENTS: &str = "event.call_end.arguments_json";

/// What was reported so far.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    /// The tools whose one argument is a text.
    free_form: BTreeSet<String>,
    /// How many calls began.
    begun: usize,
    open: Option<UnfinishedCall>,
    is_over: bool,
    /// Of what is reported.
    bytes: usize,
    tokens: TokenEstimate,
}

/// The call that began last and did not end.
#[derive(Debug)]
struct UnfinishedCall {
    name: String,
    /// What the fragments say.
    written: String,
}

// === impl Sequence ===

impl Sequence {
    pub(super) fn new(free_form: BTreeSet<String>) -> Self {
        Self { free_form, ..Self::default() }
    }

    /// About how many tokens the model wrote.
    pub(super) fn tokens(&self) -> u64 {
        self.tokens.tokens()
    }

    /// How long the texts and arguments are that were reported, in bytes.
    pub(super) const fn reported_bytes(&self) -> usize {
        self.bytes
    }

    /// How long the fragments of the open call are, in bytes.
    pub(super) fn open_bytes(&self) -> usize {
        self.open.as_ref().map_or(0, |call| call.written.len())
    }

    /// Takes the next event. One without a meaning for clients is left out.
    pub(super) fn take(&mut self, event: v1::ReplyEvent) -> Result<Option<ReplyEvent>, Status> {
        let Some(mut event) = event.event else {
            return Err(invalid_field("event", "of a kind that this version does not know"));
        };
        if self.is_over {
            return Err(invalid_field("event", "the reply is over: `finish` was sent already"));
        }
        match &mut event {
            Wire::Text(text) => self.between_calls("event.text", text)?,
            Wire::Reasoning(text) => self.between_calls("event.reasoning", text)?,
            Wire::CallStart(start) => self.start(start)?,
            Wire::ArgumentFragment(more) => self.fragment(more)?,
            Wire::CallEnd(end) => self.end(end)?,
            Wire::CallAbandoned(call) => self.abandon(call)?,
            Wire::Diagnostic(_) => {}
            Wire::Finish(_) => {
                self.no_call("event.finish")?;
                self.is_over = true;
            }
        }
        events::from_wire(event)
    }

    /// Refuses an end of the request before that of the reply.
    pub(super) fn is_reported(&self, field: &str) -> Result<(), Status> {
        match self.is_over {
            true => Ok(()),
            false => Err(invalid_field(
                field,
                "the event `finish` is missing; send `failure` if the reply ends early",
            )),
        }
    }

    fn between_calls(&mut self, field: &str, text: &str) -> Result<(), Status> {
        self.no_call(field)?;
        self.grow(field, text)
    }

    fn start(&mut self, start: &v1::ReplyCallStart) -> Result<(), Status> {
        self.no_call("event.call_start")?;
        if self.begun >= CALLS_MAX {
            let what = format!("{CALLS_MAX} calls");
            return Err(exchange::reply_too_large("event.call_start", &what));
        }
        if start.index as usize != self.begun {
            let message =
                format!("{} follows {} calls; they count from 0", start.index, self.begun);
            return Err(invalid_field("event.call_start.index", &message));
        }
        for (field, text) in [("id", &start.id), ("name", &start.name)] {
            let field = format!("event.call_start.{field}");
            if text.is_empty() {
                return Err(invalid_field(&field, "missing"));
            }
            self.size(&field, text.len())?;
        }
        self.tokens.add(&start.name);
        self.begun += 1;
        self.open = Some(UnfinishedCall { name: start.name.clone(), written: String::new() });
        Ok(())
    }

    fn fragment(&mut self, more: &v1::ReplyArgumentFragment) -> Result<(), Status> {
        let mut call = self.close("event.argument_fragment.index", more.index)?;
        self.grow("event.argument_fragment.fragment", &more.fragment)?;
        call.written.push_str(&more.fragment);
        self.open = Some(call);
        Ok(())
    }

    /// Takes the end of a call, and puts its arguments in where the fragments say them.
    fn end(&mut self, end: &mut v1::ReplyCallEnd) -> Result<(), Status> {
        let UnfinishedCall { name, written } = self.close("event.call_end.index", end.index)?;
        if written.is_empty() {
            self.grow(ARGUMENTS, &end.arguments_json)?;
        } else if end.arguments_json.is_empty() {
            end.arguments_json = written;
        } else if end.arguments_json != written && read(&end.arguments_json)? != read(&written)? {
            return Err(invalid_field(ARGUMENTS, "another object than the fragments say"));
        }
        if end.arguments_json.trim().is_empty() {
            return Err(invalid_field(ARGUMENTS, "missing, and there were no fragments"));
        }
        if self.free_form.contains(&name) {
            let arguments = read(&end.arguments_json)?;
            let is_text = arguments.get("input").is_some_and(Value::is_string);
            if !is_text || arguments.len() != 1 {
                let message = format!("{name} takes free text: {{\"input\": TEXT}}, nothing else");
                return Err(invalid_field(ARGUMENTS, &message));
            }
        }
        Ok(())
    }

    fn abandon(&mut self, call: &v1::ReplyCallAbandoned) -> Result<(), Status> {
        let UnfinishedCall { written, .. } =
            self.close("event.call_abandoned.index", call.index)?;
        // What the model wrote stands for what was read of it.
        self.bytes -= written.len();
        self.size("event.call_abandoned.text", call.text.len())?;
        if written.is_empty() {
            self.tokens.add(&call.text);
        }
        Ok(())
    }

    fn no_call(&self, field: &str) -> Result<(), Status> {
        match &self.open {
            None => Ok(()),
            Some(call) => {
                let message = format!("the call of {} is open: end or abandon it first", call.name);
                Err(invalid_field(field, &message))
            }
        }
    }

    /// Takes the open call, which must be this one.
    fn close(&mut self, field: &str, index: u32) -> Result<UnfinishedCall, Status> {
        let Some(call) = self.open.take() else {
            return Err(invalid_field(field, "no call is open"));
        };
        if index as usize + 1 != self.begun {
            let message = format!("{index} is not the open call, {}", self.begun - 1);
            return Err(invalid_field(field, &message));
        }
        Ok(call)
    }

    fn grow(&mut self, field: &str, text: &str) -> Result<(), Status> {
        self.tokens.add(text);
        self.size(field, text.len())
    }

    fn size(&mut self, field: &str, bytes: usize) -> Result<(), Status> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes <= REPLY_BYTES_MAX {
            return Ok(());
        }
        let what = format!("{REPLY_BYTES_MAX} bytes of texts and arguments");
        Err(exchange::reply_too_large(field, &what))
    }
}

fn read(arguments_json: &str) -> Result<Map<String, Value>, Status> {
    let read = arguments::parse(arguments_json);
    read.map_err(|violation| invalid_field(ARGUMENTS, &violation.to_string()))
}

#[cfg(test)]
mod tests;
