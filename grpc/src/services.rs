//! The gRPC front: one file per service, conversions at the rim, one mapping of errors.
//!
//! Nothing behind this module knows about the wire.

mod auth;
mod bodies;
mod bridge;
mod confirmations;
mod consent;
mod content;
mod deadline;
mod door;
mod editor;
mod error;
mod from_proto;
mod history;
mod index;
mod jobs;
mod methods;
mod plugins;
mod policy;
mod replies;
mod revocable;
mod status;
mod to_proto;
mod tools;
mod user_prompt;

use std::sync::Arc;
use std::time::Duration;

use moss_dispatch::Caller;
use moss_dispatch::blocking::heavy;
use moss_proto::v1;
use moss_proto::v1::history_service_server::HistoryServiceServer;
use moss_proto::v1::index_service_server::IndexServiceServer;
use moss_proto::v1::job_service_server::JobServiceServer;
use moss_proto::v1::status_service_server::StatusServiceServer;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::service::Routes;
pub use tonic::transport::Error as ServeError;
use tonic::transport::Server;
use tonic::transport::server::Connected;

pub use self::auth::APPROVER_HEADER;
use self::auth::AuthLayer;
use self::bodies::BodiesLayer;
use self::deadline::DeadlineLayer;
pub use self::door::ProcessDoor;
use self::replies::RepliesLayer;
use moss_daemon::caller::Access;
use moss_daemon::state::Daemon;

/// How many streams that a peer reset at once are accepted before the connection is closed.
/// An editor cancels in bursts.
const RESET_STREAMS_MAX: usize = 200;
/// Same, for streams that were reset here because the peer broke the protocol.
const ERROR_STREAMS_MAX: usize = 128;
/// Largest HTTP/2 frame, in bytes.
const FRAME_BYTES_MAX: u32 = 16 * 1024;
/// How long a message of a stream waits for a reader that takes nothing.
const STALL_MAX: Duration = Duration::from_secs(10);
/// Same, when the daemon is about to stop.
const STALL_DRAINING_MAX: Duration = Duration::from_secs(1);
/// Flow-control window of one stream, in bytes.
const STREAM_WINDOW_BYTES: u32 = 256 * 1024;
/// Flow-control window of one connection, in bytes. It also decides how many small messages may wait
/// on a connection before it is taken for an attack: about one for each 480 bytes of it.
const CONNECTION_WINDOW_BYTES: u32 = 4 * 1024 * 1024;

/// Serves every service on a stream of connections until `stop` is ready, then lets the requests
/// that run come to their end.
///
/// # Errors
///
/// Where the transport breaks.
pub async fn serve<S, IO, E>(
    daemon: Arc<Daemon>,
    access: Access,
    connections: S,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError>
where
    S: Stream<Item = Result<IO, E>>,
    IO: AsyncRead + AsyncWrite + Connected + Unpin + Send + 'static,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let limits = daemon.config().grpc.clone();
    let (health, health_service) = tonic_health::server::health_reporter();
    for name in auth::service_names() {
        health.set_service_status(name, tonic_health::ServingStatus::Serving).await;
    }
    let streams_max = usize::try_from(limits.streams_max).unwrap_or(usize::MAX);
    let router = Server::builder()
        .max_concurrent_streams(limits.streams_max)
        .concurrency_limit_per_connection(streams_max)
        .load_shed(true)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_frame_size(FRAME_BYTES_MAX)
        .http2_max_header_list_size(limits.header_bytes_max)
        .http2_max_pending_accept_reset_streams(Some(RESET_STREAMS_MAX))
        .http2_max_local_error_reset_streams(Some(ERROR_STREAMS_MAX))
        .http2_keepalive_interval(Some(Duration::from_millis(limits.keepalive_interval_ms)))
        .http2_keepalive_timeout(Some(Duration::from_millis(limits.keepalive_timeout_ms)))
        .accept_http1(false)
        .layer(DeadlineLayer)
        .layer(AuthLayer::new(access, Arc::clone(&daemon)))
        .layer(BodiesLayer::new(&limits))
        .layer(RepliesLayer(Arc::clone(&daemon)))
        .add_routes(services(&daemon))
        .add_service(health_service)
        .add_service(reflection().build_v1().expect("the descriptors are compiled in"))
        .add_service(reflection().build_v1alpha().expect("the descriptors are compiled in"));
    router.serve_with_incoming_shutdown(connections, stop).await
}

/// The services of moss itself.
fn services(daemon: &Arc<Daemon>) -> Routes {
    use v1::bridge_service_server::BridgeServiceServer;
    use v1::confirmation_service_server::ConfirmationServiceServer;
    use v1::editor_service_server::EditorServiceServer;
    use v1::plugin_service_server::PluginServiceServer;
    use v1::policy_service_server::PolicyServiceServer;
    use v1::tool_service_server::ToolServiceServer;
    use v1::user_prompt_service_server::UserPromptServiceServer;

    let limits = daemon.config().grpc.clone();
    macro_rules! service {
        ($server:ident, $implementation:expr) => {
            $server::new($implementation)
                .max_decoding_message_size(limits.request_bytes_max)
                .max_encoding_message_size(limits.response_bytes_max)
        };
    }
    Routes::default()
        .add_service(service!(ToolServiceServer, tools::ToolsRpc(Arc::clone(daemon))))
        .add_service(service!(BridgeServiceServer, bridge::BridgeRpc(Arc::clone(daemon))))
        .add_service(service!(
            ConfirmationServiceServer,
            confirmations::ConfirmationsRpc(Arc::clone(daemon))
        ))
        .add_service(service!(EditorServiceServer, editor::EditorRpc(Arc::clone(daemon))))
        .add_service(service!(HistoryServiceServer, history::HistoryRpc(Arc::clone(daemon))))
        .add_service(service!(IndexServiceServer, index::IndexRpc(Arc::clone(daemon))))
        .add_service(service!(JobServiceServer, jobs::JobsRpc(Arc::clone(daemon))))
        .add_service(service!(PolicyServiceServer, policy::PolicyRpc(Arc::clone(daemon))))
        .add_service(service!(PluginServiceServer, plugins::PluginsRpc(Arc::clone(daemon))))
        .add_service(service!(StatusServiceServer, status::StatusRpc(Arc::clone(daemon))))
        .add_service(service!(
            UserPromptServiceServer,
            user_prompt::UserPromptRpc(Arc::clone(daemon))
        ))
}

/// Passes a message on. Returns `false` where the reader is gone or takes nothing for too long: the
/// stream is over.
async fn pass<T>(sender: &mpsc::Sender<T>, message: T, draining: &CancellationToken) -> bool {
    let drained = async {
        draining.cancelled().await;
        tokio::time::sleep(STALL_DRAINING_MAX).await;
    };
    tokio::select! {
        biased;
        // Before what waits: where there is room no timer is set, which would wake another thread.
        sent = sender.send(message) => sent.is_ok(),
        () = tokio::time::sleep(STALL_MAX) => false,
        () = drained => false,
    }
}

/// Looks something up for a request beside calls, on a thread for that: as much of it at once as its caller has places
/// for. The place is taken until that is done, also where nobody waits any more: who cancels its requests cannot take
/// all threads.
async fn look_up<T: Send + 'static>(
    (daemon, caller): (&Daemon, &Caller),
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Status> {
    heavy((&daemon.lookups, Some(caller)), work).await.map_err(error::broken)
}

fn reflection() -> tonic_reflection::server::Builder<'static> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(moss_proto::FILE_DESCRIPTOR_SET)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}

#[cfg(test)]
mod tests {
    use moss_dispatch::Role;
    use moss_proto::v1::history_service_server::HistoryService;
    use tokio::time::{Instant, timeout};
    use tonic::Request;

    use super::*;
    use crate::tests::TestDaemon;

    #[tokio::test(start_paused = true)]
    async fn what_requests_look_up_waits_for_a_place_of_their_role() {
        let site = TestDaemon::new();
        let daemon = &site.daemon;
        let rpc = history::HistoryRpc(Arc::clone(daemon));
        let request = |role: Role| {
            let mut request = Request::new(v1::ListHistoryRequest::default());
            request.extensions_mut().insert(Caller::from(role));
            request
        };
        let caller = Caller::from(Role::Caller);
        let mut taken = Vec::new();
        for _ in 0..daemon.config().calls.running_max {
            taken.push(daemon.lookups.acquire(Some(&caller)).await);
        }
        let mut waiting = HistoryService::list_history(&rpc, request(Role::Caller));
        assert!(timeout(STALL_MAX, &mut waiting).await.is_err());
        HistoryService::list_history(&rpc, request(Role::Approver)).await.unwrap();
        drop(taken);
        waiting.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn stalled_reader_ends_the_stream_and_sooner_when_draining() {
        let (sender, mut reader) = mpsc::channel(1);
        let draining = CancellationToken::new();
        assert!(pass(&sender, 1, &draining).await);
        let start = Instant::now();
        assert!(!pass(&sender, 2, &draining).await);
        assert!(start.elapsed() >= STALL_MAX);
        draining.cancel();
        let start = Instant::now();
        assert!(!pass(&sender, 3, &draining).await);
        assert!(start.elapsed() < STALL_MAX);
        // Who reads still gets everything.
        assert_eq!(reader.recv().await, Some(1));
        assert!(pass(&sender, 4, &draining).await);
        drop(reader);
        assert!(!pass(&sender, 5, &draining).await);
    }
}
