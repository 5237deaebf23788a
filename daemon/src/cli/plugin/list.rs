//! `moss plugin list`.

use moss_daemon::client::Need;
use moss_proto::v1;
use serde_json::json;

use crate::cli::error::CliError;
use crate::cli::outcome::Outcome;
use crate::cli::ui::yellow;
use crate::cli::{Session, table, text, views};

pub(super) async fn run(session: &Session) -> Result<Outcome, CliError> {
    let listed =
        session.with_client(Need::Plugins, async |client| Ok(client.plugins().await?)).await?;
    let plugins = &listed.plugins;
    session.ui.print_either(
        || json!({ "plugins": plugins.iter().map(views::plugin).collect::<Vec<_>>() }),
        || {
            if plugins.is_empty() {
                return "no plugins are listed; `moss plugin add FILE` adds one".to_owned();
            }
            let rows: Vec<_> = plugins.iter().map(row).collect();
            table::render(["NAME", "VERSION", "STATE", "PIN", "MAY", "TOOLS"], &rows)
        },
    )?;
    for plugin in plugins.iter().filter(|plugin| !plugin.notice.is_empty()) {
        let (name, notice) = (text::line(&plugin.name), text::line(&plugin.notice));
        let is_paused = notice.starts_with("paused");
        let says = if is_paused { "it keeps failing:" } else { "an older version serves:" };
        session.ui.note(&format!("{} {name}: {notice}", yellow(says)));
    }
    Ok(Outcome::Ok)
}

fn row(plugin: &v1::Plugin) -> [String; 6] {
    let or_dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    let tools =
        if plugin.error.is_empty() { plugin.tools.join(", ") } else { plugin.error.clone() };
    [
        plugin.name.clone(),
        or_dash(plugin.version.clone()),
        views::plugin_state(plugin.state()),
        pin(plugin).to_owned(),
        or_dash(plugin.may.join(", ")),
        or_dash(tools),
    ]
}

/// Whether what serves is what the list pins.
pub(super) fn pin(plugin: &v1::Plugin) -> &'static str {
    match (plugin.pinned_sha256.as_str(), plugin.staged_sha256.as_str()) {
        ("", "") => "-",
        ("", _) => "staged",
        (pinned, "") if pinned == plugin.sha256 => "pinned",
        (_, "") => "pinned, not there",
        (_, _) => "staged",
    }
}
