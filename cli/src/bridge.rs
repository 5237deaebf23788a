//! `moss bridge`: what models write and learn from. Nothing here needs a daemon.

mod check_data;
mod convert;
mod evaluate;
mod lines;
mod parse;
mod prompt;
mod registry;
mod training;

pub(super) use self::prompt::definition;
use super::Session;
use super::error::CliError;
use moss_dispatch::Outcome;

/// Parse, prompt and evaluate the tool calls of chat models
#[derive(Debug, clap::Subcommand)]
pub(super) enum BridgeCommand {
    CheckData(check_data::CheckDataArgs),
    Parse(parse::ParseArgs),
    Prompt(prompt::PromptArgs),
    ToCorrections(convert::ToCorrectionsArgs),
    ToPreferences(convert::ToPreferencesArgs),
    Evaluate(Box<evaluate::EvaluateArgs>),
}

pub(super) async fn run(command: &BridgeCommand, session: &Session) -> Result<Outcome, CliError> {
    match command {
        BridgeCommand::CheckData(args) => check_data::run(args, session),
        BridgeCommand::Parse(args) => parse::run(args, session),
        BridgeCommand::Prompt(args) => prompt::run(args, session).await,
        BridgeCommand::ToCorrections(args) => convert::to_corrections(args, session),
        BridgeCommand::ToPreferences(args) => convert::to_preferences(args, session),
        BridgeCommand::Evaluate(args) => evaluate::run(args, session).await,
    }
}
