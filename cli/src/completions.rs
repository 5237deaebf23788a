//! `moss completions`.

use std::io::Write as _;

use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;

use super::command_line;
use super::error::CliError;
use moss_dispatch::Outcome;

/// Commands with the name of a tool, and the arguments that have it.
const WITH_TOOLS: &[(&[&str], &str)] =
    &[(&["call"], "tool"), (&["tools"], "name"), (&["policy", "explain"], "tool")];

/// Print the completions of a shell
///
/// Names of moss's own tools are completed by bash and zsh.
///
/// For example `moss completions bash > ~/.local/share/bash-completion/completions/moss`.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell that completes commands
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> Result<Outcome, CliError> {
    // Written at once: the generator takes a writer that must not fail.
    let mut script = Vec::new();
    let mut command = command_line::command();
    add_tools(&mut command);
    clap_complete::generate(args.shell, &mut command, "moss", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Outcome::Ok)
}

/// Adds the names of tools to what is completed. What is parsed stays as it is: plugins have tools as well.
fn add_tools(command: &mut Command) {
    // The parser takes names that stay: they do until this process has printed its script.
    let specs = moss_builtin_tools::specs().into_iter();
    let names: Vec<&'static str> = specs.map(|spec| &*spec.name.leak()).collect();
    for (path, id) in WITH_TOOLS {
        let found = path.iter().try_fold(&mut *command, |at, name| at.find_subcommand_mut(name));
        let found = found.expect("listed commands exist");
        let with_tools = std::mem::take(found).mut_args(|arg| match arg.get_id().as_str() == *id {
            true => arg.value_parser(PossibleValuesParser::new(names.clone())),
            false => arg,
        });
        *found = with_tools;
    }
}
