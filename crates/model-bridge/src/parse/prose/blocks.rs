//! What is no position for a call: blocks of code, and data.

use super::super::data::DataBlock;
use super::super::fence::INFO_BYTES_MAX;
use super::super::frame::NO_CALL;
use super::super::line::is_blank;
use super::super::{ParseStep, Parser, ParserState};

/// The most blocks in blocks that are distinguished.
const NESTED_MAX: usize = 32;

// === impl Parser ===

impl Parser {
    /// Blocks of code: text up to the fence that ends the outermost one.
    pub(in crate::parse) fn code(
        &mut self,
        mut fences: Vec<usize>,
        sign: u8,
        is_last: bool,
    ) -> ParseStep {
        while !self.rest().is_empty() {
            let rest = self.rest();
            if self.line.is_blank() && !rest.starts_with('\n') {
                let blank =
                    rest.len() - rest.trim_start_matches(|c| c != '\n' && is_blank(c)).len();
                if blank > 0 {
                    self.pass(blank);
                    continue;
                }
                // So much decides, whether more is there or not.
                let near = &rest.as_bytes()[..rest.len().min(INFO_BYTES_MAX)];
                let run = near.iter().take_while(|byte| **byte == sign).count();
                let mut after = near[run..].iter().copied();
                let first = after.find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
                let waits = run > 0 && first.is_none() && !is_last && near.len() < INFO_BYTES_MAX;
                if waits {
                    self.state = ParserState::Code(fences, sign);
                    return ParseStep::NeedsMore;
                }
                let around = fences.last().copied().unwrap_or(0);
                if run >= around.max(3) {
                    let ends = first.is_none_or(|byte| byte == b'\n');
                    if ends {
                        fences.pop();
                    } else if fences.len() < NESTED_MAX {
                        fences.push(run);
                    }
                    self.pass(run);
                    if fences.is_empty() {
                        return ParseStep::Again;
                    }
                    continue;
                }
            }
            let rest = self.rest();
            let line = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |end| end + 1);
            self.pass_code(line);
        }
        self.state = ParserState::Code(fences, sign);
        ParseStep::NeedsMore
    }

    /// JSON that is no call: text up to its end.
    pub(in crate::parse) fn data(&mut self, mut data: DataBlock) -> ParseStep {
        let length = data.take(&self.registry, &self.text[self.at..]);
        self.pass(length);
        if data.is_alike() {
            self.report_alike(NO_CALL);
        }
        if data.is_over() {
            return ParseStep::Again;
        }
        self.state = ParserState::Data(data);
        ParseStep::NeedsMore
    }
}
