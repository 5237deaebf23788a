//! `moss history`.

use crate::client::{Client, NeededTools, RequestFailure};
use moss_proto::v1;
use moss_proto::v1::undo_history_entry_request::Target;
use moss_sdk::edit::MatchLevel;
use serde_json::{Value, json};

use super::error::CliError;
use super::ui::{bold, dim};
use super::undoing::{self, UndoRequest, Undoing};
use super::{Session, effect, table, text, views};
use moss_dispatch::Outcome;

/// Entries that one request asks for.
const PAGE_SIZE: u32 = 500;
/// The name of an undo in reports.
const UNDO: &str = "undo";

/// Show and undo committed changes
#[derive(Debug, clap::Subcommand)]
pub(super) enum HistoryCommand {
    /// List committed changes, newest first
    List(ListArgs),
    /// Show one entry with its diffs
    Show(NumberArgs),
    /// Undo one entry, or several
    ///
    /// All or nothing, as one change: policy decides, you are asked, and the undo has its own
    /// entry, which can be undone as well. Files that are unchanged since get back their previous
    /// content; later changes of other lines are kept; if the same lines were changed
    /// again, the conflicts are listed and nothing is written.
    Undo(HistoryUndoArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Only entries that touched this file
    path: Option<String>,

    /// Only entries that this tool made; `undo` for undos
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,

    /// Only entries of this call
    #[arg(long, value_name = "ID")]
    call: Option<String>,

    /// Only entries after entry N
    #[arg(long, value_name = "N")]
    since: Option<u64>,

    /// Only entries of this caller: `caller`, `approver`, or the name of a token
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,

    /// Print at most N entries
    #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = 20)]
    lines: usize,
}

#[derive(Debug, clap::Args)]
pub(super) struct NumberArgs {
    /// Number of the entry
    #[arg(value_name = "N")]
    number: u64,
}

#[derive(Debug, clap::Args)]
pub(super) struct HistoryUndoArgs {
    #[command(flatten)]
    target: TargetArgs,

    /// Show the effect and its digest, do nothing
    #[arg(long)]
    dry_run: bool,

    /// Wait for an approver elsewhere if nobody can be asked here
    #[arg(long)]
    wait: bool,
}

/// The changes to undo: exactly one of these.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct TargetArgs {
    /// Number of the entry
    #[arg(value_name = "N")]
    number: Option<u64>,

    /// Everything that this call changed
    #[arg(long, value_name = "ID")]
    call: Option<String>,

    /// Everything after entry N, so that files are as they were right after it; 0 for the whole
    /// history
    #[arg(long, value_name = "N")]
    since: Option<u64>,
}

pub(super) async fn run(command: HistoryCommand, session: &Session) -> Result<Outcome, CliError> {
    match command {
        HistoryCommand::List(args) => list(&args, session).await,
        HistoryCommand::Show(args) => show(&args, session).await,
        HistoryCommand::Undo(args) => undo(&args, session).await,
    }
}

async fn list(args: &ListArgs, session: &Session) -> Result<Outcome, CliError> {
    let (entries, total) = session
        .with_client(NeededTools::Native, async |client| Ok(entries(client, args).await?))
        .await?;
    session.ui.print_either(
        || {
            let entries: Vec<Value> = entries.iter().map(views::history_entry).collect();
            json!({ "entries": entries, "total": total })
        },
        || {
            if entries.is_empty() {
                return args.nothing().to_owned();
            }
            let rows: Vec<_> = entries.iter().map(row).collect();
            table::render(["N", "TIME", "TOOL", "CALLER", "FILES"], &rows)
        },
    )?;
    if let Some(more) = more(entries.len(), total).filter(|_| !session.ui.json()) {
        session.ui.note(&dim(more));
    }
    Ok(Outcome::Ok)
}

/// Says how many entries are not shown and how they are.
fn more(shown: usize, total: u64) -> Option<String> {
    let left = total.saturating_sub(shown as u64);
    (left > 0).then(|| format!("{left} more: `-n {total}` lists all"))
}

/// Reads as many pages as it takes. Returns how many there are in all, too.
async fn entries(
    client: &Client,
    args: &ListArgs,
) -> Result<(Vec<v1::HistoryEntry>, u64), RequestFailure> {
    let mut entries = Vec::new();
    let mut total = 0;
    let mut page_token = String::new();
    while entries.len() < args.lines {
        let left = u32::try_from(args.lines - entries.len()).unwrap_or(PAGE_SIZE);
        let page = client
            .history(v1::ListHistoryRequest {
                path: args.path.clone().unwrap_or_default(),
                page_size: left.min(PAGE_SIZE),
                page_token,
                tool: args.tool.clone().unwrap_or_default(),
                call_id: args.call.clone().unwrap_or_default(),
                since: args.since.unwrap_or_default(),
                caller: args.caller.clone().unwrap_or_default(),
                with_total: entries.is_empty(),
                ..Default::default()
            })
            .await?;
        // A daemon that does not count says 0.
        total = total.max(page.total);
        entries.extend(page.entries);
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    let total = total.max(entries.len() as u64);
    Ok((entries, total))
}

fn row(entry: &v1::HistoryEntry) -> [String; 5] {
    let files: Vec<_> = entry.changes.iter().map(file).collect();
    [
        entry.number.to_string(),
        views::time(entry.committed_at.as_ref()),
        match &entry.undone_by[..] {
            [] => tool(entry),
            numbers => format!("{} (undone by {})", tool(entry), ranges(numbers)),
        },
        entry.caller.clone(),
        files.join(", "),
    ]
}

/// A file with the lines that were changed, and how the location was found where it was not
/// exactly.
fn file(change: &v1::FileChange) -> String {
    let v1::FileChange { path, lines_added, lines_removed, match_level, .. } = change;
    let found = match match_level.as_str() {
        "" => String::new(),
        level if MatchLevel::parse(level) == Some(MatchLevel::Exact) => String::new(),
        level => format!(" ({level})"),
    };
    format!("{path} +{lines_added} -{lines_removed}{found}")
}

/// The tool, and what it undid.
pub(super) fn tool(entry: &v1::HistoryEntry) -> String {
    match &entry.undoes[..] {
        [] => entry.tool.clone(),
        numbers => format!("{} of {}", entry.tool, ranges(numbers)),
    }
}

/// Writes falling numbers shortly: `9-7, 4`.
fn ranges(numbers: &[u64]) -> String {
    numbers
        .chunk_by(|newer, older| *newer == older + 1)
        .map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            _ => run.iter().map(u64::to_string).collect(),
        })
        .collect::<Vec<_>>()
        .join(", ")
}

async fn show(args: &NumberArgs, session: &Session) -> Result<Outcome, CliError> {
    let entry = session
        .with_client(NeededTools::Native, async |client| {
            Ok(client.history_entry(args.number).await?)
        })
        .await?;
    session.ui.print_either(
        || views::history_entry(&entry),
        || {
            let heading = bold(format!("{} {}", entry.number, text::line(&tool(&entry))));
            let time = views::time(entry.committed_at.as_ref());
            let caller = text::line(&entry.caller);
            let call = text::line(&entry.call_id);
            let undone = match &entry.undone_by[..] {
                [] => String::new(),
                numbers => format!("\nundone by {}", ranges(numbers)),
            };
            let changes = effect::changes(session.ui.wording(), &entry.changes);
            format!("{heading}\n{time}, called by {caller}, call {call}{undone}\n\n{changes}")
        },
    )?;
    Ok(Outcome::Ok)
}

/// Undoes, all questions of it included.
async fn undo(args: &HistoryUndoArgs, session: &Session) -> Result<Outcome, CliError> {
    let undoing = Undoing { tool: UNDO, wait: args.wait, dry_run: args.dry_run };
    let call = async |client: &Client, asking: UndoRequest| {
        let request = v1::UndoHistoryEntryRequest {
            workspace: String::new(),
            target: Some(args.target.wanted()),
            confirm: asking.confirm.into(),
            approved_digests: asking.approved_digests,
            dry_run: asking.dry_run,
        };
        client.undo(request, None).await
    };
    undoing::run(undoing, session, call).await
}

// === impl ListArgs ===

impl ListArgs {
    /// Says that there is nothing to list.
    fn nothing(&self) -> &'static str {
        let Self { path, tool, call, since, caller, lines: _ } = self;
        let is_narrowed = [path, tool, call, caller].iter().any(|named| named.is_some());
        if is_narrowed || since.is_some() { "no such change" } else { "nothing was committed" }
    }
}

// === impl TargetArgs ===

impl TargetArgs {
    /// The one thing that is named.
    fn wanted(&self) -> Target {
        match (&self.call, self.since) {
            (Some(call_id), _) => Target::CallId(call_id.clone()),
            (None, Some(number)) => Target::Since(number),
            (None, None) => Target::Number(self.number.unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_each_other_are_a_range() {
        assert_eq!(ranges(&[3]), "3");
        assert_eq!(ranges(&[9, 8, 7, 4, 2, 1]), "9-7, 4, 2-1");
    }

    #[test]
    fn entries_that_are_not_shown_are_counted() {
        assert_eq!(more(20, 37).as_deref(), Some("17 more: `-n 37` lists all"));
        assert_eq!(more(3, 3), None);
    }

    #[test]
    fn level_of_a_file_is_reported_where_it_is_not_exact() {
        let line = |match_level: &str| {
            let match_level = match_level.to_owned();
            file(&v1::FileChange { path: "a".into(), match_level, ..Default::default() })
        };
        assert_eq!(line(""), "a +0 -0");
        assert_eq!(line("exact"), "a +0 -0");
        assert_eq!(line("line_trimmed"), "a +0 -0 (line_trimmed)");
    }
}
