//! What begins with `$` or a backtick, and process substitutions.

use std::ops::Range;

use super::words::{WordContext, WordDraft};
use super::{CONTINUATION, ShellReader};
use crate::Unparsed;
use crate::numbers::may_be_number;

/// Variables of one character that bash has itself.
const SPECIAL: [char; 8] = ['@', '*', '#', '?', '-', '$', '!', '0'];
/// What may stand between a name and a text in `${…}`, longest first. Those that assign, and `@`, which
/// may run what a variable says, are not among them.
const OPERATORS: [&str; 17] =
    [":-", ":+", ":?", "##", "%%", "//", "^^", ",,", "-", "+", "?", "#", "%", "/", "^", ",", ":"];

// === impl ShellReader ===

impl ShellReader<'_> {
    /// Reads what begins with a dollar sign. What is quoted stays one word.
    pub(super) fn dollar(
        &mut self,
        draft: &mut WordDraft,
        around: WordContext,
    ) -> Result<(), Unparsed> {
        let is_quoted = around == WordContext::Quoted;
        if self.is_at("$((") {
            self.arithmetic()?;
            draft.note_unknown();
            return Ok(());
        }
        match self.peek_second() {
            Some('(') => {
                self.expect("$(")?;
                self.substituted()?;
                draft.note_expansion(around);
            }
            Some('{') => {
                let is_several = self.parameter(is_quoted)?;
                if is_several {
                    draft.note_split();
                } else {
                    draft.note_expansion(around);
                }
            }
            Some('[') => return self.refuse("arithmetic, which may run what a variable says"),
            Some('\'') if !is_quoted => return self.ansi_quoted(draft),
            Some('"') if !is_quoted => return self.refuse("a text that is translated"),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                self.bump();
                self.take_name();
                draft.note_expansion(around);
            }
            Some(c) if SPECIAL.contains(&c) || c.is_ascii_digit() => {
                self.bump();
                self.bump();
                if c == '@' {
                    draft.note_split();
                } else {
                    draft.note_expansion(around);
                }
            }
            // Bash forgets the end of the line, and what is behind it may be a parenthesis.
            Some('\\') if self.rest()[1..].starts_with(CONTINUATION) => {
                return self.refuse("a line break behind a dollar sign");
            }
            _ => self.literal(draft),
        }
        Ok(())
    }

    /// Reads the commands of a substitution up to its parenthesis.
    fn substituted(&mut self) -> Result<(), Unparsed> {
        let pending = std::mem::take(&mut self.pending);
        let had_document = std::mem::take(&mut self.has_document);
        self.substitutions += 1;
        let start = self.at;
        self.list(&[], true)?;
        self.inner.push(self.text[start..self.at].to_owned());
        self.substitutions -= 1;
        self.has_document = had_document;
        if !self.pending.is_empty() {
            return self.refuse("a here-document that begins behind its substitution");
        }
        self.expect(")")?;
        self.pending = pending;
        Ok(())
    }

    pub(super) fn process_substitution(&mut self) -> Result<(), Unparsed> {
        let (from, is_fed) = (self.commands.len(), self.is_at(">"));
        self.bump();
        self.expect("(")?;
        let (gap_count, is_copied) = (self.gaps.len(), self.is_at("("));
        self.substituted()?;
        if is_copied {
            // Bash takes `<((` for arithmetic at first, and writes down as it is what follows.
            self.gaps.truncate(gap_count);
        }
        if is_fed {
            self.feed(from);
        }
        Ok(())
    }

    /// Reads `$((…))` of digits, operators and names: what these hold is looked at when all of the text is read, since
    /// it could be a text that runs commands.
    fn arithmetic(&mut self) -> Result<(), Unparsed> {
        self.expect("$((")?;
        let mut parens = 0_usize;
        // Behind a letter or a digit a name would be part of another one.
        let mut may_begin = true;
        loop {
            match self.peek() {
                Some(c) if may_begin && (c == '$' || c.is_ascii_lowercase()) => {
                    self.evaluated_name()?;
                    may_begin = false;
                    continue;
                }
                Some('(') => parens += 1,
                Some(')') if parens == 0 => return self.expect("))"),
                Some(')') => parens -= 1,
                Some(
                    '0'..='9' | ' ' | '\t' | '+' | '-' | '*' | '/' | '%' | '<' | '>' | '=' | '!',
                )
                | Some('&' | '|' | '^' | '~' | '?' | ':' | ',') => {}
                _ => return self.refuse("arithmetic, which may run what a variable says"),
            }
            may_begin = !self.peek().is_some_and(|c| c.is_ascii_digit());
            self.bump();
        }
    }

    /// Reads a variable in arithmetic: `i`, `$i`, `${i}`, or what is a number in any case.
    fn evaluated_name(&mut self) -> Result<(), Unparsed> {
        let is_expanded = self.take("$");
        if !(is_expanded && (self.take("#") || self.take("?"))) {
            let is_braced = is_expanded && self.take("{");
            let name = self.take_name().to_owned();
            if is_braced {
                self.expect("}")?;
            }
            if !may_be_number(&name) {
                return self.refuse("arithmetic, which may run what a variable says");
            }
            self.evaluated.push(name);
        }
        if self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '#')) {
            return self.refuse("arithmetic, which may run what a variable says");
        }
        Ok(())
    }

    /// Reads `${…}`; true where it becomes several words even in quotes.
    fn parameter(&mut self, is_quoted: bool) -> Result<bool, Unparsed> {
        self.expect("${")?;
        let is_length = self.is_at("#") && self.peek_second() != Some('}');
        if is_length {
            self.bump();
        }
        let mut is_several = false;
        let digits = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() && self.take_name().is_empty() {
            match self.peek() {
                Some('!') => return self.refuse("a variable that names another"),
                Some(c) if SPECIAL.contains(&c) => {
                    is_several = c == '@';
                    self.bump();
                }
                _ => return self.refuse("an expansion that is not read"),
            }
        }
        if self.take("[") {
            is_several |= self.is_at("@");
            if !self.take("@") && !self.take("*") && self.digits().is_empty() {
                return self.refuse("an index, which may run what a variable says");
            }
            self.expect("]")?;
        }
        if self.take("}") {
            return Ok(is_several && !is_length);
        }
        let operator = OPERATORS.into_iter().find(|operator| self.take(operator));
        match operator {
            Some(_) if is_length => self.refuse("an expansion that is not read"),
            Some(":") => {
                self.take_while(|c| c.is_ascii_digit() || matches!(c, ' ' | ':' | '-'));
                self.expect("}")?;
                Ok(is_several)
            }
            Some(_) => Ok(self.operand(is_quoted)? || is_several),
            None => self.refuse("an expansion that assigns, or that is not read"),
        }
    }

    fn digits(&mut self) -> &str {
        self.take_while(|c| c.is_ascii_digit())
    }

    /// Reads the text behind an operator up to the brace, where quotes mean the same everywhere; true where what is
    /// in it becomes several words even in quotes.
    fn operand(&mut self, is_quoted: bool) -> Result<bool, Unparsed> {
        let mut inner = WordDraft::default();
        loop {
            match self.peek() {
                Some('}') => {
                    self.bump();
                    return Ok(inner.is_split());
                }
                Some('$') => {
                    self.descend(|reader| reader.dollar(&mut inner, WordContext::Quoted))?;
                }
                Some('`') => self.backtick(&mut inner, WordContext::Quoted)?,
                Some('"') if !is_quoted => self.double_quoted(&mut inner)?,
                Some('\\') if !self.is_at("\\\n") => {
                    self.bump();
                    self.bump();
                }
                None | Some('\'' | '"' | '{' | '\n' | '\\' | '<' | '>') => {
                    return self.refuse("an expansion with a text that is not read");
                }
                Some(_) => self.bump(),
            }
        }
    }

    /// Reads commands in backticks, where nothing in them is escaped.
    pub(super) fn backtick(
        &mut self,
        draft: &mut WordDraft,
        around: WordContext,
    ) -> Result<(), Unparsed> {
        self.bump();
        let rest = self.rest();
        let Some(end) = rest.find('`') else { return self.refuse("a backtick without its end") };
        let inner = &rest[..end];
        if inner.contains('\\') || (around == WordContext::Quoted && inner.contains('"')) {
            return self.refuse("quotes or escapes in backticks");
        }
        self.read_inner(inner, |reader| reader.script())?;
        self.inner.push(inner.to_owned());
        self.at += end + 1;
        draft.note_expansion(around);
        Ok(())
    }

    /// Looks through a here-document for what is expanded in it, and returns where that is.
    pub(super) fn document_expansions(&mut self) -> Result<Vec<Range<usize>>, Unparsed> {
        let mut ignored = WordDraft::default();
        let mut found = Vec::new();
        loop {
            let start = self.at;
            match self.peek() {
                None => return Ok(found),
                Some('$') => {
                    self.dollar(&mut ignored, WordContext::Quoted)?;
                    found.push(start..self.at);
                }
                Some('`') => {
                    self.backtick(&mut ignored, WordContext::Quoted)?;
                    found.push(start..self.at);
                }
                Some('\\') => {
                    self.bump();
                    self.bump();
                }
                Some(_) => self.bump(),
            }
        }
    }
}
