//! Builtins that set variables by their words, and those that evaluate words as arithmetic; but for `let`, which
//! always asks.
//!
//! What they set is looked at like `NAME=value`. A name with an index (`a[$(id)]`) runs what the index says, and
//! a name that is not known may have one: both are unclear.

use std::collections::BTreeSet;

use crate::environment::why_unclear;
use crate::matching::may_be;
use crate::numbers::NumberVariables;
use crate::options::{OptionForms, SortedWords};
use crate::wrappers;
use crate::{Assignment, ShellWord, SimpleCommand};

/// Builtins that set variables by words of the form `NAME=value`.
pub(crate) const DECLARING: [&str; 5] = ["declare", "export", "local", "readonly", "typeset"];
/// Those that take a value in parentheses for the elements of an array where the variable is one: they expand it anew,
/// commands in it, too.
const EXPANDING: [&str; 3] = ["declare", "local", "typeset"];
/// How an array is shown as a value.
pub(crate) const ARRAY: &str = "(…)";
/// Variables of the shell that are arrays by themselves; those of `BASH_` always ask.
const ARRAYS: [&str; 8] = [
    "COMPREPLY",
    "COMP_WORDS",
    "COPROC",
    "DIRSTACK",
    "FUNCNAME",
    "GROUPS",
    "MAPFILE",
    "PIPESTATUS",
];
/// Options of those that change nothing that is looked at here: no arithmetic, no references, no functions.
const DECLARING_FLAGS: &str = "grx";
/// Operators of `[[` whose operands are arithmetic.
const ARITHMETIC: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
/// Operators of tests before the name of a variable.
const NAMING: [&str; 2] = ["-v", "-R"];

/// What a builtin sets, or the word for which nobody can know.
type SetNames<'a> = Result<Vec<Assignment>, &'a ShellWord>;

/// Notes what a builtin sets, or why nobody can know. Some shells split what a variable holds into several
/// words.
pub(crate) fn note_assigned(command: &mut SimpleCommand, splits: bool) {
    let Some(name) = command.program() else { return };
    let words = &command.words[1..];
    let noted = match name {
        _ if DECLARING.contains(&name) => declared(words, splits),
        "read" => read_names(words),
        "mapfile" | "readarray" => read_lines(words),
        "printf" => printed(words),
        "getopts" => option_names(words),
        "wait" => waited(words),
        "unset" => unset(words),
        _ => return,
    };
    match noted {
        Ok(names) if DECLARING.contains(&name) => command.assignments.extend(names),
        Ok(names) => {
            if let Some(why) = names.iter().find_map(why_unclear) {
                command.unclear = Some(why);
            }
            command.sets.extend(names.into_iter().map(|set| set.name));
        }
        Err(word) => command.unclear = Some(why_unknown(name, word)),
    }
}

/// Notes why nobody can know what is declared: a value that may be in parentheses, of what may be an array.
pub(crate) fn note_expanded(commands: &mut [SimpleCommand]) {
    let is_array = |assigned: &&Assignment| {
        assigned.value.as_ref().is_some_and(|value| value.shown() == ARRAY)
    };
    let assigned = commands.iter().flat_map(|command| &command.assignments).filter(is_array);
    let mut arrays: BTreeSet<String> = assigned.map(|array| array.name.clone()).collect();
    let made = commands.iter().flat_map(made_arrays);
    arrays.extend(made.map(|array| array.name));
    let is_elements = |value: &ShellWord| match value {
        ShellWord::Fixed(text) => text.starts_with('('),
        ShellWord::Unknown { starts, .. } => starts.is_empty() || starts.starts_with('('),
    };
    for command in commands {
        let name = command.program().filter(|name| EXPANDING.contains(name));
        let mut assigned = command.assignments.iter().filter(|_| name.is_some());
        let expanded = assigned.find(|assigned| {
            (arrays.contains(&assigned.name) || ARRAYS.contains(&assigned.name.as_str()))
                && assigned.value.as_ref().is_some_and(is_elements)
        });
        if let Some(expanded) = expanded {
            let why = format!("{} may be an array, and what is declared of it run", expanded.name);
            command.unclear.get_or_insert(why);
        }
    }
}

/// The arrays that a builtin makes; where nobody can know its names, it is unclear.
fn made_arrays(command: &SimpleCommand) -> Vec<Assignment> {
    let words = command.words.get(1..).unwrap_or_default();
    let made = match command.program() {
        Some("mapfile" | "readarray") => read_lines(words),
        Some("read") => read_sorted(words).and_then(|sorted| valued(&sorted.options, "-a", words)),
        _ => return Vec::new(),
    };
    made.unwrap_or_default()
}

/// Notes why nobody can know what a test evaluates.
pub(crate) fn note_tested(command: &mut SimpleCommand, numbers: &NumberVariables) {
    let Some(name) = command.program() else { return };
    let words = &command.words[1..];
    let noted = match name {
        "[" | "test" => tested(words, numbers),
        "[[" => compared(words, numbers).and_then(|()| named(words)),
        _ => return,
    };
    let why = noted.err().map(|word| why_unknown(name, word));
    if command.unclear.is_none() {
        command.unclear = why;
    }
}

fn why_unknown(name: &str, word: &ShellWord) -> String {
    format!("`{name}` with {}: it may run what that says", word.shown())
}

/// Whether a builtin sets variables of the shell alone, as `NAME=value` does, and no program is given more of them.
pub(crate) fn sets_own(command: &SimpleCommand) -> bool {
    let is_declaring = |name: &str| name != "export" && DECLARING.contains(&name);
    if !command.program().is_some_and(is_declaring) {
        return false;
    }
    let (options, set): (Vec<_>, Vec<_>) =
        command.words.iter().skip(1).partition(|word| word.starts().starts_with('-'));
    // What stands before the command is given to programs.
    let has_more = command.assignments.len() != set.len();
    !has_more && !options.iter().any(|word| word.starts().contains('x'))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A variable that is set to what nobody knows.
fn set(word: &ShellWord) -> Result<Assignment, &ShellWord> {
    let name = word.fixed().filter(|name| is_name(name)).ok_or(word)?;
    Ok(Assignment { name: name.to_owned(), value: Some(ShellWord::unknown("…")) })
}

/// The names that are values of an option.
fn valued<'a>(
    options: &[(String, Option<ShellWord>)],
    wanted: &str,
    words: &'a [ShellWord],
) -> SetNames<'a> {
    let values = options.iter().filter(|(option, _)| option == wanted);
    let name = |(_, value): &(String, Option<ShellWord>)| {
        let assigned = value.as_ref().and_then(|value| set(value).ok());
        assigned.ok_or(&words[0])
    };
    values.map(name).collect()
}

fn forms(flags: &str, values: &str) -> OptionForms {
    let (flags, values) = (flags.to_owned(), values.to_owned());
    // The options of builtins with a value take the next word whatever that is.
    let any_values = vec!["*".to_owned()];
    OptionForms { flags, values, any_values, ..OptionForms::default() }
}

/// Separates the words of a builtin; options end at the first operand.
fn sorted<'a>(
    words: &'a [ShellWord],
    flags: &str,
    values: &str,
) -> Result<SortedWords<'a>, &'a ShellWord> {
    let is_doubtful = |word: &&ShellWord| !word.is_operand();
    forms(flags, values).sort(words, true).map_err(|refused| {
        let found = words.iter().find(|word| word.shown() == refused);
        found.or_else(|| words.iter().find(is_doubtful)).unwrap_or(&words[0])
    })
}

fn declared(words: &[ShellWord], splits: bool) -> SetNames<'_> {
    let mut declared = Vec::new();
    for word in words {
        let text = word.starts();
        if let Some(letters) = text.strip_prefix('-') {
            let is_known =
                !letters.is_empty() && letters.chars().all(|c| DECLARING_FLAGS.contains(c));
            if !is_known || word.fixed().is_none() {
                return Err(word);
            }
        } else if splits && word.fixed().is_none() {
            return Err(word);
        } else if let Some(assignment) = wrappers::assignment(word) {
            declared.push(assignment);
        } else if word.fixed().is_some_and(is_name) {
            declared.push(Assignment { name: text.to_owned(), value: None });
        } else {
            return Err(word);
        }
    }
    Ok(declared)
}

fn read_sorted(words: &[ShellWord]) -> Result<SortedWords<'_>, &ShellWord> {
    sorted(words, "ers", "adinNptu")
}

fn read_names(words: &[ShellWord]) -> SetNames<'_> {
    let SortedWords { options, operands, .. } = read_sorted(words)?;
    let mut names = valued(&options, "-a", words)?;
    for operand in operands {
        names.push(set(operand)?);
    }
    Ok(names)
}

/// `mapfile NAME`. What `-C` gives it is a text for the shell.
fn read_lines(words: &[ShellWord]) -> SetNames<'_> {
    let SortedWords { operands, .. } = sorted(words, "t", "dnOsu")?;
    operands.into_iter().map(set).collect()
}

/// `printf -v NAME`, and `%n` with the name of a variable among the arguments.
fn printed(words: &[ShellWord]) -> SetNames<'_> {
    let (mut names, mut at) = (Vec::new(), 0);
    if words.first().is_some_and(|word| word.starts().starts_with('-')) {
        let SortedWords { options, operands_at, .. } = sorted(words, "", "v")?;
        names = valued(&options, "-v", words)?;
        at = operands_at;
    }
    let Some((format, arguments)) = words.get(at..).and_then(<[_]>::split_first) else {
        return Ok(names);
    };
    let is_harmless = match format {
        ShellWord::Fixed(text) => !counts(text),
        ShellWord::Unknown { is_single, .. } => *is_single && arguments.is_empty(),
    };
    if is_harmless { Ok(names) } else { Err(format) }
}

/// Whether a format of `printf` has `%n`.
fn counts(format: &str) -> bool {
    let is_before = |c: char| !c.is_ascii_alphabetic() || "hlLjzt".contains(c);
    let format = format.replace("%%", "");
    format.split('%').skip(1).any(|part| part.trim_start_matches(is_before).starts_with('n'))
}

/// The name behind the options that `getopts` looks for.
fn option_names(words: &[ShellWord]) -> SetNames<'_> {
    let words = match words {
        [first, rest @ ..] if first.fixed() == Some("--") => rest,
        words => words,
    };
    let [wanted, name, ..] = words else { return Ok(Vec::new()) };
    match wanted {
        ShellWord::Unknown { is_single: false, .. } => Err(wanted),
        _ => Ok(vec![set(name)?]),
    }
}

/// `wait -p NAME`. What it waits for is a number or a job.
fn waited(words: &[ShellWord]) -> SetNames<'_> {
    let first = words.iter().position(|word| !word.starts().starts_with('-'));
    let end = match first {
        Some(0) => return Ok(Vec::new()),
        Some(at) => at + 1,
        None => words.len(),
    };
    let SortedWords { options, .. } = sorted(&words[..end], "fn", "p")?;
    valued(&options, "-p", words)
}

/// `unset` sets nothing, but evaluates an index.
fn unset(words: &[ShellWord]) -> SetNames<'_> {
    for operand in sorted(words, "fnv", "")?.operands {
        set(operand)?;
    }
    Ok(Vec::new())
}

/// Whether a word is `-v` or `-R`.
fn is_naming(word: &ShellWord) -> bool {
    word.fixed().is_some_and(|operator| NAMING.contains(&operator))
}

/// `-v` and `-R` before what is no plain name.
fn named(words: &[ShellWord]) -> SetNames<'_> {
    for pair in words.windows(2) {
        if is_naming(&pair[0]) {
            set(&pair[1])?;
        }
    }
    Ok(Vec::new())
}

/// The same in `[`, where words that are not known may be operators, too: `$x` becomes several, and of two
/// that follow each other the first may be `-v`.
fn tested<'w>(words: &'w [ShellWord], numbers: &NumberVariables) -> SetNames<'w> {
    let may_name = |word: &ShellWord| {
        !numbers.is_number(word) && NAMING.into_iter().any(|operator| may_be(word, operator))
    };
    let is_several =
        |word: &&ShellWord| matches!(word, ShellWord::Unknown { is_single: false, .. });
    if let Some(several) = words.iter().filter(is_several).find(|word| may_name(word)) {
        return Err(several);
    }
    let may_have_index = |word: &ShellWord| match word {
        ShellWord::Fixed(text) => text.contains('['),
        ShellWord::Unknown { .. } => !numbers.is_number(word),
    };
    // What is empty outside of quotes is no word at all: then its neighbours follow each other.
    let kept: Vec<_> = words.iter().filter(|word| word.is_exactly_one()).collect();
    let close = kept.windows(2).map(|pair| (pair[0], pair[1]));
    let pairs = words.windows(2).map(|pair| (&pair[0], &pair[1])).chain(close);
    for (first, second) in pairs {
        if first.fixed().is_none() && may_name(first) && may_have_index(second) {
            return Err(first);
        }
        if is_naming(first) {
            set(second)?;
        }
    }
    Ok(Vec::new())
}

/// The operands of comparisons of numbers in `[[`: a text there is evaluated.
fn compared<'w>(words: &'w [ShellWord], numbers: &NumberVariables) -> Result<(), &'w ShellWord> {
    for triple in words.windows(3) {
        if triple[1].fixed().is_some_and(|operator| ARITHMETIC.contains(&operator)) {
            for operand in [&triple[0], &triple[2]] {
                if !numbers.is_number(operand) {
                    return Err(operand);
                }
            }
        }
    }
    Ok(())
}
