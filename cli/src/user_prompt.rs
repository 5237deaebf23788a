//! `moss prompt`: the user's own prompt.

use crate::client::{Client, NeededTools};
use moss_proto::v1;
use serde_json::{Value, json};

use super::error::CliError;
use super::ui::dim;
use super::undoing::{self, UndoRequest, Undoing};
use super::{Session, effect, history, table, text, views};
use moss_dispatch::Outcome;

/// The name of an undo in reports.
const UNDO: &str = "undo_user_prompt";

/// Show the user's own prompt, which is added to the system prompt of models
///
/// It is a text file of yours; edit it as you like. The tool `moss_update_asi_user_prompt` changes
/// it after you approved, and those changes can be undone.
#[derive(Debug, clap::Subcommand)]
pub(super) enum PromptCommand {
    /// Print the prompt as it is now
    Show,
    /// List the changes made through moss, newest first
    History(HistoryArgs),
    /// Undo a change
    ///
    /// A change like any other: policy decides, you are asked, and the undo has its own entry.
    Undo(PromptUndoArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct HistoryArgs {
    /// Print at most N entries
    #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = 20)]
    lines: u32,

    /// Also print the diffs
    #[arg(long)]
    diffs: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct PromptUndoArgs {
    /// Number of the change; default: the newest
    #[arg(value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    number: Option<u64>,

    /// Show the effect and its digest, do nothing
    #[arg(long)]
    dry_run: bool,

    /// Wait for an approver elsewhere if nobody can be asked here
    #[arg(long)]
    wait: bool,
}

pub(super) async fn run(command: PromptCommand, session: &Session) -> Result<Outcome, CliError> {
    match command {
        PromptCommand::Show => show(session).await,
        PromptCommand::History(args) => list(&args, session).await,
        PromptCommand::Undo(args) => undo(&args, session).await,
    }
}

async fn show(session: &Session) -> Result<Outcome, CliError> {
    let prompt = session
        .with_client(NeededTools::Native, async |client| Ok(client.user_prompt().await?))
        .await?;
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
        .with_client(NeededTools::Native, async |client| {
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
                let diffs = effect::changes(session.ui.wording(), &entry.changes);
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

/// Undoes, all questions of it included.
async fn undo(args: &PromptUndoArgs, session: &Session) -> Result<Outcome, CliError> {
    let undoing = Undoing { tool: UNDO, wait: args.wait, dry_run: args.dry_run };
    let call = async |client: &Client, asking: UndoRequest| {
        let request = v1::UndoUserPromptRequest {
            workspace: String::new(),
            number: args.number.unwrap_or_default(),
            confirm: asking.confirm.into(),
            approved_digests: asking.approved_digests,
            dry_run: asking.dry_run,
        };
        client.undo_user_prompt(request).await
    };
    undoing::run(undoing, session, call).await
}
