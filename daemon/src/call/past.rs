//! Past changes for tools: what the history holds, as far as the policy lets the caller read it.

use moss_sdk::ToolError;
use moss_sdk::history::{Past, PastAction, PastChange, PastDiff, PastFile, PastQuery};
use moss_workspace::{Action, Error, HistoryEntry, HistoryFile, HistoryFilter};

use super::{Scope, may_show};
use crate::change;

/// Looks the newest changes up. Waits for the disk; ends where the call is cancelled.
pub(super) fn look(scope: &Scope, query: &PastQuery) -> Result<Past, ToolError> {
    let filter = HistoryFilter {
        path: query.path.clone(),
        entries_max: query.changes_max.saturating_add(1),
        ..HistoryFilter::default()
    };
    let mut found = scope.call.workspace.history.list(&filter)?;
    let has_more = found.len() > query.changes_max;
    found.truncate(query.changes_max);
    let mut left = query.diff_bytes_max;
    let mut changes = Vec::with_capacity(found.len());
    for entry in found {
        changes.push(past_change(scope, entry, &mut left)?);
    }
    Ok(Past { changes, has_more })
}

fn past_change(
    scope: &Scope,
    entry: HistoryEntry,
    left: &mut usize,
) -> Result<PastChange, ToolError> {
    let files = entry.files.into_iter().map(|file| past_file(scope, file, left));
    Ok(PastChange {
        number: entry.number,
        at: entry.at,
        tool: entry.origin.tool,
        caller: entry.origin.caller,
        undo_of: entry.undo_of,
        undone_by: entry.undone_by,
        files: files.collect::<Result<_, _>>()?,
    })
}

/// A diff is only computed for who may see it, and while there is room for it.
fn past_file(scope: &Scope, file: HistoryFile, left: &mut usize) -> Result<PastFile, ToolError> {
    if scope.cancel.is_cancelled() {
        return Err(Error::Cancelled.into());
    }
    let call = &scope.call;
    let is_shown = may_show(&call.workspace, call.role, call.tool(), &file);
    let diff = match *left {
        _ if !is_shown => PastDiff::Denied,
        0 => PastDiff::TooLong,
        bytes_max => match call.workspace.history.diff(&file)? {
            None => PastDiff::Forgotten,
            Some(mut diff) => {
                *left = bytes_max.saturating_sub(diff.len());
                change::shorten(std::iter::once(&mut diff), bytes_max);
                PastDiff::Shown(diff)
            }
        },
    };
    // Hashes would let the caller try out what a short content is.
    let is_known = matches!(diff, PastDiff::Shown(_) | PastDiff::TooLong);
    Ok(PastFile {
        path: file.path,
        action: match file.action {
            Action::Create => PastAction::Create,
            Action::Modify => PastAction::Modify,
            Action::Delete => PastAction::Delete,
        },
        before: file.before.filter(|_| is_known),
        after: file.after.filter(|_| is_known),
        lines_added: file.added as u64,
        lines_removed: file.removed as u64,
        match_level: file.match_level,
        diff,
    })
}
