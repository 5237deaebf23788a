//! Marks of chat templates, and those behind a call that belong to it.

use super::super::frame::Frame;
use super::super::html::{Html, SHOWS};
use super::super::mark::Not;
use super::super::template::{self, Holds, Opening};
use super::super::{Parser, ParserState};
use super::MarkOutcome;

// === impl Parser ===

impl Parser {
    /// A call of a chat template, where one begins here.
    pub(super) fn template(&self, is_last: bool) -> Option<MarkOutcome> {
        let may_begin = self.line.is_blank() || self.line.owed().is_some();
        match template::opening(self.rest(), may_begin, self.line.owed(), &self.options.forms) {
            Ok(opening) => {
                // In a sentence, a call without anything in it is only spoken of; a group has lines.
                let is_empty = matches!(opening.holds, Holds::Nothing | Holds::Closed);
                let has_lines =
                    opening.begins_group && self.rest()[..opening.length].contains('\n');
                let may_be_spoken = is_empty && !may_begin && !has_lines;
                let begins_group = opening.begins_group;
                let frame = Frame::of(opening);
                let frame = match may_be_spoken {
                    true if begins_group || self.line.is_after_sentence() => frame.after_sentence(),
                    true => frame.in_line(),
                    false => frame,
                };
                Some(MarkOutcome::Frame(Box::new(frame)))
            }
            Err(Not::Yet) if !is_last => Some(MarkOutcome::NeedsMore),
            Err(_) => None,
        }
    }

    /// Another call that is joined to the one right before, where one begins here.
    pub(super) fn joined(&self, is_last: bool) -> Option<MarkOutcome> {
        match template::joined(self.rest(), self.line.owed()?, &self.options.forms) {
            Ok((template, length)) => {
                Some(MarkOutcome::Frame(Box::new(Frame::joined_to(template, length))))
            }
            Err(Not::Yet) if !is_last => Some(MarkOutcome::NeedsMore),
            Err(_) => None,
        }
    }

    /// A list of calls that nothing marks, where one begins here: only at the beginning of a line that
    /// is no code, and only where its first name is that of a tool.
    pub(super) fn bare_list(&self, is_last: bool) -> Option<MarkOutcome> {
        if !self.line.is_blank() || self.line.is_indented() {
            return None;
        }
        self.of_tool(template::bare_list(self.rest(), &self.options.forms), is_last)
    }

    /// An element with the name of a tool, where one begins here: as a list without a mark, or right
    /// after another call.
    pub(super) fn element(&self, is_last: bool) -> Option<MarkOutcome> {
        let begins_line = self.line.is_blank() && !self.line.is_indented();
        if !begins_line && self.line.owed().is_none() {
            return None;
        }
        self.of_tool(template::element(self.rest(), &self.options.forms), is_last)
    }

    /// A frame that nothing marks but its first name: only where that is one of a tool.
    fn of_tool(&self, begun: Result<(Opening, &str), Not>, is_last: bool) -> Option<MarkOutcome> {
        match begun {
            Ok((opening, name)) if self.registry.tool(name).is_some() => {
                Some(MarkOutcome::Frame(Box::new(Frame::of(opening))))
            }
            Err(Not::Yet) if !is_last => Some(MarkOutcome::NeedsMore),
            Ok(_) | Err(_) => None,
        }
    }

    /// A tag that shows code, where one is here.
    pub(super) fn shown_by_html(&mut self, is_last: bool) -> Option<MarkOutcome> {
        let (rest, starts_line) = (self.rest(), self.line.is_blank());
        for (open, close) in SHOWS {
            let Some(after) = rest.strip_prefix(open) else {
                if open.starts_with(rest) && !is_last {
                    return Some(MarkOutcome::NeedsMore);
                }
                continue;
            };
            match after.chars().next() {
                None if !is_last => return Some(MarkOutcome::NeedsMore),
                Some(c) if c == '>' || c.is_whitespace() => {
                    self.pass(open.len());
                    self.state = ParserState::Html(Html::new(close, starts_line));
                    return Some(MarkOutcome::Done);
                }
                _ => {}
            }
        }
        None
    }

    /// A mark that belongs to the call right before, where one is here.
    pub(super) fn left_over(&mut self, is_last: bool) -> Option<MarkOutcome> {
        let rest = self.rest();
        let mut owed = self.line.owed()?.iter();
        if let Some(mark) = owed.clone().find(|mark| rest.starts_with(**mark)) {
            self.at += mark.len();
            self.in_group = false;
            return Some(MarkOutcome::Done);
        }
        let may_be = !is_last && owed.any(|mark| mark.starts_with(rest));
        may_be.then_some(MarkOutcome::NeedsMore)
    }
}
