//! `moss prompt`: the user's own prompt.

use crate::client::{Client, Failure, Need};
use moss_proto::v1;
use serde_json::{Value, json};

use super::confirming::{self, Answering};
use super::error::CliError;
use super::report::Report;
use super::ui::dim;
use super::{Session, effect, history, table, text, views};
use moss_dispatch::{Outcome, Reason};

/// The name of an undo in reports.
const UNDO: &str = "undo_user_prompt";

/// Look at the user's own prompt, which is added to the system prompt of models
///
/// It is a text file of yours; edit it as you like. The tool `moss_update_asi_user_prompt` changes
/// it after you agreed, and those changes can be taken back.
#[derive(Debug, clap::Subcommand)]
pub(super) enum PromptCommand {
    /// Print the prompt
    Show,
    /// List what was changed through moss, the newest first
    History(HistoryArgs),
    /// Take a change back
    ///
    /// A change like any other: policy decides, you are asked, and it is an entry of its own.
    Undo(UndoArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct HistoryArgs {
    /// Print at most N entries
    #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = 20)]
    lines: u32,

    /// Print the diffs, too
    #[arg(long)]
    diffs: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct UndoArgs {
    /// Number of the change; the newest where none is given
    #[arg(value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    number: Option<u64>,

    /// Show the effect and its digest, do nothing
    #[arg(long)]
    dry_run: bool,

    /// Wait for an approver elsewhere where nobody can be asked here
    #[arg(long)]
    wait: bool,
}

pub(super) async fn run(command: PromptCommand, session: &Session) -> Result<Outcome, CliError> {
    match command {
        PromptCommand::Show => show(session).await,
        PromptCommand::History(args) => list(&args, session).await,
        PromptCommand::Undo(args) => {
            let undone = session
                .with_client(Need::Native, async |client| Ok(undo(&args, session, client).await))
                .await;
            let report = undone.unwrap_or_else(|error| Report::of_error(UNDO, None, error));
            report.show(&session.ui)
        }
    }
}

async fn show(session: &Session) -> Result<Outcome, CliError> {
    let prompt =
        session.with_client(Need::Native, async |client| Ok(client.user_prompt().await?)).await?;
    let v1::GetUserPromptResponse { text, path, exists } = &prompt;
    if !session.ui.json() {
        let path = text::line(path);
        let where_to = if *exists { path } else { format!("there is no {path}") };
        session.ui.note(&dim(where_to));
        if text.is_empty() {
            return Ok(Outcome::Ok);
        }
    }
    session.ui.print_either(
        || json!({ "path": path, "exists": exists, "text": text }),
        || text::lines(text.trim_end_matches('\n')),
    )?;
    Ok(Outcome::Ok)
}

async fn list(args: &HistoryArgs, session: &Session) -> Result<Outcome, CliError> {
    let listed = session
        .with_client(Need::Native, async |client| {
            Ok(client.user_prompt_history(args.lines).await?)
        })
        .await?;
    let entries = listed.entries;
    session.ui.print_either(
        || json!({ "entries": entries.iter().map(views::history_entry).collect::<Vec<Value>>() }),
        || {
            if entries.is_empty() {
                return "nothing was changed through moss".to_owned();
            }
            let rows: Vec<_> = entries.iter().map(row).collect();
            let mut shown = table::render(["N", "TIME", "TOOL", "CALLER", "LINES"], &rows);
            for entry in entries.iter().filter(|_| args.diffs) {
                let diffs = effect::changes(&entry.changes);
                shown.push_str(&format!("\n\n{}\n{}", entry.number, diffs.trim_end()));
            }
            shown
        },
    )?;
    Ok(Outcome::Ok)
}

fn row(entry: &v1::HistoryEntry) -> [String; 5] {
    let lines =
        |change: &v1::FileChange| format!("+{} -{}", change.lines_added, change.lines_removed);
    [
        entry.number.to_string(),
        views::time(entry.committed_at.as_ref()),
        history::tool(entry),
        entry.caller.clone(),
        entry.changes.iter().map(lines).collect::<Vec<_>>().join(", "),
    ]
}

/// Undoes: first without an answer; where one is needed, again with the digest that was approved.
async fn undo(args: &UndoArgs, session: &Session, client: &Client) -> Report {
    let ui = &session.ui;
    let confirm = &session.global.confirm;
    let answering = confirming::answering(confirm, args.wait, ui.interactive(), client.is_alone());
    let mode = match answering {
        Answering::Elsewhere => v1::ConfirmMode::Wait,
        _ => v1::ConfirmMode::Refuse,
    };
    let mut request = v1::UndoUserPromptRequest {
        workspace: String::new(),
        number: args.number.unwrap_or_default(),
        confirm: mode.into(),
        approved_digests: confirming::approved_digests(confirm),
        dry_run: args.dry_run,
    };
    loop {
        let failure = match client.undo_user_prompt(request.clone()).await {
            Ok(result) => return Report::of_result(result, args.dry_run),
            Err(failure) => failure,
        };
        let is_answered = !request.approved_digests.is_empty();
        if !failure.is(Reason::ConfirmationRequired) || is_answered {
            return Report::of_error(UNDO, None, failure.into());
        }
        let approved = match asked(client, &request, &failure).await {
            Ok(confirmation) => history::answer(ui, answering, confirmation, failure).await,
            Err(failure) => Err(failure.into()),
        };
        match approved {
            Ok(digest) => request.approved_digests.push(digest),
            Err(error) => return Report::of_error(UNDO, None, error),
        }
    }
}

/// Returns the effect that a refusal is about; a dry run tells it where the status had no room.
async fn asked(
    client: &Client,
    request: &v1::UndoUserPromptRequest,
    failure: &Failure,
) -> Result<v1::Confirmation, Failure> {
    if let Some(confirmation) = &failure.confirmation {
        return Ok((**confirmation).clone());
    }
    let request = v1::UndoUserPromptRequest { dry_run: true, ..request.clone() };
    let shown = client.undo_user_prompt(request).await?;
    Ok(v1::Confirmation {
        tool: UNDO.to_owned(),
        changes: shown.changes,
        digest: shown.digest,
        rule: failure.facts.get("rule").cloned().unwrap_or_default(),
        ..Default::default()
    })
}
