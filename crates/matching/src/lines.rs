//! Lines of a text: where they start, how they are numbered and shown.
//!
//! A line ends with `\n` or `\r\n`; a lone carriage return is data. The empty text has no line, and
//! a final line end does not start another line.

use std::num::NonZeroU64;
use std::ops::{Range, RangeInclusive};

use moss_sdk::{ErrorCode, RelPath, ToolError};
use schemars::JsonSchema;
use serde::Serialize;

/// Width of the line numbers that stand before each shown line.
const GUTTER_WIDTH: usize = GUTTER.len();
/// What fills them on their left.
const GUTTER: &str = "      ";
/// Largest number that fits into it.
const GUTTER_NUMBER_MAX: u64 = 10_u64.pow(GUTTER_WIDTH as u32) - 1;
/// Lines shown before and after the lines that an error is about.
const EXCERPT_CONTEXT_LINES: usize = 2;
/// Most lines shown in an error.
const EXCERPT_LINES_MAX: usize = 24;
/// Most bytes shown of a line in an error.
const EXCERPT_LINE_BYTES_MAX: usize = 200;

/// The lines of a text, numbered from 1.
#[derive(Debug)]
pub struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

/// A range of line numbers that an argument named: from 1, ordered, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRange {
    /// The first line that it names.
    pub first: usize,
    /// The last line, part of the range.
    pub last: usize,
}

/// Lines of a file, from 1, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LineSpan {
    /// The first line, from 1.
    pub start_line: usize,
    /// The last line, part of the span.
    pub end_line: usize,
}

/// Some lines of a text for an error message.
#[derive(Debug)]
pub struct Excerpt {
    /// The lines with their numbers, each after a line end.
    pub text: String,
    /// Whether every wanted line is there in full.
    pub complete: bool,
}

/// Appends the number of a line, right-aligned to six columns, and a tab: what stands before the
/// line where lines are shown.
pub fn push_gutter(text: &mut String, number: u64) {
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(number);
    text.push_str(&GUTTER[digits.len().min(GUTTER_WIDTH)..]);
    text.push_str(digits);
    text.push('\t');
}

/// The gutters of lines that follow each other, each as [`push_gutter`] writes it.
#[derive(Debug)]
pub struct Gutters {
    next: u64,
    /// The next number as it is shown, as long as it fits: counting on is less work than writing it.
    shown: [u8; GUTTER_WIDTH],
}

/// Splits off a line end, if there is one.
pub fn without_line_end(line: &str) -> &str {
    line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line))
}

/// Reads a new text as whole lines: `a` and `a\n` are one line, the empty text is no line.
pub fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').map(without_line_end).collect()
}

/// Refuses a text whose every line starts with a line number as [`push_gutter`] writes it: it was
/// copied together with the numbers. The first number may have lost its blanks.
///
/// # Errors
///
/// `InvalidArguments` where the lines are numbered.
pub fn refuse_gutter(text: &str, argument: &str) -> Result<(), ToolError> {
    if !has_gutter(text) {
        return Ok(());
    }
    let message = format!("every line of `{argument}` starts with a line number and a tab");
    Err(ToolError::new(ErrorCode::InvalidArguments, message)
        .hint("send the lines alone: the numbers are not part of the file"))
}

/// Whether every line starts with the line number that follows the one before.
pub fn has_gutter(text: &str) -> bool {
    let mut next = None;
    let mut padded = false;
    for line in split(text) {
        let Some((digits, _)) = line.split_once('\t') else { return false };
        let Ok(number) = digits.trim_start_matches(' ').parse::<u64>() else { return false };
        let full = format!("{number:>GUTTER_WIDTH$}");
        let as_shown = digits == full || (next.is_none() && digits == number.to_string());
        if !as_shown || next.is_some_and(|next| next != number) {
            return false;
        }
        padded |= digits.starts_with(' ');
        next = number.checked_add(1);
    }
    padded
}

/// Converts a line number of an argument. What does not fit lies past the end of any text.
pub fn number(line: NonZeroU64) -> usize {
    usize::try_from(line.get()).unwrap_or(usize::MAX)
}

// === impl Gutters ===

impl Gutters {
    /// Starts with the gutter of this line.
    pub fn starting_at(number: u64) -> Self {
        let shown = format!("{number:>GUTTER_WIDTH$}").into_bytes();
        Self { next: number, shown: shown.try_into().unwrap_or_default() }
    }

    /// Appends the gutter of the next line.
    pub fn push(&mut self, text: &mut Vec<u8>) {
        if self.next > GUTTER_NUMBER_MAX {
            text.extend_from_slice(itoa::Buffer::new().format(self.next).as_bytes());
        } else {
            text.extend_from_slice(&self.shown);
            self.count();
        }
        text.push(b'\t');
        self.next = self.next.saturating_add(1);
    }

    fn count(&mut self) {
        for digit in self.shown.iter_mut().rev() {
            match *digit {
                b'9' => *digit = b'0',
                b' ' => return *digit = b'1',
                _ => return *digit += 1,
            }
        }
    }
}

// === impl LineRange ===

impl LineRange {
    /// Reads `startLine` and `endLine`.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` where the end comes before the start.
    pub fn new(start: NonZeroU64, end: NonZeroU64) -> Result<Self, ToolError> {
        if end < start {
            let message = format!("`endLine` ({end}) comes before `startLine` ({start})");
            return Err(ToolError::new(ErrorCode::InvalidArguments, message)
                .hint("give the smaller number as `startLine`; both lines are included"));
        }
        Ok(Self { first: number(start), last: number(end) })
    }

    /// Returns how many lines it names.
    pub fn count(self) -> usize {
        self.last - self.first + 1
    }

    /// Refuses a range that reaches past the end of the file.
    ///
    /// # Errors
    ///
    /// `OutOfRange` where it does.
    pub fn within(self, lines: &LineIndex<'_>, path: &RelPath) -> Result<Self, ToolError> {
        if self.last <= lines.count() {
            return Ok(self);
        }
        let outside = if self.first > lines.count() { self.first } else { self.last };
        Err(out_of_range(path, outside as u64, lines.count() as u64))
    }
}

/// Says that a file has no such line.
pub fn out_of_range(path: &RelPath, line: u64, lines_total: u64) -> ToolError {
    let plural = if lines_total == 1 { "" } else { "s" };
    let message = format!("{path} has {lines_total} line{plural}, so there is no line {line}");
    ToolError::new(ErrorCode::OutOfRange, message)
        .hint("read the file to see its lines and their numbers")
}

// === impl LineSpan ===

impl LineSpan {
    /// Makes a span of `count` lines; none where there is no line.
    pub fn of(first: usize, count: usize) -> Option<Self> {
        (count > 0).then(|| Self { start_line: first, end_line: first + count - 1 })
    }
}

// === impl LineIndex ===

impl<'a> LineIndex<'a> {
    /// Finds where the lines of a text start.
    pub fn new(text: &'a str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        if starts.last() == Some(&text.len()) {
            starts.pop();
        }
        Self { text, starts }
    }

    /// Returns how many lines there are.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Returns where a line starts; the end of the text for the line after the last.
    pub fn start(&self, number: usize) -> usize {
        self.starts.get(number - 1).copied().unwrap_or(self.text.len())
    }

    /// Returns a line without its line end.
    pub fn line(&self, number: usize) -> &'a str {
        without_line_end(&self.text[self.start(number)..self.start(number + 1)])
    }

    /// Returns a span of the text.
    pub fn slice(&self, range: &Range<usize>) -> &'a str {
        &self.text[range.clone()]
    }

    /// Returns the number of the line that holds a byte.
    pub fn number_at(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).max(1)
    }

    /// Returns every line without its line end.
    pub fn iter(&self) -> impl Iterator<Item = &'a str> {
        (1..=self.count()).map(|number| self.line(number))
    }

    /// Shows lines with a little context, bounded.
    pub fn excerpt(&self, wanted: RangeInclusive<usize>) -> Excerpt {
        let (first, last) = (*wanted.start(), *wanted.end());
        let mut excerpt = Excerpt { text: String::new(), complete: first <= self.count() };
        let from = first.saturating_sub(EXCERPT_CONTEXT_LINES).max(1);
        let to = last.saturating_add(EXCERPT_CONTEXT_LINES).min(self.count());
        let to_shown = to.min(from.saturating_add(EXCERPT_LINES_MAX - 1));
        for number in from..=to_shown {
            let line = self.line(number);
            let shown = &line[..line.floor_char_boundary(EXCERPT_LINE_BYTES_MAX)];
            let cut = if shown.len() < line.len() { "…" } else { "" };
            excerpt.complete &= cut.is_empty();
            excerpt.text.push('\n');
            push_gutter(&mut excerpt.text, number as u64);
            excerpt.text.extend([shown, cut]);
        }
        excerpt.complete &= last.min(self.count()) <= to_shown;
        excerpt
    }
}

#[cfg(test)]
mod tests;
