//! `moss.v1.StatusService`.

use std::sync::Arc;

use moss_proto::v1;
use moss_proto::v1::status_service_server::StatusService;
use tonic::{Request, Response, Status};

use super::index::index;
use super::methods::methods;
use super::{from_proto, look_up, to_proto};
use moss_config::EmbeddingsConfig;
use moss_daemon::language_servers::ServerOverview;
use moss_daemon::state::{Daemon, WorkspaceState};
use moss_editors::Overview;
use moss_plugins::{PluginState, PluginStatus};

#[derive(Debug, Clone)]
pub(super) struct StatusRpc(pub(super) Arc<Daemon>);

methods! {
    StatusService for StatusRpc {
        fn get_status(v1::GetStatusRequest) -> v1::GetStatusResponse;
    }
}

impl StatusRpc {
    async fn get_status(
        &self,
        request: Request<v1::GetStatusRequest>,
    ) -> Result<Response<v1::GetStatusResponse>, Status> {
        let daemon = &self.0;
        let caller = from_proto::caller(request.extensions())?;
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let is_indexed = daemon.config().index.enabled;
        let all: Vec<_> = daemon.workspaces().map(Arc::clone).collect();
        let embeddings = daemon.config().embeddings.clone();
        // What is known of files may be being brought up to date: that is waited for elsewhere.
        let workspaces = look_up((daemon, &caller), move || {
            all.iter()
                .map(|workspace| status_of(workspace, is_indexed, &embeddings))
                .collect::<Vec<_>>()
        });
        let mut workspaces = workspaces.await?;
        for workspace in &mut workspaces {
            let servers = daemon.language_servers.overview(&workspace.root);
            workspace.language_servers = servers.into_iter().map(language_server).collect();
        }
        Ok(Response::new(v1::GetStatusResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            started_at: Some(to_proto::timestamp(daemon.started_at)),
            workspaces,
            calls_running: count(daemon.calls().0),
            calls_queued: count(daemon.calls().1),
            confirmations_pending: count(daemon.confirmations.pending().len()),
            config_problem: daemon.config_problem.load().to_string(),
        }))
    }
}

fn status_of(
    workspace: &WorkspaceState,
    is_indexed: bool,
    embeddings: &EmbeddingsConfig,
) -> v1::WorkspaceStatus {
    let plugins = workspace.installed.statuses.load();
    let policy = workspace.policy.load();
    let problems: Vec<_> = policy.problems().map(|problem| problem.one_line()).collect();
    let count = |wanted: fn(&PluginState) -> bool| {
        u32::try_from(plugins.iter().filter(|plugin| wanted(&plugin.state)).count())
            .unwrap_or(u32::MAX)
    };
    v1::WorkspaceStatus {
        root: workspace.name().to_owned(),
        tools: u32::try_from(workspace.installed.catalog.load().entries().len())
            .unwrap_or(u32::MAX),
        plugins_ready: count(|state| matches!(state, PluginState::Ready(_))),
        plugins_failed: count(|state| matches!(state, PluginState::Failed(_))),
        policy_problem: problems.join("; "),
        index: Some(index(workspace, is_indexed, embeddings)),
        approvals_problem: workspace.answers.problem().unwrap_or_default(),
        plugin_problems: plugins.iter().filter_map(problem_of).collect(),
        untrusted_list: plugins.iter().find_map(untrusted).unwrap_or_default(),
        editors: workspace.editors.overview().into_iter().map(editor).collect(),
        language_servers: Vec::new(),
    }
}

fn language_server(server: ServerOverview) -> v1::LanguageServerStatus {
    let ServerOverview { name, project, is_running } = server;
    v1::LanguageServerStatus { name, project, running: is_running }
}

fn editor(editor: Overview) -> v1::EditorStatus {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    v1::EditorStatus {
        name: editor.name,
        version: editor.version,
        open: count(editor.open),
        unsaved: count(editor.unsaved),
    }
}

fn problem_of(plugin: &PluginStatus) -> Option<String> {
    let name = &plugin.name;
    match (&plugin.state, &plugin.notice) {
        (PluginState::Failed(reason), _) => Some(format!("{name}: {reason}")),
        (PluginState::Ready(_), Some(notice)) => {
            Some(format!("{name}: an older version serves: {notice}"))
        }
        (PluginState::Ready(_), None) => plugin.notice().map(|notice| format!("{name}: {notice}")),
        (PluginState::Loading | PluginState::Untrusted(_), _) => None,
    }
}

fn untrusted(plugin: &PluginStatus) -> Option<String> {
    match &plugin.state {
        PluginState::Untrusted(what) => Some(what.clone()),
        _ => None,
    }
}
