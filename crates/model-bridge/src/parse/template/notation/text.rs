//! Goes through a text that is read as a whole.

use serde_json::Value;

use super::super::super::repair::DEPTH_MAX;
use super::{NO_CALL, NotationResult};

/// A text and the position up to which it is read.
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    /// How many brackets are open around the position.
    depth: usize,
}

// === impl Cursor ===

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    /// What is not read.
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn skip(&mut self, length: usize) {
        self.at += length;
    }

    pub(super) fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// The next character that is not blank.
    pub(super) fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.rest().chars().next()
    }

    /// Takes a mark where it is next, after blanks.
    pub(super) fn take(&mut self, mark: &str) -> bool {
        self.skip_blanks();
        let is_next = self.rest().starts_with(mark);
        self.at += if is_next { mark.len() } else { 0 };
        is_next
    }

    /// Takes a mark that must come.
    pub(super) fn expect(&mut self, mark: &str) -> NotationResult<()> {
        if self.take(mark) { Ok(()) } else { Err(NO_CALL) }
    }

    /// Takes as much as has such characters.
    pub(super) fn take_while(&mut self, of: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !of(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Reads what stands between brackets and commas, the opening bracket read.
    pub(super) fn items(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> NotationResult<()>,
    ) -> NotationResult<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(NO_CALL);
        }
        while !self.take(close) {
            item(self)?;
            if !self.take(",") {
                self.expect(close)?;
                break;
            }
        }
        self.depth -= 1;
        Ok(())
    }
}

/// A number of JSON that loses no digit.
pub(super) fn number(word: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(word).ok().filter(Value::is_number)?;
    let is_whole = word.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    (!is_whole || value.is_i64() || value.is_u64()).then_some(value)
}
