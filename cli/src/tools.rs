//! `moss tools`: all of them, or one with its parameters.

mod shown;

use crate::client::{Client, NeededTools};
use crate::listed_as::{Lang, SchemaChoice, ToolForm};
use clap::builder::PossibleValuesParser;
use moss_catalog::{Format, ToolView};
use moss_proto::v1;
use moss_sdk::spec::{Annotations, Effect, Toolset};
use serde_json::Value;

use super::Session;
use super::error::CliError;
use super::example::{self, ExampleSubject};
use super::{table, text, views};
use moss_dispatch::Outcome;
use moss_grpc::address::Address;

/// List the tools, or show one with its parameters
#[derive(Debug, clap::Args)]
pub(super) struct ToolsArgs {
    /// Show this tool: what it does, its parameters, an example call
    #[arg(value_name = "TOOL", conflicts_with = "toolset")]
    name: Option<String>,

    /// Print them as JSON in the form that a client takes
    #[arg(long, value_enum)]
    format: Option<ToolForm>,

    /// Only the tools of this toolset
    #[arg(long, value_name = "NAME", value_parser = toolset())]
    toolset: Option<String>,

    /// Parameters that are shown: those of the specification, or those beyond it, too
    ///
    /// JSON has those of the specification unless this says otherwise; a tool that is shown to read has all.
    #[arg(long, value_enum)]
    schema: Option<SchemaChoice>,

    /// Language of titles and descriptions
    #[arg(long, value_enum, default_value_t)]
    lang: Lang,

    /// Whether it is shown as the help of a call.
    #[arg(skip)]
    is_help: bool,
}

pub(super) async fn run(args: ToolsArgs, session: &Session) -> Result<Outcome, CliError> {
    match &args.name {
        Some(name) => show(name, &args, session).await,
        None => list(&args, session).await,
    }
}

async fn list(args: &ToolsArgs, session: &Session) -> Result<Outcome, CliError> {
    let schema = args.schema.unwrap_or_default();
    let (listed, missing) = session
        .with_client(NeededTools::Plugins, async |client| {
            let listed =
                client.tools(args.toolset.as_deref(), schema.into(), args.lang.into()).await?;
            Ok((listed, missing(client).await))
        })
        .await?;
    let tools = &listed.tools;
    match args.format {
        Some(format) => {
            let rendered: Vec<Value> =
                tools.iter().map(|tool| render(tool, format.into())).collect();
            session.ui.print_json(&rendered)?;
        }
        None => session.ui.print_either(
            || tools.iter().map(views::tool).collect(),
            || {
                let rows: Vec<_> = tools.iter().map(row).collect();
                table::render(["NAME", "EFFECT", "TOOLSET", "PLUGIN", "TITLE"], &rows)
            },
        )?,
    }
    for note in missing {
        session.ui.note(&note);
    }
    Ok(Outcome::Ok)
}

/// Shows one tool with its parameters and an example call.
async fn show(name: &str, args: &ToolsArgs, session: &Session) -> Result<Outcome, CliError> {
    let is_to_read = args.format.is_none() && !session.ui.json();
    let unsaid = if is_to_read { SchemaChoice::Full } else { SchemaChoice::Asi };
    let schema = args.schema.unwrap_or(unsaid);
    let tool = session
        .with_client(NeededTools::Tool(name), async |client| {
            Ok(client.tool(name, schema.into(), args.lang.into()).await?)
        })
        .await?;
    if let Some(format) = args.format {
        session.ui.print_json(&render(&tool, format.into()))?;
        return Ok(Outcome::Ok);
    }
    // The files of another machine are not looked at.
    let sample = match session.global.remote.server {
        None | Some(Address::Unix(_)) => ExampleSubject::of(&session.root()?),
        Some(Address::Tcp(_)) => ExampleSubject::default(),
    };
    let example = example::call(&tool, &sample);
    session.ui.print_either(
        || {
            let mut view = views::tool(&tool);
            view["example"] = example.clone().into();
            view
        },
        || shown::tool(&tool, &example),
    )?;
    if args.is_help {
        session.ui.note("\nthe options of every call: `moss call --help`");
    }
    Ok(Outcome::Ok)
}

/// Names the plugins whose tools are not in the list.
async fn missing(client: &Client) -> Vec<String> {
    // Tools can be listed where plugins cannot.
    client.plugins().await.map(|listed| notes(&listed.plugins)).unwrap_or_default()
}

/// Says of which plugins there are no tools yet, and of which there will be none.
fn notes(plugins: &[v1::Plugin]) -> Vec<String> {
    let named = |state: v1::PluginState, what: &str| {
        let plugins = plugins.iter().filter(|plugin| plugin.state() == state);
        let names: Vec<_> = plugins.map(|plugin| text::line(&plugin.name)).collect();
        (!names.is_empty()).then(|| format!("note: {what}: {}", names.join(", ")))
    };
    let loading = "plugins are being loaded, their tools are not listed yet";
    let failed = "plugins that cannot be used, `moss plugin list` says why";
    [named(v1::PluginState::Loading, loading), named(v1::PluginState::Failed, failed)]
        .into_iter()
        .flatten()
        .collect()
}

fn toolset() -> PossibleValuesParser {
    PossibleValuesParser::new(Toolset::ALL.iter().map(|toolset| toolset.as_str()))
}

/// The tool in the form of a client.
pub(super) fn render(tool: &v1::Tool, format: Format) -> Value {
    let view = ToolView {
        name: &tool.name,
        title: &tool.title,
        description: &tool.description,
        effect: match tool.effect() {
            v1::Effect::Read => Effect::Read,
            v1::Effect::Write => Effect::Write,
            // An effect that is not known is taken for the worst.
            v1::Effect::Exec | v1::Effect::Unspecified => Effect::Exec,
        },
        parameters: views::schema(&tool.parameters_json),
        output: views::schema(&tool.output_json),
        annotations: tool.annotations.map_or_else(Annotations::default, |told| Annotations {
            destructive: told.destructive,
            idempotent: told.idempotent,
            open_world: told.open_world,
        }),
    };
    view.render(format)
}

fn row(tool: &v1::Tool) -> [String; 5] {
    let plugin = if tool.plugin.is_empty() { "-" } else { &tool.plugin };
    [
        tool.name.clone(),
        views::effect(tool.effect()),
        tool.toolset.clone(),
        plugin.to_owned(),
        tool.title.clone(),
    ]
}

// === impl ToolsArgs ===

impl ToolsArgs {
    /// Asks for one tool, as the help of its calls.
    pub(super) fn help(name: String) -> Self {
        Self {
            name: Some(name),
            format: None,
            toolset: None,
            schema: None,
            lang: Lang::default(),
            is_help: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugins_without_tools_are_named() {
        let plugin = |name: &str, state: v1::PluginState| v1::Plugin {
            name: name.to_owned(),
            state: state.into(),
            ..v1::Plugin::default()
        };
        let [ready, failed] = [v1::PluginState::Ready, v1::PluginState::Failed];
        assert_eq!(notes(&[plugin("a", ready)]), Vec::<String>::new());
        let loading = plugin("b", v1::PluginState::Loading);
        let notes = notes(&[plugin("a", ready), loading, plugin("c", failed), plugin("d", failed)]);
        let [loading, unusable] = notes.as_slice() else { panic!("{notes:?}") };
        assert!(loading.ends_with("not listed yet: b"), "{loading}");
        assert!(unusable.ends_with("says why: c, d"), "{unusable}");
    }
}
