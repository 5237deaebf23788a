//! Reads what models write: text with calls of tools in it, in every form that models use.
//!
//! One reader for replies that come in pieces and for whole ones: a whole one is fed once. What it
//! says depends on the bytes only, never on where they were cut.

mod ahead;
mod alike;
mod call_keys;
mod calls;
mod cue;
mod data;
mod end;
mod fence;
mod file_edit;
mod frame;
mod html;
mod line;
mod live;
mod mark;
mod native;
mod prose;
mod repair;
mod repeats;
mod scan;
mod sloppy;
mod template;
mod thought;
mod watch;

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::diagnostic::{DiagnosticCode, ReplyDiagnostic};
use crate::event::{Finish, Reply, ReplyEvent};
use crate::registry::Registry;
use ahead::NextByte;
use calls::ReadyCall;
use frame::Frame;
use line::LineContext;
use repeats::Repeats;

/// The most calls of a reply. What is written for more stays text.
pub const CALLS_MAX: usize = 1024;
/// The most bytes that are kept for one call while it is written. A longer one stays text.
const CALL_BYTES_MAX: usize = 16 << 20;

/// How a reply is read.
#[derive(Debug, Clone, Default)]
pub struct ParseOptions {
    /// What makes the ids of calls unique beyond the reply: ids are `call_SEED_INDEX`. Letters,
    /// digits, `_` and `-`.
    pub id_seed: String,
    /// Whether ids that the model wrote are kept. Models repeat old ids, so that only those who
    /// read their own projection ask for it.
    pub keeps_ids: bool,
    /// Whether the prompt ended with `<think>`, as the chat templates of DeepSeek R1 and Qwen3 have it:
    /// the reply then begins inside of a thought, and `</think>` ends it. Only who made the prompt
    /// knows: without this such a thought is text, and a call in it is one.
    pub begins_in_thought: bool,
    /// The forms of calls that are read.
    pub forms: Forms,
}

/// Reads a reply as it comes.
#[derive(Debug)]
pub struct Parser {
    registry: Arc<Registry>,
    options: ParseOptions,
    /// Bytes of a character whose rest has not come.
    partial: Vec<u8>,
    /// What came and is not decided, from `at` on.
    text: String,
    at: usize,
    /// Where the line that is being read ends, and where the next tilde stands.
    line_end: NextByte,
    tilde: NextByte,
    state: ParserState,
    line: LineContext,
    /// Whether something that is not blank came.
    has_begun: bool,
    in_chat: bool,
    /// Whether a group of calls began whose end mark has not come.
    in_group: bool,
    made: Repeats,
    /// What looks like a call and is not one.
    alike: alike::Alike,
    /// How many calls began.
    begun: usize,
    /// How often text was read again because a frame ended earlier than it seemed.
    fallbacks: usize,
    /// Whether the reply ended before the model did.
    is_cut: bool,
    /// Whether a thought that never ended was read again as a reply.
    is_read_again: bool,
    events: Vec<ReplyEvent>,
}

/// Where the reader is.
#[derive(Debug)]
enum ParserState {
    Prose,
    /// In a block of code: the lengths of the fences around, outermost first, and their sign.
    Code(Vec<usize>, u8),
    /// In JSON that is no call and began the reply: nothing in it is a frame.
    Data(data::DataBlock),
    /// In what the model thinks aloud.
    Reasoning(thought::Thought),
    /// In code that HTML shows.
    Html(html::Html),
    /// In what may be a call.
    Frame(Box<Frame>),
    /// After a result that the model made up.
    Dropped,
}

/// Whether a state can do more with what there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParseStep {
    Again,
    NeedsMore,
}

pub use native::parse_message;
pub(crate) use template::Forms;
pub(crate) use template::marks as template_marks;

/// Reads a whole reply.
pub fn parse(registry: &Arc<Registry>, text: &str, finish: Finish) -> Reply {
    let mut parser = Parser::new(Arc::clone(registry), ParseOptions::default());
    let mut events = parser.feed(text.as_bytes());
    events.extend(parser.finish(finish));
    Reply::collect(events)
}

/// Repairs the text of one JSON object, where that is possible without ending a string or a
/// bracket.
pub(crate) fn repaired_object(text: &str) -> Option<Map<String, Value>> {
    let repaired = repair::values(text, false, repair::KnownKeys::default()).ok()?;
    match <[Value; 1]>::try_from(repaired.values) {
        Ok([Value::Object(map)]) => Some(map),
        _ => None,
    }
}

// === impl Parser ===

impl Parser {
    /// Begins with the first byte of a reply.
    pub fn new(registry: Arc<Registry>, options: ParseOptions) -> Self {
        let state = if options.begins_in_thought {
            ParserState::Reasoning(thought::Thought::new(prose::THOUGHT_END))
        } else {
            ParserState::Prose
        };
        Self {
            registry,
            options,
            partial: Vec::new(),
            text: String::new(),
            at: 0,
            line_end: NextByte::new(b'\n'),
            tilde: NextByte::new(b'~'),
            state,
            line: LineContext::default(),
            has_begun: false,
            in_chat: false,
            in_group: false,
            made: Repeats::default(),
            alike: alike::Alike::default(),
            begun: 0,
            fallbacks: 0,
            is_cut: false,
            is_read_again: false,
            events: Vec::new(),
        }
    }

    /// Takes the next bytes, cut anywhere. Bytes that are no UTF-8 become U+FFFD.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<ReplyEvent> {
        self.decode(bytes);
        self.run(false);
        std::mem::take(&mut self.events)
    }

    /// Ends the reply. What is held back becomes text, or a call where it is whole.
    pub fn finish(mut self, finish: Finish) -> Vec<ReplyEvent> {
        if !self.partial.is_empty() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
        self.is_cut = finish != Finish::Stop;
        self.run(true);
        self.end_alike();
        if self.in_group && !matches!(self.state, ParserState::Dropped) {
            self.note(
                DiagnosticCode::UnclosedFrame,
                "the end mark of the group of calls is missing",
            );
        }
        self.events.push(ReplyEvent::Finish(finish));
        self.events
    }

    fn decode(&mut self, bytes: &[u8]) {
        let joined;
        let mut rest = bytes;
        if !self.partial.is_empty() {
            self.partial.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.partial);
            rest = &joined;
        }
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => return self.text.push_str(text),
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    self.text.push_str(std::str::from_utf8(valid).unwrap_or_default());
                    let Some(length) = error.error_len() else {
                        self.partial = after.to_vec();
                        return;
                    };
                    self.text.push(char::REPLACEMENT_CHARACTER);
                    rest = &after[length..];
                }
            }
        }
    }

    fn run(&mut self, is_last: bool) {
        loop {
            // Taken out, so that the state may change the reader.
            let step = match std::mem::replace(&mut self.state, ParserState::Prose) {
                ParserState::Prose => self.prose(is_last),
                ParserState::Code(fences, sign) => self.code(fences, sign, is_last),
                ParserState::Data(data) => self.data(data),
                ParserState::Reasoning(thought) => self.thought(thought, is_last),
                ParserState::Html(html) => self.html(html, is_last),
                ParserState::Frame(frame) => self.frame(frame, is_last),
                ParserState::Dropped => {
                    self.at = self.text.len();
                    self.state = ParserState::Dropped;
                    ParseStep::NeedsMore
                }
            };
            if step == ParseStep::NeedsMore {
                break;
            }
        }
        // Of text nothing is left, as a rule.
        if self.at == self.text.len() {
            self.text.clear();
        } else {
            self.text.drain(..self.at);
        }
        self.line_end.cut(self.at);
        self.tilde.cut(self.at);
        self.at = 0;
    }

    /// What is not decided.
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Passes on so many bytes as text.
    fn pass(&mut self, length: usize) {
        let text = &self.text[self.at..self.at + length];
        self.line.pass(text);
        push_text(&mut self.events, text);
        self.at += length;
    }

    fn note(&mut self, code: DiagnosticCode, message: impl Into<String>) {
        self.events.push(ReplyEvent::Diagnostic(ReplyDiagnostic::new(code, message)));
    }

    /// Passes on a call, unless it was made already. `live` is its index and what was passed on of
    /// its arguments, where that began.
    fn make(&mut self, made: ReadyCall, live: Option<(usize, usize)>) {
        if live.is_none() && self.made.has(&made) {
            let message = format!("{} was called twice with the same arguments", made.name);
            return self.note(DiagnosticCode::DuplicateCall, message);
        }
        let json = serde_json::to_string(&made.arguments).unwrap_or_default();
        let (index, shown) =
            live.unwrap_or_else(|| (self.begin(&made.name, made.id.as_deref()), 0));
        if shown < json.len() {
            let fragment = json[shown..].to_owned();
            self.events.push(ReplyEvent::ArgumentFragment { index, fragment });
        }
        self.events.push(ReplyEvent::CallEnd { index, arguments: made.arguments.clone() });
        self.made.add(made);
    }

    /// Begins a call. Returns its index.
    fn begin(&mut self, name: &str, written_id: Option<&str>) -> usize {
        let index = self.begun;
        self.begun += 1;
        let id = match written_id {
            Some(id) if self.options.keeps_ids => id.to_owned(),
            _ if self.options.id_seed.is_empty() => format!("call_{index}"),
            _ => format!("call_{}_{index}", self.options.id_seed),
        };
        self.events.push(ReplyEvent::CallStart { index, id, name: name.to_owned() });
        index
    }
}

fn push_text(events: &mut Vec<ReplyEvent>, text: &str) {
    if text.is_empty() {
        return;
    }
    if let Some(ReplyEvent::Text(last)) = events.last_mut() {
        last.push_str(text);
    } else {
        if events.is_empty() {
            // A piece is one event, as a rule.
            events.reserve_exact(1);
        }
        events.push(ReplyEvent::Text(text.to_owned()));
    }
}

#[cfg(test)]
mod tests;
