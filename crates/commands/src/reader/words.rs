//! Words: quotes, escapes and patterns.

use super::ShellReader;
use super::grammar::ends_word;
use crate::{ShellWord, Unparsed, ansi};

/// Where an expansion stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordContext {
    /// In a word, where what it becomes is split.
    Bare,
    /// In the value of an assignment.
    Value,
    /// In `NAME=value` as a word of a builtin that declares: what it becomes is not split, and braces are read.
    Declared,
    /// In double quotes, or in a text that is read as in them.
    Quoted,
}

/// A word that is being read.
#[derive(Debug, Default)]
pub(super) struct WordDraft {
    text: String,
    /// What was known before the first thing that is not.
    starts: Option<String>,
    /// Whether it may become several words, all of which begin alike.
    is_several: bool,
    /// Whether it may become several words that begin with anything.
    is_split: bool,
    /// The character before this one, where nothing quotes it.
    last: Option<char>,
    /// Where the first `{}` ends in the source, and what was known before it.
    empty_braces: Option<(usize, String)>,
}

// === impl WordDraft ===

impl WordDraft {
    fn push(&mut self, c: char) {
        self.text.push(c);
        self.last = None;
    }

    fn push_plain(&mut self, c: char) {
        self.text.push(c);
        self.last = Some(c);
    }

    /// Notes something unknown that stays in this word.
    pub(super) fn note_unknown(&mut self) {
        self.last = None;
        if self.starts.is_none() {
            self.starts = Some(self.text.clone());
        }
    }

    /// Notes something unknown that may end this word and begin others.
    pub(super) fn note_split(&mut self) {
        self.note_unknown();
        self.is_split = true;
    }

    /// Whether it may become several words that begin with anything.
    pub(super) fn is_split(&self) -> bool {
        self.is_split
    }

    /// Notes an expansion: in a plain word it may split it, elsewhere it stays in the word.
    pub(super) fn note_expansion(&mut self, around: WordContext) {
        if around == WordContext::Bare { self.note_split() } else { self.note_unknown() }
    }

    /// Notes a pattern: it becomes words that all begin as this one does.
    fn note_pattern(&mut self) {
        self.note_unknown();
        self.is_several = true;
    }

    /// Notes that only some of what was read is known to be how the word begins.
    fn note_starts(&mut self, starts: String) {
        self.note_unknown();
        self.starts = Some(starts);
    }

    /// Takes `{}` for a text, as it is unless a brace follows: `a{},b}` becomes `a}` and `ab`.
    fn note_empty_braces(&mut self, end: usize) {
        if self.empty_braces.is_none() {
            let starts = self.starts.clone().unwrap_or_else(|| self.text.clone());
            self.empty_braces = Some((end, starts));
        }
        self.push('{');
        self.push('}');
    }

    fn finish(self, raw: &str) -> ShellWord {
        let Some(starts) = self.starts else { return ShellWord::Fixed(self.text) };
        ShellWord::Unknown {
            text: raw.to_owned(),
            starts: if self.is_split { String::new() } else { starts },
            is_single: !self.is_split && !self.is_several,
        }
    }
}

// === impl ShellReader ===

impl ShellReader<'_> {
    /// Reads one word, as it is outside of quotes.
    pub(super) fn word(&mut self) -> Result<ShellWord, Unparsed> {
        self.read_word(WordContext::Bare)
    }

    /// Reads the value of an assignment: it is not split, and patterns in it are texts.
    pub(super) fn value(&mut self) -> Result<ShellWord, Unparsed> {
        self.read_word(WordContext::Value)
    }

    /// Reads `NAME=value` behind a builtin that declares.
    pub(super) fn declared_word(&mut self) -> Result<ShellWord, Unparsed> {
        self.read_word(WordContext::Declared)
    }

    fn read_word(&mut self, around: WordContext) -> Result<ShellWord, Unparsed> {
        self.count_word()?;
        let (start, awaits_document) = (self.at, self.awaits_document);
        let mut draft = WordDraft::default();
        // Where a word begins, bash takes it for a comment, which would hide what follows.
        if around == WordContext::Bare && self.is_at("#") {
            return self.refuse("a comment where a word is expected");
        }
        if self.is_at("<(") || self.is_at(">(") {
            "/dev/fd/".clone_into(&mut draft.text);
            draft.note_unknown();
            self.process_substitution()?;
        }
        while let Some(c) = self.peek() {
            if ends_word(c) {
                break;
            }
            self.word_piece(c, &mut draft, around)?;
        }
        let raw = &self.text[start..self.at];
        if raw.is_empty() {
            return self.refuse("a word is missing");
        }
        if self.is_at("<(") || self.is_at(">(") {
            return self.refuse("a process substitution behind a word");
        }
        if raw.starts_with('{') && raw.ends_with('}') && self.is_at_any(&["<", ">"]) {
            return self.refuse("a descriptor in a variable");
        }
        let is_number = around == WordContext::Bare && raw.bytes().all(|c| c.is_ascii_digit());
        if is_number && self.is_at_any(&["<", ">"]) {
            return self.refuse("a number of a descriptor where a word is expected");
        }
        // Bash takes it for the end of a command and leaves out the semicolon behind it.
        if raw.ends_with('&') {
            self.refuse_in_substitution("a word that ends with `&`")?;
        }
        let has_line_break = raw.contains('\n') || draft.text.contains('\n');
        if (awaits_document || self.awaits_document) && has_line_break {
            return self.refuse("a line break in a word behind a here-document");
        }
        let braces = draft.empty_braces.take().filter(|_| around != WordContext::Value);
        if let Some((end, starts)) = braces
            && self.text[end..self.at].contains('}')
        {
            draft.note_starts(starts);
            draft.is_several = true;
        }
        Ok(draft.finish(raw))
    }

    fn is_at_any(&self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.is_at(text))
    }

    fn word_piece(
        &mut self,
        c: char,
        draft: &mut WordDraft,
        around: WordContext,
    ) -> Result<(), Unparsed> {
        let is_value = around == WordContext::Value;
        match c {
            '\'' => self.single_quoted(draft),
            '"' => self.double_quoted(draft),
            '$' => self.dollar(draft, around),
            '`' => self.backtick(draft, around),
            '\\' => self.escaped(draft),
            '*' | '?' if !is_value => {
                draft.note_pattern();
                self.plain(c, draft)
            }
            '[' if !is_value && !self.is_bracket_alone(draft) => {
                draft.note_pattern();
                self.plain(c, draft)
            }
            '{' if self.take("{}") => {
                draft.note_empty_braces(self.at);
                Ok(())
            }
            '{' if !is_value => {
                draft.note_pattern();
                self.plain(c, draft)
            }
            '~' => {
                let is_operator = draft.text == "=";
                let expands = draft.text.is_empty()
                    || (matches!(draft.last, Some('=' | ':')) && !is_operator);
                let before = draft.starts.clone().unwrap_or_else(|| draft.text.clone());
                self.plain(c, draft)?;
                // The folder that it stands for takes the place of the tilde. With more than a name behind it
                // the text is that of a variable, which may be any: `~-` is that of OLDPWD.
                let is_folder =
                    self.peek().is_none_or(|c| ends_word(c) || c == '/' || c.is_ascii_alphabetic());
                if expands && is_folder {
                    draft.note_unknown();
                } else if expands {
                    draft.note_starts(before);
                }
                Ok(())
            }
            c => self.plain(c, draft),
        }
    }

    /// Whether a bracket is the command of that name, no pattern.
    fn is_bracket_alone(&self, draft: &WordDraft) -> bool {
        draft.text.is_empty() && draft.starts.is_none() && self.peek_second().is_none_or(ends_word)
    }

    fn plain(&mut self, c: char, draft: &mut WordDraft) -> Result<(), Unparsed> {
        self.bump();
        draft.push_plain(c);
        Ok(())
    }

    fn escaped(&mut self, draft: &mut WordDraft) -> Result<(), Unparsed> {
        self.bump();
        match self.peek() {
            None => self.refuse("a backslash at the end"),
            Some('\n') => self.refuse("a line break within a word"),
            Some(c) => {
                self.bump();
                draft.push(c);
                Ok(())
            }
        }
    }

    fn single_quoted(&mut self, draft: &mut WordDraft) -> Result<(), Unparsed> {
        self.bump();
        let rest = self.rest();
        let Some(end) = rest.find('\'') else { return self.refuse("a quote without its end") };
        draft.text.push_str(&rest[..end]);
        draft.last = None;
        self.at += end + 1;
        Ok(())
    }

    pub(super) fn double_quoted(&mut self, draft: &mut WordDraft) -> Result<(), Unparsed> {
        self.bump();
        loop {
            match self.peek() {
                None => return self.refuse("a quote without its end"),
                Some('"') => {
                    self.bump();
                    draft.last = None;
                    return Ok(());
                }
                Some('$') => self.dollar(draft, WordContext::Quoted)?,
                Some('`') => self.backtick(draft, WordContext::Quoted)?,
                Some('\\') => {
                    self.bump();
                    match self.peek() {
                        Some(c @ ('$' | '`' | '"' | '\\')) => {
                            self.bump();
                            draft.push(c);
                        }
                        Some('\n') => self.bump(),
                        _ => draft.push('\\'),
                    }
                }
                Some(c) => {
                    self.bump();
                    draft.push(c);
                }
            }
        }
    }

    /// Reads `$'…'` with its escape sequences; one that bash knows and this does not is refused.
    pub(super) fn ansi_quoted(&mut self, draft: &mut WordDraft) -> Result<(), Unparsed> {
        self.expect("$'")?;
        loop {
            match self.peek() {
                None => return self.refuse("a quote without its end"),
                Some('\'') => {
                    self.bump();
                    draft.last = None;
                    return Ok(());
                }
                Some('\\') => {
                    let Some((c, length)) = ansi::escape(self.rest()) else {
                        return self.refuse("an escape in `$'…'` that is not read");
                    };
                    self.at += length;
                    draft.push(c);
                }
                Some(c) => {
                    self.bump();
                    draft.push(c);
                }
            }
        }
    }

    /// Takes a character in front of which nothing is left to do.
    pub(super) fn literal(&mut self, draft: &mut WordDraft) {
        if let Some(c) = self.peek() {
            self.bump();
            draft.push_plain(c);
        }
    }
}
