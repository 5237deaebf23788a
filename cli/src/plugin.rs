//! `moss plugin`.

mod accept;
mod add;
mod changing;
pub(super) mod described;
mod develop;
mod list;
mod remove;
mod renaming;
mod show;
mod trust;

use super::Session;
use super::error::CliError;
use moss_dispatch::Outcome;

/// Show, add, remove and develop plugins
///
/// A plugin is a WebAssembly component that a list, `moss-tools.json`, names with what it
/// may do. Adding shows what it is, requests and would be allowed; the version that the list pins
/// with `sha256` serves.
#[derive(Debug, clap::Subcommand)]
pub(super) enum PluginCommand {
    /// List the plugins of all lists, loaded or not
    List,
    Show(show::PluginShowArgs),
    Add(Box<add::AddArgs>),
    Accept(accept::AcceptArgs),
    Remove(remove::RemoveArgs),
    Trust(trust::TrustArgs),
    Untrust(trust::UntrustArgs),
    #[command(flatten)]
    Develop(develop::DevelopCommand),
}

pub(super) async fn run(command: PluginCommand, session: &Session) -> Result<Outcome, CliError> {
    match command {
        PluginCommand::List => list::run(session).await,
        PluginCommand::Show(args) => show::run(&args, session).await,
        PluginCommand::Add(args) => add::run(*args, session).await,
        PluginCommand::Accept(args) => accept::run(args, session).await,
        PluginCommand::Remove(args) => remove::run(args, session).await,
        PluginCommand::Trust(args) => trust::run(args, session).await,
        PluginCommand::Untrust(args) => trust::untrust(args, session).await,
        PluginCommand::Develop(command) => develop::run(command, session).await,
    }
}
