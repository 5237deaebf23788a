//! `moss man`.

use std::io::Write as _;

use super::command_line;
use super::error::CliError;
use moss_dispatch::Outcome;

/// Print the manual page of moss or of one of its commands
///
/// For example `moss man call | man -l -`, or `moss man history undo > moss-history-undo.1`.
#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// The command, such as `call` or `history undo`; moss itself if not given
    command: Vec<String>,
}

pub(super) fn run(args: &ManArgs) -> Result<Outcome, CliError> {
    let mut command = command_line::command();
    // What is inherited (`--json`, names with their parents) is filled in by this.
    command.build();
    for name in &args.command {
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let names: Vec<&str> = shown.map(clap::Command::get_name).collect();
        let message = format!("there is no command `{name}` here; there are: {}", names.join(", "));
        let Some(found) = command.find_subcommand(name) else {
            return Err(CliError::new(Outcome::Invalid, "usage", message));
        };
        command = found.clone();
    }
    let mut page = Vec::new();
    let source = concat!("moss ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command).source(source).render(&mut page)?;
    std::io::stdout().write_all(&page)?;
    Ok(Outcome::Ok)
}
