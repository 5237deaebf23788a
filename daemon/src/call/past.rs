//! Past changes for tools: what the history holds, as far as the policy lets the caller read it.

use moss_sdk::file::Content;
use moss_sdk::history::{
    Past, PastAction, PastChange, PastDiff, PastFile, PastQuery, Recalled, RecalledContent,
    RecalledFile,
};
use moss_sdk::{ContentHash, ErrorCode, ToolError};
use moss_workspace::{Error, FileAction, HistoryEntry, HistoryFile, HistoryFilter, decode};

use super::{CallScope, may_show};
use moss_dispatch::change;
use moss_merge::merge_bytes;

/// How often a tool has what it recalls: as it is recalled, and as it is compared.
const RECALLED_COPIES: u64 = 2;

/// Looks the newest changes up. Waits for the disk; ends where the call is cancelled.
pub(super) fn look(scope: &CallScope, query: &PastQuery) -> Result<Past, ToolError> {
    let filter = HistoryFilter {
        path: query.path.clone(),
        since: query.number.map(|number| number.saturating_sub(1)),
        before: query.number.map(|number| number.saturating_add(1)),
        entries_max: query.changes_max.saturating_add(1),
        ..HistoryFilter::default()
    };
    let mut found = scope.workspace.history.list(&filter)?;
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
    scope: &CallScope,
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
fn past_file(
    scope: &CallScope,
    file: HistoryFile,
    left: &mut usize,
) -> Result<PastFile, ToolError> {
    if scope.cancel.is_cancelled() {
        return Err(Error::Cancelled.into());
    }
    let call = &scope.call;
    let is_shown = may_show(&scope.workspace, call.caller.name(), call.tool(), &file);
    let diff = match *left {
        _ if !is_shown => PastDiff::Denied,
        0 => PastDiff::TooLong,
        bytes_max => match scope.workspace.history.diff(&file)? {
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
        action: past_action(file.action),
        before: file.before.filter(|_| is_known),
        after: file.after.filter(|_| is_known),
        lines_added: file.added as u64,
        lines_removed: file.removed as u64,
        match_level: file.match_level,
        diff,
    })
}

fn past_action(action: FileAction) -> PastAction {
    match action {
        FileAction::Create => PastAction::Create,
        FileAction::Modify => PastAction::Modify,
        FileAction::Delete => PastAction::Delete,
    }
}

/// Returns one change with the contents of its files. Waits for the disk; ends where the call is
/// cancelled.
pub(super) fn recall(scope: &CallScope, index: usize) -> Result<Recalled, ToolError> {
    let history = &scope.workspace.history;
    let filter = HistoryFilter { skip: index, entries_max: 1, ..HistoryFilter::default() };
    let Some(entry) = history.list(&filter)?.pop() else {
        let message = match history.stats()?.entries {
            0 => "nothing was changed through moss yet".to_owned(),
            count => format!(
                "there is no change with the index {index}: the history has {count}, the newest is 0"
            ),
        };
        return Err(ToolError::new(ErrorCode::NotFound, message));
    };
    let number = entry.number;
    let files = entry.files.iter().map(|file| recalled_file(scope, number, file));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    // Files are compared one after the other.
    scope.hold(files.iter().map(merging_bytes).max().unwrap_or_default())?;
    Ok(Recalled { number, files, tool: entry.origin.tool, undo_of: entry.undo_of })
}

/// Estimates what comparing a file with what it was takes, which is as long as the longer of both.
fn merging_bytes(file: &RecalledFile) -> u64 {
    let text = |recalled: &Option<RecalledContent>| match recalled.as_ref()?.content.as_ref()? {
        Content::Text(text) => Some(merge_bytes([&text.text, "", ""])),
        Content::Binary => None,
    };
    let [before, after] = [&file.before, &file.after].map(|side| text(side).unwrap_or_default());
    before.saturating_add(after).saturating_add(before.max(after)) as u64
}

fn recalled_file(
    scope: &CallScope,
    number: u64,
    file: &HistoryFile,
) -> Result<RecalledFile, ToolError> {
    if scope.cancel.is_cancelled() {
        return Err(Error::Cancelled.into());
    }
    let call = &scope.call;
    if !may_show(&scope.workspace, call.caller.name(), call.tool(), file) {
        let message = format!(
            "change {number} changed {}, which the policy does not let you read",
            file.path
        );
        return Err(ToolError::new(ErrorCode::Denied, message));
    }
    let content = |hash: Option<ContentHash>, size_bytes| -> Result<_, ToolError> {
        let Some(hash) = hash else { return Ok(None) };
        let bytes_max = scope.workspace.files.limits().edit_bytes_max;
        let is_kept = !file.forgotten;
        if is_kept && size_bytes > bytes_max {
            let (path, setting) = (file.path.clone(), "files.edit_bytes_max");
            return Err(
                Error::TooLarge { path, size_bytes, bytes_max, setting, is_new: false }.into()
            );
        }
        if is_kept {
            scope.hold(size_bytes.saturating_mul(RECALLED_COPIES))?;
        }
        let bytes = if is_kept { scope.workspace.history.content(&hash)? } else { None };
        let content = bytes.map(|bytes| decode(&bytes).map_or(Content::Binary, Content::Text));
        Ok(Some(RecalledContent { hash, content }))
    };
    Ok(RecalledFile {
        path: file.real.clone(),
        action: past_action(file.action),
        before: content(file.before, file.before_bytes)?,
        after: content(file.after, file.after_bytes)?,
    })
}
