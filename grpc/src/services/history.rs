//! `moss.v1.HistoryService`.

use std::sync::Arc;

use moss_dispatch::{Dispatcher as _, Events, Reason, change, operations::HISTORY};
use moss_proto::v1;
use moss_proto::v1::history_service_server::HistoryService;
use moss_sdk::{ContentHash, RelPath};
use moss_workspace::{Error, HistoryEntry, HistoryFile, HistoryFilter};
use tonic::{Request, Response, Status};

use super::methods::methods;
use super::{error, from_proto, look_up, to_proto};
use moss_daemon::call;
use moss_daemon::state::{Daemon, WorkspaceState};

/// Entries of a page where the request does not say.
const PAGE_SIZE_DEFAULT: u32 = 50;
/// What stands in place of a diff that the policy keeps from the caller.
const NOT_SHOWN: &str = "\\ not shown: the policy does not allow to read this file\n";
/// What stands in place of a diff for which there is no room.
const TOO_MUCH: &str = "\\ not shown: the previous diffs are too long (calls.diff_bytes_max)\n";
/// Most entries of a page.
const PAGE_SIZE_MAX: u32 = 500;

#[derive(Debug, Clone)]
pub(super) struct HistoryRpc(pub(super) Arc<Daemon>);

methods! {
    HistoryService for HistoryRpc {
        fn list_history(v1::ListHistoryRequest) -> v1::ListHistoryResponse;
        fn get_history_entry(v1::GetHistoryEntryRequest) -> v1::GetHistoryEntryResponse;
        fn undo_history_entry(v1::UndoHistoryEntryRequest) -> v1::UndoHistoryEntryResponse;
    }
}

impl HistoryRpc {
    async fn list_history(
        &self,
        request: Request<v1::ListHistoryRequest>,
    ) -> Result<Response<v1::ListHistoryResponse>, Status> {
        let (_, extensions, request) = request.into_parts();
        let caller = from_proto::caller(&extensions)?;
        let workspace = from_proto::workspace(&self.0, &request.workspace)?;
        let page_size = match request.page_size {
            0 => PAGE_SIZE_DEFAULT,
            size => size.min(PAGE_SIZE_MAX),
        };
        let filter = HistoryFilter {
            path: path(&request.path)?,
            call_id: named("call_id", request.call_id)?,
            tool: named("tool", request.tool)?,
            caller: named("caller", request.caller)?,
            since: Some(request.since),
            before: before(&request.page_token)?,
            skip: 0,
            entries_max: page_size as usize,
        };
        let with_total = request.with_total;
        let asker = caller.clone();
        let response = look_up((&self.0, &asker), move || {
            let history = &workspace.history;
            let total = if with_total { history.count(&filter)? } else { 0 };
            let found = history.list(&filter)?;
            let full = found.len() == page_size as usize;
            let last = found.last().filter(|last| full && last.number > 1);
            let next_page_token = last.map(|last| last.number.to_string()).unwrap_or_default();
            // Here, too: it is a decision for each file of each entry.
            let entries = found.iter().map(|found| listed(&workspace, caller.name(), found));
            let entries = entries.collect();
            Ok::<_, Error>(v1::ListHistoryResponse { entries, next_page_token, total })
        })
        .await?
        .map_err(|refusal| refused(&refusal))?;
        Ok(Response::new(response))
    }

    async fn get_history_entry(
        &self,
        request: Request<v1::GetHistoryEntryRequest>,
    ) -> Result<Response<v1::GetHistoryEntryResponse>, Status> {
        let (_, extensions, request) = request.into_parts();
        let caller = from_proto::caller(&extensions)?;
        let workspace = from_proto::workspace(&self.0, &request.workspace)?;
        let bytes_max = self.0.config().calls.diff_bytes_max;
        let asker = caller.clone();
        let (found, mut changes) = look_up((&self.0, &asker), move || {
            let found = workspace.history.get(request.number)?;
            let changes = with_diffs(&workspace, caller.name(), &found, bytes_max)?;
            Ok::<_, Error>((found, changes))
        })
        .await?
        .map_err(|refusal| refused(&refusal))?;
        change::shorten(changes.iter_mut().map(|change| &mut change.diff), bytes_max);
        let entry = Some(v1::HistoryEntry { changes, ..entry(&found) });
        Ok(Response::new(v1::GetHistoryEntryResponse { entry }))
    }

    async fn undo_history_entry(
        &self,
        request: Request<v1::UndoHistoryEntryRequest>,
    ) -> Result<Response<v1::UndoHistoryEntryResponse>, Status> {
        let (metadata, extensions, request) = request.into_parts();
        let call = from_proto::undo(&self.0, &request, &extensions, &metadata)?;
        let outcome = Arc::clone(&self.0)
            .start(call, Events::default())
            .await
            .map_err(|refusal| error::call(&refusal))?;
        let result = Some(to_proto::outcome(outcome));
        Ok(Response::new(v1::UndoHistoryEntryResponse { result }))
    }
}

/// Makes the status of a history that cannot be read, or lacks what is asked for.
fn refused(refusal: &Error) -> Status {
    match refusal {
        Error::NoEntry { .. } => {
            error::status(Reason::HistoryEntryUnknown, &refusal.to_string(), &[])
        }
        other => error::internal(&other.to_string()),
    }
}

fn path(text: &str) -> Result<Option<RelPath>, Status> {
    if text.is_empty() {
        return Ok(None);
    }
    RelPath::parse(text)
        .map(Some)
        .map_err(|refusal| error::invalid_field("path", &refusal.to_string()))
}

fn named(field: &str, text: String) -> Result<Option<String>, Status> {
    from_proto::bounded(field, &text, from_proto::NAME_BYTES_MAX)?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

fn before(token: &str) -> Result<Option<u64>, Status> {
    if token.is_empty() {
        return Ok(None);
    }
    let number = token.parse();
    number
        .map(Some)
        .map_err(|_| error::invalid_field("page_token", "not a token of a previous page"))
}

pub(super) fn entry(entry: &HistoryEntry) -> v1::HistoryEntry {
    v1::HistoryEntry {
        number: entry.number,
        committed_at: Some(entry.at.into()),
        call_id: entry.origin.call_id.clone(),
        tool: entry.origin.tool.clone(),
        caller: entry.origin.caller.clone(),
        changes: Vec::new(),
        undo_of: match entry.undo_of[..] {
            [number] => number,
            _ => 0,
        },
        undoes: entry.undo_of.clone(),
        undone_by: entry.undone_by.clone(),
    }
}

/// An entry with its changes, without their diffs.
fn listed(workspace: &WorkspaceState, caller: &str, found: &HistoryEntry) -> v1::HistoryEntry {
    let change = |file| change_of(file, call::may_show(workspace, caller, HISTORY, file));
    v1::HistoryEntry { changes: found.files.iter().map(change).collect(), ..entry(found) }
}

/// The changes of an entry with their diffs, as far as the caller may read the files and the bound
/// goes. A diff is only computed to be shown.
fn with_diffs(
    workspace: &WorkspaceState,
    caller: &str,
    entry: &HistoryEntry,
    bytes_max: usize,
) -> Result<Vec<v1::FileChange>, Error> {
    let mut left = bytes_max;
    let mut changes = Vec::with_capacity(entry.files.len());
    for file in &entry.files {
        let is_shown = call::may_show(workspace, caller, HISTORY, file);
        let diff = match (is_shown, left) {
            (false, _) => NOT_SHOWN.to_owned(),
            (true, 0) => TOO_MUCH.to_owned(),
            (true, _) => workspace.history.diff(file)?.unwrap_or_default(),
        };
        left = left.saturating_sub(diff.len());
        changes.push(v1::FileChange { diff, ..change_of(file, is_shown) });
    }
    Ok(changes)
}

/// A change without its diff. Hashes would let the caller try out what a short content is.
pub(super) fn change_of(file: &HistoryFile, is_shown: bool) -> v1::FileChange {
    let hash = |hash: Option<ContentHash>| to_proto::optional_hash(hash.filter(|_| is_shown));
    v1::FileChange {
        path: file.path.to_string(),
        action: to_proto::action(file.action).into(),
        status: v1::ChangeStatus::Committed.into(),
        diff: String::new(),
        lines_added: file.added as u64,
        lines_removed: file.removed as u64,
        hash_before: hash(file.before),
        hash_after: hash(file.after),
        unsaved: file.unsaved,
        match_level: file.match_level.map(|level| level.to_string()).unwrap_or_default(),
        ..Default::default()
    }
}
