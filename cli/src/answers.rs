//! `moss answers`.

use moss_proto::v1;
use serde_json::json;

use crate::client::{Client, NeededTools};

use super::error::CliError;
use super::ui::{bold, dim, yellow};
use super::{Session, text, views};
use moss_dispatch::Outcome;

/// Show and take back the answers that hold longer than once
#[derive(Debug, clap::Subcommand)]
pub(super) enum AnswersCommand {
    /// List the answers in force with what exactly they allow
    List,
    /// Take answers back, at once
    Revoke(RevokeArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct RevokeArgs {
    /// The answer, or the beginning of its ID
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    id: Option<String>,

    /// Take back every answer of the workspace
    #[arg(long)]
    all: bool,
}

pub(super) async fn run(command: AnswersCommand, session: &Session) -> Result<Outcome, CliError> {
    match command {
        AnswersCommand::List => list(session).await,
        AnswersCommand::Revoke(args) => revoke(&args, session).await,
    }
}

async fn list(session: &Session) -> Result<Outcome, CliError> {
    let listed = session
        .with_client(NeededTools::Native, async |client| Ok(client.answers().await?))
        .await?;
    session.ui.print_either(
        || {
            let answers: Vec<_> = listed.answers.iter().map(views::lasting_answer).collect();
            json!({ "answers": answers, "problem": listed.problem })
        },
        || match listed.answers.as_slice() {
            [] => "no answers: every question is asked".to_owned(),
            answers => answers.iter().map(described).collect::<Vec<_>>().join("\n"),
        },
    )?;
    if !listed.problem.is_empty() {
        session.ui.note(&format!("{} {}", yellow("broken:"), text::line(&listed.problem)));
    }
    Ok(Outcome::Ok)
}

async fn revoke(args: &RevokeArgs, session: &Session) -> Result<Outcome, CliError> {
    let revoked = session
        .with_client(NeededTools::Native, async |client| {
            let v1::ListAnswersResponse { answers: listed, problem } = client.answers().await?;
            if !problem.is_empty() {
                let message = format!(
                    "no answer is in force and none can be taken back: {problem}; repair the file or \
                     remove it, then try again"
                );
                return Err(CliError::new(Outcome::Failed, "answers_broken", message));
            }
            let ids: Vec<_> = match &args.id {
                None => listed.iter().map(|answer| answer.id.clone()).collect(),
                Some(id) => vec![find(&listed, id)?.id.clone()],
            };
            take_back(client, &ids).await
        })
        .await?;
    session.ui.print_either(
        || json!({ "revoked": revoked.iter().map(views::lasting_answer).collect::<Vec<_>>() }),
        || match revoked.as_slice() {
            [] => "no answers: nothing to revoke".to_owned(),
            revoked => {
                let line =
                    |answer: &v1::LastingAnswer| format!("revoked {}", text::line(&answer.id));
                revoked.iter().map(line).collect::<Vec<_>>().join("\n")
            }
        },
    )?;
    Ok(Outcome::Ok)
}

async fn take_back(client: &Client, ids: &[String]) -> Result<Vec<v1::LastingAnswer>, CliError> {
    let mut revoked = Vec::with_capacity(ids.len());
    for id in ids {
        revoked.push(client.revoke_answer(id).await?);
    }
    Ok(revoked)
}

/// Shows an answer with its rule.
fn described(answer: &v1::LastingAnswer) -> String {
    let scope = match answer.scope() {
        v1::AnswerScope::Session => format!("session {}", text::line(&answer.session_id)),
        v1::AnswerScope::Always | v1::AnswerScope::Unspecified => "always".to_owned(),
    };
    let last = views::time(answer.last_used_at.as_ref());
    let used = match answer.uses {
        0 => "never used".to_owned(),
        1 => format!("used 1 time, {last}"),
        uses => format!("used {uses} times, last {last}"),
    };
    format!(
        "{} {scope}\n{}\n{}",
        bold(text::line(&answer.id)),
        dim(format!(
            "given {}, until {}, {used}",
            views::time(answer.answered_at.as_ref()),
            views::time(answer.expires_at.as_ref()),
        )),
        text::lines(&answer.rule_toml),
    )
}

/// Finds the one that is meant.
fn find<'a>(answers: &'a [v1::LastingAnswer], id: &str) -> Result<&'a v1::LastingAnswer, CliError> {
    let mut fitting = answers.iter().filter(|answer| answer.id.starts_with(id));
    match (fitting.next().filter(|_| !id.is_empty()), fitting.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => {
            Err(CliError::invalid(format!("`{id}` is the beginning of several answers")))
        }
        (None, _) => {
            let message = format!("there is no answer `{id}`");
            Err(CliError::new(Outcome::Failed, "answer_unknown", message))
        }
    }
}
