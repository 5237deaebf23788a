//! `moss bridge prompt`.

use crate::client::NeededTools;
use crate::listed_as::Lang;
use moss_catalog::ListedSchema;
use moss_model_bridge::{
    Language, PromptDetail, PromptRequest, Registry, ReplyPurpose, ToolChoice, ToolDefinition,
    render_prompt,
};
use moss_proto::v1;
use serde_json::json;

use super::super::error::CliError;
use super::super::{Session, views};
use super::registry::RegistryArgs;
use moss_dispatch::Outcome;

/// Print the prompt that teaches tool calls to a model without native tool calling
///
/// Contains the available tools, those of plugins as well, and your own text (`moss prompt`).
/// With --registry only the tools of that file.
#[derive(Debug, clap::Args)]
pub(crate) struct PromptArgs {
    #[command(flatten)]
    registry: RegistryArgs,

    /// Language of the prompt
    #[arg(long, value_enum, default_value_t)]
    lang: Lang,

    /// Print the full description of each tool, not one line
    #[arg(long)]
    long: bool,

    /// What the model must call: `auto`, `none`, `any`, or the name of a tool
    #[arg(long, value_name = "TOOL", default_value = "auto")]
    choice: String,

    /// Ask for one call in a reply
    #[arg(long)]
    sequential: bool,

    /// Ask a planning agent to sum up and to end with AGENT_STATUS
    #[arg(long, conflicts_with = "choice")]
    summary: bool,
}

pub(super) async fn run(args: &PromptArgs, session: &Session) -> Result<Outcome, CliError> {
    let (registry, own) = match args.registry.named(session)? {
        Some(registry) => (registry, String::new()),
        None => listed(args, session).await?,
    };
    let choice = match args.choice.as_str() {
        "auto" => ToolChoice::Auto,
        "none" => ToolChoice::None,
        "any" => ToolChoice::Any,
        name if registry.tool(name).is_some() => ToolChoice::Tool(name.to_owned()),
        name => {
            let close = registry.closest(name).map(|close| format!("; did you mean `{close}`?"));
            let message = format!("there is no tool `{name}`{}", close.unwrap_or_default());
            return Err(CliError::new(Outcome::Invalid, "unknown_tool", message));
        }
    };
    let prompt = render_prompt(&PromptRequest {
        registry: &registry,
        choice: &choice,
        parallel: !args.sequential,
        language: language(args.lang),
        form: if args.long { PromptDetail::Long } else { PromptDetail::Short },
        own: &own,
        step: if args.summary { ReplyPurpose::Summary } else { ReplyPurpose::Act },
    });
    session.ui.print_either(|| json!({ "prompt": prompt }), || prompt.clone())?;
    Ok(Outcome::Ok)
}

/// The tools that there are, and the user's own text.
async fn listed(args: &PromptArgs, session: &Session) -> Result<(Registry, String), CliError> {
    let (listed, own) = session
        .with_client(NeededTools::Plugins, async |client| {
            let listed = client.tools(None, ListedSchema::Asi, args.lang.into()).await?;
            Ok((listed, client.user_prompt().await?))
        })
        .await?;
    let registry = Registry::new(listed.tools.iter().map(definition))
        .map_err(|error| CliError::new(Outcome::Failed, "registry_invalid", error.to_string()))?;
    Ok((registry, own.text))
}

pub(crate) fn definition(tool: &v1::Tool) -> ToolDefinition {
    ToolDefinition {
        name: tool.name.clone(),
        title: tool.title.clone(),
        description: tool.description.clone(),
        parameters: views::schema(&tool.parameters_json),
        ..ToolDefinition::default()
    }
}

fn language(language: Lang) -> Language {
    match language {
        Lang::En => Language::En,
        Lang::Zh => Language::Zh,
    }
}
