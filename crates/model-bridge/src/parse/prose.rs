//! Text between calls: what may begin a call there, and what only shows one.

mod blocks;
mod fences;
mod line_call;
mod marks;
mod skip;

use super::fence::INFO_BYTES_MAX;
use super::frame::{CUT_OFF, Frame, FrameKind};
use super::line::is_blank;
use super::mark::{HERMES_CLOSE, HERMES_OPEN, NAME_BYTES_MAX, TAG_CLOSE};
use super::template::{HERMES, LEADS};
use super::thought::Thought;
use super::{ParseStep, Parser, ParserState, file_edit};
use crate::diagnostic::DiagnosticCode;

/// Marks that begin a call on a line.
const LINE_MARKS: &[&str] = &["[TOOL_CALLS]", "[TOOL_CALL]"];
/// The mark that begins a call that has an end mark.
const TAG_MARK: &str = "[TOOL:";
/// What is thought aloud begins with, and ends with.
const THOUGHTS: &[(&str, &str)] = &[("<think>", THOUGHT_END), ("<thinking>", "</thinking>")];
/// What ends a thought that the prompt began.
pub(super) const THOUGHT_END: &str = "</think>";
const CHAT_OPEN: &str = "<chat>";
const CHAT_CLOSE: &str = "</chat>";
/// What a line begins with that makes up the result of a call, in lower case.
const RESULTS: &[&str] = &[
    "tool result",
    "observation:",
    "observation：",
    "工具结果",
    "工具执行结果",
    "[tool_result",
    "<tool_response>",
    "<tool_result>",
    "<function_results>",
    "<｜tool▁outputs▁",
];

/// What a position that may begin something turned out to be.
enum MarkOutcome {
    /// Nothing: so many bytes are text.
    Text(usize),
    /// Not known before more came.
    NeedsMore,
    /// A frame, whose inside will show whether it is a call.
    Frame(Box<Frame>),
    /// Something else that was dealt with.
    Done,
}

// === impl Parser ===

impl Parser {
    /// Continues to the next position that may begin something, and looks what it is.
    pub(super) fn prose(&mut self, is_last: bool) -> ParseStep {
        if !self.has_begun {
            let blank = self.rest().len() - self.rest().trim_start_matches(is_blank).len();
            self.pass(blank);
            let Some(first) = self.rest().chars().next() else { return ParseStep::NeedsMore };
            self.has_begun = true;
            // So does a list of calls that is not JSON.
            if first == '['
                && let Some(mark) = self.bare_list(is_last)
            {
                self.has_begun = !matches!(mark, MarkOutcome::NeedsMore);
                return self.came_upon(mark);
            }
            // A mark begins with `[`, too; what is not a mark is looked at below.
            if first == '{' || (first == '[' && !self.rest().starts_with("[TOOL")) {
                if first == '[' && "[TOOL".starts_with(self.rest()) && !is_last {
                    self.has_begun = false;
                    return ParseStep::NeedsMore;
                }
                self.state = ParserState::Frame(Box::new(Frame::new(FrameKind::Whole, 0)));
                return ParseStep::Again;
            }
        }
        if self.rest().is_empty() {
            return ParseStep::NeedsMore;
        }
        let mut end = self.rest().len();
        if !self.made.is_empty() {
            if let Some(mark) = self.joined(is_last) {
                return self.came_upon(mark);
            }
            if let Some(step) = self.made_up_result(is_last) {
                return step;
            }
            let line_end = self.line_end.find(&self.text, self.at);
            end = line_end.map_or(end, |place| place + 1 - self.at);
        }
        let rest = &self.rest().as_bytes()[..end];
        if self.alike.is_idle() && skip::is_short_text(rest) {
            self.pass_lines(end);
            return ParseStep::Again;
        }
        let tilde = self.tilde.find(&self.text, self.at).map(|place| place - self.at);
        let tilde = tilde.filter(|place| *place < end);
        let rest = &self.rest().as_bytes()[..end];
        let next = self.next_mark(rest, tilde.unwrap_or(end)).or(tilde);
        let lead = match next {
            Some(next) => lead_before(&rest[..next], Some(rest[next])),
            None if !is_last => lead_before(rest, None),
            None => 0,
        };
        self.pass_prose(next.unwrap_or(end) - lead, false);
        if next.is_none() {
            let is_all = lead > 0 || self.rest().is_empty();
            return if is_all { ParseStep::NeedsMore } else { ParseStep::Again };
        }
        let mark = match self.rest().as_bytes()[0] {
            _ if lead > 0 => self.lead(lead, is_last),
            b'`' => self.backticks(is_last),
            b'~' => self.tildes(is_last),
            b'[' => self.bracket(is_last),
            _ => self.angle(is_last),
        };
        self.came_upon(mark)
    }

    /// The next position within so many bytes before which nothing begins. A bracket that begins nothing
    /// is passed over, unless it may belong to the call right before.
    fn next_mark(&self, text: &[u8], length: usize) -> Option<usize> {
        let mut places = memchr::memchr3_iter(b'`', b'[', b'<', &text[..length]);
        places.find(|place| {
            self.line.owed().is_some() || !skip::begins_nothing(&self.registry, &text[*place..])
        })
    }

    fn came_upon(&mut self, mark: MarkOutcome) -> ParseStep {
        match mark {
            MarkOutcome::Text(length) => self.pass_prose(length, true),
            MarkOutcome::NeedsMore => return ParseStep::NeedsMore,
            MarkOutcome::Frame(frame) => {
                self.leave_alike();
                let frame = frame.shown_by(self.line.cue()).patient(self.fallbacks);
                self.state = ParserState::Frame(Box::new(frame));
            }
            MarkOutcome::Done => self.leave_alike(),
        }
        ParseStep::Again
    }

    /// Looks whether the line that begins here makes up the result of a call (policy P9).
    fn made_up_result(&mut self, is_last: bool) -> Option<ParseStep> {
        if !self.line.is_blank() {
            return None;
        }
        let rest = self.rest();
        let blank = rest.len() - rest.trim_start_matches(is_blank).len();
        if blank > 0 {
            self.pass_lines(blank);
            return Some(ParseStep::Again);
        }
        let longest = RESULTS.iter().map(|mark| mark.len()).max().unwrap_or(0);
        let begin = rest[..rest.floor_char_boundary(longest)].to_lowercase();
        let found = RESULTS.iter().find(|mark| begin.starts_with(**mark));
        if let Some(mark) = found {
            // `Tool results show…` is a sentence, `Tool results:` none.
            let after = &rest[mark.len()..];
            let after = match mark.ends_with('t') {
                true => after.strip_prefix(['s', 'S']).unwrap_or(after),
                false => after,
            };
            let Some(next) = after.chars().next().or(is_last.then_some('\n')) else {
                return Some(ParseStep::NeedsMore);
            };
            let is_plural = after.len() < rest.len() - mark.len();
            let is_word = mark.ends_with(char::is_alphanumeric) && next.is_alphanumeric();
            if is_word || (is_plural && !matches!(next, ':' | '：' | '\r' | '\n')) {
                return None;
            }
            self.note(
                DiagnosticCode::HallucinatedResult,
                "the reply makes up the result of its call; what follows is dropped",
            );
            self.state = ParserState::Dropped;
            return Some(ParseStep::Again);
        }
        let may_be = RESULTS.iter().any(|mark| mark.starts_with(&begin));
        (may_be && !is_last).then_some(ParseStep::NeedsMore)
    }

    /// `[TOOL_CALL]name[ARGS]{…}`, `[TOOL_CALLS][…]` and `[TOOL:name]{…}[/TOOL]`.
    fn bracket(&mut self, is_last: bool) -> MarkOutcome {
        if let Some(mark) = self.left_over(is_last) {
            return mark;
        }
        if self.line.is_shown() {
            return MarkOutcome::Text(1);
        }
        if let Some(mark) = self.bare_list(is_last) {
            return mark;
        }
        let rest = self.rest();
        if let Some(mark) = LINE_MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            return line_call::read(rest, mark.len(), &self.options.forms, is_last);
        }
        if let Some(after) = rest.strip_prefix(TAG_MARK) {
            let end = after.find([']', '\n', '[']);
            return match end {
                Some(end) if after.as_bytes()[end] == b']' && end <= NAME_BYTES_MAX => {
                    match opens_json(&after[end + 1..], TAG_CLOSE, is_last) {
                        None => MarkOutcome::NeedsMore,
                        Some(false) => MarkOutcome::Text(1),
                        Some(true) => {
                            let frame = Frame::new(FrameKind::Tag, TAG_MARK.len() + end + 1);
                            MarkOutcome::Frame(Box::new(frame.named(after[..end].trim())))
                        }
                    }
                }
                None if !is_last && after.len() <= NAME_BYTES_MAX => MarkOutcome::NeedsMore,
                _ => MarkOutcome::Text(1),
            };
        }
        may_become(rest, LINE_MARKS.iter().chain([&TAG_MARK]), is_last)
    }

    /// `functools[…]` and `]<]minimax[>[…`.
    fn lead(&mut self, lead: usize, is_last: bool) -> MarkOutcome {
        if let Some(mark) = self.left_over(is_last) {
            return mark;
        }
        let mark = if self.line.is_shown() { None } else { self.template(is_last) };
        mark.unwrap_or(MarkOutcome::Text(lead))
    }

    /// `<think>`, `<file-edit …>`, `<tool_call>`, `<chat>`.
    fn angle(&mut self, is_last: bool) -> MarkOutcome {
        if let Some(mark) = self.left_over(is_last) {
            return mark;
        }
        if self.line.is_shown() {
            return MarkOutcome::Text(1);
        }
        let rest = self.rest();
        let starts_line = self.line.is_blank();
        let thought = THOUGHTS.iter().filter(|_| starts_line);
        if let Some((open, close)) = thought.clone().find(|(open, _)| rest.starts_with(*open)) {
            self.at += open.len();
            self.state = ParserState::Reasoning(Thought::new(close));
            return MarkOutcome::Done;
        }
        if starts_line && rest.starts_with(CHAT_OPEN) {
            self.at += CHAT_OPEN.len();
            self.in_chat = true;
            return MarkOutcome::Done;
        }
        if self.in_chat && rest.starts_with(CHAT_CLOSE) {
            self.at += CHAT_CLOSE.len();
            self.in_chat = false;
            return MarkOutcome::Done;
        }
        let hermes = rest.strip_prefix(HERMES_OPEN).filter(|_| self.options.forms.has(HERMES));
        if let Some(after) = hermes {
            match opens_json(after, HERMES_CLOSE, is_last) {
                None => return MarkOutcome::NeedsMore,
                Some(true) => {
                    return MarkOutcome::Frame(Box::new(Frame::new(
                        FrameKind::Hermes,
                        HERMES_OPEN.len(),
                    )));
                }
                Some(false) => {}
            }
        }
        if let Some(mark) = self.template(is_last).or_else(|| self.shown_by_html(is_last)) {
            return mark;
        }
        if let Some(mark) = self.element(is_last) {
            return mark;
        }
        let rest = self.rest();
        if let Some(after) = rest.strip_prefix(file_edit::OPEN) {
            return match file_edit::tag(after) {
                file_edit::Tag::None => MarkOutcome::Text(1),
                file_edit::Tag::Whole(length) => {
                    let body = file_edit::OPEN.len() + length + 1;
                    let frame = Frame::new(FrameKind::FileEdit, body).named(&after[..length]);
                    MarkOutcome::Frame(Box::new(if starts_line { frame } else { frame.in_line() }))
                }
                file_edit::Tag::Begun if is_last => {
                    let length = rest.len();
                    self.note(DiagnosticCode::TruncatedCall, CUT_OFF);
                    MarkOutcome::Text(length)
                }
                file_edit::Tag::MayBegin if is_last => MarkOutcome::Text(1),
                file_edit::Tag::Begun | file_edit::Tag::MayBegin => MarkOutcome::NeedsMore,
            };
        }
        let marks = [HERMES_OPEN, file_edit::OPEN, CHAT_CLOSE, CHAT_OPEN];
        let marks = &marks[..if starts_line { 4 } else { 3 }];
        may_become(rest, marks.iter().chain(thought.map(|(open, _)| open)), is_last)
    }
}

/// How much of the end of a text may begin a mark that does not begin with what is looked for, by what
/// follows it; where that has not come, by its beginning.
fn lead_before(text: &[u8], next: Option<u8>) -> usize {
    for (lead, follows) in LEADS {
        let lead = lead.as_bytes();
        let least = if next.is_some() { lead.len() } else { 1 };
        let tail = &text[text.len().saturating_sub(lead.len())..];
        let mut ends = memchr::memchr_iter(lead[0], tail).map(|place| &tail[place..]);
        if next.is_none_or(|next| next == *follows)
            && let Some(end) = ends.find(|end| end.len() >= least && lead.starts_with(end))
        {
            return end.len();
        }
    }
    0
}

/// Whether JSON begins here, or the end mark follows at once; none where more must come to know.
fn opens_json(after: &str, close: &str, is_last: bool) -> Option<bool> {
    let inner = after.trim_start();
    if after.len() - inner.len() > INFO_BYTES_MAX {
        return Some(false);
    }
    let may_close = close.starts_with(inner) && inner != close;
    if inner.is_empty() || may_close || inner == "[" {
        return is_last.then_some(false);
    }
    let is_json = inner.starts_with(['{', '[', '｛', '［']) && !inner.starts_with("[/");
    Some(is_json || inner.starts_with(close))
}

/// Text, unless more makes it one of the marks.
fn may_become<'m>(
    rest: &str,
    mut marks: impl Iterator<Item = &'m &'m str>,
    is_last: bool,
) -> MarkOutcome {
    if !is_last && marks.any(|mark| mark.starts_with(rest)) {
        MarkOutcome::NeedsMore
    } else {
        MarkOutcome::Text(1)
    }
}
