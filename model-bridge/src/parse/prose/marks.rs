//! Marks of chat templates, and those behind a call that belong to it.

use super::super::Parser;
use super::super::frame::Frame;
use super::super::template::{self, Holds, Not};
use super::Mark;

// === impl Parser ===

impl Parser {
    /// A call of a chat template, where one begins here.
    pub(super) fn template(&self, is_last: bool) -> Option<Mark> {
        let may_begin = self.line.is_blank() || self.line.owed().is_some();
        match template::opening(self.rest(), may_begin) {
            Ok(opening) => {
                // In a sentence, a call without anything in it is only spoken of.
                let may_be_spoken = opening.holds == Holds::Nothing && !may_begin;
                let frame = Frame::of(opening);
                let frame = if may_be_spoken { frame.in_line() } else { frame };
                Some(Mark::Frame(Box::new(frame)))
            }
            Err(Not::Yet) if !is_last => Some(Mark::NeedsMore),
            Err(_) => None,
        }
    }

    /// A mark that belongs to the call right before, where one is here.
    pub(super) fn left_over(&mut self, is_last: bool) -> Option<Mark> {
        let rest = self.rest();
        let mut owed = self.line.owed()?.iter();
        if let Some(mark) = owed.clone().find(|mark| rest.starts_with(**mark)) {
            self.at += mark.len();
            return Some(Mark::Done);
        }
        let may_be = !is_last && owed.any(|mark| mark.starts_with(rest));
        may_be.then_some(Mark::NeedsMore)
    }
}
