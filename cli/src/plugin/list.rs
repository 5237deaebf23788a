//! `moss plugin list`.

use crate::client::NeededTools;
use moss_plugin_list::units;
use moss_proto::v1;
use serde_json::json;

use crate::error::CliError;
use crate::ui::yellow;
use crate::{Session, table, text, views};
use moss_dispatch::Outcome;

/// How a version is shown that waits to be accepted.
const STAGED: &str = "staged: ";
/// What is shown of a plugin that is paused.
const PAUSED: &str = "paused for another";

pub(super) async fn run(session: &Session) -> Result<Outcome, CliError> {
    let listed = session
        .with_client(NeededTools::Plugins, async |client| Ok(client.plugins().await?))
        .await?;
    let (lists, plugins): (Vec<_>, Vec<_>) = listed.plugins.into_iter().partition(is_list);
    session.ui.print_either(
        || {
            json!({
                "plugins": plugins.iter().map(views::plugin).collect::<Vec<_>>(),
                "lists": lists.iter().map(|list| json!({
                    "path": list.list,
                    "state": views::plugin_state(list.state()),
                    "problem": list.error,
                })).collect::<Vec<_>>(),
            })
        },
        || {
            if plugins.is_empty() {
                return "no plugins are listed; `moss plugin add FILE` adds one".to_owned();
            }
            let rows: Vec<_> = plugins.iter().map(row).collect();
            table::render(["NAME", "VERSION", "STATE", "PIN", "MAY", "TOOLS"], &rows)
        },
    )?;
    for list in &lists {
        let state = yellow(format!("a list is {}:", views::plugin_state(list.state())));
        session.ui.note(&format!("{state} {}", text::line(&list.error)));
    }
    let serves = |plugin: &&v1::Plugin| plugin.state() == v1::PluginState::Ready;
    for plugin in plugins.iter().filter(serves) {
        if let Some(how) = compiling(plugin) {
            let name = text::line(&plugin.name);
            session.ui.note(&format!("{} {name}, {how}", yellow("another version is on its way:")));
        }
    }
    for plugin in plugins.iter().filter(|plugin| !plugin.notice.is_empty()) {
        let (name, notice) = (text::line(&plugin.name), text::line(&plugin.notice));
        let says = match &plugin.notice {
            notice if notice.starts_with("paused") => "it keeps failing:",
            notice if notice.starts_with(STAGED) => "an older version serves:",
            _ => "what was loaded keeps serving:",
        };
        session.ui.note(&format!("{} {name}: {notice}", yellow(says)));
    }
    Ok(Outcome::Ok)
}

/// Whether it stands for a list that does not count as it is.
fn is_list(plugin: &v1::Plugin) -> bool {
    plugin.list == plugin.listed_in
}

fn row(plugin: &v1::Plugin) -> [String; 6] {
    let or_dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
    let tools =
        if plugin.error.is_empty() { plugin.tools.join(", ") } else { plugin.error.clone() };
    [
        plugin.name.clone(),
        or_dash(plugin.version.clone()),
        state(plugin),
        pin(plugin).to_owned(),
        or_dash(plugin.may.join(", ")),
        or_dash(tools),
    ]
}

/// Whether it can be called.
pub(super) fn state(plugin: &v1::Plugin) -> String {
    if plugin.notice.contains(PAUSED) {
        return "paused".to_owned();
    }
    let compiling = compiling(plugin).filter(|_| plugin.state() == v1::PluginState::Loading);
    compiling.unwrap_or_else(|| views::plugin_state(plugin.state()))
}

/// Since when it is compiled, if it is.
fn compiling(plugin: &v1::Plugin) -> Option<String> {
    let now = plugin.compiling.as_ref()?;
    let since = now.since.map_or(0, |since| since.seconds);
    // The clock of the daemon may not be the one here.
    let seconds = jiff::Timestamp::now().as_second().saturating_sub(since).max(0);
    let size = units::about(usize::try_from(now.component_bytes).unwrap_or(usize::MAX));
    Some(format!("compiling {size}, {seconds} s"))
}

/// Whether what serves is what the list pins.
pub(super) fn pin(plugin: &v1::Plugin) -> &'static str {
    let is_staged = plugin.notice.starts_with(STAGED) || plugin.error.starts_with(STAGED);
    let found = match plugin.sha256.as_str() {
        "" => &plugin.staged_sha256,
        serving => serving,
    };
    match plugin.pinned_sha256.as_str() {
        _ if is_staged => "staged",
        "" => "-",
        // Not looked at yet, or not there.
        _ if found.is_empty() && plugin.state() == v1::PluginState::Loading => "-",
        pinned if found.is_empty() || found == pinned => "pinned",
        _ => "differs",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_shown_by_what_is_known_of_the_file() {
        let plugin = |pinned: &str, serving: &str, staged: &str, error: &str| v1::Plugin {
            pinned_sha256: pinned.to_owned(),
            sha256: serving.to_owned(),
            staged_sha256: staged.to_owned(),
            error: error.to_owned(),
            ..v1::Plugin::default()
        };
        for (plugin, expected) in [
            (plugin("", "a", "", ""), "-"),
            (plugin("", "", "b", "staged: tool `x` is new"), "staged"),
            (plugin("a", "a", "", ""), "pinned"),
            (plugin("a", "", "a", "the tool name is used already"), "pinned"),
            (plugin("a", "", "b", "digest b does not match"), "differs"),
            (plugin("a", "", "", "no such file"), "pinned"),
        ] {
            assert_eq!(pin(&plugin), expected, "{plugin:?}");
        }
        let mut loading = plugin("a", "", "", "");
        loading.set_state(v1::PluginState::Loading);
        assert_eq!((pin(&loading), state(&loading).as_str()), ("-", "loading"));
        let since =
            prost_types::Timestamp { seconds: jiff::Timestamp::now().as_second() + 60, nanos: 0 };
        loading.compiling =
            Some(v1::PluginCompilation { since: Some(since), component_bytes: 3 << 20 });
        assert_eq!(state(&loading), "compiling 3.0 MiB, 0 s");
        loading.set_state(v1::PluginState::Ready);
        assert_eq!(state(&loading), "ready");
    }
}
