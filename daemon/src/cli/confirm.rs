//! `moss confirm`: what waits at a daemon, and answering it.

use moss_daemon::client::Client;
use moss_proto::v1;
use serde_json::json;

use super::error::CliError;
use super::outcome::Outcome;
use super::ui::{Ui, bold, dim};
use super::{Session, effect, table, text, views};

/// Show and answer confirmations that wait at the daemon
///
/// Of all workspaces, unless `--workspace` names one. An ID may be shortened while it stays
/// unique.
#[derive(Debug, clap::Subcommand)]
pub(super) enum ConfirmCommand {
    /// List the confirmations that wait
    List,
    /// Follow confirmations as they come and go
    ///
    /// While somebody follows, calls that do not say otherwise wait for an answer.
    Watch,
    /// Show what a confirmation is about
    Show(IdArgs),
    /// Say yes to exactly the effect that the confirmation shows
    Approve(IdArgs),
    /// Say no
    Deny(DenyArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct IdArgs {
    /// The confirmation, or the beginning of its ID
    id: String,
}

#[derive(Debug, clap::Args)]
pub(super) struct DenyArgs {
    /// The confirmation, or the beginning of its ID
    id: String,

    /// Why; reaches the model
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
}

pub(super) async fn run(command: ConfirmCommand, session: &Session) -> Result<Outcome, CliError> {
    let scope = session.global.workspace.as_ref().map(|_| session.named_root()).transpose()?;
    let scope = scope.flatten();
    let scope = scope.as_deref();
    session
        .with_daemon(async |client| {
            if let ConfirmCommand::Watch = command {
                return watch(&session.ui, client.watch(scope).await?).await;
            }
            let waiting = client.confirmations(scope, "").await?.confirmations;
            match &command {
                ConfirmCommand::List | ConfirmCommand::Watch => list(&session.ui, &waiting),
                ConfirmCommand::Show(args) => {
                    // A long list leaves out diffs.
                    let id = &find(&waiting, &args.id)?.id;
                    let whole = client.confirmations(scope, id).await?.confirmations;
                    show(&session.ui, find(&whole, id)?)
                }
                ConfirmCommand::Approve(args) => {
                    resolve(&session.ui, client, find(&waiting, &args.id)?, Ok(())).await
                }
                ConfirmCommand::Deny(args) => {
                    let answer = Err(args.reason.clone());
                    resolve(&session.ui, client, find(&waiting, &args.id)?, answer).await
                }
            }
        })
        .await
}

fn list(ui: &Ui, waiting: &[v1::Confirmation]) -> Result<Outcome, CliError> {
    ui.print_either(
        || json!({ "confirmations": waiting.iter().map(views::confirmation).collect::<Vec<_>>() }),
        || {
            if waiting.is_empty() {
                return "nothing waits".to_owned();
            }
            let rows: Vec<_> = waiting.iter().map(row).collect();
            table::render(["ID", "EXPIRES", "TOOL", "CALLER", "ABOUT"], &rows)
        },
    )?;
    Ok(Outcome::Ok)
}

fn row(confirmation: &v1::Confirmation) -> [String; 5] {
    let about = match confirmation.changes.as_slice() {
        [] => "the call".to_owned(),
        [one] => one.path.clone(),
        [first, rest @ ..] => format!("{} and {} more", first.path, rest.len()),
    };
    [
        confirmation.id.clone(),
        views::time(confirmation.expires_at.as_ref()),
        confirmation.tool.clone(),
        confirmation.caller.clone(),
        about,
    ]
}

async fn watch(ui: &Ui, mut watching: moss_daemon::client::Watching) -> Result<Outcome, CliError> {
    while let Some(confirmation) = watching.next().await? {
        if ui.json() {
            ui.print_json_line(&views::confirmation(&confirmation))?;
        } else if confirmation.state() == v1::ConfirmationState::Pending {
            ui.print(&described(&confirmation))?;
        } else {
            ui.print(&ended(&confirmation))?;
        }
    }
    Ok(Outcome::Ok)
}

fn show(ui: &Ui, confirmation: &v1::Confirmation) -> Result<Outcome, CliError> {
    ui.print_either(|| views::confirmation(confirmation), || described(confirmation))?;
    Ok(Outcome::Ok)
}

async fn resolve(
    ui: &Ui,
    client: &Client,
    confirmation: &v1::Confirmation,
    answer: Result<(), String>,
) -> Result<Outcome, CliError> {
    let resolved = client.resolve(confirmation, answer).await?;
    ui.print_either(|| views::confirmation(&resolved), || ended(&resolved))?;
    Ok(Outcome::Ok)
}

fn described(confirmation: &v1::Confirmation) -> String {
    format!(
        "{} {}\n{}\n{}\n",
        bold("confirmation"),
        text::line(&confirmation.id),
        dim(format!(
            "in {}, called by {}, expires {}",
            text::line(&confirmation.workspace),
            text::line(&confirmation.caller),
            views::time(confirmation.expires_at.as_ref()),
        )),
        effect::confirmation(confirmation),
    )
}

fn ended(confirmation: &v1::Confirmation) -> String {
    let state = views::confirmation_state(confirmation.state());
    let reason = match confirmation.reason.as_str() {
        "" => String::new(),
        reason => format!(": {}", text::line(reason)),
    };
    format!("{} {state}{reason}", text::line(&confirmation.id))
}

/// Finds the one that is meant.
fn find<'a>(waiting: &'a [v1::Confirmation], id: &str) -> Result<&'a v1::Confirmation, CliError> {
    let mut fitting = waiting.iter().filter(|confirmation| confirmation.id.starts_with(id));
    match (fitting.next().filter(|_| !id.is_empty()), fitting.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => {
            Err(CliError::invalid(format!("`{id}` is the beginning of several confirmations")))
        }
        (None, _) => Err(CliError::new(
            Outcome::Failed,
            "confirmation_unknown",
            format!("no confirmation `{id}` waits"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_of_an_id_names_it_while_it_is_unique() {
        let waiting =
            ["abc1", "abd2"].map(|id| v1::Confirmation { id: id.into(), ..Default::default() });
        assert_eq!(find(&waiting, "abc").unwrap().id, "abc1");
        assert_eq!(find(&waiting, "abd2").unwrap().id, "abd2");
        assert_eq!(find(&waiting, "ab").unwrap_err().outcome, Outcome::Invalid);
        assert_eq!(find(&waiting, "x").unwrap_err().outcome, Outcome::Failed);
        assert_eq!(find(&waiting[..1], "").unwrap_err().outcome, Outcome::Failed);
    }
}
