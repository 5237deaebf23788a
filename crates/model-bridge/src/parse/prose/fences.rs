//! Fences: those of calls, those of blocks of code, and code inside of a line.

use super::super::fence::{EXPLICIT, IMPLICIT, INFO_BYTES_MAX, info, near};
use super::super::frame::{Frame, FrameKind};
use super::super::{Parser, ParserState};
use super::MarkOutcome;

/// The longest run of signs that is one; a longer one is several, whether all of it is there or not.
const RUN_BYTES_MAX: usize = 20;

// === impl Parser ===

impl Parser {
    /// A run of backticks: the fence of a call, that of a block of code, or code inside of a line.
    pub(super) fn backticks(&mut self, is_last: bool) -> MarkOutcome {
        let rest = self.rest();
        let run = run_of(rest, b'`');
        if run == rest.len() && !is_last && run < RUN_BYTES_MAX {
            return MarkOutcome::NeedsMore;
        }
        if run < 3 || self.line.is_quoted() {
            self.inline(run)
        } else {
            self.fence(b'`', run, is_last)
        }
    }

    /// A run of three signs or more. What it says decides as soon as it can be nothing of a call.
    fn fence(&mut self, sign: u8, run: usize, is_last: bool) -> MarkOutcome {
        let rest = self.rest();
        let after = &rest[run..];
        let starts_line = self.line.is_blank();
        let near = near(after);
        let end = near.find(['\n', '`', '{', '[', '“']).filter(|end| *end <= INFO_BYTES_MAX);
        let info = info(&near[..end.unwrap_or(near.len())]);
        let mut known = EXPLICIT.iter().chain(IMPLICIT);
        let may_be = known.any(|known| known.starts_with(&info));
        let is_explicit = EXPLICIT.contains(&info.as_str());
        let is_implicit = info == "json" || (info.is_empty() && starts_line);
        match end.map(|end| (end, after.as_bytes()[end])) {
            None if may_be && after.len() <= INFO_BYTES_MAX => {
                return if is_last { self.inline(run) } else { MarkOutcome::NeedsMore };
            }
            Some((_, b'`')) if may_be => return self.inline(run),
            Some((end, byte))
                if (is_explicit || is_implicit)
                    && (byte == b'\n' || !self.line.in_code())
                    && (byte == b'\n' || is_explicit || starts_line) =>
            {
                let body = run + end + usize::from(byte == b'\n');
                return MarkOutcome::Frame(Box::new(Frame::new(
                    FrameKind::Fence { sign, run, is_explicit },
                    body,
                )));
            }
            _ => {}
        }
        if starts_line { self.block(sign, run) } else { self.inline(run) }
    }

    /// Code inside of a line.
    fn inline(&mut self, run: usize) -> MarkOutcome {
        self.pass(run);
        self.line.toggle_code(run);
        MarkOutcome::Done
    }

    /// A block of code that is no call.
    fn block(&mut self, sign: u8, run: usize) -> MarkOutcome {
        self.pass(run);
        self.state = ParserState::Code(vec![run], sign);
        MarkOutcome::Done
    }

    pub(super) fn tildes(&mut self, is_last: bool) -> MarkOutcome {
        let rest = self.rest();
        let run = run_of(rest, b'~');
        if run == rest.len() && !is_last && run < RUN_BYTES_MAX {
            return MarkOutcome::NeedsMore;
        }
        if run < 3 || !self.line.is_blank() || self.line.is_quoted() {
            return MarkOutcome::Text(run);
        }
        self.fence(b'~', run, is_last)
    }
}

/// How many signs begin a text, as far as they are one run.
fn run_of(text: &str, sign: u8) -> usize {
    text.bytes().take(RUN_BYTES_MAX).take_while(|byte| *byte == sign).count()
}
