//! `<pre>` and `<code>`: what HTML shows as code is shown, as in a fence.

use super::{ParseStep, Parser, ParserState};

/// Tags that show code, and what ends them.
pub(super) const SHOWS: &[(&str, &str)] = &[("<pre", "</pre>"), ("<code", "</code>")];
/// The one that is a block wherever it begins a line.
const BLOCK: &str = "</pre>";

/// Code that HTML shows.
#[derive(Debug)]
pub(super) struct Html {
    close: &'static str,
    reach: HtmlReach,
}

/// How far it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HtmlReach {
    /// Its tag has not ended: a block where only blanks follow that on its line.
    Tag,
    /// Only blanks followed the tag so far.
    Blank,
    /// To the end of the line, at the most.
    Line,
    /// To its end mark.
    Block,
}

// === impl Html ===

impl Html {
    /// Begins code, its tag read as far as its name.
    pub(super) fn new(close: &'static str, starts_line: bool) -> Self {
        let reach = match (starts_line, close) {
            (true, BLOCK) => HtmlReach::Block,
            (true, _) => HtmlReach::Tag,
            (false, _) => HtmlReach::Line,
        };
        Self { close, reach }
    }

    /// Takes the next piece. Returns how much of it was looked at, and whether the code is over.
    fn take(&mut self, piece: &str, is_last: bool) -> (usize, bool) {
        match self.reach {
            HtmlReach::Tag => match piece.find(['>', '\n']) {
                Some(place) => {
                    let is_tag = piece.as_bytes()[place] == b'>';
                    self.reach = if is_tag { HtmlReach::Blank } else { HtmlReach::Line };
                    (place + usize::from(is_tag), false)
                }
                None => (piece.len(), false),
            },
            HtmlReach::Blank => match piece.find(|c: char| c == '\n' || !c.is_whitespace()) {
                Some(place) => {
                    let is_block = piece.as_bytes()[place] == b'\n';
                    self.reach = if is_block { HtmlReach::Block } else { HtmlReach::Line };
                    (place, false)
                }
                None => (piece.len(), false),
            },
            HtmlReach::Line => {
                let line = memchr::memchr(b'\n', piece.as_bytes()).unwrap_or(piece.len());
                match self.up_to_close(&piece[..line], is_last || line < piece.len()) {
                    (length, false) => (length, line < piece.len()),
                    over => over,
                }
            }
            HtmlReach::Block => self.up_to_close(piece, is_last),
        }
    }

    fn up_to_close(&self, piece: &str, is_last: bool) -> (usize, bool) {
        if let Some(place) = memchr::memmem::find(piece.as_bytes(), self.close.as_bytes()) {
            return (place + self.close.len(), true);
        }
        let may_end = |n: &usize| piece.ends_with(&self.close[..*n]);
        let held = (1..self.close.len()).rev().find(may_end).filter(|_| !is_last);
        (piece.len() - held.unwrap_or(0), false)
    }
}

// === impl Parser ===

impl Parser {
    /// Code that HTML shows: text up to its end.
    pub(super) fn html(&mut self, mut html: Html, is_last: bool) -> ParseStep {
        loop {
            let before = html.reach;
            let (length, is_over) = html.take(self.rest(), is_last);
            self.pass(length);
            if is_over {
                return ParseStep::Again;
            }
            if html.reach == before {
                self.state = ParserState::Html(html);
                return ParseStep::NeedsMore;
            }
        }
    }
}
