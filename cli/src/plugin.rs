//! `moss plugin`.

mod accept;
mod add;
mod changing;
pub(super) mod described;
mod develop;
mod list;
mod remove;
mod show;
mod trust;

use super::Session;
use super::error::CliError;
use moss_dispatch::Outcome;

/// Look at plugins, add them, take them out, write them
///
/// A plugin is a WebAssembly component that a list names, `moss-tools.json`, together with what it
/// may do. Adding shows what it is, asks for and would be allowed; what the list pins with `sha256`
/// is the version that serves.
#[derive(Debug, clap::Subcommand)]
pub(super) enum PluginCommand {
    /// List the plugins that the lists name, loaded or not
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
