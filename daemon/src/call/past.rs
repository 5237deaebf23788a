//! Past changes for tools: what the history holds, as far as the policy lets the caller read it.

use moss_sdk::ToolError;
use moss_sdk::history::{Past, PastChange, PastDiff, PastFile, PastQuery};
use moss_workspace::{HistoryEntry, HistoryFile, HistoryFilter};

use super::may_show;
use crate::caller::Role;
use crate::change;
use crate::state::WorkspaceState;

/// Looks the newest changes up. Waits for the disk.
pub(super) fn look(
    workspace: &WorkspaceState,
    role: Role,
    query: &PastQuery,
) -> Result<Past, ToolError> {
    let filter = HistoryFilter {
        path: query.path.clone(),
        entries_max: query.changes_max.saturating_add(1),
        ..HistoryFilter::default()
    };
    let mut found = workspace.history.list(&filter)?;
    let has_more = found.len() > query.changes_max;
    found.truncate(query.changes_max);
    let mut changes = Vec::with_capacity(found.len());
    for entry in found {
        // Only an entry by itself comes with its diffs.
        changes.push(past_change(workspace, role, workspace.history.get(entry.number)?));
    }
    let files = changes.iter_mut().flat_map(|change| &mut change.files);
    let diffs = files.filter_map(|file| match &mut file.diff {
        PastDiff::Shown(diff) => Some(diff),
        PastDiff::Forgotten | PastDiff::Denied => None,
    });
    change::shorten(diffs, query.diff_bytes_max);
    Ok(Past { changes, has_more })
}

fn past_change(workspace: &WorkspaceState, role: Role, entry: HistoryEntry) -> PastChange {
    PastChange {
        number: entry.number,
        at: entry.at,
        tool: entry.origin.tool,
        caller: entry.origin.caller,
        undo_of: entry.origin.undo_of,
        files: entry.files.into_iter().map(|file| past_file(workspace, role, file)).collect(),
    }
}

fn past_file(workspace: &WorkspaceState, role: Role, file: HistoryFile) -> PastFile {
    let diff = match &file.diff {
        _ if !may_show(workspace, role, &file) => PastDiff::Denied,
        Some(diff) => PastDiff::Shown(diff.clone()),
        None => PastDiff::Forgotten,
    };
    PastFile {
        path: file.path,
        before: file.before,
        after: file.after,
        lines_added: file.added as u64,
        lines_removed: file.removed as u64,
        diff,
    }
}
