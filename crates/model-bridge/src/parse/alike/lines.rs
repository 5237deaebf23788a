//! Lines of text that look like calls by what begins them: each is looked at when it ends.

use super::super::line::{LINE_BYTES_MAX, is_blank};
use super::super::{Parser, ParserState};
use super::{UNMARKED, label};

/// In how much of the text of a reply the lines are looked at, in bytes.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// The most bytes of a line that is looked at. Of a longer one what is known depends on how it came: only
/// its end is kept, from a whole character on.
const LOOKED_BYTES_MAX: usize = LINE_BYTES_MAX - 4;

// === impl Parser ===

impl Parser {
    /// Passes on so many bytes as text, and looks at the lines that end in them.
    pub(in super::super) fn pass_lines(&mut self, length: usize) {
        let room = TEXT_BYTES_MAX.saturating_sub(self.alike.looked_at).min(length);
        if self.alike.is_found || room == 0 {
            return self.pass(length);
        }
        self.alike.looked_at += length;
        let text = &self.text[self.at..self.at + self.rest().floor_char_boundary(room)];
        if let Some(first) = memchr::memchr(b'\n', text.as_bytes())
            && (self.first_line_names(&text[..first]) || self.lines_name(&text[first..]))
        {
            self.report_alike(UNMARKED);
        }
        self.pass(length);
    }

    /// Passes on a line of a block of code, or a part of one.
    pub(in super::super) fn pass_code(&mut self, length: usize) {
        let text = &self.text[self.at..self.at + length];
        let (begun, _) = self.line.last_two();
        let is_fence = begun.starts_with(['`', '~']);
        if !self.alike.is_found
            && (is_fence || self.alike.in_tool_fence)
            && let Some(line) = text.strip_suffix('\n')
            && begun.len() + line.len() <= LOOKED_BYTES_MAX
        {
            let line = format!("{begun}{line}");
            if let Some(is_for_tools) = label::fence(&line) {
                self.alike.in_tool_fence = is_for_tools;
            } else if self.alike.in_tool_fence && label::calls_tool(&self.registry, &line) {
                self.report_alike(UNMARKED);
            }
        }
        self.pass(length);
    }

    /// Whether the line that a text ends names a tool.
    fn first_line_names(&self, rest: &str) -> bool {
        let (begun, _) = self.line.last_two();
        if begun.is_empty() {
            return self.names(rest);
        }
        begun.len() + rest.len() <= LOOKED_BYTES_MAX
            && begun.bytes().next().is_some_and(label::may_begin)
            && label::names_tool(&self.registry, &format!("{begun}{rest}"))
    }

    /// Whether a line of a text names a tool. The text begins with the end of the line before, and its last
    /// line continues.
    fn lines_name(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let mut begins = memchr::memchr_iter(b'\n', bytes).map(|end| end + 1);
        begins.any(|begin| {
            let may_begin = bytes.get(begin).is_some_and(|byte| label::may_begin(*byte));
            may_begin
                && memchr::memchr(b'\n', &bytes[begin..])
                    .is_some_and(|length| self.names(&text[begin..begin + length]))
        })
    }

    fn names(&self, line: &str) -> bool {
        if line.len() > LOOKED_BYTES_MAX {
            return false;
        }
        let line = line.trim_start_matches(is_blank);
        line.bytes().next().is_some_and(label::may_begin) && label::names_tool(&self.registry, line)
    }

    /// Whether the last line of the reply looks like a call.
    pub(super) fn last_line_calls(&self) -> bool {
        let (line, _) = self.line.last_two();
        !self.alike.is_found
            && match self.state {
                ParserState::Prose => !self.line.is_blank() && self.names(line),
                ParserState::Code(..) => {
                    self.alike.in_tool_fence
                        && line.len() <= LOOKED_BYTES_MAX
                        && label::calls_tool(&self.registry, line)
                }
                _ => false,
            }
    }
}
