//! The table of commands that always ask.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{AskingEntry, table};
use crate::matching::{GIT_FLAGS, GIT_VALUES, bare_words, may_be, subcommand_at};
use crate::{ShellWord, SimpleCommand};

static TABLE: LazyLock<AskingFile> = LazyLock::new(|| table(include_str!("../always_ask.toml")));

/// Letters of git that take what stands behind them for a value, in each command of which values are known.
const TAKING_LETTERS: [char; 4] = ['F', 'S', 'X', 'm'];

/// Letters that take no value in any command of the table that a word makes harmless.
const PLAIN_LETTERS: &str = "abdfilnpqrvxRX";

/// Long options of which the same is true.
const PLAIN_OPTIONS: [&str; 15] = [
    "archive",
    "detach",
    "force",
    "global",
    "interactive",
    "local",
    "name-only",
    "no-track",
    "null",
    "quiet",
    "recursive",
    "show-origin",
    "system",
    "track",
    "verbose",
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskingFile {
    /// Settings of git that change at most what it prints.
    pub(super) git_settings: Vec<String>,
    pub(super) command: Vec<AskingEntry>,
}

/// Why a command always asks; none where it does not.
pub(super) fn reason(command: &SimpleCommand) -> Option<String> {
    let bare = bare_words(command);
    let name = command.words.first().and_then(ShellWord::fixed).unwrap_or_default();
    if name.rsplit('/').next() == Some("git")
        && let Some(setting) = git_setting(&command.words[1..])
    {
        return Some(format!(
            "runs git with {setting}: it may run another program, or be another command"
        ));
    }
    let found = TABLE.command.iter().find(|entry| entry.is(&bare))?;
    Some(found.reason.clone())
}

/// The first setting before git's subcommand that may change what runs.
fn git_setting(words: &[ShellWord]) -> Option<String> {
    // Which word is the subcommand, nobody knows then.
    if let Err(word) = subcommand_at(words) {
        return Some(format!("{} before its subcommand", word.shown()));
    }
    let mut at = 0;
    while let Some(word) = words.get(at).and_then(ShellWord::fixed)
        && word.starts_with('-')
    {
        let value = words.get(at + 1);
        if word == "-c" {
            let key = value.and_then(|value| value.starts().split_once('='));
            let key = key.map(|(key, _)| key.to_ascii_lowercase());
            let is_harmless =
                |known: &String| key.as_deref().is_some_and(|key| is_setting(known, key));
            if !TABLE.git_settings.iter().any(is_harmless) {
                return Some(format!("-c {}", value.map(ShellWord::shown).unwrap_or_default()));
            }
        } else if ["--config-env", "--exec-path"].iter().any(|option| word.starts_with(option)) {
            return Some(word.to_owned());
        }
        let takes_next = GIT_VALUES.contains(&word);
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        let has_value = name != word && name.starts_with("--") && GIT_VALUES.contains(&name);
        if !takes_next && !has_value && !GIT_FLAGS.contains(&word) {
            return Some(format!("{word}, which moss does not know"));
        }
        at += if GIT_VALUES.contains(&word) { 2 } else { 1 };
    }
    None
}

/// Whether a name of a setting is one of a table, where `SECTION.*` stands for all of a section.
pub(super) fn is_setting(known: &str, key: &str) -> bool {
    known.strip_suffix('*').map_or(known == key, |start| key.starts_with(start))
}

// === impl AskingEntry ===

impl AskingEntry {
    pub(super) fn is(&self, bare: &[ShellWord]) -> bool {
        let (mut at, mut is_certain) = (0, true);
        for expected in &self.argv {
            let Some(word) = bare.get(at) else { return !is_certain };
            if !expected.split('|').any(|expected| may_be(word, expected)) {
                return false;
            }
            // What becomes several words, or none, may bring the rest along.
            is_certain &= !matches!(word, ShellWord::Unknown { is_single: false, .. });
            at += 1;
        }
        let rest = bare.get(at..).unwrap_or_default();
        let are_options = self.argv.first().is_some_and(|program| program == "git")
            && self.has.iter().all(|known| known.starts_with('-'));
        let looked_at = if are_options { before_operands(rest) } else { rest };
        let is_there = |known: &String| match self.values.is_empty() {
            true => looked_at.iter().any(|word| is_word(word, known)),
            false => has_other_value(looked_at, known, &self.values),
        };
        // `--NAME="$x"` is that option, whatever its value is.
        let is_one = |word: &ShellWord| {
            word.is_exactly_one() && word.starts().starts_with("--") && word.starts().contains('=')
        };
        let may_bring =
            |word: &ShellWord| word.fixed().is_none() && !word.is_operand() && !is_one(word);
        let has = self.has.is_empty()
            || !is_certain
            || self.has.iter().any(is_there)
            || looked_at.iter().any(may_bring);
        let is_known = |word: &ShellWord| {
            word.fixed().is_some_and(|text| self.only.iter().any(|one| one == text))
        };
        let is_harmless = !rest.is_empty() && rest.iter().all(is_known);
        has && !is_harmless && !self.is_spared(rest)
    }

    /// Whether one of the words that make it harmless is there as an option: neither the value of another one nor an
    /// operand.
    fn is_spared(&self, rest: &[ShellWord]) -> bool {
        let mut may_be_value = false;
        for word in rest {
            if word.fixed() == Some("--") {
                return false;
            }
            let is_sparing = self.unless.iter().any(|known| is_exactly(word, known));
            if is_sparing && !may_be_value {
                return true;
            }
            may_be_value = match word.fixed() {
                Some(text) if text.len() > 1 && text.starts_with('-') => !is_plain(text),
                Some(_) => false,
                None => !word.is_operand(),
            };
        }
        false
    }
}

/// The words before a `--` that is certainly no value of an option: git takes what stands behind it for operands.
fn before_operands(rest: &[ShellWord]) -> &[ShellWord] {
    let is_end = |at: usize| {
        let before = at.checked_sub(1).map(|before| &rest[before]);
        let is_operand = |word: &ShellWord| word.fixed().is_some_and(|text| !text.starts_with('-'));
        rest[at].fixed() == Some("--") && before.is_none_or(is_operand)
    };
    &rest[..(0..rest.len()).find(|&at| is_end(at)).unwrap_or(rest.len())]
}

/// Whether an option is there with another value than these.
fn has_other_value(words: &[ShellWord], known: &str, values: &[String]) -> bool {
    let is_other = |(at, word): (usize, &ShellWord)| {
        let text = word.starts();
        let attached = match known.starts_with("--") {
            true if is_word(word, known) => text.split_once('=').map(|(_, value)| value),
            true => return false,
            false => match value_of_letter(text, &known[1..]) {
                Some(value) => Some(value).filter(|value| !value.is_empty()),
                None => return false,
            },
        };
        let value = match attached {
            Some(value) => word.fixed().and(Some(value)),
            None => words.get(at + 1).and_then(ShellWord::fixed),
        };
        !value.is_some_and(|value| values.iter().any(|known| known == value))
    };
    words.iter().enumerate().any(is_other)
}

/// What stands behind a letter among others; none where it is not there, or is a part of the value of another one.
fn value_of_letter<'t>(text: &'t str, letter: &str) -> Option<&'t str> {
    let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    let (before, value) = letters.split_once(letter)?;
    (!before.contains(TAKING_LETTERS)).then_some(value)
}

/// Whether an option certainly takes no value in the next word.
fn is_plain(option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(long) => long.contains('=') || PLAIN_OPTIONS.contains(&long),
        None => option.chars().skip(1).all(|letter| PLAIN_LETTERS.contains(letter)),
    }
}

/// Whether a word is an option as the table writes it, or may be a short form of it.
fn is_word(word: &ShellWord, known: &str) -> bool {
    let text = word.starts();
    if let Some(start) = known.strip_suffix('*') {
        return text.starts_with(start);
    }
    if let Some(long) = known.strip_prefix("--") {
        let name = text.split('=').next().unwrap_or(text);
        return name
            .strip_prefix("--")
            .is_some_and(|name| !name.is_empty() && long.starts_with(name));
    }
    let is_letter = known.len() == 2 && known.starts_with('-');
    if is_letter && text.starts_with('-') && !text.starts_with("--") {
        return text[1..].contains(&known[1..]);
    }
    text == known
}

/// Whether a word is one that makes a command harmless: nothing may be left to guess.
fn is_exactly(word: &ShellWord, known: &str) -> bool {
    let Some(text) = word.fixed() else { return false };
    let is_letter = known.len() == 2 && known.starts_with('-');
    let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    match letters {
        // Behind a letter that takes a value the others are that value.
        Some(letters) if is_letter => {
            let is_plain = |c| PLAIN_LETTERS.contains(c) || known.ends_with(c);
            letters.chars().all(is_plain) && letters.contains(&known[1..])
        }
        _ => text == known,
    }
}
