//! `moss bridge`: what models write and learn from. Nothing here needs a daemon.

mod check_data;
mod lines;
mod registry;

use super::Session;
use super::error::CliError;
use super::outcome::Outcome;

/// Work with what chat models write and learn from
#[derive(Debug, clap::Subcommand)]
pub(super) enum BridgeCommand {
    CheckData(check_data::CheckDataArgs),
}

pub(super) fn run(command: &BridgeCommand, session: &Session) -> Result<Outcome, CliError> {
    match command {
        BridgeCommand::CheckData(args) => check_data::run(args, session),
    }
}
