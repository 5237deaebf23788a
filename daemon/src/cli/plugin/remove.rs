//! `moss plugin remove`.

use std::path::PathBuf;

use moss_proto::v1;
use moss_proto::v1::change_plugins_request::Change;

use super::add::absolute;
use super::changing::{self, Adjusted, AnswerArgs};
use crate::cli::Session;
use crate::cli::error::CliError;
use crate::cli::outcome::Outcome;

/// Take a plugin out of its list
///
/// Calls that run end on it; its file stays.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RemoveArgs {
    /// The plugin
    name: String,

    /// The list; by default your own
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,

    #[command(flatten)]
    answer: AnswerArgs,
}

pub(super) async fn run(args: RemoveArgs, session: &Session) -> Result<Outcome, CliError> {
    let remove = v1::RemovePlugin { list: absolute(args.list)?, name: args.name };
    let change = Some(Change::Remove(remove));
    let request = v1::ChangePluginsRequest { change, ..Default::default() };
    changing::run(session, request, args.answer, async |_, _| Ok(Adjusted::Nothing)).await
}
