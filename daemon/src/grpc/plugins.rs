//! `moss.v1.PluginService`.

use std::sync::Arc;

use moss_proto::v1;
use moss_proto::v1::plugin_service_server::PluginService;
use tonic::{Request, Response, Status};

use super::from_proto;
use crate::plugins::{PluginState, PluginStatus};
use crate::state::Daemon;

#[derive(Debug)]
pub(super) struct Plugins(pub(super) Arc<Daemon>);

#[tonic::async_trait]
impl PluginService for Plugins {
    async fn list_plugins(
        &self,
        request: Request<v1::ListPluginsRequest>,
    ) -> Result<Response<v1::ListPluginsResponse>, Status> {
        let workspace = from_proto::workspace(&self.0, &request.into_inner().workspace)?;
        let plugins = workspace.plugins.load().iter().map(plugin).collect();
        Ok(Response::new(v1::ListPluginsResponse { plugins }))
    }
}

fn plugin(status: &PluginStatus) -> v1::Plugin {
    let mut plugin = v1::Plugin {
        name: status.name.clone(),
        listed_in: status.listed_in.clone(),
        source: status.source.display().to_string(),
        ..v1::Plugin::default()
    };
    plugin.notice = status.notice.clone().unwrap_or_default();
    match &status.state {
        PluginState::Loading => plugin.set_state(v1::PluginState::Loading),
        PluginState::Failed(error) => {
            plugin.set_state(v1::PluginState::Failed);
            plugin.error.clone_from(error);
        }
        PluginState::Ready(loaded) => {
            plugin.set_state(v1::PluginState::Ready);
            plugin.version = loaded.version().to_owned();
            plugin.sha256 = loaded.digest().to_string();
            plugin.tools = loaded.specs().iter().map(|spec| spec.name.clone()).collect();
            plugin.readable_paths =
                loaded.grant().files.iter().map(|files| files.path.to_string()).collect();
        }
    }
    plugin
}
