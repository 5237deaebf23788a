//! `moss plugin`.

use moss_daemon::client::Need;
use moss_proto::v1;
use serde_json::json;

use super::error::CliError;
use super::outcome::Outcome;
use super::ui::yellow;
use super::{Session, table, text, views};

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
    for plugin in plugins.iter().filter(|plugin| !plugin.notice.is_empty()) {
        let (name, notice) = (text::line(&plugin.name), text::line(&plugin.notice));
        session.ui.note(&format!("{} {name}: {notice}", yellow("an older version serves:")));
    }
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
