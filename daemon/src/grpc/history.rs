//! `moss.v1.HistoryService`.

use std::sync::Arc;

use moss_proto::v1;
use moss_proto::v1::history_service_server::HistoryService;
use moss_sdk::RelPath;
use moss_workspace::{Error, HistoryEntry, HistoryFile, HistoryFilter};
use tonic::{Request, Response, Status};

use super::{error, from_proto, to_proto};
use crate::call::{self, Events};
use crate::change;
use crate::state::Daemon;

/// Entries of a page where the request does not say.
const PAGE_SIZE_DEFAULT: u32 = 50;
/// What stands in place of a diff that the policy keeps from the caller.
const NOT_SHOWN: &str = "\\ not shown: the policy does not allow to read this file\n";
/// Most entries of a page.
const PAGE_SIZE_MAX: u32 = 500;

#[derive(Debug)]
pub(super) struct History(pub(super) Arc<Daemon>);

#[tonic::async_trait]
impl HistoryService for History {
    async fn list_history(
        &self,
        request: Request<v1::ListHistoryRequest>,
    ) -> Result<Response<v1::ListHistoryResponse>, Status> {
        let request = request.into_inner();
        let workspace = from_proto::workspace(&self.0, &request.workspace)?;
        let page_size = match request.page_size {
            0 => PAGE_SIZE_DEFAULT,
            size => size.min(PAGE_SIZE_MAX),
        };
        let filter = HistoryFilter {
            path: path(&request.path)?,
            before: before(&request.page_token)?,
            entries_max: page_size as usize,
        };
        let entries = blocking(move || workspace.history.list(&filter)).await?;
        let full = entries.len() == page_size as usize;
        let last = entries.last().filter(|last| full && last.number > 1);
        let next_page_token = last.map(|last| last.number.to_string()).unwrap_or_default();
        let entries = entries.iter().map(entry).collect();
        Ok(Response::new(v1::ListHistoryResponse { entries, next_page_token }))
    }

    async fn get_history_entry(
        &self,
        request: Request<v1::GetHistoryEntryRequest>,
    ) -> Result<Response<v1::GetHistoryEntryResponse>, Status> {
        let (_, extensions, request) = request.into_parts();
        let role = from_proto::role(&extensions)?;
        let workspace = from_proto::workspace(&self.0, &request.workspace)?;
        let history = Arc::clone(&workspace.history);
        let mut found = blocking(move || history.get(request.number)).await?;
        for file in found.files.iter_mut().filter(|file| !call::may_show(&workspace, role, file)) {
            file.diff = file.diff.as_ref().map(|_| NOT_SHOWN.to_owned());
        }
        let diffs = found.files.iter_mut().filter_map(|file| file.diff.as_mut());
        change::shorten(diffs, self.0.config.calls.diff_bytes_max);
        let entry = Some(entry(&found));
        Ok(Response::new(v1::GetHistoryEntryResponse { entry }))
    }

    async fn undo_history_entry(
        &self,
        request: Request<v1::UndoHistoryEntryRequest>,
    ) -> Result<Response<v1::UndoHistoryEntryResponse>, Status> {
        let (metadata, extensions, request) = request.into_parts();
        let call = from_proto::undo(&self.0, &request, &extensions, &metadata)?;
        let outcome = call::start(&self.0, call, Events::default())
            .await
            .map_err(|refusal| error::call(&refusal))?;
        let result = Some(to_proto::outcome(outcome));
        Ok(Response::new(v1::UndoHistoryEntryResponse { result }))
    }
}

async fn blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Status> {
    let read = tokio::task::spawn_blocking(read);
    match read.await.map_err(|_| error::internal("reading the history broke"))? {
        Ok(value) => Ok(value),
        Err(missing @ Error::NoEntry { .. }) => {
            Err(error::not_found("HISTORY_ENTRY_UNKNOWN", &missing.to_string()))
        }
        Err(other) => Err(error::internal(&other.to_string())),
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

fn before(token: &str) -> Result<Option<u64>, Status> {
    if token.is_empty() {
        return Ok(None);
    }
    let number = token.parse();
    number.map(Some).map_err(|_| error::invalid_field("page_token", "not a token of a page before"))
}

fn entry(entry: &HistoryEntry) -> v1::HistoryEntry {
    v1::HistoryEntry {
        number: entry.number,
        committed_at: Some(entry.at.into()),
        call_id: entry.origin.call_id.clone(),
        tool: entry.origin.tool.clone(),
        caller: entry.origin.caller.clone(),
        changes: entry.files.iter().map(file).collect(),
        undo_of: entry.origin.undo_of.unwrap_or_default(),
    }
}

fn file(file: &HistoryFile) -> v1::FileChange {
    v1::FileChange {
        path: file.path.to_string(),
        action: to_proto::action(file.action).into(),
        status: v1::ChangeStatus::Committed.into(),
        diff: file.diff.clone().unwrap_or_default(),
        lines_added: file.added as u64,
        lines_removed: file.removed as u64,
        hash_before: to_proto::optional_hash(file.before),
        hash_after: to_proto::optional_hash(file.after),
    }
}
