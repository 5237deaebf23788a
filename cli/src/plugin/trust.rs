//! `moss plugin trust`.

use moss_proto::v1;
use moss_proto::v1::change_plugins_request::Change;

use super::changing::{self, Adjusted, DecisionArgs};
use crate::Session;
use crate::error::CliError;
use moss_dispatch::Outcome;

/// Trust the plugin list of the workspace
///
/// Shows what `moss-tools.json` in the root of the workspace would load and allow. Its plugins
/// serve this workspace only, and only while the list is unchanged.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    #[command(flatten)]
    decision: DecisionArgs,
}

pub(super) async fn run(args: TrustArgs, session: &Session) -> Result<Outcome, CliError> {
    let change = Some(Change::Trust(v1::TrustPluginList {}));
    let request = v1::ChangePluginsRequest { change, ..Default::default() };
    changing::run(session, request, args.decision, async |_, _| Ok(Adjusted::Nothing)).await
}

/// Revoke trust in the plugin list of the workspace
///
/// Its plugins stop serving, and their running calls are stopped. The file stays.
#[derive(Debug, clap::Args)]
pub(crate) struct UntrustArgs {
    #[command(flatten)]
    decision: DecisionArgs,
}

pub(super) async fn untrust(args: UntrustArgs, session: &Session) -> Result<Outcome, CliError> {
    let change = Some(Change::Untrust(v1::UntrustPluginList {}));
    let request = v1::ChangePluginsRequest { change, ..Default::default() };
    changing::run(session, request, args.decision, async |_, _| Ok(Adjusted::Nothing)).await
}
