//! What the model thinks aloud: not for the user, and no call in it is one (policy P8).
//!
//! Only a thought that never ends may be less than it seems: its end mark is missing, and the model acted.
//! What stands in it from the first mark of a call on is then read as a reply, where that makes a call.

use std::sync::Arc;

use super::line::LineContext;
use super::mark::HERMES_OPEN;
use super::{CALL_BYTES_MAX, ParseOptions, ParseStep, Parser, ParserState, template};
use crate::event::{Finish, ReplyEvent};

/// Marks of calls besides those of chat templates.
const MARKS: &[&str] = &[
    HERMES_OPEN,
    "[TOOL_CALL",
    "[TOOL:",
    "```json action",
    "```json_action",
    "```action",
    "```tool_call",
];

/// A thought while it comes.
#[derive(Debug)]
pub(super) struct Thought {
    /// The mark that ends it.
    close: &'static str,
    /// Where in its line a position of it stands, as in text.
    line: LineContext,
    /// Whether a mark of a call begins what is held back.
    is_held: bool,
    /// Whether so much was held back that no call is looked for any more.
    is_long: bool,
    /// How far the end was looked for.
    searched: usize,
}

// === impl Thought ===

impl Thought {
    pub(super) fn new(close: &'static str) -> Self {
        let line = LineContext::default();
        Self { close, line, is_held: false, is_long: false, searched: 0 }
    }

    fn end(&mut self, text: &str) -> Option<usize> {
        let from = self.searched.min(text.len());
        let found = memchr::memmem::find(&text.as_bytes()[from..], self.close.as_bytes());
        self.searched = text.len().saturating_sub(self.close.len() - 1);
        found.map(|place| from + place)
    }

    /// How much of a text is certain to be thought, and whether a mark of a call follows it.
    fn certain(&self, text: &str, is_last: bool) -> (usize, bool) {
        let held = (1..self.close.len()).rev().find(|n| text.ends_with(&self.close[..*n]));
        let length = text.len() - held.filter(|_| !is_last).unwrap_or(0);
        if self.is_long {
            return (length, false);
        }
        for place in memchr::memchr3_iter(b'<', b'[', b'`', text.as_bytes()) {
            // What stands in backticks is only spoken of.
            let is_quoted = match place {
                0 => self.line.ends_with_backtick(),
                _ => text.as_bytes()[place - 1] == b'`',
            };
            let rest = &text[place..];
            let marks = || MARKS.iter().copied().chain(template::marks());
            if is_quoted {
                continue;
            }
            if marks().any(|mark| rest.starts_with(mark)) {
                return (place, true);
            }
            if !is_last && marks().any(|mark| mark.starts_with(rest)) {
                return (place.min(length), false);
            }
        }
        (length, false)
    }
}

// === impl Parser ===

impl Parser {
    /// Continues with what the model thinks aloud.
    pub(super) fn thought(&mut self, mut thought: Thought, is_last: bool) -> ParseStep {
        if let Some(end) = thought.end(self.rest()) {
            self.think(&mut thought, end);
            self.at += thought.close.len();
            // What follows may be all that the reply says.
            self.has_begun = self.begun > 0;
            return ParseStep::Again;
        }
        if !thought.is_held {
            let (length, is_held) = thought.certain(self.rest(), is_last);
            self.think(&mut thought, length);
            thought.is_held = is_held;
        }
        if self.rest().len() > CALL_BYTES_MAX {
            (thought.is_held, thought.is_long) = (false, true);
            let (length, _) = thought.certain(self.rest(), is_last);
            self.think(&mut thought, length);
        }
        if is_last && thought.is_held && self.acts(&thought) {
            self.line = thought.line;
            (self.has_begun, self.is_read_again) = (true, true);
            return ParseStep::Again;
        }
        if is_last {
            self.think(&mut thought, self.rest().len());
        }
        self.state = ParserState::Reasoning(thought);
        ParseStep::NeedsMore
    }

    /// Passes on so many bytes as thought.
    fn think(&mut self, thought: &mut Thought, length: usize) {
        let text = &self.text[self.at..self.at + length];
        thought.searched = thought.searched.saturating_sub(length);
        if !text.is_empty() {
            thought.line.pass(text);
            self.events.push(ReplyEvent::Reasoning(text.to_owned()));
            self.at += length;
        }
    }

    /// Whether what is held back of a thought that never ended makes a call. One that was cut off may
    /// only have considered it. What is wrong with a call that is not made is reported.
    fn acts(&mut self, thought: &Thought) -> bool {
        if self.is_cut || self.is_read_again {
            return false;
        }
        let options = ParseOptions { begins_in_thought: false, ..self.options.clone() };
        let mut parser = Self::new(Arc::clone(&self.registry), options);
        parser.line = thought.line.clone();
        (parser.has_begun, parser.is_read_again) = (true, true);
        let mut events = parser.feed(self.rest().as_bytes());
        events.extend(parser.finish(Finish::Stop));
        let acts = events.iter().any(|event| matches!(event, ReplyEvent::CallEnd { .. }));
        let is_wrong = |event: &ReplyEvent| matches!(event, ReplyEvent::Diagnostic(one) if !one.code.is_remark());
        if !acts {
            self.events.extend(events.into_iter().filter(is_wrong));
        }
        acts
    }
}
