//! Commands that run the words behind their options, one table.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::options::{OptionForms, SortedWords};
use crate::{Assignment, Redirection, RedirectionMode, ShellWord};

static WRAPPERS: LazyLock<Vec<Wrapper>> = LazyLock::new(|| {
    let table: WrapperTable =
        toml::from_str(include_str!("wrappers.toml")).expect("a test reads the table");
    table.wrapper
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrapperTable {
    wrapper: Vec<Wrapper>,
}

/// A command that runs another; the keys are described in the table.
#[derive(Debug, Deserialize)]
struct Wrapper {
    name: String,
    #[serde(flatten)]
    forms: WrapperOptions,
    #[serde(default)]
    operands: usize,
    #[serde(default)]
    assigns: bool,
    #[serde(default)]
    creates: bool,
    terminal_output: Option<String>,
    script: Option<String>,
    #[serde(default)]
    joins: bool,
    #[serde(default)]
    appends: bool,
    #[serde(default)]
    itself: Vec<String>,
}

/// The options of a wrapper: those of any command, without the refusal of unknown keys, which a
/// flattened table cannot have.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WrapperOptions {
    flags: String,
    values: String,
    attached: String,
    any_values: Vec<String>,
    long: Vec<String>,
    long_values: Vec<String>,
    numeric: bool,
}

/// What a command runs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WhatRuns {
    /// No other command: it is no wrapper, or was asked for itself.
    Itself,
    /// These words, with these variables.
    Words(Vec<ShellWord>, Vec<Assignment>),
    /// A text for a shell.
    Script(String),
    /// Nobody can know: why.
    Unclear(String),
}

/// Finds out what a command runs that is no shell; `name` is its first word.
pub(crate) fn what_runs(name: &str, arguments: &[ShellWord]) -> WhatRuns {
    let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) else {
        return WhatRuns::Itself;
    };
    let is_itself = |word: &ShellWord| {
        word.fixed().is_some_and(|word| wrapper.itself.iter().any(|own| own == word))
    };
    if arguments.first().is_some_and(is_itself) {
        return WhatRuns::Itself;
    }
    if wrapper.appends {
        return appended(wrapper, arguments);
    }
    let forms = wrapper.forms();
    let sorted = match forms.sort(arguments, true) {
        Ok(sorted) => sorted,
        Err(option) => return WhatRuns::Unclear(format!("`{name}` with {option}")),
    };
    let mut words = &arguments[sorted.operands_at.min(arguments.len())..];
    if words.is_empty() {
        return WhatRuns::Itself;
    }
    let (before, behind) = words.split_at(wrapper.operands.min(words.len()));
    if before.iter().any(|word| !word.is_exactly_one()) {
        return WhatRuns::Unclear(format!("`{name}` with {}", before[0].shown()));
    }
    words = behind;
    if let Some(script) = &wrapper.script
        && words.first().is_some_and(|word| word.fixed() == Some(script))
    {
        return script_at(name, words, 1);
    }
    let mut assignments = Vec::new();
    while wrapper.assigns
        && let Some(assignment) = words.first().and_then(assignment)
    {
        assignments.push(assignment);
        words = &words[1..];
    }
    if words.is_empty() {
        return WhatRuns::Itself;
    }
    if wrapper.joins {
        return joined(name, words);
    }
    WhatRuns::Words(words.to_vec(), assignments)
}

/// The file that a command makes if it is missing, before it runs another; `name` is its first word.
pub(crate) fn created(name: &str, arguments: &[ShellWord]) -> Option<ShellWord> {
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name && wrapper.creates)?;
    // What is not understood is unclear.
    let sorted = wrapper.forms().sort(arguments, true).ok()?;
    let operands = arguments.get(sorted.operands_at..)?;
    let (first, rest) = operands.split_first()?;
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let is_descriptor = rest.is_empty() && first.fixed().is_some_and(is_number);
    (!is_descriptor).then(|| first.clone())
}

/// The file to which a command writes what it would write to a terminal; `name` is its first word.
pub(crate) fn terminal_output(name: &str) -> Option<Redirection> {
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name)?;
    let target = ShellWord::Fixed(wrapper.terminal_output.clone()?);
    Some(Redirection { mode: RedirectionMode::Append, target, is_output: true })
}

/// The text that a shell gets which words together make.
pub(crate) fn joined(name: &str, words: &[ShellWord]) -> WhatRuns {
    match words.iter().map(ShellWord::fixed).collect::<Option<Vec<_>>>() {
        Some(words) => WhatRuns::Script(words.join(" ")),
        None => WhatRuns::Unclear(format!("`{name}` of a text that is not known")),
    }
}

/// The text for a shell in one word.
pub(crate) fn script_at(name: &str, arguments: &[ShellWord], at: usize) -> WhatRuns {
    match arguments.get(at).map(ShellWord::fixed) {
        // Options may follow the one with the text: `bash -c -x TEXT`.
        Some(Some(option)) if option.starts_with(['-', '+']) => {
            WhatRuns::Unclear(format!("`{name}` with {option} behind its option for a text"))
        }
        Some(Some(script)) => WhatRuns::Script(script.to_owned()),
        Some(None) => WhatRuns::Unclear(format!("`{name}` of a text that is not known")),
        None => WhatRuns::Unclear(format!("`{name}` without its text")),
    }
}

/// Reads `NAME=value` as a word.
pub(crate) fn assignment(word: &ShellWord) -> Option<Assignment> {
    let (name, value) = word.starts().split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty()
        || !name.chars().all(is_name)
        || name.starts_with(|c: char| c.is_ascii_digit())
    {
        return None;
    }
    let value = match word {
        ShellWord::Fixed(_) => ShellWord::Fixed(value.to_owned()),
        ShellWord::Unknown { is_single: true, text, .. } => {
            let bare = text.strip_prefix(name).and_then(|text| text.strip_prefix('='));
            ShellWord::unknown(bare.unwrap_or(text))
        }
        ShellWord::Unknown { .. } => return None,
    };
    Some(Assignment { name: name.to_owned(), value: Some(value) })
}

/// What `xargs` runs: words with others behind them, or in the place of a text.
fn appended(wrapper: &Wrapper, arguments: &[ShellWord]) -> WhatRuns {
    let mut forms = wrapper.forms();
    forms.values.push('I');
    let sorted = match forms.sort(arguments, true) {
        Ok(sorted) => sorted,
        Err(option) => return WhatRuns::Unclear(format!("`{}` with {option}", wrapper.name)),
    };
    let mut words = arguments[sorted.operands_at.min(arguments.len())..].to_vec();
    if words.is_empty() {
        return WhatRuns::Itself;
    }
    let replaced = match replaced_text(&sorted) {
        Ok(replaced) => replaced,
        Err(why) => return WhatRuns::Unclear(why.to_owned()),
    };
    let Some(replaced) = replaced else {
        words.push(ShellWord::unknown("…"));
        return WhatRuns::Words(words, Vec::new());
    };
    let words = words.into_iter().map(|word| replaced_in(word, &replaced, false)).collect();
    WhatRuns::Words(words, Vec::new())
}

/// A word in which another program puts a name, or several where the word is nothing else, in the place of a text.
pub(crate) fn replaced_in(word: ShellWord, replaced: &str, is_several: bool) -> ShellWord {
    let known = word.starts();
    let starts = match known.find(replaced) {
        Some(at) => &known[..at],
        None if word.fixed().is_some() => return word,
        // What is not known may begin with the rest of that text.
        None => {
            let is_begun = |at: &usize| replaced.starts_with(&known[*at..]);
            let at = known.char_indices().map(|(at, _)| at).find(is_begun);
            &known[..at.unwrap_or(known.len())]
        }
    };
    let is_single = word.is_exactly_one() && !(is_several && known == replaced);
    ShellWord::Unknown { text: word.shown(), starts: starts.to_owned(), is_single }
}

/// The text that `xargs` replaces, where it does.
fn replaced_text(sorted: &SortedWords<'_>) -> Result<Option<String>, &'static str> {
    const GROUPING: [&str; 4] = ["-n", "-L", "--max-args", "--max-lines"];
    let mut found = None;
    let groups = sorted.options.iter().any(|(name, _)| GROUPING.contains(&name.as_str()));
    for (_, value) in sorted.options.iter().filter(|(name, _)| name == "-I") {
        match value.as_ref().map(ShellWord::fixed) {
            _ if groups => return Err("`xargs -I` with another option that decides what is added"),
            Some(Some(text)) if !text.is_empty() => found = Some(text.to_owned()),
            _ => return Err("`xargs -I` without a text of its own behind it"),
        }
    }
    Ok(found)
}

// === impl Wrapper ===

impl Wrapper {
    fn forms(&self) -> OptionForms {
        let own = &self.forms;
        OptionForms {
            flags: own.flags.clone(),
            values: own.values.clone(),
            attached: own.attached.clone(),
            any_values: own.any_values.clone(),
            long: own.long.clone(),
            long_values: own.long_values.clone(),
            numeric: own.numeric,
            ..OptionForms::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_and_has_no_unknown_key() {
        let known = [
            "name",
            "flags",
            "values",
            "attached",
            "any_values",
            "long",
            "long_values",
            "numeric",
            "operands",
            "assigns",
            "creates",
            "terminal_output",
            "script",
            "joins",
            "appends",
            "itself",
        ];
        let table: toml::Table = toml::from_str(include_str!("wrappers.toml")).unwrap();
        for wrapper in table["wrapper"].as_array().unwrap() {
            for key in wrapper.as_table().unwrap().keys() {
                assert!(known.contains(&key.as_str()), "{key}");
            }
        }
        assert_eq!(table["wrapper"].as_array().unwrap().len(), WRAPPERS.len());
    }
}
