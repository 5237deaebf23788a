//! `moss.v1.IndexService`, and how indexes are doing.

use std::sync::Arc;

use moss_dispatch::Reason;
use moss_index::IndexState;
use moss_proto::v1;
use moss_proto::v1::index_service_server::IndexService;
use moss_workspace::{LiveState, LiveStatus};
use tonic::{Request, Response, Status};

use super::methods::methods;
use super::{error, from_proto, to_proto};
use moss_config::EmbeddingsConfig;
use moss_daemon::state::{Daemon, WorkspaceState};
use moss_live_index::live_tree::KeptTree;

/// Why nothing is kept where nobody wants it.
const DISABLED: &str = "`index.enabled` in config.toml is false";
/// Why texts are not known where files are not.
const NO_TREE: &str = "the files of the workspace are not known";
/// What searches do where no event says what has changed.
const SWEEPING: &str = "each search looks at the sizes and times of all files";

#[derive(Debug, Clone)]
pub(super) struct IndexRpc(pub(super) Arc<Daemon>);

methods! {
    IndexService for IndexRpc {
        fn rebuild_index(v1::RebuildIndexRequest) -> v1::RebuildIndexResponse;
    }
}

impl IndexRpc {
    async fn rebuild_index(
        &self,
        request: Request<v1::RebuildIndexRequest>,
    ) -> Result<Response<v1::RebuildIndexResponse>, Status> {
        let workspace = from_proto::workspace(&self.0, &request.into_inner().workspace)?;
        let is_enabled = self.0.config().index.enabled;
        let unavailable = |message: &str| error::status(Reason::IndexUnavailable, message, &[]);
        if workspace.live.get().is_none() {
            return Err(unavailable(if is_enabled { NO_TREE } else { DISABLED }));
        }
        let endpoint = self.0.config().embeddings.clone();
        let rebuilt = moss_dispatch::blocking::blocking(move || {
            let kept = workspace.live.get();
            workspace.embeddings.rebuild();
            let rebuilt = kept.map_or_else(|| Err(NO_TREE.to_owned()), KeptTree::rebuild_texts);
            rebuilt.map(|()| index(&workspace, is_enabled, &endpoint))
        });
        let rebuilt = rebuilt.await.map_err(|broken| Status::internal(broken.to_string()))?;
        let index = rebuilt.map_err(|reason| unavailable(&reason))?;
        Ok(Response::new(v1::RebuildIndexResponse { index: Some(index) }))
    }
}

/// How what is kept of a workspace is doing.
pub(super) fn index(
    workspace: &WorkspaceState,
    is_enabled: bool,
    endpoint: &EmbeddingsConfig,
) -> v1::IndexStatus {
    let embeddings = embeddings(workspace, endpoint);
    let Some(kept) = workspace.live.get() else {
        let mut none = v1::IndexStatus { embeddings, ..v1::IndexStatus::default() };
        match is_enabled {
            true => none.set_state(v1::IndexState::Building),
            false => {
                none.set_state(v1::IndexState::Off);
                none.reason = DISABLED.to_owned();
            }
        }
        return none;
    };
    let status = kept.status();
    let state = match status.state {
        LiveState::Building => v1::IndexState::Building,
        LiveState::Live => v1::IndexState::Ready,
        LiveState::Sweeping | LiveState::Off => v1::IndexState::Off,
    };
    v1::IndexStatus {
        state: state.into(),
        reason: status.reason.clone().unwrap_or_default(),
        entries: status.entries as u64,
        directories_watched: status.watched as u64,
        memory_bytes: status.memory_bytes as u64,
        texts: Some(texts(kept, &status)),
        embeddings,
        incomplete: kept.word_status().size.incomplete as u64,
    }
}

/// How vectors are doing; none where nobody configured an endpoint.
fn embeddings(
    workspace: &WorkspaceState,
    endpoint: &EmbeddingsConfig,
) -> Option<v1::EmbeddingStatus> {
    let (url, model) = match endpoint.endpoint()? {
        Ok(endpoint) => (endpoint.url().to_owned(), endpoint.model().to_owned()),
        Err(_) => (endpoint.url.clone(), endpoint.model.clone()),
    };
    let known = workspace.embeddings.overview();
    let state = match (&known.off, known.is_ready) {
        (Some(_), _) => v1::IndexState::Off,
        (None, true) => v1::IndexState::Ready,
        (None, false) => v1::IndexState::Building,
    };
    Some(v1::EmbeddingStatus {
        state: state.into(),
        reason: known.off.unwrap_or_default(),
        url,
        model,
        files: known.files as u64,
        files_embedded: known.files_embedded as u64,
        chunks_embedded: known.chunks as u64,
        memory_bytes: known.memory_bytes as u64,
        disk_bytes: known.disk_bytes,
        problem: known.problem.unwrap_or_default(),
    })
}

fn texts(kept: &KeptTree, tree: &LiveStatus) -> v1::TextIndexStatus {
    let off = |reason: &str| v1::TextIndexStatus {
        state: v1::IndexState::Off.into(),
        reason: reason.to_owned(),
        ..v1::TextIndexStatus::default()
    };
    let reason = match (tree.state, &tree.reason) {
        (LiveState::Off, _) => return off(NO_TREE),
        (LiveState::Sweeping, Some(reason)) => format!("{SWEEPING}: {reason}"),
        (LiveState::Sweeping, None) => SWEEPING.to_owned(),
        (LiveState::Building | LiveState::Live, _) => String::new(),
    };
    let (status, complete_at) = match kept.text_status() {
        Ok(known) => known,
        Err(reason) => return off(reason),
    };
    let state = match status.state {
        IndexState::Building => v1::IndexState::Building,
        IndexState::Ready => v1::IndexState::Ready,
        IndexState::Off(problem) => return off(&problem.to_string()),
    };
    v1::TextIndexStatus {
        state: state.into(),
        reason,
        files: status.documents,
        files_indexed: status.indexed,
        disk_bytes: status.disk_bytes,
        complete_at: complete_at.map(to_proto::timestamp),
        problem: status.problem.map(|problem| problem.to_string()).unwrap_or_default(),
        memory_bytes: status.memory_bytes,
    }
}
