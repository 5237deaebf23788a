//! The command line as clap parses it. The options of all commands have their full text in `moss
//! --help`; a command shows each in one line, and hides those that it cannot use.

use std::ffi::OsString;

use clap::builder::Resettable;
use clap::{Arg, Command, CommandFactory as _, FromArgMatches as _};

use super::Cli;

/// Commands that change something that policy may ask about.
const ASKING: &[&str] = &[
    "call",
    "history undo",
    "prompt undo",
    "plugin add",
    "plugin accept",
    "plugin remove",
    "plugin trust",
    "plugin untrust",
];
/// Commands that never talk to a daemon.
const OFFLINE: &[&str] = &[
    "audit",
    "certificate",
    "token",
    "completions",
    "man",
    "policy check",
    "plugin new",
    "plugin vendor",
    "plugin build",
    "plugin check",
    "plugin test",
    "plugin dev",
    "bridge check-data",
    "bridge evaluate",
    "bridge to-corrections",
    "bridge to-preferences",
];
/// Commands that need no workspace.
const ANYWHERE: &[&str] = &["certificate", "token", "stop", "completions", "man"];

/// Returns the command with the global options of each subcommand.
pub(super) fn command() -> Command {
    let mut command = Cli::command();
    let globals: Vec<Arg> =
        command.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    adapt(&mut command, "", &globals);
    command
}

/// Parses a command line.
pub(super) fn parse(
    arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<Cli, clap::Error> {
    let mut command = command();
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Gives each subcommand copies of the global options: clap propagates only those that are missing.
fn adapt(command: &mut Command, path: &str, globals: &[Arg]) {
    for subcommand in command.get_subcommands_mut() {
        let path = format!("{path} {}", subcommand.get_name()).trim_start().to_owned();
        let copies = globals.iter().map(|arg| {
            let is_hidden = !uses(&path, arg.get_id().as_str());
            arg.clone().long_help(Resettable::Reset).hide_env(true).hide(is_hidden)
        });
        let copies: Vec<Arg> = copies.collect();
        *subcommand = std::mem::take(subcommand).args(copies);
        adapt(subcommand, &path, globals);
    }
}

/// Whether a command, such as `history undo`, can use a global option. A command with subcommands
/// can where one of them can.
fn uses(path: &str, option: &str) -> bool {
    let is_listed = |list: &[&str]| list.iter().any(|listed| is_within(path, listed));
    match option {
        "confirm" => ASKING.iter().any(|asking| is_within(path, asking) || is_within(asking, path)),
        "workspace" => !is_listed(ANYWHERE),
        "json" => !is_listed(&["serve", "completions", "man"]),
        "server" => !is_listed(OFFLINE) && path != "serve",
        _ => !is_listed(OFFLINE),
    }
}

/// Whether a command is another one or one of its subcommands.
fn is_within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_commands_exist() {
        let command = command();
        for path in ASKING.iter().chain(OFFLINE).chain(ANYWHERE) {
            let found = path.split(' ').try_fold(&command, |at, name| at.find_subcommand(name));
            assert!(found.is_some(), "{path}");
        }
    }

    #[test]
    fn help_of_a_command_shows_only_options_that_it_can_use() {
        for (path, shown, hidden) in [
            (vec!["call"], vec!["--confirm", "--server", "--tls-ca"], vec![]),
            (vec!["tools"], vec!["--server"], vec!["--confirm"]),
            (vec!["history", "list"], vec!["--server"], vec!["--confirm"]),
            (vec!["history", "undo"], vec!["--confirm"], vec![]),
            (vec!["token", "create"], vec!["--json"], vec!["--server", "--tls-ca", "--workspace"]),
            (vec!["serve"], vec!["--token-file", "--workspace"], vec!["--server", "--confirm"]),
        ] {
            let words = ["moss"].iter().chain(&path).chain(&["--help"]).copied();
            let help = command().try_get_matches_from(words).unwrap_err().to_string();
            for option in shown {
                assert!(help.contains(option), "{path:?} {option}: {help}");
            }
            for option in hidden {
                assert!(!help.contains(option), "{path:?} {option}: {help}");
            }
        }
    }

    #[test]
    fn hidden_options_are_still_accepted_wherever_they_stand() {
        for words in
            [["moss", "--confirm", "deny", "status"], ["moss", "status", "--confirm", "deny"]]
        {
            let cli = parse(words).unwrap();
            assert_eq!(cli.global.confirm.len(), 1);
            assert_ne!(cli.global.confirm, parse(["moss", "status"]).unwrap().global.confirm);
        }
    }
}
