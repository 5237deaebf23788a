//! `moss completions`.

use std::io::Write as _;

use clap_complete::Shell;

use super::command_line;
use super::error::CliError;
use moss_dispatch::Outcome;

/// Print the completions of a shell
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
    clap_complete::generate(args.shell, &mut command_line::command(), "moss", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Outcome::Ok)
}
