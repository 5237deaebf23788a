//! Text on its way through: what of it may look like a call is looked at, the rest is passed on as it is.

use super::super::Parser;
use super::super::call_keys::begins_no_key;
use super::begins::{begins_argument, is_alike};
use super::{AlikeState, BEGINS, LOOK_BYTES_MAX, Start, TOKEN, UNMARKED, before};
use crate::diagnostic::DiagnosticCode;
use crate::registry::Registry;

/// Whether what may begin a call begins none, as far as the next position that may.
fn is_plain(registry: &Registry, text: &str) -> bool {
    if text.starts_with('{') && begins_no_key(&text.as_bytes()[1..]) {
        return true;
    }
    let near = &text[..text.floor_char_boundary(LOOK_BYTES_MAX)];
    let next = memchr::memchr3(b'{', b'[', b'<', &near.as_bytes()[1..]);
    let near = next.map_or(near, |place| &near[..place + 2]);
    is_alike(registry, near, true) == Some(false) && begins_argument(near) == Some(false)
}

// === impl Parser ===

impl Parser {
    /// Passes on so many bytes as text, and looks whether they look like a call. `begins` says whether
    /// the first one may begin what does.
    pub(in super::super) fn pass_prose(&mut self, mut length: usize, mut begins: bool) {
        while !self.alike.is_found && length > 0 {
            if self.alike.is_idle() {
                let plain = self.plain(length, begins);
                self.pass_lines(plain);
                length -= plain;
                begins &= plain == 0;
                if length == 0 {
                    return;
                }
                if self.alike.is_found {
                    break;
                }
            }
            let text = &self.rest()[..length];
            let may_begin = (begins && text.starts_with(BEGINS)) || text.starts_with('{');
            let is_shown = self.line.is_shown();
            if may_begin && !is_shown && self.is_addressed(text) {
                self.report_alike(UNMARKED);
                break;
            }
            let start = (may_begin && !is_shown).then(|| self.start(text));
            let next = memchr::memchr3(b'{', b'[', b'<', &text.as_bytes()[1..]);
            let piece = match self.alike.state {
                AlikeState::Nothing | AlikeState::Begun => next.map_or(length, |place| place + 1),
                AlikeState::Inside(_) | AlikeState::Behind | AlikeState::Spoken(_) => length,
            };
            let text = &self.text[self.at..self.at + piece];
            let taken = self.alike.take(&self.registry, text, start);
            if std::mem::take(&mut self.alike.is_found) {
                self.report_alike(UNMARKED);
            }
            self.pass_lines(taken);
            length -= taken;
            begins &= taken == 0;
        }
        self.pass(length);
    }

    /// What is known of the position where a text begins that may look like a call.
    fn start(&self, text: &str) -> Start {
        let is_object = text.starts_with('{');
        let tool = is_object.then(|| before::tool(&self.registry, &self.line)).flatten();
        Start {
            place: 0,
            begins_line: self.line.is_blank(),
            tool: tool.map(|tool| tool.name().to_owned()),
            words: if text.starts_with('<') {
                String::new()
            } else {
                self.line.last_two().0.into()
            },
        }
    }

    /// Whether what stands before a text on its line is to whom a message is.
    fn is_addressed(&self, text: &str) -> bool {
        let is_object = text.starts_with('{');
        (is_object || self.rest().starts_with(TOKEN))
            && before::is_addressed(&self.registry, &self.line, is_object)
    }

    /// Reports that text looks like a call, where none did before.
    pub(in super::super) fn report_alike(&mut self, message: &str) {
        if !self.alike.is_found {
            self.alike.is_found = true;
            self.note(DiagnosticCode::UnmarkedCall, message);
        }
    }

    /// Takes that something else than text comes.
    pub(in super::super) fn leave_alike(&mut self) {
        if self.alike.leave() {
            self.report_alike(UNMARKED);
        }
    }

    /// Takes that JSON which looks like a call was passed on, and so much text behind it.
    pub(in super::super) fn stand_behind(&mut self, text: &str) {
        if text.contains('\n') {
            self.report_alike(UNMARKED);
        } else if !self.alike.is_found {
            self.alike.is_forbidden = false;
            self.alike.state = AlikeState::Behind;
        }
    }

    /// Ends the look at a reply.
    pub(in super::super) fn end_alike(&mut self) {
        if self.alike.ends() || self.last_line_calls() {
            self.report_alike(UNMARKED);
        }
    }

    /// How many of so many bytes come before what may look like a call, by what is there already: the
    /// most part of a text is passed on in one piece, and none of it is kept.
    fn plain(&self, length: usize, begins: bool) -> usize {
        let rest = self.rest();
        let mut at = 0;
        if begins && rest.starts_with(BEGINS) {
            if !is_plain(&self.registry, rest) || self.is_addressed(rest) {
                return 0;
            }
            at = 1;
        }
        while let Some(place) = memchr::memchr(b'{', &rest.as_bytes()[at..length]) {
            // Of several in a row only the last one may begin an object with a key.
            let run = rest[at + place..length].bytes().take_while(|byte| *byte == b'{').count();
            at += place + run;
            if !is_plain(&self.registry, &rest[at - 1..])
                || before::may_say(&self.registry, &self.line, &rest[..at - 1])
            {
                return at - 1;
            }
        }
        length
    }
}
