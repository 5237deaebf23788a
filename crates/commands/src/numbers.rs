//! Variables that are numbers wherever a text sets them.
//!
//! Bash evaluates the text of a variable in arithmetic, and runs what an index in it says: `a[$(id)]`. So a name may
//! stand there only where the same text sets it, and sets it to nothing but numbers. What a variable has from outside
//! the text comes from policy and the person who wrote it.

use std::collections::BTreeSet;

use crate::{Assignment, ShellWord, SimpleCommand, Unparsed};

/// Expansions that are numbers, whatever was set. `$!` is not: it is empty before the first job in the background.
const NUMBERS: [&str; 3] = ["$?", "$#", "$$"];

/// The names of variables that are numbers.
#[derive(Debug, Default)]
pub(crate) struct NumberVariables(BTreeSet<String>);

/// Refuses arithmetic with a variable that may be something else than a number.
///
/// # Errors
///
/// The first such variable.
pub(crate) fn check_evaluated(
    commands: &[SimpleCommand],
    numbers: &NumberVariables,
) -> Result<(), Unparsed> {
    let mut evaluated = commands.iter().flat_map(|command| &command.evaluates);
    match evaluated.find(|name| !numbers.0.contains(*name)) {
        None => Ok(()),
        Some(name) => Err(Unparsed::new(
            0,
            format!(
                "arithmetic with `{name}`, which may run what that holds: only numbers that this text sets are known"
            ),
        )),
    }
}

/// Whether a name may be one: those in capitals are set by the shell itself, too.
pub(crate) fn may_be_number(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(is_plain)
}

/// Takes double quotes away, where nothing else is in them.
fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

/// The name in `$name` or `${name}`.
fn expanded_name(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('$')?;
    let name = rest.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(rest);
    may_be_number(name).then_some(name)
}

/// Whether a text is one piece of arithmetic: parentheses stand in no other word without a dollar sign, a quote or
/// an escape.
fn is_arithmetic(text: &str) -> bool {
    let inner = text.strip_prefix("$((").and_then(|rest| rest.strip_suffix("))"));
    inner.is_some_and(|inner| {
        let mut depth = 0_usize;
        let is_inside = inner.chars().all(|c| {
            match c {
                '(' => depth += 1,
                ')' if depth == 0 => return false,
                ')' => depth -= 1,
                _ => {}
            }
            !matches!(c, '"' | '\'' | '\\' | '`')
        });
        is_inside && !inner.contains("$(")
    })
}

/// Whether a word of digits is a number.
fn is_literal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a word is a number, whatever was set before.
fn is_always_number(word: &ShellWord) -> bool {
    match word {
        ShellWord::Fixed(text) => is_literal(text),
        ShellWord::Unknown { text, .. } => {
            let text = unquoted(text);
            let length = text.strip_prefix("${#").and_then(|rest| rest.strip_suffix('}'));
            let of_name = |name: &str| is_name(name.strip_suffix("[@]").unwrap_or(name));
            NUMBERS.contains(&text) || length.is_some_and(of_name) || is_arithmetic(text)
        }
    }
}

// === impl NumberVariables ===

impl NumberVariables {
    /// Finds the variables of a text that are set, and to nothing but numbers.
    pub(crate) fn of(commands: &[SimpleCommand]) -> Self {
        let assigned = || commands.iter().flat_map(|command| &command.assignments);
        let is_number =
            |value: &ShellWord| value.fixed().is_some_and(str::is_empty) || is_always_number(value);
        let is_other =
            |assigned: &&Assignment| assigned.value.as_ref().is_some_and(|value| !is_number(value));
        let others: BTreeSet<&String> =
            assigned().filter(is_other).map(|assigned| &assigned.name).collect();
        let read: BTreeSet<&String> = commands.iter().flat_map(|command| &command.sets).collect();
        // `i=$((i+1))` alone leaves open what `i` was.
        let begins = |assigned: &&Assignment| match &assigned.value {
            Some(ShellWord::Fixed(_)) => true,
            Some(ShellWord::Unknown { text, .. }) => !text.contains(&assigned.name),
            None => false,
        };
        let names = assigned().filter(begins).map(|assigned| &assigned.name);
        let numbers = names
            .filter(|name| may_be_number(name) && !read.contains(name) && !others.contains(name))
            .cloned();
        Self(numbers.collect())
    }

    /// Whether a word is a number, or nothing.
    pub(crate) fn is_number(&self, word: &ShellWord) -> bool {
        is_always_number(word) || self.is_variable(word)
    }

    fn is_variable(&self, word: &ShellWord) -> bool {
        let ShellWord::Unknown { text, .. } = word else { return false };
        expanded_name(unquoted(text)).is_some_and(|name| self.0.contains(name))
    }
}
