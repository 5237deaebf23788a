//! `moss plugin`.

use moss_daemon::client::Need;
use moss_proto::v1;
use serde_json::json;

use super::error::CliError;
use super::outcome::Outcome;
use super::{Session, table, views};

/// Look at plugins
#[derive(Debug, clap::Subcommand)]
pub(super) enum PluginCommand {
    /// List the plugins that the lists name, loaded or not
    List,
}

pub(super) async fn run(command: PluginCommand, session: &Session) -> Result<Outcome, CliError> {
    let PluginCommand::List = command;
    let listed =
        session.with_client(Need::Plugins, async |client| Ok(client.plugins().await?)).await?;
    let plugins = &listed.plugins;
    session.ui.print_either(
        || json!({ "plugins": plugins.iter().map(views::plugin).collect::<Vec<_>>() }),
        || {
            if plugins.is_empty() {
                return "no plugins are listed".to_owned();
            }
            let rows: Vec<_> = plugins.iter().map(row).collect();
            table::render(["NAME", "VERSION", "STATE", "READS", "TOOLS"], &rows)
        },
    )?;
    Ok(Outcome::Ok)
}

fn row(plugin: &v1::Plugin) -> [String; 5] {
    let or_dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    let tools =
        if plugin.error.is_empty() { plugin.tools.join(", ") } else { plugin.error.clone() };
    [
        plugin.name.clone(),
        or_dash(plugin.version.clone()),
        views::plugin_state(plugin.state()),
        or_dash(plugin.readable_paths.join(", ")),
        or_dash(tools),
    ]
}
