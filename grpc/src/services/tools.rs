//! `moss.v1.ToolService`.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use arc_swap::ArcSwap;
use moss_proto::v1;
use moss_proto::v1::stream_call_tool_response::Event as WireEvent;
use moss_proto::v1::tool_service_server::ToolService;
use prost::Message as _;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt as _};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

use super::methods::methods;
use super::replies::{self, ReplyRoom, ReplyShare};
use super::{error, from_proto, pass, to_proto};
use moss_catalog::{Catalog, CatalogChanges};
use moss_daemon::state::Daemon;
use moss_dispatch::{CallError, Dispatcher as _, Event, Events, RunningCall};

/// Messages of a streamed call that wait for the transport.
const STREAM_QUEUE_MAX: usize = 16;

#[derive(Debug, Clone)]
pub(super) struct ToolsRpc(pub(super) Arc<Daemon>);

type CallEventStream =
    Pin<Box<dyn Stream<Item = Result<v1::StreamCallToolResponse, Status>> + Send>>;
/// A message of a streamed call, with the share of the result while that waits.
type CallMessage = (Result<v1::StreamCallToolResponse, Status>, Option<ReplyShare>);
type ToolWatchStream = Pin<Box<dyn Stream<Item = Result<v1::WatchToolsResponse, Status>> + Send>>;

methods! {
    ToolService for ToolsRpc {
        type StreamCallToolStream = CallEventStream;
        type WatchToolsStream = ToolWatchStream;
        fn list_tools(v1::ListToolsRequest) -> v1::ListToolsResponse;
        fn get_tool(v1::GetToolRequest) -> v1::GetToolResponse;
        fn call_tool(v1::CallToolRequest) -> v1::CallToolResponse;
        fn stream_call_tool(v1::StreamCallToolRequest) -> CallEventStream;
        fn watch_tools(v1::WatchToolsRequest) -> ToolWatchStream;
    }
}

impl ToolsRpc {
    async fn list_tools(
        &self,
        request: Request<v1::ListToolsRequest>,
    ) -> Result<Response<v1::ListToolsResponse>, Status> {
        let request = request.into_inner();
        let language = from_proto::language(request.language)?;
        let schema = from_proto::listed_schema(request.schema)?;
        let catalog =
            from_proto::workspace(&self.0, &request.workspace)?.installed.catalog.load_full();
        let tools = catalog
            .entries()
            .iter()
            .filter(|entry| {
                request.toolset.is_empty() || entry.spec.toolset.as_str() == request.toolset
            })
            .map(|entry| to_proto::tool(entry, schema, language))
            .collect();
        let catalog_digest = catalog.digest().to_owned();
        Ok(Response::new(v1::ListToolsResponse { tools, catalog_digest }))
    }

    async fn get_tool(
        &self,
        request: Request<v1::GetToolRequest>,
    ) -> Result<Response<v1::GetToolResponse>, Status> {
        let request = request.into_inner();
        let language = from_proto::language(request.language)?;
        let schema = from_proto::listed_schema(request.schema)?;
        let workspace = from_proto::workspace(&self.0, &request.workspace)?;
        self.0.await_tool(&workspace, &request.name).await;
        let catalog = workspace.installed.catalog.load_full();
        let entry = catalog
            .entry(&request.name)
            .map_err(|unknown| CallError::UnknownTool(self.0.with_plugins(&workspace, unknown)))
            .map_err(|unknown| error::call(&unknown))?;
        let tool = Some(to_proto::tool(entry, schema, language));
        Ok(Response::new(v1::GetToolResponse { tool }))
    }

    async fn call_tool(
        &self,
        request: Request<v1::CallToolRequest>,
    ) -> Result<Response<v1::CallToolResponse>, Status> {
        let (metadata, extensions, request) = request.into_parts();
        let call = from_proto::call(&self.0, request.call, &extensions, &metadata)?;
        let outcome = Arc::clone(&self.0)
            .start(call, Events::default())
            .await
            .map_err(|error| error::call(&error))?;
        let result = Some(to_proto::outcome(outcome));
        Ok(replies::marked(v1::CallToolResponse { result }))
    }

    async fn stream_call_tool(
        &self,
        request: Request<v1::StreamCallToolRequest>,
    ) -> Result<Response<CallEventStream>, Status> {
        let (metadata, extensions, request) = request.into_parts();
        let room = ReplyRoom::new(&self.0, &extensions);
        let call = from_proto::call(&self.0, request.call, &extensions, &metadata)?;
        let (events, received) = Events::channel(self.0.config().calls.events_max);
        let running = Arc::clone(&self.0).start(call, events);
        let (sender, stream) = mpsc::channel(STREAM_QUEUE_MAX);
        let draining = self.0.draining.clone();
        let mut forwarded = Box::pin(forward(running, received, sender, room, draining));
        // A call that waits for nothing has ended by then, and needs no task.
        if poll_once(&mut forwarded).await.is_pending() {
            self.0.tasks.spawn(forwarded);
        }
        let messages = ReceiverStream::new(stream).map(|(message, _share)| message);
        Ok(Response::new(Box::pin(messages)))
    }

    async fn watch_tools(
        &self,
        request: Request<v1::WatchToolsRequest>,
    ) -> Result<Response<ToolWatchStream>, Status> {
        let workspace = from_proto::workspace(&self.0, &request.into_inner().workspace)?;
        let draining = self.0.draining.clone();
        // One message: what a slow reader has not taken is not made yet.
        let (sender, stream) = mpsc::channel(1);
        self.0.tasks.spawn(async move {
            tokio::select! {
                () = draining.cancelled() => {}
                () = sender.closed() => {}
                () = send_catalogs(&workspace.installed.catalog, &workspace.installed.catalog_replaced, &sender) => {}
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }
}

/// Reports which catalog is in effect and, each time there is room for a message, what differs from
/// the one that was reported last.
async fn send_catalogs(
    catalog: &ArcSwap<Catalog>,
    replaced: &watch::Sender<()>,
    sender: &mpsc::Sender<Result<v1::WatchToolsResponse, Status>>,
) {
    let mut replaced = replaced.subscribe();
    let mut told = catalog.load_full();
    let first = to_proto::catalog_changes(&told, CatalogChanges::default());
    if sender.send(Ok(first)).await.is_err() {
        return;
    }
    while replaced.changed().await.is_ok() {
        let Ok(place) = sender.reserve().await else { return };
        replaced.mark_unchanged();
        let newest = catalog.load_full();
        if newest.digest() != told.digest() {
            let changes = newest.changes_since(&told);
            place.send(Ok(to_proto::catalog_changes(&newest, changes)));
        }
        told = newest;
    }
}

/// Polls a future a single time.
async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
}

/// Carries a call out and passes its events and its end on. Ends, and so cancels the call, when the
/// reader is gone or stalls.
async fn forward(
    running: RunningCall,
    mut events: mpsc::Receiver<Event>,
    sender: mpsc::Sender<CallMessage>,
    room: ReplyRoom,
    draining: CancellationToken,
) {
    let message = |event| v1::StreamCallToolResponse { event: Some(event) };
    let passed = async {
        while let Some(event) = events.recv().await {
            let event = (Ok(message(to_proto::event(event))), None);
            if !pass(&sender, event, &draining).await {
                return Err(());
            }
        }
        Ok(())
    };
    let all = async {
        // Both at once: the call goes on while a reader takes its time, until its events have no room.
        let ended = async { Ok(running.await) };
        let Ok((ended, ())) = tokio::try_join!(ended, passed) else { return };
        let last = match ended {
            Ok(outcome) => {
                let last = message(WireEvent::Result(to_proto::outcome(outcome)));
                match room.hold(last.encoded_len()) {
                    Ok(share) => (Ok(last), share),
                    Err(full) => (Err(full), None),
                }
            }
            Err(error) => (Err(error::call(&error)), None),
        };
        // A reader that is gone by now has no use for the result.
        pass(&sender, last, &draining).await;
    };
    tokio::select! {
        () = sender.closed() => {}
        () = all => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A catalog of the first native tools.
    fn catalog(count: usize) -> Catalog {
        let tools = moss_builtin_tools::specs().into_iter().zip(moss_builtin_tools::all());
        Catalog::native(tools.take(count).collect()).unwrap()
    }

    #[tokio::test]
    async fn slow_reader_gets_what_changed_in_one_message() {
        let (current, replaced) = (ArcSwap::from_pointee(catalog(3)), watch::Sender::new(()));
        let replace = |count| {
            current.store(Arc::new(catalog(count)));
            replaced.send_replace(());
        };
        let names: Vec<_> = moss_builtin_tools::specs().into_iter().map(|spec| spec.name).collect();
        let (sender, mut reader) = mpsc::channel::<Result<v1::WatchToolsResponse, Status>>(1);
        let script = async {
            // The first message waits in the channel while everything changes.
            while reader.is_empty() {
                tokio::task::yield_now().await;
            }
            for count in [1, 5, 2, 4] {
                replace(count);
                tokio::task::yield_now().await;
            }
            let first = reader.recv().await.unwrap().unwrap();
            assert_eq!(first, to_proto::catalog_changes(&catalog(3), CatalogChanges::default()));
            let second = reader.recv().await.unwrap().unwrap();
            assert_eq!(second.catalog_digest, catalog(4).digest());
            assert_eq!((second.added, second.removed), (vec![names[3].clone()], Vec::new()));
            // What came and went in between is not reported.
            replace(2);
            replace(4);
            replace(3);
            let third = reader.recv().await.unwrap().unwrap();
            assert_eq!((third.added, third.removed), (Vec::new(), vec![names[3].clone()]));
            assert!(reader.is_empty());
        };
        tokio::select! {
            () = send_catalogs(&current, &replaced, &sender) => panic!("it continues"),
            () = script => {}
        }
    }
}
