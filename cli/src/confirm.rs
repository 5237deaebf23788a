//! `moss confirm`: what waits at a daemon, and deciding it.

use crate::client::{Client, OneTimeDecision};
use moss_proto::v1;
use moss_sdk::ContentHash;
use serde_json::json;

use super::error::CliError;
use super::remote::Remote;
use super::ui::{Ui, bold, dim};
use super::wording::{PromptWording, Wording};
use super::{Session, confirming, effect, prompt, table, text, views, whole};
use moss_dispatch::Outcome;

/// Show and resolve pending confirmations
///
/// Of all workspaces, unless `--workspace` names one. An ID may be shortened while it stays
/// unique.
#[derive(Debug, clap::Subcommand)]
pub(super) enum ConfirmCommand {
    /// List pending confirmations
    List,
    /// Follow confirmations as they arrive and end
    ///
    /// While this runs, calls wait for a decision unless they say otherwise: `moss confirm
    /// approve` and `moss confirm deny` send it from another shell.
    Watch,
    /// Show a confirmation
    Show(ConfirmShowArgs),
    /// Approve exactly the effect that the confirmation shows
    Approve(ApproveArgs),
    /// Deny the effect
    Deny(DenyArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct ConfirmShowArgs {
    /// ID of the confirmation, or its beginning
    id: String,

    /// Show the complete text; on a terminal page by page
    ///
    /// A confirmation that is too long to show at once can be approved after this.
    #[arg(long)]
    full: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct ApproveArgs {
    /// ID of the confirmation, or its beginning
    id: String,

    /// Store a standing approval with the rule that `moss confirm show` shows
    ///
    /// On a terminal the rule is shown again before it is stored.
    #[arg(long, value_name = "SCOPE", value_enum)]
    remember: Option<Remember>,

    /// Approve by digest, also if the effect is too long to be shown
    #[arg(long, value_name = "DIGEST", conflicts_with = "remember")]
    digest: Option<ContentHash>,
}

/// How long an approval applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Remember {
    /// For calls of the same session
    Session,
    /// Until it expires or is revoked
    Always,
}

#[derive(Debug, clap::Args)]
pub(super) struct DenyArgs {
    /// ID of the confirmation, or its beginning
    id: String,

    /// Reason; the model sees it
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
                return watch(session, client.watch(scope).await?).await;
            }
            let waiting = client.confirmations(scope, "").await?.confirmations;
            match &command {
                ConfirmCommand::List | ConfirmCommand::Watch => list(&session.ui, &waiting),
                ConfirmCommand::Show(args) => {
                    // A long list leaves out diffs.
                    let id = &find(&waiting, &args.id)?.id;
                    let whole = client.confirmations(scope, id).await?.confirmations;
                    match args.full {
                        true => show_full(&session.ui, client, find(&whole, id)?).await,
                        false => show(&session.ui, find(&whole, id)?),
                    }
                }
                ConfirmCommand::Approve(args) => {
                    let id = &find(&waiting, &args.id)?.id;
                    let whole = client.confirmations(scope, id).await?.confirmations;
                    let confirmation = find(&whole, id)?;
                    match args.remember {
                        None => {
                            let decision = yes(confirmation, args.digest)?;
                            resolve(&session.ui, client, confirmation, decision).await
                        }
                        Some(scope) => remember(&session.ui, client, confirmation, scope).await,
                    }
                }
                ConfirmCommand::Deny(args) => {
                    let decision = OneTimeDecision::No(args.reason.clone());
                    resolve(&session.ui, client, find(&waiting, &args.id)?, decision).await
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

async fn watch(
    session: &Session,
    mut watching: crate::client::Watching,
) -> Result<Outcome, CliError> {
    let (ui, remote) = (&session.ui, &session.global.remote);
    while let Some(confirmation) = watching.next().await? {
        if ui.json() {
            ui.print_json_line(&views::confirmation(&confirmation))?;
        } else if confirmation.state() == v1::ConfirmationState::Pending {
            ui.print(
                &(described(ui.wording(), &confirmation) + &how_to_decide(remote, &confirmation)),
            )?;
        } else {
            ui.print(&ended(&confirmation))?;
        }
    }
    Ok(Outcome::Ok)
}

/// The commands that resolve a confirmation: who only follows cannot do it there.
fn how_to_decide(remote: &Remote, confirmation: &v1::Confirmation) -> String {
    let id = text::line(&confirmation.id);
    let (yes, no) = (
        remote.elsewhere(&format!("moss confirm approve {id}")),
        remote.elsewhere(&format!("moss confirm deny {id} --reason TEXT")),
    );
    dim(format!("decide in another shell: `{yes}`, or `{no}`\n"))
}

fn show(ui: &Ui, confirmation: &v1::Confirmation) -> Result<Outcome, CliError> {
    ui.print_either(
        || views::confirmation(confirmation),
        || described(ui.wording(), confirmation),
    )?;
    Ok(Outcome::Ok)
}

/// Shows all of it. In JSON the diffs are whole, with the lines before them that are not as the edit
/// says.
async fn show_full(
    ui: &Ui,
    client: &Client,
    confirmation: &v1::Confirmation,
) -> Result<Outcome, CliError> {
    if ui.json() {
        let texts = whole::read(client, confirmation).await?;
        let mut whole = confirmation.clone();
        for (change, text) in whole.changes.iter_mut().zip(texts) {
            (change.diff, change.diff_omitted_bytes) = (text, 0);
        }
        ui.print_json(&views::confirmation(&whole))?;
        return Ok(Outcome::Ok);
    }
    ui.print(&described(ui.wording(), confirmation))?;
    Ok(match whole::show(ui, client, confirmation).await? {
        true => Outcome::Ok,
        false => Outcome::Cancelled,
    })
}

/// A yes: by the digest where that is named.
fn yes(
    confirmation: &v1::Confirmation,
    digest: Option<ContentHash>,
) -> Result<OneTimeDecision, CliError> {
    match digest {
        None => Ok(OneTimeDecision::Yes),
        Some(digest) if digest.to_string() == confirmation.digest => {
            Ok(OneTimeDecision::YesByDigest)
        }
        Some(_) => {
            let message = format!(
                "the confirmation has the digest {}; no decision was sent",
                text::line(&confirmation.digest)
            );
            Err(CliError::new(Outcome::Invalid, "digest_changed", message))
        }
    }
}

async fn resolve(
    ui: &Ui,
    client: &Client,
    confirmation: &v1::Confirmation,
    decision: OneTimeDecision,
) -> Result<Outcome, CliError> {
    let resolved = client.resolve(confirmation, decision).await?;
    ui.print_either(|| views::confirmation(&resolved), || ended(&resolved))?;
    Ok(Outcome::Ok)
}

/// Says yes for longer than once.
async fn remember(
    ui: &Ui,
    client: &Client,
    confirmation: &v1::Confirmation,
    scope: Remember,
) -> Result<Outcome, CliError> {
    let wanted = match scope {
        Remember::Session => v1::ApprovalScope::Session,
        Remember::Always => v1::ApprovalScope::Always,
    };
    let offer = confirmation.offers.iter().find(|offer| offer.scope() == wanted);
    let offer = offer.ok_or_else(|| {
        let message =
            "the confirmation does not offer that standing approval; no decision was sent";
        CliError::new(Outcome::Invalid, "approval_not_offered", message.to_owned())
    })?;
    if ui.interactive() && !ui.json() {
        ui.note(&text::lines(&offer.rule_toml));
        if !prompt::agree(ui, ui.wording().prompt.remember).await? {
            let message = "the rule was not approved; no decision was sent";
            return Err(CliError::unconfirmed(message, confirmation));
        }
    }
    let remembered = client.remember(confirmation, offer).await?;
    ui.print_either(
        || match &remembered {
            Ok(decision) => json!({ "approval": views::standing_approval(decision) }),
            Err(problem) => json!({ "approval": null, "remember_problem": problem }),
        },
        || {
            format!(
                "{} approved\n{}",
                text::line(&confirmation.id),
                confirming::remembered(&ui.wording().prompt, &remembered)
            )
        },
    )?;
    Ok(if remembered.is_ok() { Outcome::Ok } else { Outcome::Failed })
}

fn described(wording: &Wording, confirmation: &v1::Confirmation) -> String {
    let words = &wording.prompt;
    format!(
        "{} {}\n{}\n{}\n",
        bold(words.confirmation),
        text::line(&confirmation.id),
        dim((words.origin)(
            &text::line(&confirmation.workspace),
            &text::line(&confirmation.caller),
            &views::time(confirmation.expires_at.as_ref()),
        )),
        effect::confirmation(wording, confirmation),
    ) + &offered(words, &confirmation.offers)
}

/// Shows the rules of standing approvals: mostly one text, which holds shorter or longer.
fn offered(words: &PromptWording, offers: &[v1::OfferedApproval]) -> String {
    let offered = offers.iter().map(|offer| {
        let scope = views::approval_scope(offer.scope());
        let rule = text::lines(&offer.rule_toml);
        format!("\n{}\n{rule}", dim((words.remember_allows)(&scope)))
    });
    offered.collect()
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
            format!("there is no pending confirmation `{id}`"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confirmation_that_is_followed_says_how_it_is_decided() {
        let waiting = v1::Confirmation { id: "abc1".into(), ..Default::default() };
        let how = how_to_decide(&Remote::default(), &waiting);
        assert!(
            how.contains("moss confirm approve abc1") && how.contains("moss confirm deny abc1")
        );
        let mut remote = Remote::default();
        remote.server = Some("unix:/run/my sockets/moss.sock".parse().unwrap());
        let how = how_to_decide(&remote, &waiting);
        let command = "`moss confirm approve abc1 --server 'unix:/run/my sockets/moss.sock'`";
        assert!(how.contains(command), "{how}");
    }

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
