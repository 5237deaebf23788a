//! A client of either server: one connection, one call at a time.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hyper_util::rt::TokioIo;
use moss_proto::v1;
use moss_proto::v1::plugin_service_client::PluginServiceClient;
use moss_proto::v1::status_service_client::StatusServiceClient;
use moss_proto::v1::tool_service_client::ToolServiceClient;
use tokio::net::UnixStream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status, Streaming};

/// A connection with a credential.
#[derive(Debug, Clone)]
pub(crate) struct BenchClient {
    channel: Channel,
    authorization: MetadataValue<Ascii>,
}

/// How a daemon reports its catalog.
pub(crate) struct Catalogs(Streaming<v1::WatchToolsResponse>);

fn call(tool: &str, arguments: String) -> v1::Call {
    v1::Call {
        tool: tool.to_owned(),
        arguments_json: arguments,
        confirm: v1::ConfirmMode::Refuse.into(),
        ..v1::Call::default()
    }
}

// === impl BenchClient ===

impl BenchClient {
    /// Connects and waits for the first answer.
    pub(crate) async fn connect(socket: &Path, token: impl Fn() -> Result<String>) -> Result<Self> {
        let path: PathBuf = socket.to_owned();
        // The authority is not looked at: the connector knows the socket.
        let channel = Endpoint::from_static("http://moss.invalid")
            .connect_with_connector(tower::service_fn(move |_| {
                let path = path.clone();
                async move { UnixStream::connect(path).await.map(TokioIo::new) }
            }))
            .await?;
        let authorization = format!("Bearer {}", token()?.trim()).parse()?;
        let caller = Self { channel, authorization };
        caller.status().await?;
        Ok(caller)
    }

    async fn status(&self) -> Result<()> {
        let request = self.request(v1::GetStatusRequest {});
        StatusServiceClient::new(self.channel.clone()).get_status(request).await?;
        Ok(())
    }

    /// Says how the index of the texts of the workspace is doing.
    pub(crate) async fn texts(&self) -> Result<v1::TextIndexStatus> {
        let request = self.request(v1::GetStatusRequest {});
        let mut client = StatusServiceClient::new(self.channel.clone());
        let status = client.get_status(request).await?.into_inner();
        let workspace = status.workspaces.into_iter().next().context("no workspace is served")?;
        Ok(workspace.index.and_then(|index| index.texts).unwrap_or_default())
    }

    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: String,
    ) -> Result<v1::CallToolResponse, Status> {
        self.send(call(tool, arguments)).await
    }

    /// As [`BenchClient::call`], to be shown what would change.
    pub(crate) async fn dry_run(
        &self,
        tool: &str,
        arguments: String,
    ) -> Result<v1::CallToolResponse, Status> {
        self.send(v1::Call { dry_run: true, ..call(tool, arguments) }).await
    }

    async fn send(&self, call: v1::Call) -> Result<v1::CallToolResponse, Status> {
        let request = self.request(v1::CallToolRequest { call: Some(call) });
        let response = ToolServiceClient::new(self.channel.clone()).call_tool(request).await?;
        Ok(response.into_inner())
    }

    /// Whether every plugin is ready; an error where one failed.
    pub(crate) async fn plugins_are_ready(&self) -> Result<bool> {
        let request = self.request(v1::ListPluginsRequest::default());
        let client = &mut PluginServiceClient::new(self.channel.clone());
        let plugins = client.list_plugins(request).await?.into_inner().plugins;
        if let Some(failed) = plugins.iter().find(|plugin| !plugin.error.is_empty()) {
            bail!("the plugin {} does not load: {}", failed.name, failed.error);
        }
        let ready = plugins.iter().all(|plugin| plugin.state() == v1::PluginState::Ready);
        Ok(ready && !plugins.is_empty())
    }

    /// Follows the catalog. The first message says how it is.
    pub(crate) async fn watch_tools(&self) -> Result<Catalogs> {
        let request = self.request(v1::WatchToolsRequest::default());
        let response = ToolServiceClient::new(self.channel.clone()).watch_tools(request).await?;
        Ok(Catalogs(response.into_inner()))
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.metadata_mut().insert("authorization", self.authorization.clone());
        request
    }
}

// === impl Catalogs ===

impl Catalogs {
    /// Waits for the next message.
    pub(crate) async fn next(&mut self) -> Result<v1::WatchToolsResponse> {
        self.0.message().await?.context("the daemon reports nothing more")
    }
}

/// Returns the result of a call that must have gone well.
pub(crate) fn done(response: v1::CallToolResponse) -> Result<v1::CallToolResponse> {
    let result = response.result.as_ref().context("an answer without a result")?;
    if result.outcome() != v1::Outcome::Ok {
        let error = result.error.clone().unwrap_or_default();
        bail!("{} failed: {} ({})", result.tool, error.message, error.code);
    }
    Ok(response)
}
