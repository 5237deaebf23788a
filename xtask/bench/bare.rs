//! The baseline: a server with the same messages and the same work, and nothing of moss.
//!
//! No validation, no policy, no journal, no limits. Answers are filled up to the length of the
//! daemon's, so that both sides move the same bytes.

pub(crate) mod plugin;

use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use anyhow::{Context, Result};
use moss_proto::v1;
use moss_proto::v1::status_service_server::{StatusService, StatusServiceServer};
use moss_proto::v1::tool_service_server::{ToolService, ToolServiceServer};
use prost::Message as _;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio_stream::Stream;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::{Code, Request, Response, Status};

use self::plugin::BareComponent;

/// How long the answer to a call of a tool is.
#[derive(Debug)]
pub(crate) struct ResponseSize {
    /// Name of the tool.
    pub(crate) tool: String,
    /// The bytes of the whole message; of a refusal, those of its text and of its details.
    pub(crate) bytes: usize,
}

struct Bare {
    workspace: PathBuf,
    component: BareComponent,
    answers: Vec<ResponseSize>,
}

struct AlwaysReady;

type CatalogEvents = Pin<Box<dyn Stream<Item = Result<v1::WatchToolsResponse, Status>> + Send>>;
type CallEvents = Pin<Box<dyn Stream<Item = Result<v1::StreamCallToolResponse, Status>> + Send>>;

/// Serves until the process is killed.
pub(crate) async fn serve(
    socket: &Path,
    workspace: &Path,
    component: &Path,
    answers: Vec<ResponseSize>,
) -> Result<()> {
    let component = BareComponent::load(component, Some(workspace)).map_err(plugin::error)?;
    let bare = Bare { workspace: workspace.to_owned(), component, answers };
    let listener = tokio::net::UnixListener::bind(socket).context("cannot listen")?;
    tonic::transport::Server::builder()
        .add_service(ToolServiceServer::new(bare))
        .add_service(StatusServiceServer::new(AlwaysReady))
        .serve_with_incoming(UnixListenerStream::new(listener))
        .await?;
    Ok(())
}

// === impl ResponseSize ===

impl ResponseSize {
    /// Reads the form `tool=bytes`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let (tool, bytes) = text.split_once('=').context("an answer is TOOL=BYTES")?;
        Ok(Self { tool: tool.to_owned(), bytes: bytes.parse()? })
    }
}

impl fmt::Display for ResponseSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.tool, self.bytes)
    }
}

// === impl Bare ===

impl Bare {
    async fn work(&self, call: &v1::Call) -> Result<String> {
        match call.tool.as_str() {
            "read_file" => {
                let arguments: Value = serde_json::from_str(&call.arguments_json)?;
                let path = arguments["path"].as_str().context("no path")?;
                Ok(tokio::fs::read(self.workspace.join(path)).await.map(String::from_utf8)??)
            }
            "replace_lines" => {
                let arguments: Value = serde_json::from_str(&call.arguments_json)?;
                let path = arguments["path"].as_str().context("no path")?;
                let line = arguments["newText"].as_str().context("no text")?;
                self.edit(path, line).await.map(|()| String::new())
            }
            tool => {
                let returned = self.component.call(tool, &call.arguments_json).await;
                returned.map_err(plugin::error)?.map_err(anyhow::Error::msg)
            }
        }
    }

    /// Puts a line in place of the first one, durably and atomically.
    async fn edit(&self, path: &str, line: &str) -> Result<()> {
        let path = self.workspace.join(path);
        let text = tokio::fs::read_to_string(&path).await?;
        let (_, rest) = text.split_once('\n').context("no line")?;
        let next = path.with_extension("next");
        let mut file = tokio::fs::File::create(&next).await?;
        file.write_all(format!("{line}\n{rest}").as_bytes()).await?;
        file.sync_all().await?;
        tokio::fs::rename(&next, &path).await?;
        let directory = path.parent().context("no directory")?;
        tokio::fs::File::open(directory).await?.sync_all().await?;
        Ok(())
    }

    /// Makes a refusal as long as the daemon's.
    fn refusal(&self, call: &v1::Call) -> Status {
        const MESSAGE: &str = "denied";
        let missing = self.wanted(&call.tool).saturating_sub(MESSAGE.len());
        Status::with_details(Code::PermissionDenied, MESSAGE, vec![b' '; missing].into())
    }

    /// How long the daemon's answer to a call of a tool is.
    fn wanted(&self, tool: &str) -> usize {
        self.answers.iter().find(|answer| answer.tool == tool).map_or(0, |answer| answer.bytes)
    }

    /// Makes an answer as long as the daemon's.
    fn answer(&self, call: v1::Call, output_json: String) -> v1::CallToolResponse {
        let wanted = self.wanted(&call.tool);
        let mut result = v1::CallResult {
            tool: call.tool,
            outcome: v1::Outcome::Ok.into(),
            output_json,
            ..v1::CallResult::default()
        };
        let missing = wanted.saturating_sub(result.encoded_len());
        result.output_json.extend(std::iter::repeat_n(' ', missing));
        v1::CallToolResponse { result: Some(result) }
    }
}

#[tonic::async_trait]
impl ToolService for Bare {
    type StreamCallToolStream = CallEvents;
    type WatchToolsStream = CatalogEvents;

    async fn call_tool(
        &self,
        request: Request<v1::CallToolRequest>,
    ) -> Result<Response<v1::CallToolResponse>, Status> {
        let call = request.into_inner().call.ok_or_else(|| Status::invalid_argument("no call"))?;
        if call.tool == "delete_file" {
            return Err(self.refusal(&call));
        }
        let output =
            self.work(&call).await.map_err(|error| Status::internal(format!("{error:#}")))?;
        Ok(Response::new(self.answer(call, output)))
    }

    async fn list_tools(
        &self,
        _: Request<v1::ListToolsRequest>,
    ) -> Result<Response<v1::ListToolsResponse>, Status> {
        Err(Status::unimplemented("not measured"))
    }

    async fn get_tool(
        &self,
        _: Request<v1::GetToolRequest>,
    ) -> Result<Response<v1::GetToolResponse>, Status> {
        Err(Status::unimplemented("not measured"))
    }

    async fn stream_call_tool(
        &self,
        _: Request<v1::StreamCallToolRequest>,
    ) -> Result<Response<CallEvents>, Status> {
        Err(Status::unimplemented("not measured"))
    }

    async fn watch_tools(
        &self,
        _: Request<v1::WatchToolsRequest>,
    ) -> Result<Response<CatalogEvents>, Status> {
        Err(Status::unimplemented("not measured"))
    }
}

// === impl AlwaysReady ===

#[tonic::async_trait]
impl StatusService for AlwaysReady {
    async fn get_status(
        &self,
        _: Request<v1::GetStatusRequest>,
    ) -> Result<Response<v1::GetStatusResponse>, Status> {
        Ok(Response::new(v1::GetStatusResponse::default()))
    }
}
