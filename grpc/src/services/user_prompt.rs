//! `moss.v1.UserPromptService`.

use std::sync::Arc;

use moss_proto::v1;
use moss_proto::v1::user_prompt_service_server::UserPromptService;
use moss_sdk::ToolError;
use moss_workspace::HistoryEntry;
use tonic::{Request, Response, Status};

use super::methods::methods;
use super::{error, from_proto, history, look_up, to_proto};
use moss_daemon::state::Daemon;
use moss_daemon::user_prompt::{self, UserPrompt};
use moss_dispatch::{Dispatcher as _, Events, change};

/// Entries where the request does not say.
const PAGE_SIZE_DEFAULT: u32 = 50;
/// Most entries of a response.
const PAGE_SIZE_MAX: u32 = 500;

#[derive(Debug, Clone)]
pub(super) struct UserPromptRpc(pub(super) Arc<Daemon>);

methods! {
    UserPromptService for UserPromptRpc {
        fn get_user_prompt(v1::GetUserPromptRequest) -> v1::GetUserPromptResponse;
        fn list_user_prompt_history(v1::ListUserPromptHistoryRequest) -> v1::ListUserPromptHistoryResponse;
        fn undo_user_prompt(v1::UndoUserPromptRequest) -> v1::UndoUserPromptResponse;
    }
}

impl UserPromptRpc {
    async fn get_user_prompt(
        &self,
        request: Request<v1::GetUserPromptRequest>,
    ) -> Result<Response<v1::GetUserPromptResponse>, Status> {
        let caller = from_proto::caller(request.extensions())?;
        let daemon = Arc::clone(&self.0);
        let read = move || user_prompt::read(&daemon.setup.dirs);
        let text = look_up((&self.0, &caller), read).await?;
        let text = text.map_err(|refusal| refused(&refusal))?;
        Ok(Response::new(v1::GetUserPromptResponse {
            exists: text.is_some(),
            text: text.unwrap_or_default(),
            path: user_prompt::file(&self.0.setup.dirs).display().to_string(),
        }))
    }

    async fn list_user_prompt_history(
        &self,
        request: Request<v1::ListUserPromptHistoryRequest>,
    ) -> Result<Response<v1::ListUserPromptHistoryResponse>, Status> {
        let caller = from_proto::caller(request.extensions())?;
        let entries_max = match request.into_inner().page_size {
            0 => PAGE_SIZE_DEFAULT,
            size => size.min(PAGE_SIZE_MAX),
        };
        let daemon = Arc::clone(&self.0);
        let bytes_max = daemon.config().calls.diff_bytes_max;
        let listed = look_up((&self.0, &caller), move || {
            let prompt = UserPrompt::open(&daemon.setup.dirs, &daemon.config())?;
            let listed = prompt.list(entries_max as usize)?;
            listed.iter().map(|found| with_diffs(&prompt, found)).collect::<Result<Vec<_>, _>>()
        })
        .await?;
        let mut entries = listed.map_err(|refusal| refused(&refusal))?;
        let changes = entries.iter_mut().flat_map(|entry| &mut entry.changes);
        change::shorten(changes.map(|change| &mut change.diff), bytes_max);
        Ok(Response::new(v1::ListUserPromptHistoryResponse { entries }))
    }

    async fn undo_user_prompt(
        &self,
        request: Request<v1::UndoUserPromptRequest>,
    ) -> Result<Response<v1::UndoUserPromptResponse>, Status> {
        let (metadata, extensions, request) = request.into_parts();
        let call = from_proto::undo_user_prompt(&self.0, &request, &extensions, &metadata)?;
        let outcome = Arc::clone(&self.0)
            .start(call, Events::default())
            .await
            .map_err(|refusal| error::call(&refusal))?;
        let result = Some(to_proto::outcome(outcome));
        Ok(Response::new(v1::UndoUserPromptResponse { result }))
    }
}

fn refused(refusal: &ToolError) -> Status {
    error::internal(&refusal.to_string())
}

fn with_diffs(prompt: &UserPrompt, found: &HistoryEntry) -> Result<v1::HistoryEntry, ToolError> {
    let change = |file| {
        let diff = prompt.diff(file)?.unwrap_or_default();
        Ok::<_, ToolError>(v1::FileChange { diff, ..history::change_of(file, true) })
    };
    let changes = found.files.iter().map(change).collect::<Result<_, _>>()?;
    Ok(v1::HistoryEntry { changes, ..history::entry(found) })
}
