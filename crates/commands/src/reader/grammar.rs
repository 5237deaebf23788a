//! Lists, pipelines and compound commands.

use super::ShellReader;
use crate::unfold::EVALUATING;
use crate::{Assignment, ShellWord, SimpleCommand, Unparsed};

/// Words that mean something where a command begins.
const RESERVED: [&str; 22] = [
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while", "{", "}",
];
/// Builtins that are looked at by what they do: they set variables, or move to a directory.
const KEPT_BUILTINS: [&str; 4] = ["cd", "popd", "pushd", "read"];
/// What ends the commands of one case.
const CASE_ENDS: [&str; 3] = [";;&", ";;", ";&"];

/// Whether a word ends before a character that nothing quotes.
pub(super) fn ends_word(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

// === impl ShellReader ===

impl ShellReader<'_> {
    /// Reads commands up to the end, to one of some reserved words or to a closing parenthesis.
    pub(super) fn list(&mut self, ends: &[&str], is_in_parens: bool) -> Result<(), Unparsed> {
        self.descend(|reader| {
            let mut is_empty = true;
            loop {
                reader.skip_lines()?;
                if reader.is_end_of_list(ends, is_in_parens) {
                    break;
                }
                let (start, from) = (reader.at, reader.commands.len());
                reader.and_or()?;
                is_empty = false;
                if ends.is_empty() && !is_in_parens {
                    reader.note_function(start, from);
                }
                if !reader.separator(is_in_parens)? {
                    break;
                }
            }
            let is_case = ends.contains(&"esac");
            let is_script = ends.is_empty() && !is_in_parens;
            if is_empty && !is_case {
                return reader.refuse(if is_script { "no command" } else { "an empty list" });
            }
            Ok(())
        })
    }

    /// Refuses a function in the place of what is looked at as the shell's own.
    pub(super) fn check_defined(&self, name: &str) -> Result<(), Unparsed> {
        if KEPT_BUILTINS.contains(&name) {
            return self.refuse(format!("a function in the place of `{name}`"));
        }
        Ok(())
    }

    /// Takes note of a function where what was read since a place defines it and does nothing else, in this shell. Of one
    /// that moves to a directory nobody knows how often it is called.
    fn note_function(&mut self, start: usize, from: usize) {
        let moves = self.commands[from..].iter().any(|command| {
            let is_known =
                |name: &str| !KEPT_BUILTINS.contains(&name) && !EVALUATING.contains(&name);
            !command.words.is_empty() && !command.program().is_some_and(is_known)
        });
        let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let defined = self.defined.take().filter(|(at, end, name)| {
            *at == start && self.text[*end..self.at].trim().is_empty() && is_plain(name)
        });
        // With `&` it is defined in a shell of its own.
        if let Some((_, _, name)) = defined
            && !self.rest().starts_with('&')
            && !moves
        {
            self.functions.push(name);
        }
    }

    fn is_end_of_list(&self, ends: &[&str], is_in_parens: bool) -> bool {
        let is_case = ends.contains(&"esac");
        self.peek().is_none()
            || (is_in_parens && self.is_at(")"))
            || (is_case && CASE_ENDS.iter().any(|end| self.is_at(end)))
            || self.reserved().is_some_and(|word| ends.contains(&word))
    }

    /// Takes what separates two commands; false where the list has to end.
    fn separator(&mut self, is_in_parens: bool) -> Result<bool, Unparsed> {
        self.skip_blanks();
        match self.peek() {
            None => Ok(false),
            Some(';') if CASE_ENDS.iter().any(|end| self.is_at(end)) => Ok(true),
            Some(';' | '&') => {
                self.bump();
                self.note_line();
                Ok(true)
            }
            Some('\n' | '#') => Ok(true),
            Some(')') if is_in_parens => Ok(true),
            Some(c) => self.refuse(format!("`{}` where a command ends", c.escape_debug())),
        }
    }

    /// The reserved word that stands here.
    pub(super) fn reserved(&self) -> Option<&'static str> {
        let rest = self.rest();
        let end = rest.find(ends_word).unwrap_or(rest.len());
        RESERVED.into_iter().find(|word| *word == &rest[..end])
    }

    fn take_reserved(&mut self, word: &str) -> bool {
        let is_there = self.reserved() == Some(word);
        if is_there {
            self.at += word.len();
        }
        is_there
    }

    pub(super) fn expect_reserved(&mut self, word: &str) -> Result<(), Unparsed> {
        self.skip_lines()?;
        if self.take_reserved(word) {
            return Ok(());
        }
        self.refuse(format!("expected `{word}`"))
    }

    fn and_or(&mut self) -> Result<(), Unparsed> {
        loop {
            self.pipeline()?;
            self.skip_blanks();
            if !self.take("&&") && !self.take("||") {
                return Ok(());
            }
            self.skip_lines()?;
        }
    }

    fn pipeline(&mut self) -> Result<(), Unparsed> {
        loop {
            if self.take_reserved("time") {
                self.skip_blanks();
                let rest = self.rest();
                if rest.split(ends_word).next() == Some("-p") {
                    self.at += "-p".len();
                }
            } else if !self.take_reserved("!") {
                break;
            }
            self.skip_blanks();
        }
        let mut is_first = true;
        loop {
            let from = self.commands.len();
            self.command()?;
            if !is_first {
                self.feed(from);
            }
            is_first = false;
            self.skip_blanks();
            if self.is_at("||") || !self.take("|") {
                return Ok(());
            }
            self.take("&");
            self.skip_lines()?;
        }
    }

    fn command(&mut self) -> Result<(), Unparsed> {
        let from = self.commands.len();
        let was_fed = std::mem::take(&mut self.is_fed);
        self.any_command()?;
        if self.is_fed {
            self.feed(from);
        }
        self.is_fed = was_fed;
        Ok(())
    }

    fn any_command(&mut self) -> Result<(), Unparsed> {
        if self.is_at("((") {
            return self.refuse("arithmetic, which may run what a variable says");
        }
        if self.is_at("(") {
            return self.subshell();
        }
        match self.reserved() {
            None => self.simple(),
            Some("{") => self.group(),
            Some("if") => self.if_command(),
            Some("while") => self.loop_command("while"),
            Some("until") => self.loop_command("until"),
            Some("for") => self.for_command("for"),
            Some("select") => self.for_command("select"),
            Some("case") => self.case_command(),
            Some("function") => self.function(),
            Some("[[") => self.test_command(),
            Some(word) => self.refuse(format!("`{word}` where a command begins")),
        }
    }

    fn subshell(&mut self) -> Result<(), Unparsed> {
        self.expect("(")?;
        self.list(&[], true)?;
        self.expect(")")?;
        self.redirections_behind()
    }

    fn group(&mut self) -> Result<(), Unparsed> {
        self.expect_reserved("{")?;
        self.list(&["}"], false)?;
        self.expect_reserved("}")?;
        self.redirections_behind()
    }

    fn if_command(&mut self) -> Result<(), Unparsed> {
        self.expect_reserved("if")?;
        self.list(&["then"], false)?;
        self.expect_reserved("then")?;
        loop {
            self.list(&["elif", "else", "fi"], false)?;
            if self.take_reserved("elif") {
                self.list(&["then"], false)?;
                self.expect_reserved("then")?;
                continue;
            }
            if self.take_reserved("else") {
                self.list(&["fi"], false)?;
            }
            self.expect_reserved("fi")?;
            return self.redirections_behind();
        }
    }

    fn loop_command(&mut self, word: &str) -> Result<(), Unparsed> {
        self.expect_reserved(word)?;
        self.list(&["do"], false)?;
        self.do_group()
    }

    fn do_group(&mut self) -> Result<(), Unparsed> {
        self.expect_reserved("do")?;
        self.list(&["done"], false)?;
        self.expect_reserved("done")?;
        self.redirections_behind()
    }

    fn for_command(&mut self, word: &str) -> Result<(), Unparsed> {
        let start = self.at;
        if word == "select" {
            self.refuse_in_substitution("`select`")?;
        }
        self.expect_reserved(word)?;
        self.skip_blanks();
        if self.is_at("((") {
            return self.refuse("arithmetic, which may run what a variable says");
        }
        let name = self.take_name().to_owned();
        if name.is_empty() || !self.peek().is_none_or(ends_word) {
            return self.refuse(format!("`{word}` without the name of a variable"));
        }
        self.skip_lines()?;
        let mut words = Vec::new();
        let is_list = self.rest().split(ends_word).next() == Some("in");
        if is_list {
            self.at += "in".len();
            loop {
                self.skip_blanks();
                match self.peek() {
                    Some(';' | '\n' | '#') => break,
                    _ => words.push(self.word()?),
                }
            }
        }
        let mut command = SimpleCommand::new(self.text[start..self.at].trim());
        let is_number = |word: &ShellWord| {
            word.fixed().is_some_and(|text| text.chars().all(|c| c.is_ascii_digit()))
        };
        let number = words.first().filter(|_| word == "for" && words.iter().all(is_number));
        let unknown = || ShellWord::unknown(format!("${name}"));
        let value = Some(number.cloned().unwrap_or_else(unknown));
        command.assignments.push(Assignment { name, value });
        self.push(command)?;
        self.skip_blanks();
        self.take(";");
        self.do_group()
    }

    fn case_command(&mut self) -> Result<(), Unparsed> {
        let start = self.at;
        self.refuse_in_substitution("`case`")?;
        self.expect_reserved("case")?;
        self.skip_blanks();
        // What a shell expands here may show a value or assign one, as with the command that does nothing.
        let mut words = vec![ShellWord::Fixed(":".to_owned()), self.word()?];
        self.skip_lines()?;
        if self.rest().split(ends_word).next() != Some("in") {
            return self.refuse("`case` without `in`");
        }
        self.at += "in".len();
        let mut command = SimpleCommand::new(&self.text[start..self.at]);
        loop {
            self.skip_lines()?;
            if self.take_reserved("esac") {
                command.words = words;
                self.push(command)?;
                return self.redirections_behind();
            }
            self.take("(");
            loop {
                self.skip_blanks();
                words.push(self.word()?);
                self.skip_blanks();
                if self.take(")") {
                    break;
                }
                self.expect("|")?;
            }
            self.list(&["esac"], false)?;
            if !CASE_ENDS.into_iter().any(|end| self.take(end)) && self.reserved() != Some("esac") {
                return self.refuse("a case without its end");
            }
        }
    }

    fn function(&mut self) -> Result<(), Unparsed> {
        let start = self.at;
        self.expect_reserved("function")?;
        self.skip_blanks();
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if name.is_empty() {
            return self.refuse("`function` without a name");
        }
        let name = name.to_owned();
        self.check_defined(&name)?;
        self.skip_blanks();
        if self.take("(") {
            self.skip_blanks();
            self.expect(")")?;
        }
        self.function_body()?;
        self.defined = Some((start, self.at, name));
        Ok(())
    }

    /// Reads what a function does, as if it were done: whether it is called makes no difference.
    pub(super) fn function_body(&mut self) -> Result<(), Unparsed> {
        self.refuse_in_substitution("a function")?;
        self.skip_lines()?;
        match self.reserved() {
            Some("{" | "if" | "while" | "until" | "for" | "select" | "case") => {}
            None if self.is_at("(") => {}
            _ => return self.refuse("a function whose body is not in braces or parentheses"),
        }
        let from = self.commands.len();
        self.descend(Self::command)?;
        // Who calls it may give it what it reads.
        self.feed(from);
        Ok(())
    }
}
