//! Commands and options that other programs have and moss calls otherwise.

use clap::error::{ContextKind, ContextValue};

/// A word that people try, and what does it here.
type Misnomer = (&'static [&'static str], &'static str);

const COMMANDS: &[Misnomer] = &[
    (
        &["undo", "revert", "rollback"],
        "`moss history undo N` undoes a change; `moss history list` has the numbers",
    ),
    (
        &["redo", "reapply"],
        "`moss history undo N` of the undo, by its number in `moss history list`",
    ),
    (&["log", "changes"], "`moss history list`"),
    (&["diff"], "`moss history show N`"),
    (&["kill", "quit", "shutdown"], "`moss stop`"),
    (&["restart"], "`moss stop`, then `moss serve`"),
    (
        &["start", "run", "daemon", "server", "up"],
        "`moss serve` starts the daemon; `moss call TOOL` runs a tool",
    ),
    (&["list", "ls", "tool"], "`moss tools`"),
    (
        &["approve", "deny", "watch"],
        "`moss confirm list`, then `moss confirm approve ID` or `moss confirm deny ID`",
    ),
    (
        &["init", "config"],
        "`moss tools` in a project; `moss setup CLIENT` for a client, `moss doctor` checks it",
    ),
    (&["install", "add"], "`moss plugin add FILE`"),
    (&["rules", "explain"], "`moss policy show`, `moss policy explain TOOL KEY=VALUE…`"),
];

/// What numbers of the history there are.
const NUMBERS: &str = "`moss history list` shows the numbers";

const OPTIONS: &[Misnomer] = &[
    (
        &["--yes", "-y", "--allow", "--approve", "--force", "-f"],
        "`--confirm allow` approves what this call asks",
    ),
    (&["--no", "--deny"], "`--confirm deny`"),
    (
        &["--dryrun", "--dry", "--preview", "--check"],
        "`--dry-run` shows the effect and does nothing",
    ),
    (&["--root", "--dir", "--cwd", "--project", "-C"], "`--workspace DIR`"),
    (&["--host", "--addr", "--address", "--socket"], "`--server ADDRESS`"),
];

/// Replaces the guess of the parser by what the word is called here; returns that.
pub(super) fn correct(error: &mut clap::Error) -> Option<&'static str> {
    let said = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    let found = match (said(ContextKind::InvalidSubcommand), said(ContextKind::InvalidArg)) {
        (Some(command), _) => named(COMMANDS, command),
        (None, Some(option)) => named(OPTIONS, option),
        (None, None) => None,
    };
    let found = found.or_else(|| lacks_number(error).then_some(NUMBERS))?;
    for guess in [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg] {
        error.remove(guess);
    }
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![found.into()]));
    Some(found)
}

/// Whether a command has no number of an entry, or none that is one: only those of the history take such numbers.
fn lacks_number(error: &clap::Error) -> bool {
    let is_number = |name: &str| name == "<N>" || name.starts_with("<N|");
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(name)) => is_number(name),
        Some(ContextValue::Strings(names)) => names.iter().any(|name| is_number(name)),
        _ => false,
    }
}

fn named(rows: &[Misnomer], word: &str) -> Option<&'static str> {
    let word = word.split('=').next().unwrap_or(word);
    rows.iter().find(|(words, _)| words.contains(&word)).map(|(_, here)| *here)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::super::Cli;
    use super::*;

    fn tip(words: &[&str]) -> Option<&'static str> {
        let mut error = Cli::try_parse_from([&["moss"], words].concat()).unwrap_err();
        let tip = correct(&mut error)?;
        let shown = error.to_string();
        assert!(shown.contains(tip) && shown.matches("tip:").count() == 1, "{shown}");
        Some(tip)
    }

    #[test]
    fn words_of_other_programs_lead_to_commands_of_moss() {
        assert!(tip(&["undo"]).unwrap().contains("moss history undo"));
        assert!(tip(&["shutdown"]).unwrap().contains("moss stop"));
        assert!(tip(&["call", "read_file", "--yes"]).unwrap().contains("--confirm allow"));
        assert!(tip(&["call", "read_file", "-y"]).unwrap().contains("--confirm allow"));
        for words in [&["show"][..], &["show", "abc"], &["undo"], &["undo", "--since"]] {
            let tip = tip(&[&["history"], words].concat());
            assert_eq!(tip.is_some(), words != ["undo", "--since"], "{words:?}");
        }
        assert_eq!(tip(&["frobnicate"]), None);
        assert_eq!(tip(&["call"]), None);
    }

    #[test]
    fn no_word_is_a_command_already_and_every_command_named_exists() {
        let mut cli = Cli::command();
        cli.build();
        for (words, here) in COMMANDS {
            for word in *words {
                assert!(cli.find_subcommand(word).is_none(), "{word}");
            }
            for named in here.split('`').filter_map(|part| part.strip_prefix("moss ")) {
                let mut command = &cli;
                for word in named.split(' ') {
                    match command.find_subcommand(word) {
                        Some(found) => command = found,
                        None => {
                            assert!(!command.has_subcommands(), "{named}");
                            break;
                        }
                    }
                }
            }
        }
    }
}
