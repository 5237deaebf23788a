//! The table of commands that only read.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::{ReadOnlyEntry, pattern, table};
use crate::ShellWord;
use crate::options::OptionForms;

static TABLE: LazyLock<Vec<ListedCommand>> = LazyLock::new(|| {
    let file: ReadOnlyFile = table(include_str!("../read_only.toml"));
    file.command.iter().map(|entry| ListedCommand::new(entry, &file.sets)).collect()
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadOnlyFile {
    pub(super) sets: BTreeMap<String, OptionForms>,
    pub(super) command: Vec<ReadOnlyEntry>,
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
    program_not: Option<Regex>,
    words: Option<Regex>,
    unknown_words: bool,
    only_leading: bool,
    needs: Vec<String>,
}

/// Whether a command is in the table.
pub(super) fn is_listed(words: &[ShellWord]) -> bool {
    let Some(words) = plain(words) else { return false };
    TABLE.iter().any(|listed| listed.is(&words))
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
                _ => break,
            };
            rest.nth(skipped - 1);
        }
    }
    plain.extend(rest.cloned());
    Some(plain)
}

// === impl ListedCommand ===

impl ListedCommand {
    fn new(entry: &ReadOnlyEntry, sets: &BTreeMap<String, OptionForms>) -> Self {
        let mut options = entry.options.clone();
        for name in &entry.sets {
            options.extend(sets.get(name).expect("a test reads the table"));
        }
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
            unknown_words: entry.unknown_words,
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
        let mut operands = sorted.operands.as_slice();
        if let Some(program) = &self.program {
            let Some((first, others)) = operands.split_first() else { return false };
            let is_barred =
                |text: &str| self.program_not.as_ref().is_some_and(|not| not.is_match(text));
            if !first.fixed().is_some_and(|text| program.is_match(text) && !is_barred(text)) {
                return false;
            }
            operands = others;
        }
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
}
