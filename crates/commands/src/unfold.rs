//! Adds what commands run to the list: the words behind wrappers, the texts for shells, the actions
//! of `find`.

use crate::matching::may_be;
use crate::wrappers::{self, WhatRuns, joined, replaced_in, script_at};
use crate::{
    Assignment, COMMANDS_MAX, DEPTH_MAX, Redirection, RedirectionMode, ShellWord, SimpleCommand,
    Unparsed, builtins, reader,
};

/// Shells that read their text as bash does, as far as it is read here.
pub(crate) const SHELLS: [&str; 4] = ["ash", "bash", "dash", "sh"];
/// Builtins that run what stands behind them, or a text, in the same shell.
pub(crate) const EVALUATING: [&str; 3] = ["builtin", "command", "eval"];
/// Commands whose shell may be another one than bash: to that, what only bash knows is something else.
const OTHER_SHELLS: [&str; 5] = ["ash", "dash", "flock", "sh", "watch"];
/// What only bash knows, or what it means other than in the standard.
const BASH_ONLY: [&str; 13] =
    ["[[", "((", "&>", ">&", "|&", "<<<", "<(", ">(", "$'", "$\"", "+=", "function", "coproc"];
/// Options of shells that change nothing that is looked at here.
const SHELL_FLAGS: &str = "elux";
/// Actions of `find` that run words.
const FIND_ACTIONS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];
/// Those that run them where each file lies.
const MOVING_ACTIONS: [&str; 2] = ["-execdir", "-okdir"];
/// Those that ask before; only a semicolon ends them.
const ASKING_ACTIONS: [&str; 2] = ["-ok", "-okdir"];

/// Adds what each command runs behind it.
pub(crate) fn unfold(commands: Vec<SimpleCommand>) -> Result<Vec<SimpleCommand>, Unparsed> {
    let mut unfolded = Vec::with_capacity(commands.len());
    for command in commands {
        unfold_one(command, 0, &mut unfolded)?;
    }
    Ok(unfolded)
}

fn unfold_one(
    mut command: SimpleCommand,
    depth: usize,
    unfolded: &mut Vec<SimpleCommand>,
) -> Result<(), Unparsed> {
    if depth >= DEPTH_MAX {
        return Err(Unparsed::new(
            0,
            format!("commands that run others more than {DEPTH_MAX} deep"),
        ));
    }
    if unfolded.len() >= COMMANDS_MAX {
        return Err(Unparsed::new(0, format!("more than {COMMANDS_MAX} commands")));
    }
    let name = command.program().unwrap_or_default().to_owned();
    let mut via = command.via.clone();
    via.push(name);
    let is_other = via.iter().any(|name| OTHER_SHELLS.contains(&name.as_str()));
    builtins::note_assigned(&mut command, is_other);
    let arguments = command.words.get(1..).unwrap_or_default();
    let created = wrappers::created(command.program().unwrap_or_default(), arguments);
    let opened = |target| Redirection { mode: RedirectionMode::Append, target, is_output: false };
    command.redirections.extend(created.map(opened));
    let inner = match what_runs(&mut command) {
        WhatRuns::Script(text) if is_other => plain_script(text),
        other => other,
    };
    match inner {
        WhatRuns::Itself => {
            let found = find_actions(&mut command);
            let is_fed = command.takes_input();
            unfolded.push(command);
            for words in found {
                let inner = inner_command(words, Vec::new(), &via, None);
                unfold_one(SimpleCommand { is_fed, ..inner }, depth + 1, unfolded)?;
            }
            Ok(())
        }
        WhatRuns::Unclear(why) => {
            command.unclear.get_or_insert(why);
            unfolded.push(command);
            Ok(())
        }
        WhatRuns::Words(words, assignments) => {
            command.is_wrapper = true;
            let mut inner = inner_command(words, assignments, &via, command.input.clone());
            inner.is_fed = command.takes_input();
            unfolded.push(command);
            unfold_one(inner, depth + 1, unfolded)
        }
        WhatRuns::Script(text) => unfold_script(command, text, (depth, &via), unfolded),
    }
}

/// Unfolds what a shell runs by a text that is given to it.
fn unfold_script(
    mut command: SimpleCommand,
    text: String,
    (depth, via): (usize, &[String]),
    unfolded: &mut Vec<SimpleCommand>,
) -> Result<(), Unparsed> {
    let inner = match reader::read(&text, depth + 1) {
        Ok(inner) => inner,
        Err(error) => {
            command.unclear = Some(format!("what it runs is not read: {error}"));
            unfolded.push(command);
            return Ok(());
        }
    };
    command.is_wrapper = !reads_profile(&command);
    command.script = Some(text);
    let is_fed = command.takes_input();
    unfolded.push(command);
    for mut inner in inner {
        inner.via = via.to_vec();
        inner.is_fed |= is_fed;
        unfold_one(inner, depth + 1, unfolded)?;
    }
    Ok(())
}

/// A text for a shell that may not be bash.
fn plain_script(text: String) -> WhatRuns {
    let is_copy = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    let found = BASH_ONLY.iter().find(|own| {
        let mut places = text.match_indices(*own);
        places.any(|(at, own)| own != ">&" || !is_copy(&text[at + own.len()..]))
    });
    match found {
        Some(own) => WhatRuns::Unclear(format!(
            "a text with `{own}` for a shell that may not be bash; `bash -c` says which"
        )),
        None => WhatRuns::Script(text),
    }
}

/// A command that another one runs with these words.
fn inner_command(
    words: Vec<ShellWord>,
    assignments: Vec<Assignment>,
    via: &[String],
    input: Option<ShellWord>,
) -> SimpleCommand {
    let text: Vec<_> = words.iter().map(ShellWord::shown).collect();
    let mut command = SimpleCommand::new(text.join(" "));
    command.words = words;
    command.assignments = assignments;
    command.via = via.to_vec();
    command.input = input;
    command
}

/// Finds out what a command runs beside itself, and why that may be unknown.
fn what_runs(command: &mut SimpleCommand) -> WhatRuns {
    if command.words.is_empty() {
        return WhatRuns::Itself;
    }
    let Some(name) = command.program().map(ToOwned::to_owned) else {
        return WhatRuns::Unclear("which program runs is known only when it does".to_owned());
    };
    // `--` and options stand where a program is only if who runs them reads on.
    if name.starts_with('-') {
        return WhatRuns::Unclear(format!("{name} where a program is expected"));
    }
    let arguments = &command.words[1..];
    match name.as_str() {
        "eval" if arguments.is_empty() => WhatRuns::Itself,
        "eval" => joined("eval", arguments),
        // They run what some of their options say, each in another way.
        "compgen" | "jobs" if arguments.iter().any(|word| !is_plain_listing(&name, word)) => {
            WhatRuns::Unclear(format!("`{name}` with an option that may run commands"))
        }
        "source" | "." => WhatRuns::Unclear(format!("`{name}` runs what a file says")),
        shell if SHELLS.contains(&shell) => shell_runs(&name, command),
        _ => wrappers::what_runs(&name, arguments),
    }
}

/// Whether a word of `compgen` or `jobs` makes it no more than list names: `-C`, `-F` and `-W` of the first and `-x` of
/// the second run commands.
fn is_plain_listing(name: &str, word: &ShellWord) -> bool {
    let letters = if name == "jobs" { "lnprs" } else { "abcdefgjksuvA" };
    let is_plain = |options: &str| options.chars().all(|letter| letters.contains(letter));
    let options = word.fixed().and_then(|text| text.strip_prefix('-'));
    word.is_operand() || options.is_some_and(is_plain)
}

/// What a shell runs: the text behind `-c`, or that on its input. A file of commands is a program
/// like any other.
fn shell_runs(name: &str, command: &mut SimpleCommand) -> WhatRuns {
    let arguments = &command.words[1..];
    if name == "bash" && arguments.len() == 1 && arguments[0].fixed() == Some("--version") {
        return WhatRuns::Itself;
    }
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        let Some(text) = word.fixed() else {
            return WhatRuns::Unclear(format!("`{name}` with {}", word.shown()));
        };
        if text == "-o" && arguments.get(at + 1).and_then(ShellWord::fixed) == Some("pipefail") {
            at += 2;
            continue;
        }
        let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            // The name of a file, unless that may be its input or a text: an option with a plus, a device.
            let is_file =
                !["-", "+", "/dev/", "/proc/"].iter().any(|start| text.starts_with(start));
            let why = || WhatRuns::Unclear(format!("`{name}` with {}", word.shown()));
            return if is_file { WhatRuns::Itself } else { why() };
        };
        let is_known = letters.chars().all(|letter| letter == 'c' || SHELL_FLAGS.contains(letter));
        if !is_known {
            return WhatRuns::Unclear(format!("`{name}` with {}", word.shown()));
        }
        at += 1;
        if letters.contains('c') {
            return script_at(name, arguments, at);
        }
    }
    let why = format!("`{name}` runs what it is given to read; `{name} -c` is given a text");
    let reads_file = command
        .redirections
        .iter()
        .any(|opened| matches!(opened.mode, RedirectionMode::Read | RedirectionMode::ReadWrite));
    match command.input.as_ref().map(ShellWord::fixed) {
        Some(Some(script)) if !reads_file => {
            // What a command in it reads of the same input is gone then, and the rest is another text.
            let script = script.to_owned();
            command.unclear.get_or_insert(why);
            WhatRuns::Script(script)
        }
        _ => WhatRuns::Unclear(why),
    }
}

/// Whether a shell runs files of the machine and the user before its text, as one does for a login.
fn reads_profile(command: &SimpleCommand) -> bool {
    let is_shell = command.program().is_some_and(|name| SHELLS.contains(&name));
    let arguments = command.words.iter().skip(1).map_while(ShellWord::fixed);
    let mut options = arguments.take_while(|word| word.starts_with('-') || *word == "pipefail");
    is_shell && options.any(|word| word.contains('l') && word.starts_with('-'))
}

/// Takes the actions of `find` that run words out of it.
fn find_actions(command: &mut SimpleCommand) -> Vec<Vec<ShellWord>> {
    if command.program() != Some("find") {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut kept = Vec::with_capacity(command.words.len());
    let mut words = std::mem::take(&mut command.words).into_iter();
    while let Some(word) = words.next() {
        if !word.fixed().is_some_and(|word| FIND_ACTIONS.contains(&word)) {
            kept.push(word);
            continue;
        }
        if word.fixed().is_some_and(|word| MOVING_ACTIONS.contains(&word)) {
            command.unclear = Some("`find` runs it wherever files lie".to_owned());
        }
        let is_asking = word.fixed().is_some_and(|word| ASKING_ACTIONS.contains(&word));
        match action_of_find(words.by_ref(), is_asking) {
            Ok(action) => found.push(action),
            Err(FindAction { why, words }) => {
                command.unclear = Some(why);
                found.push(words);
            }
        }
    }
    command.words = kept;
    found.retain(|action: &Vec<ShellWord>| !action.is_empty());
    found
}

/// An action of which nobody can know where it ends.
struct FindAction {
    why: String,
    words: Vec<ShellWord>,
}

/// Takes the words of one action. What `find` finds behind its end it reads itself, so each word has to be one that
/// ends it or one that cannot; with `+` at its end many names take the place of `{}`.
fn action_of_find(
    words: impl Iterator<Item = ShellWord>,
    is_asking: bool,
) -> Result<Vec<ShellWord>, FindAction> {
    let mut action: Vec<ShellWord> = Vec::new();
    let mut doubtful = None;
    for word in words {
        let ends = match word.fixed() {
            Some(";") => Some(false),
            Some("+") => Some(true),
            _ => None,
        };
        // Some read every `+` as the end, others only the one behind `{}`, and none behind what asks.
        let is_names = action.last().and_then(ShellWord::fixed) == Some("{}");
        let may_end = match ends {
            Some(is_many) => is_many && (is_asking || !is_names),
            None => !word.is_exactly_one() || may_be(&word, ";") || may_be(&word, "+"),
        };
        if may_end && doubtful.is_none() {
            doubtful = Some(format!("an action of `find` that may end with {}", word.shown()));
        }
        let Some(is_many) = ends else {
            action.push(word);
            continue;
        };
        if doubtful.is_none() && !action.is_empty() {
            let named = |word| replaced_in(word, "{}", is_many);
            return Ok(action.into_iter().map(named).collect());
        }
        break;
    }
    let why = doubtful.unwrap_or_else(|| "an action of `find` without its end".to_owned());
    let named = |word| replaced_in(word, "{}", true);
    Err(FindAction { why, words: action.into_iter().map(named).collect() })
}
