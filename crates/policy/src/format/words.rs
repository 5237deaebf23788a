//! The words of commands in a rule.
//!
//! A rule with `argv` or `exact_argv` is about commands (`exec`), one simple command at a time, as
//! [`moss_commands`] reads them. `paths` are the directories in which they run. One that allows needs
//! these words exactly, and no variable before them that changes what they do; one that asks or denies
//! also holds where an unknown word may be the one it names. What destroys, or cannot be read, asks all
//! the same. `sandbox_min` (`full`, `landlock` or `none`, beside `version`) is the least isolation that
//! is enough; without it, `full`. A workspace can only ask for more.

use serde::Deserialize;
use toml::Spanned;

use super::GLOBS_MAX;
use crate::Action;
use crate::commands::CommandWords;
use crate::effect_word::EffectWord;
use crate::error::PolicyFault;

/// A word of a command in a rule.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum ArgvWordForm {
    One(String),
    OneOf(Vec<String>),
}

/// Reads the words of commands that a rule is about.
pub(super) fn command_words(
    argv: Option<Spanned<Vec<ArgvWordForm>>>,
    exact_argv: Option<Spanned<Vec<String>>>,
    effects: Option<&Spanned<Vec<Spanned<EffectWord>>>>,
) -> Result<Option<CommandWords>, PolicyFault> {
    let (span, words) = match (argv, exact_argv) {
        (None, None) => return Ok(None),
        (Some(_), Some(exact)) => {
            return Err(PolicyFault::new(exact.span(), "`argv` and `exact_argv` in one rule")
                .help("write two rules"));
        }
        (Some(argv), None) => {
            let span = argv.span();
            let words = argv.into_inner().into_iter().map(|word| match word {
                ArgvWordForm::One(word) => vec![word],
                ArgvWordForm::OneOf(words) => words,
            });
            (span, CommandWords::First(words.collect()))
        }
        (None, Some(exact)) => (exact.span(), CommandWords::All(exact.into_inner())),
    };
    let (is_empty, too_many) = match &words {
        CommandWords::First(argv) => {
            (argv.iter().any(Vec::is_empty) || argv.is_empty(), argv.len() > GLOBS_MAX)
        }
        CommandWords::All(argv) => (argv.is_empty(), argv.len() > GLOBS_MAX),
    };
    if is_empty {
        return Err(PolicyFault::new(span, "an empty list matches nothing")
            .help("name the program, and the words behind it that matter"));
    }
    if too_many {
        return Err(PolicyFault::new(span, format!("more than {GLOBS_MAX} words")));
    }
    let other = effects.and_then(|words| {
        let is_exec = |word: &&Spanned<EffectWord>| *word.as_ref() != EffectWord::Exec;
        words.as_ref().iter().find(is_exec)
    });
    match other {
        None => Ok(Some(words)),
        Some(word) => Err(PolicyFault::new(word.span(), "only commands have words")
            .help("write `effects = [\"exec\"]`, or leave `effects` out")),
    }
}

/// Refuses to allow what a person is asked about whatever a rule says.
pub(super) fn check_allowed(
    effects: Option<&Spanned<Vec<Spanned<EffectWord>>>>,
) -> Result<(), PolicyFault> {
    let mut words = effects.into_iter().flat_map(Spanned::as_ref);
    match words.find(|word| word.as_ref().actions().contains(&Action::Register)) {
        None => Ok(()),
        Some(word) => {
            let why = "no rule allows to register plugins: a person decides about each";
            Err(PolicyFault::new(word.span(), why)
                .help("leave `register` out; a rule can ask about it or deny it"))
        }
    }
}
