//! The table of commands that always ask.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde::Deserialize;

use super::{AskingEntry, programs, table};
use crate::matching::{
    GIT_FLAGS, GIT_VALUES, RuleBeginning, bare_words, beginnings, may_be, subcommand_at,
};
use crate::{ShellWord, SimpleCommand};

static TABLE: LazyLock<AskingFile> = LazyLock::new(|| table(include_str!("../always_ask.toml")));

/// Letters of git that take what stands behind them for a value, in each command of which values are known; of other
/// programs their entries say them.
const TAKING_LETTERS: &str = "FSXm";

/// Letters that take no value in any command of the table that a word makes harmless, unless its entry says them.
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
    let found = TABLE.command.iter().find(|entry| entry.is_about(command, &bare));
    let reason = found.map(|entry| entry.reason.as_str()).or_else(|| programs::reason(&bare));
    reason.map(ToOwned::to_owned)
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
    /// Whether it is about a command with these words.
    pub(super) fn is_about(&self, command: &SimpleCommand, bare: &[ShellWord]) -> bool {
        (!self.fed || command.is_fed) && (!self.answered || command.takes_input()) && self.is(bare)
    }

    fn is(&self, bare: &[ShellWord]) -> bool {
        let fits = |index: usize, word: &ShellWord| {
            self.argv[index].split('|').any(|expected| may_be(word, expected))
        };
        let beginnings = beginnings(bare, self.argv.len(), fits);
        beginnings.iter().any(|&beginning| self.is_behind(bare, beginning))
    }

    /// Whether the words behind those that it begins with are as it says, and the options before those.
    fn is_behind(&self, bare: &[ShellWord], beginning: RuleBeginning) -> bool {
        let RuleBeginning { end, is_open, .. } = beginning;
        let before = if end > self.argv.len() { &bare[1..end - 1] } else { &[] };
        let words = [before, &bare[end..]].concat();
        let rest = self.dashed(&words);
        let looked_at = self.looked_at(&rest);
        let is_there = |known: &String| match self.values.is_empty() {
            true => looked_at.iter().any(|(word, _)| self.is_word(word, known)),
            false => self.has_other_value(&looked_at, known),
        };
        // `--NAME="$x"` is that option, whatever its value is.
        let is_one = |word: &ShellWord| {
            word.is_exactly_one() && word.starts().starts_with("--") && word.starts().contains('=')
        };
        let may_bring =
            |word: &ShellWord| word.fixed().is_none() && !word.is_operand() && !is_one(word);
        let has = self.has.is_empty()
            || is_open
            || self.has.iter().any(is_there)
            || !self.known
                && looked_at.iter().any(|(word, _)| may_bring(word))
                && !self.is_alone(&looked_at);
        let is_known = |word: &ShellWord| {
            word.fixed().is_some_and(|text| self.only.iter().any(|one| one == text))
        };
        let is_harmless = !rest.is_empty() && rest.iter().all(is_known);
        has && self.fits_operands(&rest) && !is_harmless && !self.is_spared(&rest)
    }

    /// The words behind those that it begins with. Where the letters of the first may stand without a dash they get
    /// one, and those with a value one each, with their values behind them in their order.
    fn dashed<'w>(&self, rest: &'w [ShellWord]) -> Cow<'w, [ShellWord]> {
        let is_bundle = |first: &&ShellWord| self.bundled && first.is_operand();
        let Some(first) = rest.first().filter(is_bundle) else { return Cow::Borrowed(rest) };
        let mut values = rest[1..].iter().peekable();
        let mut words = Vec::new();
        match first {
            ShellWord::Fixed(letters) => {
                let is_taking = |letter: &char| self.taking.contains(*letter);
                let (taking, plain): (String, String) = letters.chars().partition(is_taking);
                if !plain.is_empty() {
                    words.push(ShellWord::Fixed(format!("-{plain}")));
                }
                for letter in taking.chars() {
                    words.push(ShellWord::Fixed(format!("-{letter}")));
                    words.extend(values.next_if(|value| value.is_exactly_one()).cloned());
                }
            }
            ShellWord::Unknown { text, starts, is_single } => {
                let (text, starts) = (text.clone(), format!("-{starts}"));
                words.push(ShellWord::Unknown { text, starts, is_single: *is_single });
            }
        }
        words.extend(values.cloned());
        Cow::Owned(words)
    }

    /// The words that may be options, each with the one behind it.
    fn looked_at<'w>(&self, rest: &'w [ShellWord]) -> Vec<(&'w ShellWord, Option<&'w ShellWord>)> {
        let are_options =
            (self.is_of_git() || self.ends) && self.has.iter().all(|known| known.starts_with('-'));
        let words = if are_options { self.before_operands(rest) } else { rest };
        let mut words = words.iter().peekable();
        let mut looked_at = Vec::new();
        let mut may_be_value = false;
        while let Some(word) = words.next() {
            let is_end = word.is_operand() || word.fixed() == Some("--");
            if self.leading && is_end && !may_be_value {
                break;
            }
            // A long option may have the next word for its value.
            let long = word.fixed().and_then(|text| text.strip_prefix("--"));
            may_be_value = long.is_some_and(|long| !long.is_empty() && !long.contains('='));
            looked_at.push((word, words.peek().copied()));
            words.next_if(|value| value.is_exactly_one() && self.takes_next(word));
        }
        looked_at
    }

    /// The words before a `--` that is certainly no value of an option: what stands behind it are operands.
    fn before_operands<'w>(&self, rest: &'w [ShellWord]) -> &'w [ShellWord] {
        let is_flag = |text: &str| {
            self.ends && text.len() > 1 && !text.starts_with("--") && self.is_plain(text)
        };
        let takes_none = |word: &ShellWord| {
            word.fixed().is_some_and(|text| !text.starts_with('-') || is_flag(text))
        };
        let is_end = |at: usize| {
            let before = at.checked_sub(1).map(|before| &rest[before]);
            rest[at].fixed() == Some("--") && before.is_none_or(takes_none)
        };
        &rest[..(0..rest.len()).find(|&at| is_end(at)).unwrap_or(rest.len())]
    }

    /// Whether what is not known is one word, besides which there is no operand: as an option it would leave nothing
    /// to work on. Long options may name a file with operands.
    fn is_alone(&self, looked_at: &[(&ShellWord, Option<&ShellWord>)]) -> bool {
        let at = looked_at.iter().position(|(word, _)| word.fixed().is_none());
        let Some(at) = at.filter(|_| self.alone) else { return false };
        // As an option it may take the next one for its value: then the value of that is an operand.
        let is_last = !looked_at[at..].iter().any(|(word, _)| self.takes_next(word));
        let names_none = |word: &ShellWord| match word.fixed() {
            Some("-") | None => false,
            Some(text) if text.starts_with("--") => !text.starts_with("--f") && !text.contains('='),
            Some(text) => text.starts_with('-') && (self.is_plain(text) || self.takes_next(word)),
        };
        let mut others = looked_at.iter().enumerate().filter(|(other, _)| *other != at);
        looked_at[at].0.is_exactly_one() && is_last && others.all(|(_, (word, _))| names_none(word))
    }

    /// Whether an option certainly has the next word for its value.
    pub(super) fn takes_next(&self, word: &ShellWord) -> bool {
        let letters = word.fixed().and_then(|text| text.strip_prefix('-'));
        let taking = letters.and_then(|letters| {
            let at = letters.find(|letter: char| self.taking.contains(letter))?;
            Some(at + 1 == letters.len() && !letters.starts_with('-'))
        });
        taking.unwrap_or(false)
    }

    /// Whether one of the words that make it harmless is there as an option, neither the value of another one nor an
    /// operand, and nothing negates it.
    fn is_spared(&self, rest: &[ShellWord]) -> bool {
        let (mut is_found, mut may_be_value, mut have_ended) = (false, false, false);
        // Which of the words behind such a one are values, nobody knows.
        if self.bundled && rest.first().is_some_and(|first| first.fixed().is_none()) {
            return false;
        }
        for word in rest {
            let is_over = self.leading && (word.is_operand() || word.fixed().is_none());
            if is_over || word.fixed() == Some("--") && !may_be_value {
                break;
            }
            if self.unless.iter().any(|known| self.may_negate(word, known)) {
                return false;
            }
            let is_sparing = self.unless.iter().any(|known| self.is_exactly(word, known));
            is_found |= is_sparing && !may_be_value && !have_ended;
            have_ended |= word.fixed() == Some("--");
            may_be_value = match word.fixed() {
                Some(text) if text.len() > 1 && text.starts_with('-') => {
                    !self.is_plain(text) && !self.is_flag(text)
                }
                Some(_) => false,
                None => !word.is_operand(),
            };
        }
        is_found
    }

    /// Whether a long option is one that makes it harmless, and takes no value.
    fn is_flag(&self, text: &str) -> bool {
        text.starts_with("--")
            && text != "--orphan"
            && self.unless.iter().any(|known| known == text)
    }

    fn is_of_git(&self) -> bool {
        self.argv.first().is_some_and(|program| program == "git")
    }

    /// Whether a word may be the negation of an option, also shortened: the last of both counts.
    fn may_negate(&self, word: &ShellWord, known: &str) -> bool {
        let Some(long) = known.strip_prefix("--") else { return false };
        let negation = format!("--no-{long}");
        match word.fixed() {
            Some(text) => text.len() > "--".len() && negation.starts_with(text),
            None => {
                // Those of `git config` cannot be negated.
                let negates = self.argv.get(1).is_some_and(|subcommand| subcommand != "config");
                self.is_of_git() && negates && negation.starts_with(word.starts())
            }
        }
    }

    /// Whether an option is there with another value than the harmless ones.
    fn has_other_value(&self, words: &[(&ShellWord, Option<&ShellWord>)], known: &str) -> bool {
        words.iter().any(|(word, next)| {
            let text = word.starts();
            let attached = match known.starts_with("--") {
                true if self.is_word(word, known) => text.split_once('=').map(|(_, value)| value),
                true => return false,
                false => match self.value_of_letter(text, &known[1..]) {
                    Some(value) => Some(value).filter(|value| !value.is_empty()),
                    None => return false,
                },
            };
            let value = match attached {
                Some(value) => word.fixed().and(Some(value)),
                None => next.and_then(ShellWord::fixed),
            };
            !value.is_some_and(|value| self.values.iter().any(|known| is_value(value, known)))
        })
    }

    /// What stands behind a letter among others; none where it is not there, or is a part of the value of another one.
    fn value_of_letter<'t>(&self, text: &'t str, letter: &str) -> Option<&'t str> {
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
        let (before, value) = letters.split_once(letter)?;
        let taking = if self.taking.is_empty() { TAKING_LETTERS } else { &self.taking };
        (!before.contains(|letter: char| taking.contains(letter))).then_some(value)
    }

    /// Whether an option certainly takes no value in the next word.
    fn is_plain(&self, option: &str) -> bool {
        if let Some(long) = option.strip_prefix("--") {
            return long.contains('=') || PLAIN_OPTIONS.contains(&long);
        }
        let letters = option.trim_start_matches('-');
        match letters.split_once(|letter: char| self.taking.contains(letter)) {
            Some((before, value)) => !value.is_empty() && self.are_flags(before),
            None => self.are_flags(letters),
        }
    }

    /// Whether letters are those of options without a value.
    fn are_flags(&self, letters: &str) -> bool {
        let flags = if self.flags.is_empty() { PLAIN_LETTERS } else { &self.flags };
        letters.chars().all(|letter| flags.contains(letter))
    }

    /// Whether a word is an option as the table writes it, or may be a short form of it.
    pub(super) fn is_word(&self, word: &ShellWord, known: &str) -> bool {
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
            let mut options =
                text[1..].split_inclusive(|letter: char| self.taking.contains(letter));
            return options.next().is_some_and(|options| options.contains(&known[1..]));
        }
        text == known
    }

    /// Whether a word is one that makes a command harmless: nothing may be left to guess.
    fn is_exactly(&self, word: &ShellWord, known: &str) -> bool {
        let Some(text) = word.fixed() else { return false };
        let is_letter = known.len() == 2 && known.starts_with('-');
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        match letters {
            // Behind a letter that takes a value the others are that value.
            Some(letters) if is_letter => {
                letters.split_once(&known[1..]).is_some_and(|(before, behind)| {
                    // What git is to set may look like letters.
                    let is_text = self.is_of_git() && !behind.chars().all(char::is_alphanumeric);
                    self.are_flags(before) && !is_text
                })
            }
            _ => text == known,
        }
    }
}

/// Whether a value is one of a table, where `DIRECTORY/*` stands for what lies in there.
fn is_value(value: &str, known: &str) -> bool {
    match known.strip_suffix('*') {
        Some(start) => value.starts_with(start) && !value.contains(".."),
        None => value == known,
    }
}
