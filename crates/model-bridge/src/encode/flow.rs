//! What of a reply is shown, and in which pieces: the rules that hold for every API.
//!
//! Events of a reader come in; steps go out, of which each encoder makes its own wire text. A step
//! is never withdrawn, so what is uncertain waits here: white space before text that may not come,
//! the name of a call that has no text yet, the brackets that would complete its arguments.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::event::{Finish, ReplyEvent};

/// Longest piece of text or arguments in one step, in bytes. Escaped as JSON it stays under the
/// 64 KiB that line readers of some languages take at most.
pub(super) const PIECE_BYTES_MAX: usize = 4096;
/// A piece of arguments waits until it is this part of what was sent before it. Clients parse all
/// that came with every piece, and OpenAI's count pieces (65,536 at most): with growing pieces that
/// stays linear, and 16 MiB are about 4,600.
const PIECE_SHARE: usize = 64;

/// What is to be shown next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Emission<'a> {
    /// Text, never empty. What follows a call begins with something that is no white space.
    Text(&'a str),
    /// A call begins; its arguments or its end follow at once.
    CallOpen {
        /// What its result repeats.
        id: &'a str,
        /// Name of the tool.
        name: &'a str,
    },
    /// More of the JSON text of its arguments. Only what comes right before the end of the call
    /// completes the object.
    Arguments(&'a str),
    /// The call is whole.
    CallClose(&'a Map<String, Value>),
    /// The call that was shown is abandoned: its arguments stay incomplete.
    CallBroken,
}

/// How a reply ended, for the one who reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FinishReason {
    /// It is complete and has no calls.
    Stop,
    /// It is complete and has calls.
    Calls,
    /// It is cut off; no call that is incomplete may run.
    Length,
    /// The rest was withheld.
    ContentFilter,
}

/// Whether arguments are shown while they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Grain {
    /// In pieces, but for calls of these tools.
    PiecesBut(BTreeSet<String>),
    /// Only when the call is whole.
    Calls,
}

/// Turns events into steps.
#[derive(Debug)]
pub(super) struct Flow {
    grain: Grain,
    /// White space that is shown once text follows; none while text continues.
    blank: String,
    in_text: bool,
    call: Option<StreamedCall>,
    has_calls: bool,
    has_broken_call: bool,
    finish: Option<Finish>,
}

/// The call that is being written.
#[derive(Debug)]
struct StreamedCall {
    id: String,
    name: String,
    in_pieces: bool,
    is_shown: bool,
    sent_bytes: usize,
    /// Text of its arguments that is not passed on yet.
    held: String,
    /// Where in it the closing brackets and white space at its end begin.
    tail_start: usize,
    /// The first two letters before that which are no white space.
    first: String,
    /// How far it was read for them.
    read_to: usize,
}

// === impl FinishReason ===

impl FinishReason {
    /// Of a reply that was read to its end.
    pub(super) fn of(finish: Finish, has_calls: bool) -> Self {
        match finish {
            Finish::Stop if has_calls => Self::Calls,
            Finish::Stop => Self::Stop,
            Finish::Length => Self::Length,
            Finish::ContentFilter => Self::ContentFilter,
        }
    }
}

// === impl Grain ===

impl Grain {
    fn in_pieces(&self, tool: &str) -> bool {
        match self {
            Self::PiecesBut(whole) => !whole.contains(tool),
            Self::Calls => false,
        }
    }
}

// === impl Flow ===

impl Flow {
    pub(super) fn new(grain: Grain) -> Self {
        Self {
            grain,
            blank: String::new(),
            in_text: false,
            call: None,
            has_calls: false,
            has_broken_call: false,
            finish: None,
        }
    }

    /// Takes an event and gives the steps that it allows. What belongs to no call that began, or
    /// comes after the end, is left out.
    pub(super) fn push(&mut self, event: &ReplyEvent, sink: &mut dyn FnMut(Emission<'_>)) {
        if self.finish.is_some() {
            return;
        }
        match event {
            ReplyEvent::Text(text) => self.text(text, sink),
            ReplyEvent::CallStart { id, name, .. } => {
                self.abandon("", sink);
                self.call = Some(StreamedCall::new(id, name, self.grain.in_pieces(name)));
            }
            ReplyEvent::ArgumentFragment { fragment, .. } => self.fragment(fragment, sink),
            ReplyEvent::CallEnd { arguments, .. } => self.close(arguments, sink),
            ReplyEvent::CallAbandoned { text, .. } => self.abandon(text, sink),
            ReplyEvent::Reasoning(_) | ReplyEvent::Diagnostic(_) => {}
            ReplyEvent::Finish(finish) => {
                self.abandon("", sink);
                self.finish = Some(*finish);
            }
        }
    }

    /// Ends the reply. One that did not say that it is over was cut off.
    pub(super) fn finish(&mut self, sink: &mut dyn FnMut(Emission<'_>)) -> FinishReason {
        self.abandon("", sink);
        let ending = FinishReason::of(self.finish.unwrap_or(Finish::Length), self.has_calls);
        match ending {
            FinishReason::ContentFilter => ending,
            _ if self.has_broken_call => FinishReason::Length,
            _ => ending,
        }
    }

    fn text(&mut self, text: &str, sink: &mut dyn FnMut(Emission<'_>)) {
        if text.is_empty() {
            return;
        }
        if self.in_text {
            return pieces(text).for_each(|piece| sink(Emission::Text(piece)));
        }
        self.blank.push_str(text);
        if text.chars().all(char::is_whitespace) {
            return;
        }
        self.in_text = true;
        let text = std::mem::take(&mut self.blank);
        pieces(&text).for_each(|piece| sink(Emission::Text(piece)));
    }

    fn fragment(&mut self, fragment: &str, sink: &mut dyn FnMut(Emission<'_>)) {
        let Some(call) = &mut self.call else { return };
        if !call.in_pieces {
            return;
        }
        call.hold(fragment);
        call.read_first();
        if !call.is_due() {
            return;
        }
        if !call.is_shown {
            self.end_text();
        }
        if let Some(call) = &mut self.call {
            call.show(call.tail_start, sink);
        }
    }

    fn close(&mut self, arguments: &Map<String, Value>, sink: &mut dyn FnMut(Emission<'_>)) {
        let Some(mut call) = self.call.take() else { return };
        self.end_text();
        self.has_calls = true;
        if call.in_pieces {
            if call.sent_bytes == 0 && call.held.trim().is_empty() {
                call.held = Value::Object(arguments.clone()).to_string();
            }
            call.show(call.held.len(), sink);
        } else {
            sink(Emission::CallOpen { id: &call.id, name: &call.name });
        }
        sink(Emission::CallClose(arguments));
    }

    fn abandon(&mut self, text: &str, sink: &mut dyn FnMut(Emission<'_>)) {
        match self.call.take() {
            Some(call) if call.is_shown => {
                self.has_broken_call = true;
                sink(Emission::CallBroken);
            }
            Some(_) => self.text(text, sink),
            None => {}
        }
    }

    fn end_text(&mut self) {
        self.in_text = false;
        self.blank.clear();
    }
}

// === impl StreamedCall ===

impl StreamedCall {
    fn new(id: &str, name: &str, in_pieces: bool) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            in_pieces,
            is_shown: false,
            sent_bytes: 0,
            held: String::new(),
            tail_start: 0,
            first: String::new(),
            read_to: 0,
        }
    }

    fn hold(&mut self, fragment: &str) {
        let is_tail = |c: char| c == '}' || c.is_ascii_whitespace();
        let body = fragment.trim_end_matches(is_tail);
        if !body.is_empty() {
            self.tail_start = self.held.len() + body.len();
        }
        self.held.push_str(fragment);
    }

    /// Looks for the letters that it begins with, in what was not read yet: what waits is read once,
    /// however many fragments it comes in. Returns how much was read.
    fn read_first(&mut self) -> usize {
        if self.is_shown {
            return 0;
        }
        let more = &self.held[self.read_to..self.tail_start.max(self.read_to)];
        self.read_to += more.len();
        let missing = 2_usize.saturating_sub(self.first.chars().count());
        self.first.extend(more.chars().filter(|c| !c.is_whitespace()).take(missing));
        more.len()
    }

    /// Whether enough waits that it is worth a piece. An opening bracket alone is not: the call may
    /// have no arguments.
    fn is_due(&self) -> bool {
        let body = &self.held[..self.tail_start];
        let enough = (self.sent_bytes / PIECE_SHARE).min(PIECE_BYTES_MAX);
        !body.is_empty() && body.len() >= enough && (self.is_shown || self.first != "{")
    }

    fn show(&mut self, end: usize, sink: &mut dyn FnMut(Emission<'_>)) {
        if !self.is_shown {
            self.is_shown = true;
            sink(Emission::CallOpen { id: &self.id, name: &self.name });
        }
        pieces(&self.held[..end]).for_each(|piece| sink(Emission::Arguments(piece)));
        self.sent_bytes += end;
        self.held.drain(..end);
        self.tail_start = 0;
    }
}

/// Cuts text between characters into pieces of bounded size.
pub(super) fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let end = text.floor_char_boundary(PIECE_BYTES_MAX);
        let (piece, rest) = text.split_at(end);
        text = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests;
