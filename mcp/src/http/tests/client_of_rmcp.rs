//! rmcp's own client over HTTP, with a session and without.

use rmcp::model::{CallToolRequestParams, ElicitationAction, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, UnixSocketHttpClient};
use tokio::net::UnixListener;

use super::*;
use crate::tests::forms::RmcpClient;

/// Lets clients in by a socket, until it is dropped.
struct Listening {
    directory: tempfile::TempDir,
    task: JoinHandle<()>,
}

impl Listening {
    fn of(server: &Server) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join("mcp")).unwrap();
        let (front, backend) = (server.front.clone(), Arc::clone(&server.backend));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (front, door) = (front.clone(), Arc::new(Door(Arc::clone(&backend))));
                tokio::spawn(async move { front.serve(stream, door).await });
            }
        });
        Self { directory, task }
    }

    /// A client that shows a credential.
    fn transport(&self, credential: &str) -> StreamableHttpClientTransport<UnixSocketHttpClient> {
        let config = StreamableHttpClientTransportConfig::with_uri("http://localhost/mcp/all");
        let socket = self.directory.path().join("mcp");
        let config = config.auth_header(credential);
        StreamableHttpClientTransport::from_unix_socket_with_config(
            socket.to_str().unwrap(),
            config,
        )
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[tokio::test]
async fn the_client_of_rmcp_lists_calls_and_answers_questions() {
    let newest = vec![ProtocolVersion::V_2026_07_28];
    for (lifecycle, has_session) in [
        (ClientLifecycleMode::Initialize, true),
        (ClientLifecycleMode::Discover { preferred_versions: newest }, false),
    ] {
        let server = Server::new();
        let listening = Listening::of(&server);
        let shown = Arc::new(std::sync::Mutex::default());
        let person = RmcpClient(ElicitationAction::Accept, Arc::clone(&shown));
        let connected = person.serve_with_lifecycle(listening.transport("alice"), lifecycle);
        let client = tokio::time::timeout(WAIT_MAX, connected).await.expect("in time").unwrap();
        assert_eq!(client.list_all_tools().await.unwrap().len(), 4);
        let call = async |name: &'static str, arguments: Value| {
            let arguments = arguments.as_object().cloned().unwrap();
            let call = CallToolRequestParams::new(name).with_arguments(arguments);
            client.call_tool(call).await.unwrap()
        };
        let called = call("echo", json!({ "a": 1 })).await;
        assert_eq!(called.structured_content, Some(json!({ "a": 1 })));
        assert_eq!(call("fail", json!({})).await.is_error, Some(true));
        if has_session {
            let answered = call(crate::clarify::TOOL, json!({ "question": "Tabs?" })).await;
            assert_eq!(answered.structured_content.unwrap()["answer"], "tabs");
            assert_eq!(*shown.lock().unwrap(), ["Tabs?"]);
        }
        client.cancel().await.unwrap();
        let uses = server.backend.uses.lock().unwrap();
        assert_eq!(uses[0].session_id != SESSIONLESS, has_session, "{uses:?}");
    }
    // Nobody gets in without a credential that is known.
    let server = Server::new();
    let listening = Listening::of(&server);
    let stranger = RmcpClient(ElicitationAction::Cancel, Arc::default());
    let connected = stranger
        .serve_with_lifecycle(listening.transport("mallory"), ClientLifecycleMode::Initialize);
    let refused = tokio::time::timeout(WAIT_MAX, connected).await.expect("in time");
    assert!(refused.is_err(), "a stranger gets in");
}
