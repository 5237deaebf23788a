//! `moss plugin remove`.

use std::path::PathBuf;

use moss_proto::v1;
use moss_proto::v1::change_plugins_request::Change;

use super::add::absolute;
use super::changing::{self, Adjusted, DecisionArgs};
use crate::Session;
use crate::error::CliError;
use moss_dispatch::Outcome;

/// Remove a plugin from its list
///
/// Running calls are stopped; its file stays, and so does its store, for a later
/// installation.
#[derive(Debug, clap::Args)]
pub(crate) struct RemoveArgs {
    /// Name of the plugin, as `moss plugin list` shows it
    name: String,

    /// The list; by default your own
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,

    /// Delete the stores of plugins of this name, in every workspace that the daemon serves
    #[arg(long)]
    forget_store: bool,

    #[command(flatten)]
    decision: DecisionArgs,
}

pub(super) async fn run(args: RemoveArgs, session: &Session) -> Result<Outcome, CliError> {
    let remove = v1::RemovePlugin {
        list: absolute(args.list)?,
        name: args.name,
        forget_store: args.forget_store,
    };
    let change = Some(Change::Remove(remove));
    let request = v1::ChangePluginsRequest { change, ..Default::default() };
    changing::run(session, request, args.decision, async |_, _| Ok(Adjusted::Nothing)).await
}
