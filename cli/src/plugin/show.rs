//! `moss plugin show`.

use std::fmt::Write as _;
use std::time::Duration;

use crate::client::NeededTools;
use moss_catalog::{Language, ListedSchema};
use moss_plugin_list::units;
use moss_proto::v1;
use serde_json::{Value, json};

use super::list;
use crate::error::CliError;
use crate::ui::{bold, dim, yellow};
use crate::{Session, text, views};
use moss_dispatch::Outcome;

/// Show one plugin: source, tools, permissions and who grants them
#[derive(Debug, clap::Args)]
pub(crate) struct PluginShowArgs {
    /// Name of the plugin, as `moss plugin list` shows it
    name: String,
}

pub(super) async fn run(args: &PluginShowArgs, session: &Session) -> Result<Outcome, CliError> {
    let (listed, tools) = session
        .with_client(NeededTools::Plugins, async |client| {
            Ok((
                client.plugins().await?.plugins,
                client.tools(None, ListedSchema::Asi, Language::En).await?.tools,
            ))
        })
        .await?;
    let named: Vec<_> = listed.iter().filter(|plugin| plugin.name == args.name).collect();
    if named.is_empty() {
        let message = format!("no plugin named `{}` is listed", args.name);
        return Err(CliError::new(Outcome::Failed, "plugin_unknown", message));
    }
    let tools: Vec<_> = tools.into_iter().filter(|tool| tool.plugin == args.name).collect();
    session.ui.print_either(
        || {
            let plugins = named.iter().map(|plugin| {
                let mut shown = views::plugin(plugin);
                let own = tools.iter().filter(|tool| plugin.tools.contains(&tool.name));
                shown["tool_specs"] = own.map(views::tool).collect();
                shown
            });
            json!({ "plugins": plugins.collect::<Vec<Value>>() })
        },
        || named.iter().map(|plugin| described(plugin, &tools)).collect::<Vec<_>>().join("\n"),
    )?;
    Ok(Outcome::Ok)
}

fn described(plugin: &v1::Plugin, tools: &[v1::Tool]) -> String {
    let mut shown = String::new();
    let state = list::state(plugin);
    let name = bold(text::line(&format!("{} {}", plugin.name, plugin.version)));
    let _ = writeln!(shown, "{name} ({state})");
    let mut fact = |what: &str, said: &str| {
        if !said.is_empty() {
            let _ = writeln!(shown, "{what:9}{}", text::line(said));
        }
    };
    fact("list", &plugin.listed_in);
    fact("source", &plugin.source);
    fact("sha256", &plugin.sha256);
    match list::pin(plugin) {
        "-" if plugin.pinned_sha256.is_empty() => {
            fact("pin", "none: the current file serves");
        }
        "-" => {}
        pin => fact("pin", pin),
    }
    fact(
        "pinned",
        Some(&plugin.pinned_sha256).filter(|pin| **pin != plugin.sha256).map_or("", |p| p),
    );
    fact("staged", &plugin.staged_sha256);
    fact("error", &plugin.error);
    if !plugin.notice.is_empty() {
        let _ = writeln!(shown, "{}", yellow(text::line(&plugin.notice)));
    }
    // Another plugin of the same name may have what this one does not.
    let own = tools.iter().filter(|tool| plugin.tools.contains(&tool.name));
    shown.push_str(&own.map(|spec| tool(plugin, spec)).collect::<String>());
    if !plugin.left_out.is_empty() {
        let _ = writeln!(shown, "{}", dim("functions that are not tools:"));
        for why in &plugin.left_out {
            let _ = writeln!(shown, "  {}", text::line(why));
        }
    }
    shown.push_str(&capabilities(plugin));
    if let Some(limits) = &plugin.limits {
        let time = units::duration(Duration::from_millis(limits.timeout_ms));
        let [memory, output] = [limits.memory_bytes, limits.output_bytes]
            .map(|bytes| units::size(usize::try_from(bytes).unwrap_or(usize::MAX)));
        let _ = writeln!(
            shown,
            "{}\n  {time}, {memory} of memory, {output} of output",
            dim("one call may use:"),
        );
    }
    shown
}

fn tool(plugin: &v1::Plugin, tool: &v1::Tool) -> String {
    let effect = views::effect(tool.effect());
    let own = plugin.own_tool_names.get(&tool.name);
    let own = own.map_or_else(String::new, |own| format!(", `{}` in the plugin", text::line(own)));
    let (name, title) = (bold(text::line(&tool.name)), text::line(&tool.title));
    let paragraph = tool.description.split("\n\n").next().unwrap_or_default();
    let first = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let schema = views::schema(&tool.parameters_json);
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let parameters = properties.iter().map(|(key, schema)| {
        let kind = schema["type"].as_str().unwrap_or("any");
        let optional = if required.iter().any(|name| name == key) { "" } else { "?" };
        format!("{}{optional}: {}", text::line(key), text::line(kind))
    });
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    format!(
        "{name}({parameters}) {}\n  {title}: {}\n",
        dim(format!("[{effect}{own}]")),
        text::line(&first)
    )
}

fn capabilities(plugin: &v1::Plugin) -> String {
    let mut shown = String::new();
    if !plugin.requests.is_empty() {
        let _ = writeln!(shown, "{}", dim("asks for:"));
    }
    for asked in &plugin.requests {
        let (what, why) = (text::line(&asked.capability), text::line(&asked.reason));
        let allowed = match asked.withheld_by.as_str() {
            "" => "allowed".to_owned(),
            "configuration" => {
                let capped = text::line(&asked.capped.join(", "));
                yellow(format!("not fully allowed: `[plugin_maximum]` withholds: {capped}"))
            }
            who => yellow(format!("not fully allowed: the {} does not allow it", text::line(who))),
        };
        let _ = writeln!(shown, "  {what} ({allowed}): {why}");
    }
    for (heading, lines) in [("the list grants:", &plugin.granted), ("it may:", &plugin.may)] {
        let _ = writeln!(shown, "{}", dim(heading));
        match lines.as_slice() {
            [] => shown.push_str("  nothing\n"),
            lines => lines.iter().for_each(|line| {
                let _ = writeln!(shown, "  {}", text::line(line));
            }),
        }
    }
    shown
}
