//! Reads a text into its simple commands: one pass, from left to right, without going back.
//!
//! `grammar` has lists and compound commands, `conditions` what is between `[[` and `]]`, `simple` simple
//! commands with their redirections, `words` words and quotes, `expansions` what begins with `$` or a
//! backtick. What is refused although bash
//! would run it is refused where one character more or less, or a setting of the shell, makes
//! another command of it.

use super::{
    COMMANDS_MAX, DEPTH_MAX, SCRIPT_BYTES_MAX, ShellWord, SimpleCommand, Unparsed, WORDS_MAX,
};
use crate::rendering::TokenGap;
use moss_sdk::deceptive::is_deceptive;

mod conditions;
mod expansions;
mod gaps;
mod grammar;
mod simple;
mod words;

/// What ends a line that goes on in the next.
const CONTINUATION: &str = "\\\n";

/// What was read in a text.
pub(crate) struct ReadText {
    pub(crate) commands: Vec<SimpleCommand>,
    /// What separates its tokens, in their order.
    pub(crate) gaps: Vec<TokenGap>,
    /// The texts of its substitutions, and here-documents in which there are some as words in double quotes.
    pub(crate) inner: Vec<String>,
}

/// Reads a text that is nested so deep.
pub(crate) fn read(text: &str, depth: usize) -> Result<Vec<SimpleCommand>, Unparsed> {
    read_text(text, depth, SCRIPT_BYTES_MAX).map(|read| read.commands)
}

/// Reads a text of so many bytes at most.
pub(crate) fn read_text(text: &str, depth: usize, bytes_max: usize) -> Result<ReadText, Unparsed> {
    if text.len() > bytes_max {
        let reason = format!("longer than {bytes_max} bytes");
        return Err(Unparsed::new(bytes_max, reason));
    }
    let deceptive =
        text.char_indices().find(|(_, c)| !matches!(c, '\n' | '\t') && is_deceptive(*c));
    if let Some((at, c)) = deceptive {
        let reason = format!("a control or invisible character, {}", c.escape_unicode());
        return Err(Unparsed::new(at, reason));
    }
    let mut reader = ShellReader::new(text, depth);
    reader.script()?;
    let (gaps, inner) = (std::mem::take(&mut reader.gaps), std::mem::take(&mut reader.inner));
    Ok(ReadText { commands: reader.finish(), gaps, inner })
}

/// A place in a text.
#[derive(Debug)]
struct ShellReader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    commands: Vec<SimpleCommand>,
    word_count: usize,
    /// Here-documents whose text begins behind the next line break.
    pending: Vec<HereDocument>,
    /// Whether one was announced since the last line break.
    awaits_document: bool,
    /// The texts of those that were read, and the commands that they belong to.
    documents: Vec<(usize, ShellWord)>,
    /// Whether redirections behind the compound command that was read last give what its parts read.
    is_fed: bool,
    /// Variables in arithmetic that was read.
    evaluated: Vec<String>,
    /// How many substitutions are around.
    substitutions: usize,
    /// Whether a here-document ended in the innermost of them.
    has_document: bool,
    /// What separates the tokens that were read.
    gaps: Vec<TokenGap>,
    /// The texts that stand inside this one.
    inner: Vec<String>,
    /// The functions that are certainly defined by now.
    functions: Vec<String>,
    /// Where the definition that was read last begins and ends, and its name.
    defined: Option<(usize, usize, String)>,
}

/// A here-document that was announced.
#[derive(Debug)]
struct HereDocument {
    delimiter: String,
    /// Whether nothing in it is expanded.
    is_quoted: bool,
    /// Whether tabs before its lines are no part of it.
    strips_tabs: bool,
    /// The simple command that reads it, by its place in the list.
    command: usize,
}

// === impl ShellReader ===

impl<'a> ShellReader<'a> {
    fn new(text: &'a str, depth: usize) -> Self {
        Self {
            text,
            at: 0,
            depth,
            commands: Vec::new(),
            word_count: 0,
            pending: Vec::new(),
            awaits_document: false,
            documents: Vec::new(),
            is_fed: false,
            evaluated: Vec::new(),
            substitutions: 0,
            has_document: false,
            gaps: Vec::new(),
            inner: Vec::new(),
            functions: Vec::new(),
            defined: None,
        }
    }

    /// Gives the here-documents to their commands.
    fn finish(mut self) -> Vec<SimpleCommand> {
        for (command, text) in self.documents {
            if let Some(command) = self.commands.get_mut(command) {
                command.input = Some(text);
            }
        }
        // Which command it is makes no difference: what they hold has to be known in the whole text.
        if let Some(last) = self.commands.last_mut() {
            last.evaluates.append(&mut self.evaluated);
        }
        self.commands
    }

    fn script(&mut self) -> Result<(), Unparsed> {
        self.list(&[], false)?;
        match self.peek() {
            None if self.pending.is_empty() => Ok(()),
            None => self.refuse("a here-document without its last line"),
            Some(_) => self.refuse("more than a list of commands"),
        }
    }

    /// Reads another text, which stands inside this one, with what is left of the bounds.
    fn read_inner(
        &mut self,
        text: &str,
        inner: impl FnOnce(&mut ShellReader<'_>) -> Result<(), Unparsed>,
    ) -> Result<(), Unparsed> {
        self.descend(|reader| {
            let mut nested = ShellReader::new(text, reader.depth);
            nested.word_count = reader.word_count;
            nested.substitutions = reader.substitutions;
            nested.functions.clone_from(&reader.functions);
            let at = reader.at;
            inner(&mut nested).map_err(|error| Unparsed::new(at, error.reason))?;
            if !nested.pending.is_empty() {
                return reader.refuse("a here-document without its last line");
            }
            reader.word_count = nested.word_count;
            reader.evaluated.append(&mut nested.evaluated);
            reader.inner.append(&mut nested.inner);
            for command in nested.finish() {
                reader.push(command)?;
            }
            Ok(())
        })
    }

    /// Does something one level deeper.
    fn descend<T>(
        &mut self,
        deeper: impl FnOnce(&mut Self) -> Result<T, Unparsed>,
    ) -> Result<T, Unparsed> {
        if self.depth >= DEPTH_MAX {
            return self.refuse(format!("nested more than {DEPTH_MAX} deep"));
        }
        self.depth += 1;
        let done = deeper(self);
        self.depth -= 1;
        done
    }

    /// Marks the commands from a place on as such that another part gives what they read.
    fn feed(&mut self, from: usize) {
        self.commands.iter_mut().skip(from).for_each(|command| command.is_fed = true);
    }

    /// Adds a command and returns its place.
    fn push(&mut self, command: SimpleCommand) -> Result<usize, Unparsed> {
        if self.has_document {
            self.refuse_in_substitution("a command behind a here-document")?;
        }
        if self.commands.len() >= COMMANDS_MAX {
            return self.refuse(format!("more than {COMMANDS_MAX} commands"));
        }
        self.commands.push(command);
        Ok(self.commands.len() - 1)
    }

    fn count_word(&mut self) -> Result<(), Unparsed> {
        self.word_count += 1;
        if self.word_count > WORDS_MAX {
            return self.refuse(format!("more than {WORDS_MAX} words"));
        }
        Ok(())
    }

    /// Refuses what bash may refuse alone, or write down in another way: it reads what is in a substitution twice,
    /// the second time as it has written it down itself. Where it finds an error it drops the line, and reads the
    /// next one wherever that stands, also within a quoted text.
    fn refuse_in_substitution(&self, what: &str) -> Result<(), Unparsed> {
        if self.substitutions == 0 {
            return Ok(());
        }
        self.refuse(format!("{what} in a substitution, where bash may read it in another way"))
    }

    fn refuse<T>(&self, reason: impl Into<String>) -> Result<T, Unparsed> {
        Err(Unparsed::new(self.at, reason))
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The character behind the next one.
    fn peek_second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    fn is_at(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    /// Takes a character that was looked at.
    fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn take(&mut self, text: &str) -> bool {
        let is_there = self.is_at(text);
        if is_there {
            self.at += text.len();
        }
        is_there
    }

    fn expect(&mut self, text: &str) -> Result<(), Unparsed> {
        if self.take(text) { Ok(()) } else { self.refuse(format!("expected `{text}`")) }
    }

    /// Takes as many characters as are of a kind.
    fn take_while(&mut self, is_of_kind: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !is_of_kind(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Takes a name of a variable; an empty text if none begins here.
    fn take_name(&mut self) -> &'a str {
        if self.peek().is_some_and(|c| c.is_ascii_digit()) {
            return "";
        }
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// Skips blanks, and the ends of lines that go on in the next.
    fn skip_blanks(&mut self) {
        let start = self.at;
        loop {
            self.take_while(|c| matches!(c, ' ' | '\t'));
            if !self.is_at(CONTINUATION) || self.is_joined() {
                break;
            }
            self.take(CONTINUATION);
        }
        self.note_gap(start, false);
    }

    /// Whether what stands before the end of a line is one with what stands behind it: bash forgets the end
    /// before it looks for operators, so that `(` and `(` on two lines become `((`.
    fn is_joined(&self) -> bool {
        let is_apart = |c: char| matches!(c, ' ' | '\t' | '\n');
        let before = self.text[..self.at].chars().next_back();
        // What is behind is looked for once: of ends that follow each other, each but the first is behind one.
        if before.is_none_or(is_apart) {
            return false;
        }
        let behind = self.rest().trim_start_matches(CONTINUATION).chars().next();
        !behind.is_none_or(is_apart)
    }

    /// Skips blanks, line breaks and comments.
    fn skip_lines(&mut self) -> Result<(), Unparsed> {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some('\n') => self.line_break()?,
                Some('#') => {
                    let start = self.at;
                    self.take_while(|c| c != '\n');
                    self.note_gap(start, false);
                }
                _ => return Ok(()),
            }
        }
    }

    /// Takes a line break, and the here-documents that begin behind it.
    fn line_break(&mut self) -> Result<(), Unparsed> {
        let start = self.at;
        self.expect("\n")?;
        self.awaits_document = false;
        if self.pending.is_empty() {
            self.note_gap(start, true);
        }
        for document in std::mem::take(&mut self.pending) {
            self.here_document(&document)?;
            self.has_document = self.substitutions > 0;
        }
        Ok(())
    }

    fn here_document(&mut self, document: &HereDocument) -> Result<(), Unparsed> {
        let start = self.at;
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                return self.refuse("a here-document without its last line");
            }
            let line_end = rest.find('\n').unwrap_or(rest.len());
            let line = &rest[..line_end];
            let bare = if document.strips_tabs { line.trim_start_matches('\t') } else { line };
            if bare == document.delimiter {
                break;
            }
            // In a substitution bash ends the document here, too, where a `)` stands further on in the line.
            let is_begun = line.trim_start_matches('\t').starts_with(&document.delimiter)
                || line.starts_with(&document.delimiter);
            if self.substitutions > 0 && is_begun {
                return self.refuse(
                    "a line of a here-document in a substitution that begins with its delimiter",
                );
            }
            self.at += (line_end + 1).min(rest.len());
        }
        let written = &self.text[start..self.at];
        let lines = written.split_inclusive('\n').map(|line| line.trim_start_matches('\t'));
        let body = if document.strips_tabs { lines.collect() } else { written.to_owned() };
        self.at += self.rest().find('\n').map_or(self.rest().len(), |end| end + 1);
        let word = if document.is_quoted {
            ShellWord::Fixed(body)
        } else {
            self.expanded_document(&body)?
        };
        self.documents.push((document.command, word));
        Ok(())
    }

    /// Looks for what is expanded in a here-document.
    fn expanded_document(&mut self, body: &str) -> Result<ShellWord, Unparsed> {
        if body.contains("\\\n") {
            return self.refuse("a here-document with a line that goes on in the next");
        }
        if !body.contains(['$', '`', '\\']) {
            return Ok(ShellWord::Fixed(body.to_owned()));
        }
        let mut word = String::new();
        self.read_inner(body, |inner| {
            let expansions = inner.document_expansions()?;
            word = gaps::in_double_quotes(body, &expansions);
            Ok(())
        })?;
        if body.contains("$(") || body.contains('`') {
            self.inner.push(word);
        }
        Ok(ShellWord::unknown(body))
    }
}
