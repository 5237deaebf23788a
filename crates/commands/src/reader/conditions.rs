//! `[[ … ]]`: words and operators of a grammar of their own.
//!
//! Behind `=`, `==`, `!=` and `=~` bash reads parentheses, and what is in them, as part of a pattern: a `#`
//! there begins no comment, and a `)` ends no group. So a parenthesis is read only where nothing but a group
//! can begin or end, and no comment can.

use super::ShellReader;
use super::grammar::ends_word;
use crate::{ShellWord, SimpleCommand, Unparsed};

/// Letters of the operators before one operand.
const UNARY: &str = "abcdefghknoprstuvwxzGLNORS";
/// Operators between two operands that are words.
const BINARY: [&str; 13] =
    ["=", "==", "!=", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-ef", "-nt", "-ot"];

// === impl ShellReader ===

impl<'a> ShellReader<'a> {
    /// Reads `[[ … ]]` as a command with those words. Its operators come from the text alone, never from a
    /// variable.
    pub(super) fn test_command(&mut self) -> Result<(), Unparsed> {
        let start = self.at;
        self.expect_reserved("[[")?;
        let mut words = vec![ShellWord::Fixed("[[".to_owned())];
        let mut groups = 0_usize;
        loop {
            self.term(&mut words, &mut groups)?;
            loop {
                self.skip_blank_lines()?;
                if groups == 0 || !self.take(")") {
                    break;
                }
                groups -= 1;
                words.push(ShellWord::Fixed(")".to_owned()));
            }
            if groups == 0 && self.reserved() == Some("]]") {
                self.at += "]]".len();
                break;
            }
            let Some(operator) = ["&&", "||"].into_iter().find(|operator| self.take(operator))
            else {
                return self.refuse("a test that is not read");
            };
            words.push(ShellWord::Fixed(operator.to_owned()));
        }
        let mut command = SimpleCommand::new(&self.text[start..self.at]);
        command.words = words;
        self.push(command)?;
        self.redirections_behind()
    }

    /// Reads up to the end of one condition, with the `!` and `(` before it.
    fn term(&mut self, words: &mut Vec<ShellWord>, groups: &mut usize) -> Result<(), Unparsed> {
        loop {
            self.skip_blank_lines()?;
            if self.reserved() == Some("!") {
                self.at += "!".len();
                words.push(ShellWord::Fixed("!".to_owned()));
            } else if self.take("(") {
                *groups += 1;
                words.push(ShellWord::Fixed("(".to_owned()));
            } else {
                break;
            }
        }
        let first = self.test_word(words)?;
        let letter = first.strip_prefix('-').filter(|letter| letter.len() == 1);
        if letter.is_some_and(|letter| UNARY.contains(letter)) {
            self.skip_blanks();
            self.test_word(words)?;
            return Ok(());
        }
        self.skip_blanks();
        let compares = ["<", ">"].into_iter().find(|operator| self.take(operator));
        if let Some(operator) = compares {
            words.push(ShellWord::Fixed(operator.to_owned()));
        } else {
            if self.is_at("&&")
                || self.is_at("||")
                || self.is_at(")")
                || self.reserved() == Some("]]")
            {
                return Ok(());
            }
            let operator = self.test_word(words)?;
            if !BINARY.contains(&operator) {
                return self.refuse("an operator of a test that is not read");
            }
        }
        self.skip_blanks();
        let right = self.test_word(words)?;
        // In a regular expression `|` and `(` are no operators.
        if right.is_empty() || !self.peek().is_some_and(|c| matches!(c, ' ' | '\t' | '\n' | ')')) {
            return self.refuse("a pattern with more than a word");
        }
        Ok(())
    }

    /// Reads a word and returns it as it is written.
    fn test_word(&mut self, words: &mut Vec<ShellWord>) -> Result<&'a str, Unparsed> {
        let start = self.at;
        if self.peek().is_none_or(ends_word) || self.reserved() == Some("]]") {
            return self.refuse("a test without an operand");
        }
        words.push(self.word()?);
        let text: &'a str = self.text;
        let raw = &text[start..self.at];
        // What is in brackets bash may read up to their end, past what ends words.
        if raw.matches('[').count() > raw.matches(']').count() {
            return self.refuse("a bracket without its end in a test");
        }
        if self.is_at("(") {
            return self.refuse("a parenthesis behind a word of a test");
        }
        Ok(raw)
    }

    /// Skips blanks and line breaks; a comment is not read here.
    fn skip_blank_lines(&mut self) -> Result<(), Unparsed> {
        self.skip_blanks();
        while self.is_at("\n") {
            self.line_break()?;
            self.skip_blanks();
        }
        if self.is_at("#") { self.refuse("a comment in a test") } else { Ok(()) }
    }
}
