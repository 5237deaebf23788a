//! The table of commands that only read.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::asking::is_setting;
use super::{ReadOnlyEntry, pattern, table};
use crate::options::{OptionForms, SortedWords};
use crate::{ShellWord, SimpleCommand};

static TABLE: LazyLock<ReadingTable> = LazyLock::new(|| {
    let file: ReadOnlyFile = table(include_str!("../read_only.toml"));
    let listed = file.command.iter().map(|entry| ListedCommand::new(entry, &file.sets)).collect();
    ReadingTable { git_settings: file.git_settings, listed }
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadOnlyFile {
    /// Settings of git that change at most what it prints, and make it run nothing.
    pub(super) git_settings: Vec<String>,
    pub(super) sets: BTreeMap<String, OptionForms>,
    pub(super) command: Vec<ReadOnlyEntry>,
}

/// The table, ready to be compared with.
#[derive(Debug)]
struct ReadingTable {
    git_settings: Vec<String>,
    listed: Vec<ListedCommand>,
}

/// An entry, ready to be compared.
#[derive(Debug)]
struct ListedCommand {
    argv: Vec<Vec<String>>,
    any_words: bool,
    options: OptionForms,
    operands_max: usize,
    operands: Option<Regex>,
    program: Option<Regex>,
    program_options: Vec<String>,
    program_not: Option<Regex>,
    words: Option<Regex>,
    unknown_words: bool,
    is_builtin: bool,
    only_leading: bool,
    needs: Vec<String>,
}

/// Whether a command is in the table.
pub(super) fn is_listed(command: &SimpleCommand) -> bool {
    let Some(words) = plain(&command.words) else { return false };
    let is_builtin = words.first() == command.words.first() && command.is_for_shell();
    let mut listed = TABLE.listed.iter().filter(|listed| is_builtin || !listed.is_builtin);
    listed.any(|listed| listed.is(&words))
}

/// The words with the program by its name, and git's without what stands before its subcommand; none
/// where that may change what runs.
fn plain(words: &[ShellWord]) -> Option<Vec<ShellWord>> {
    let (first, rest) = words.split_first()?;
    let name = first.fixed()?;
    let of_system = ["/bin/", "/usr/bin/", "/usr/local/bin/"];
    let name = of_system.iter().find_map(|folder| name.strip_prefix(folder)).unwrap_or(name);
    let mut plain = vec![ShellWord::Fixed(name.to_owned())];
    let mut rest = rest.iter();
    let is_directory = |word: &ShellWord| word.is_operand() && word.is_exactly_one();
    if name == "git" {
        while let Some(word) = rest.as_slice().first().and_then(ShellWord::fixed) {
            let skipped = match word {
                "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" => 1,
                "-C" if rest.as_slice().get(1).is_some_and(is_directory) => 2,
                "-c" if rest.as_slice().get(1).is_some_and(only_prints) => 2,
                _ => break,
            };
            rest.nth(skipped - 1);
        }
    }
    plain.extend(rest.cloned());
    Some(plain)
}

/// Whether a setting of git, `NAME=VALUE`, changes at most what it prints.
fn only_prints(setting: &ShellWord) -> bool {
    let name = setting.fixed().and_then(|text| text.split_once('=')).map(|(name, _)| name);
    let name = name.map(str::to_ascii_lowercase);
    let is_one = |known: &String| name.as_deref().is_some_and(|name| is_setting(known, name));
    TABLE.git_settings.iter().any(is_one)
}

// === impl ListedCommand ===

impl ListedCommand {
    fn new(entry: &ReadOnlyEntry, sets: &BTreeMap<String, OptionForms>) -> Self {
        let mut options = entry.options.clone();
        for name in &entry.sets {
            options.extend(sets.get(name).expect("a test reads the table"));
        }
        options.unknown_values = true;
        let alternatives =
            |word: &String| word.split('|').map(ToOwned::to_owned).collect::<Vec<_>>();
        Self {
            argv: entry.argv.iter().map(alternatives).collect(),
            any_words: entry.any_words,
            options,
            operands_max: entry.operands_max.unwrap_or(usize::MAX),
            operands: entry.operands.as_deref().map(pattern),
            program: entry.program.as_deref().map(pattern),
            program_not: entry
                .program_not
                .as_deref()
                .map(|text| pattern(&format!("(?s:.*)({text})(?s:.*)"))),
            words: entry.words.as_deref().map(pattern),
            program_options: entry.program_options.clone(),
            unknown_words: entry.unknown_words,
            is_builtin: entry.is_builtin,
            only_leading: entry.only_leading,
            needs: entry.needs.clone(),
        }
    }

    fn is(&self, words: &[ShellWord]) -> bool {
        if words.len() < self.argv.len() {
            return false;
        }
        let (leading, rest) = words.split_at(self.argv.len());
        let begins = leading.iter().zip(&self.argv).all(|(word, expected)| {
            word.fixed().is_some_and(|word| expected.iter().any(|expected| expected == word))
        });
        begins && (self.any_words || self.allows(rest))
    }

    fn allows(&self, rest: &[ShellWord]) -> bool {
        if let Some(expected) = &self.words {
            let fits = |word: &ShellWord| {
                word.fixed().map_or(self.unknown_words, |text| expected.is_match(text))
            };
            return rest.iter().all(fits);
        }
        let Ok(sorted) = self.options.sort(rest, self.only_leading) else { return false };
        let has = |name: &String| sorted.options.iter().any(|(option, _)| option == name);
        let Some(operands) = self.behind_program(&sorted) else { return false };
        let fits = |operand: &&ShellWord| {
            let Some(expected) = &self.operands else { return true };
            operand.fixed().is_some_and(|text| expected.is_match(text))
        };
        let is_counted = |operand: &&ShellWord| operand.is_exactly_one();
        operands.len() <= self.operands_max
            && (self.operands_max == usize::MAX || operands.iter().all(is_counted))
            && operands.iter().all(fits)
            && (self.needs.is_empty() || self.needs.iter().any(has))
    }

    /// The operands less what is a program for the command; none where that is another than the entry has.
    fn behind_program<'s>(&self, sorted: &'s SortedWords<'_>) -> Option<&'s [&'s ShellWord]> {
        let operands = sorted.operands.as_slice();
        let Some(program) = &self.program else { return Some(operands) };
        let is_program = |word: &ShellWord| {
            word.fixed().is_some_and(|text| {
                program.is_match(text)
                    && !self.program_not.as_ref().is_some_and(|not| not.is_match(text))
            })
        };
        let is_given =
            |(name, _): &&(String, Option<ShellWord>)| self.program_options.contains(name);
        let mut given = sorted.options.iter().filter(is_given).peekable();
        if given.peek().is_some() {
            let are_programs = given.all(|(_, value)| value.as_ref().is_some_and(is_program));
            return are_programs.then_some(operands);
        }
        let (first, others) = operands.split_first()?;
        is_program(first).then_some(others)
    }
}
