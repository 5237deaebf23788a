//! Simple commands, assignments and redirections.

use super::grammar::ends_word;
use super::{HereDocument, ShellReader};
use crate::builtins::ARRAY;
use crate::builtins::DECLARING;
use crate::{Assignment, Redirection, RedirectionMode, ShellWord, SimpleCommand, Unparsed};

/// Longest number of a descriptor, in digits.
const DESCRIPTOR_DIGITS_MAX: usize = 3;

/// What one redirection comes to.
enum Redirected {
    File(Redirection),
    /// A copy of a descriptor, or its end.
    Copy,
    /// As `Copy`, perhaps of what is read.
    InputCopy,
    Document(HereDocument),
    Text(ShellWord),
}

/// Whether a copy is one of descriptor 0.
fn is_of_input(copied: &str) -> bool {
    let digits = copied.strip_suffix('-').unwrap_or(copied);
    !digits.is_empty() && digits.bytes().all(|c| c == b'0')
}

// === impl ShellReader ===

impl ShellReader<'_> {
    pub(super) fn simple(&mut self) -> Result<(), Unparsed> {
        let start = self.at;
        let mut command = SimpleCommand::new("");
        let mut documents = Vec::new();
        // The last of several is what it reads: who writes several means something else.
        let mut inputs = 0;
        let mut end = start;
        let mut is_declaring = false;
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some('\n' | ';' | ')' | '|' | '#') => break,
                Some('&') if !self.is_at("&>") => break,
                Some('(') => return self.definition(&command, start),
                Some(_) if self.is_at_redirection()? => match self.redirection()? {
                    Redirected::File(redirection) => command.redirections.push(redirection),
                    Redirected::Copy => {}
                    Redirected::InputCopy => {
                        inputs += 1;
                        command.is_fed = true;
                    }
                    Redirected::Document(document) => {
                        inputs += 1;
                        documents.push(document);
                    }
                    Redirected::Text(text) => {
                        inputs += 1;
                        command.input = Some(text);
                    }
                },
                Some(_) if command.words.is_empty() => match self.assignment()? {
                    Some(assignment) => command.assignments.push(assignment),
                    None => {
                        let from = self.at;
                        // Bash writes redirections down behind the words.
                        if from != start && self.reserved().is_some() {
                            self.refuse_in_substitution("a reserved word behind a redirection")?;
                        }
                        command.words.push(self.word()?);
                        is_declaring = DECLARING.contains(&&self.text[from..self.at]);
                    }
                },
                Some(_) if is_declaring && self.is_at_assignment() => {
                    command.words.push(self.declared_word()?);
                }
                Some(_) => command.words.push(self.word()?),
            }
            end = self.at;
        }
        if end == start {
            return self.refuse("a command without words");
        }
        if inputs > 1 {
            return self.refuse("a command with more than one input");
        }
        self.text[start..end].clone_into(&mut command.text);
        let name = command.words.first().and_then(ShellWord::fixed);
        command.calls_function =
            name.is_some_and(|name| self.functions.iter().any(|one| one == name));
        self.place(command, documents)
    }

    /// Reads `name() body`, of which the name was read.
    fn definition(&mut self, name: &SimpleCommand, start: usize) -> Result<(), Unparsed> {
        let is_name = |text: &str| {
            !text.is_empty()
                && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
        };
        let is_alone = name.assignments.is_empty() && name.redirections.is_empty();
        if name.words.len() != 1 || !is_alone || !is_name(self.text[start..self.at].trim()) {
            return self.refuse("a parenthesis in a command");
        }
        let name = self.text[start..self.at].trim().to_owned();
        self.check_defined(&name)?;
        self.expect("(")?;
        self.skip_blanks();
        self.expect(")")?;
        self.function_body()?;
        self.defined = Some((start, self.at, name));
        Ok(())
    }

    /// Whether bash takes what begins here for `NAME=value`, as the word of a builtin that declares: then it does not
    /// split the value.
    fn is_at_assignment(&self) -> bool {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(0);
        end > 0 && !rest.starts_with(|c: char| c.is_ascii_digit()) && rest[end..].starts_with('=')
    }

    /// Reads `NAME=value` or `NAME+=value`; none where something else stands here.
    fn assignment(&mut self) -> Result<Option<Assignment>, Unparsed> {
        let start = self.at;
        let name = self.take_name().to_owned();
        if !name.is_empty() && self.is_at("[") {
            return self.refuse("an element of an array, whose index may run commands");
        }
        if name.is_empty() || !(self.take("+=") || self.take("=")) {
            self.at = start;
            return Ok(None);
        }
        if self.take("(") {
            self.refuse_in_substitution("an array")?;
            self.array()?;
            if !self.peek().is_none_or(ends_word) {
                // Bash reads on in the same word.
                return self.refuse("more right behind an array");
            }
            let value = Some(ShellWord::unknown(ARRAY));
            return Ok(Some(Assignment { name, value }));
        }
        let value = match self.peek() {
            Some(c) if !ends_word(c) => self.value()?,
            _ if self.is_at("<(") || self.is_at(">(") => self.value()?,
            _ => ShellWord::Fixed(String::new()),
        };
        let is_added = self.text[start..].starts_with(&format!("{name}+="));
        let value = if is_added { ShellWord::unknown(value.shown()) } else { value };
        Ok(Some(Assignment { name, value: Some(value) }))
    }

    fn array(&mut self) -> Result<(), Unparsed> {
        loop {
            self.skip_lines()?;
            if self.take(")") {
                return Ok(());
            }
            if self.is_at("[") {
                return self.refuse("an element of an array, whose index may run commands");
            }
            self.word()?;
        }
    }

    fn is_at_redirection(&self) -> Result<bool, Unparsed> {
        if self.is_at("<(") || self.is_at(">(") {
            return Ok(false);
        }
        let rest = self.rest();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let is_one = rest[digits..].starts_with(['<', '>']) || rest.starts_with("&>");
        if is_one && digits > DESCRIPTOR_DIGITS_MAX {
            return self.refuse("a descriptor with too many digits");
        }
        Ok(is_one)
    }

    fn redirection(&mut self) -> Result<Redirected, Unparsed> {
        let descriptor = self.take_while(|c| c.is_ascii_digit());
        if self.is_at("<<") && !matches!(descriptor, "" | "0") {
            return self.refuse("a text for another descriptor than that of the input");
        }
        if self.take("<<<") {
            self.skip_blanks();
            return Ok(Redirected::Text(self.word()?));
        }
        if self.take("<<") {
            return self.announced().map(Redirected::Document);
        }
        let modes = [
            ("&>>", RedirectionMode::Append),
            ("&>", RedirectionMode::Truncate),
            (">>", RedirectionMode::Append),
            (">|", RedirectionMode::Truncate),
            ("<>", RedirectionMode::ReadWrite),
            (">&", RedirectionMode::Truncate),
            ("<&", RedirectionMode::Read),
            (">", RedirectionMode::Truncate),
            ("<", RedirectionMode::Read),
        ];
        let found = modes.into_iter().find(|(operator, _)| self.take(operator));
        let Some((operator, mode)) = found else { return self.refuse("no redirection") };
        let is_closing = operator.ends_with('&') && self.is_at("-");
        if is_closing && !self.peek_second().is_none_or(ends_word) {
            return self.refuse("a word right behind the end of a descriptor");
        }
        let is_input = descriptor.bytes().all(|c| c == b'0');
        if operator.starts_with('<') && !is_input && !is_closing {
            // `1<f >/dev/stdout` opens it once more, to write.
            return self
                .refuse("a file that is read, for another descriptor than that of the input");
        }
        self.skip_blanks();
        let target = self.word()?;
        if operator == ">&" && target.fixed().is_some_and(is_of_input) {
            return self.refuse("a copy of the input for what is written");
        }
        let is_copy = |text: &str| {
            let digits = text.strip_suffix('-').unwrap_or(text);
            !text.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
        };
        match operator {
            "<&" | ">&" if target.fixed().is_some_and(is_copy) => {
                // `0>&3` is `0<&3`, and `3<&-` is `3>&-`.
                let is_read = is_input && (operator == "<&" || !descriptor.is_empty());
                Ok(if is_read { Redirected::InputCopy } else { Redirected::Copy })
            }
            "<&" => self.refuse("a copy of an unknown descriptor"),
            // What is unknown may be a number or a file.
            _ => {
                let is_output = match descriptor.trim_start_matches('0') {
                    "" => descriptor.is_empty() && operator.contains('>') && operator != "<>",
                    number => number == "1",
                };
                Ok(Redirected::File(Redirection { mode, target, is_output }))
            }
        }
    }

    /// Reads the delimiter of a here-document.
    fn announced(&mut self) -> Result<HereDocument, Unparsed> {
        let strips_tabs = self.take("-");
        self.skip_blanks();
        let quote = ["'", "\"", "\\"].into_iter().find(|quote| self.take(quote));
        let delimiter = self
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
            .to_owned();
        if delimiter.is_empty() {
            return self.refuse("a here-document without a plain delimiter");
        }
        match quote {
            None | Some("\\") => {}
            Some(quote) => self.expect(quote)?,
        }
        if !self.peek().is_none_or(ends_word) {
            return self.refuse("a here-document without a plain delimiter");
        }
        let is_quoted = quote.is_some();
        self.awaits_document = true;
        Ok(HereDocument { delimiter, is_quoted, strips_tabs, command: 0 })
    }

    /// Reads the redirections of a compound command: a part of their own.
    pub(super) fn redirections_behind(&mut self) -> Result<(), Unparsed> {
        let start = {
            self.skip_blanks();
            self.at
        };
        let mut command = SimpleCommand::new("");
        let mut documents = Vec::new();
        let mut end = start;
        loop {
            self.skip_blanks();
            let is_one = self.peek().is_some() && self.is_at_redirection()?;
            if !is_one {
                break;
            }
            match self.redirection()? {
                Redirected::File(redirection) => command.redirections.push(redirection),
                Redirected::Copy => {}
                Redirected::InputCopy => self.is_fed = true,
                Redirected::Document(document) => documents.push(document),
                Redirected::Text(text) => command.input = Some(text),
            }
            end = self.at;
        }
        if command.redirections.is_empty() && command.input.is_none() && documents.is_empty() {
            return Ok(());
        }
        self.is_fed |= command.takes_input() || !documents.is_empty();
        self.text[start..end].clone_into(&mut command.text);
        self.place(command, documents)
    }

    /// Adds a command whose here-documents are to come.
    fn place(
        &mut self,
        command: SimpleCommand,
        documents: Vec<HereDocument>,
    ) -> Result<(), Unparsed> {
        // Bash forgets what separates commands when it writes down what stands behind the document in its line.
        if !documents.is_empty() && (documents.len() > 1 || !self.is_at("\n")) {
            self.refuse_in_substitution("more behind a here-document in its line")?;
        }
        let place = self.push(command)?;
        let placed =
            documents.into_iter().map(|document| HereDocument { command: place, ..document });
        self.pending.extend(placed);
        Ok(())
    }
}
