//! `moss approvals`.

use moss_proto::v1;
use serde_json::json;

use crate::client::{Client, NeededTools};

use super::error::CliError;
use super::ui::{bold, dim, yellow};
use super::{Session, text, views};
use moss_dispatch::Outcome;

/// Show and revoke standing approvals
#[derive(Debug, clap::Subcommand)]
pub(super) enum ApprovalsCommand {
    /// List the standing approvals in effect, with the exact rule of each
    List,
    /// Revoke standing approvals; takes effect at once
    Revoke(RevokeArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct RevokeArgs {
    /// ID of the approval, or the beginning of it
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    id: Option<String>,

    /// Revoke every standing approval of the workspace
    #[arg(long)]
    all: bool,
}

pub(super) async fn run(command: ApprovalsCommand, session: &Session) -> Result<Outcome, CliError> {
    match command {
        ApprovalsCommand::List => list(session).await,
        ApprovalsCommand::Revoke(args) => revoke(&args, session).await,
    }
}

async fn list(session: &Session) -> Result<Outcome, CliError> {
    let listed = session
        .with_client(NeededTools::Native, async |client| Ok(client.standing_approvals().await?))
        .await?;
    session.ui.print_either(
        || {
            let approvals: Vec<_> = listed.approvals.iter().map(views::standing_approval).collect();
            json!({ "approvals": approvals, "problem": listed.problem })
        },
        || match listed.approvals.as_slice() {
            [] => "no standing approvals".to_owned(),
            approvals => approvals.iter().map(described).collect::<Vec<_>>().join("\n"),
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
            let v1::ListStandingApprovalsResponse { approvals: listed, problem } =
                client.standing_approvals().await?;
            if !problem.is_empty() {
                let message = format!(
                    "no standing approval is in effect and none can be revoked: {problem}; fix the \
                     file or remove it, then try again"
                );
                return Err(CliError::new(Outcome::Failed, "approvals_unusable", message));
            }
            let ids: Vec<_> = match &args.id {
                None => listed.iter().map(|approval| approval.id.clone()).collect(),
                Some(id) => vec![find(&listed, id)?.id.clone()],
            };
            revoke_all(client, &ids).await
        })
        .await?;
    session.ui.print_either(
        || json!({ "revoked": revoked.iter().map(views::standing_approval).collect::<Vec<_>>() }),
        || match revoked.as_slice() {
            [] => "no standing approvals: nothing to revoke".to_owned(),
            revoked => {
                let line = |approval: &v1::StandingApproval| {
                    format!("revoked {}", text::line(&approval.id))
                };
                revoked.iter().map(line).collect::<Vec<_>>().join("\n")
            }
        },
    )?;
    Ok(Outcome::Ok)
}

async fn revoke_all(
    client: &Client,
    ids: &[String],
) -> Result<Vec<v1::StandingApproval>, CliError> {
    let mut revoked = Vec::with_capacity(ids.len());
    for id in ids {
        revoked.push(client.revoke_standing_approval(id).await?);
    }
    Ok(revoked)
}

/// Formats an approval with its rule.
fn described(approval: &v1::StandingApproval) -> String {
    let scope = match approval.scope() {
        v1::ApprovalScope::Session => format!("session {}", text::line(&approval.session_id)),
        v1::ApprovalScope::Always | v1::ApprovalScope::Unspecified => "always".to_owned(),
    };
    let last = views::time(approval.last_used_at.as_ref());
    let used = match approval.uses {
        0 => "never used".to_owned(),
        1 => format!("used 1 time, {last}"),
        uses => format!("used {uses} times, last {last}"),
    };
    format!(
        "{} {scope}\n{}\n{}",
        bold(text::line(&approval.id)),
        dim(format!(
            "approved {}, expires {}, {used}",
            views::time(approval.approved_at.as_ref()),
            views::time(approval.expires_at.as_ref()),
        )),
        text::lines(&approval.rule_toml),
    )
}

/// Finds the approval with this ID or prefix.
fn find<'a>(
    approvals: &'a [v1::StandingApproval],
    id: &str,
) -> Result<&'a v1::StandingApproval, CliError> {
    let mut fitting = approvals.iter().filter(|approval| approval.id.starts_with(id));
    match (fitting.next().filter(|_| !id.is_empty()), fitting.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => {
            Err(CliError::invalid(format!("`{id}` is the beginning of several IDs")))
        }
        (None, _) => {
            let message = format!("there is no standing approval `{id}`");
            Err(CliError::new(Outcome::Failed, "approval_unknown", message))
        }
    }
}
