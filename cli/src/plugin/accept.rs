//! `moss plugin accept`.

use std::path::PathBuf;

use moss_proto::v1;
use moss_proto::v1::change_plugins_request::Change;

use super::add::absolute;
use super::changing::{self, Adjusted, DecisionArgs};
use crate::Session;
use crate::error::CliError;
use moss_dispatch::Outcome;

/// Accept the current file of a plugin: pin its digest
///
/// Shows the differences from the version that serves. The staged version then replaces it.
#[derive(Debug, clap::Args)]
pub(crate) struct AcceptArgs {
    /// Name of the plugin, as `moss plugin list` shows it
    name: String,

    /// The list; by default your own
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,

    #[command(flatten)]
    decision: DecisionArgs,
}

pub(super) async fn run(args: AcceptArgs, session: &Session) -> Result<Outcome, CliError> {
    let accept = v1::AcceptPlugin { list: absolute(args.list)?, name: args.name };
    let change = Some(Change::Accept(accept));
    let request = v1::ChangePluginsRequest { change, ..Default::default() };
    changing::run(session, request, args.decision, async |_, _| Ok(Adjusted::Nothing)).await
}
