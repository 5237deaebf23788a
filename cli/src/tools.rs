//! `moss tools`.

use crate::client::Need;
use crate::listed_as::{Lang, ToolForm};
use clap::builder::PossibleValuesParser;
use moss_catalog::{Format, View};
use moss_proto::v1;
use moss_sdk::spec::{Annotations, Effect, Toolset};
use serde_json::Value;

use super::Session;
use super::error::CliError;
use super::{table, views};
use moss_dispatch::Outcome;

/// List the tools
#[derive(Debug, clap::Args)]
pub(super) struct ToolsArgs {
    /// Print them as JSON in the form that a client takes
    #[arg(long, value_enum)]
    format: Option<ToolForm>,

    /// Only this toolset
    #[arg(long, value_name = "NAME", value_parser = toolset())]
    toolset: Option<String>,

    /// Language of titles and descriptions
    #[arg(long, value_enum, default_value_t)]
    lang: Lang,
}

pub(super) async fn run(args: ToolsArgs, session: &Session) -> Result<Outcome, CliError> {
    let listed = session
        .with_client(Need::Plugins, async |client| {
            Ok(client.tools(args.toolset.as_deref(), args.lang.into()).await?)
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
    Ok(Outcome::Ok)
}

fn toolset() -> PossibleValuesParser {
    PossibleValuesParser::new(Toolset::ALL.iter().map(|toolset| toolset.as_str()))
}

fn render(tool: &v1::Tool, format: Format) -> Value {
    let view = View {
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
