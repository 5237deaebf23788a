//! To which class a command belongs: two tables, and what stands in none.

use regex::Regex;
use serde::Deserialize;

use crate::environment::{is_harmless, why_cleared, why_unclear};
use crate::options::OptionForms;
use crate::{Assignment, RedirectionMode, ShellWord, SimpleCommand, builtins};

mod asking;
mod operands;
mod programs;
mod reading;

/// What a command does, as far as its words say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandClass {
    /// Reads, or changes nothing but the shell itself: no program that it runs writes or reaches out.
    ReadOnly,
    /// May destroy what cannot be brought back, or reaches beyond the sandbox: why.
    AlwaysAsks(String),
    /// What it runs is not known: why.
    Unclear(String),
    /// It may write: whether it is asked about is up to the rules.
    Other,
}

/// Finds out to which class a command belongs.
pub fn classify(command: &SimpleCommand) -> CommandClass {
    if let Some(why) = &command.unclear {
        return CommandClass::Unclear(why.clone());
    }
    if let Some(why) = looked_at(command).find_map(why_unclear) {
        return CommandClass::Unclear(why);
    }
    if let Some(why) = why_cleared(command) {
        return CommandClass::Unclear(why);
    }
    let connection = command.redirections.iter().find(|opened| opened.target.is_connection());
    if let Some(opened) = connection {
        return CommandClass::Unclear(format!("{} is a connection", opened.target.shown()));
    }
    if let Some(why) = asking::reason(command) {
        return CommandClass::AlwaysAsks(why);
    }
    if let Some(emptied) = emptied(command) {
        let why = format!("empties {}, which cannot be undone; `>>` appends", emptied.shown());
        return CommandClass::AlwaysAsks(why);
    }
    if command.writes().next().is_none() && reads_only(command) {
        return CommandClass::ReadOnly;
    }
    CommandClass::Other
}

/// The file that the shell empties for a command; none in the folder for temporary files, which is the
/// command's own.
fn emptied(command: &SimpleCommand) -> Option<&ShellWord> {
    let is_temporary = |word: &ShellWord| {
        word.fixed().is_some_and(|path| path.starts_with("/tmp/") && !path.contains(".."))
    };
    let mut emptied =
        command.writes().filter(|redirection| redirection.mode == RedirectionMode::Truncate);
    emptied.find(|redirection| !is_temporary(&redirection.target)).map(|found| &found.target)
}

fn reads_only(command: &SimpleCommand) -> bool {
    if command.words.is_empty() {
        return true;
    }
    let are_harmless = builtins::sets_own(command) || looked_at(command).all(is_harmless);
    are_harmless && (command.is_wrapper || command.calls_function || reading::is_listed(command))
}

/// What is assigned, less what `read` only splits a line by: `IFS= read -r line`. No expansion of that command
/// is split by it, and behind the command it is as it was.
fn looked_at(command: &SimpleCommand) -> impl Iterator<Item = &Assignment> {
    let is_read =
        command.words.first().and_then(ShellWord::fixed) == Some("read") && command.is_for_shell();
    let only_splits = move |assigned: &Assignment| {
        is_read
            && assigned.name == "IFS"
            && assigned.value.as_ref().is_some_and(|value| value.fixed().is_some())
    };
    command.assignments.iter().filter(move |assigned| !only_splits(assigned))
}

/// A pattern in a table.
fn pattern(text: &str) -> Regex {
    Regex::new(&format!("^(?:{text})$")).expect("a test reads the table")
}

/// An entry of the table of commands that only read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadOnlyEntry {
    /// The words it begins with; `a|b` stands for both.
    argv: Vec<String>,
    /// Whether there is no word that would make it write.
    #[serde(default)]
    any_words: bool,
    /// Sets of options, by name.
    #[serde(default)]
    sets: Vec<String>,
    /// Options that it may have besides those of the sets.
    #[serde(default)]
    options: OptionForms,
    /// How many operands it may have; any number if unset.
    operands_max: Option<usize>,
    /// What each operand has to be, as a regular expression.
    operands: Option<String>,
    /// What the first operand has to be, as a regular expression: a program for the command.
    program: Option<String>,
    /// Options whose values are such programs, instead of the first operand.
    #[serde(default)]
    program_options: Vec<String>,
    /// What must not be found in it.
    program_not: Option<String>,
    /// What each word behind `argv` has to be, as a regular expression, instead of options and operands.
    words: Option<String>,
    /// Whether words that are not known fit `words`.
    #[serde(default)]
    unknown_words: bool,
    /// Whether it is the shell's own, which no other program runs.
    #[serde(default)]
    is_builtin: bool,
    /// Whether options end at the first operand.
    #[serde(default)]
    only_leading: bool,
    /// One of these options has to be there.
    #[serde(default)]
    needs: Vec<String>,
    /// Command lines that are in the class.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test holds the entry to them"))]
    examples: Vec<String>,
    /// Command lines of the same program that are not.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "a test holds the entry to them"))]
    not: Vec<String>,
}

/// An entry of the table of commands that always ask.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskingEntry {
    /// The words it begins with; `a|b` stands for both, `a*` for all that begin so.
    argv: Vec<String>,
    /// One of these words has to be there: `-f` also among other letters, `--force` also shortened,
    /// `+*` all that begin so.
    #[serde(default)]
    has: Vec<String>,
    /// None of these words may be there.
    #[serde(default)]
    unless: Vec<String>,
    /// Words that make it harmless where it has no others.
    #[serde(default)]
    only: Vec<String>,
    /// Values with which the options of `has` are harmless.
    #[serde(default)]
    values: Vec<String>,
    /// Letters of options without a value, where `unless` is looked for; those of the module if unset.
    #[serde(default)]
    flags: String,
    /// Letters of options with a value, attached or in the next word.
    #[serde(default)]
    taking: String,
    /// Whether the letters of its first word may stand without a dash.
    #[serde(default)]
    bundled: bool,
    /// Whether options end at the first operand.
    #[serde(default)]
    leading: bool,
    /// Whether `--` ends its options, as it does those of git.
    #[serde(default)]
    ends: bool,
    /// Whether one word that is not known brings nothing where there is no operand.
    #[serde(default)]
    alone: bool,
    /// A text that an operand behind the first one has to have, too, that is no URL.
    operand_has: Option<String>,
    /// Whether a word that is not known is taken for none of `has`: one that names a file is common there.
    #[serde(default)]
    known: bool,
    /// How many operands there are at least.
    #[serde(default)]
    operands_min: usize,
    /// Options with a value in the next word, whole, where letters do not say which those are.
    #[serde(default)]
    valued: Vec<String>,
    /// How the last operand begins, or what `-t` names in its place.
    #[serde(default)]
    into: Vec<String>,
    /// Whether another part of the text gives it what to read, and no operand names something else.
    #[serde(default)]
    fed: bool,
    /// Whether the text gives it something to read, which may be a reply to what it asks.
    #[serde(default)]
    answered: bool,
    reason: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "a test holds the entry to them"))]
    examples: Vec<String>,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "a test holds the entry to them"))]
    not: Vec<String>,
}

/// Reads a table that is compiled in.
fn table<T: serde::de::DeserializeOwned>(text: &str) -> T {
    toml::from_str(text).expect("a test reads the table")
}

#[cfg(test)]
mod tests;
