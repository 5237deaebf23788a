//! Who gets in: credentials, roles, and the fences around the socket and moss's own files.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use moss_proto::v1;
use serde_json::json;
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::harness::{Client, Daemon, Site, call, reason};

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o777
}

/// One method of every service.
async fn statuses(client: &Client) -> Vec<Option<Status>> {
    vec![
        client.tools().list_tools(v1::ListToolsRequest::default()).await.err(),
        client.tools().call_tool(v1::CallToolRequest::default()).await.err(),
        client.tools().stream_call_tool(v1::StreamCallToolRequest::default()).await.err(),
        client.history().list_history(v1::ListHistoryRequest::default()).await.err(),
        client.policy().explain_policy(v1::ExplainPolicyRequest::default()).await.err(),
        client.plugins().list_plugins(v1::ListPluginsRequest::default()).await.err(),
        client.status().get_status(v1::GetStatusRequest::default()).await.err(),
        client
            .confirmations()
            .list_confirmations(v1::ListConfirmationsRequest::default())
            .await
            .err(),
        client
            .confirmations()
            .watch_confirmations(v1::WatchConfirmationsRequest::default())
            .await
            .err(),
    ]
}

#[tokio::test]
async fn without_a_known_credential_nothing_is_answered() {
    let site = Site::new();
    let daemon = site.serve();
    let right = daemon.token("caller");
    let other = if right.ends_with('0') { '1' } else { '0' };
    let near = format!("{}{other}", &right[..right.len() - 1]);
    let upper = right.to_uppercase();
    for token in [None, Some(""), Some("x"), Some(near.as_str()), Some(upper.as_str())] {
        let client = daemon.connect(token).await;
        for status in statuses(&client).await {
            let status = status.expect("refused");
            assert_eq!(status.code(), Code::Unauthenticated, "{token:?}: {status:?}");
            assert_eq!(reason(&status), "CREDENTIAL_INVALID");
            assert!(!status.message().contains(&right));
        }
    }
}

#[tokio::test]
async fn the_credential_must_come_as_a_bearer() {
    let site = Site::new();
    let daemon = site.serve();
    let token = daemon.token("caller");
    let nobody = daemon.connect(None).await;
    for (value, expected) in [
        (format!("Bearer {token}"), None),
        (format!("bearer {token}"), None),
        (format!("Basic {token}"), Some(Code::Unauthenticated)),
        (token.clone(), Some(Code::Unauthenticated)),
        (format!("Bearer {token}, Bearer {token}"), Some(Code::Unauthenticated)),
    ] {
        let mut request = Request::new(v1::GetStatusRequest {});
        request.metadata_mut().insert("authorization", value.parse().unwrap());
        let answer = nobody.status().get_status(request).await;
        assert_eq!(answer.err().map(|status| status.code()), expected, "{value}");
    }
}

#[tokio::test]
async fn a_caller_calls_and_an_approver_also_answers() {
    let site = Site::new();
    let daemon = site.serve();
    assert_ne!(daemon.token("caller"), daemon.token("approver"));
    for (role, answers) in [("caller", false), ("approver", true)] {
        let client = daemon.connect(Some(&daemon.token(role))).await;
        let list = client.done("list_directory", json!({"path": "."})).await;
        assert_eq!(list["total"], 0);
        let statuses = statuses(&client).await;
        for status in &statuses[7..] {
            let code = status.as_ref().map(Status::code);
            assert_eq!(code, (!answers).then_some(Code::PermissionDenied), "{role}");
        }
    }
}

#[tokio::test]
async fn health_is_served_to_everybody() {
    let site = Site::new();
    let daemon = site.serve();
    let nobody = daemon.connect(None).await;
    let mut health = HealthClient::new(nobody.channel());
    for service in
        ["", "moss.v1.ToolService", "moss.v1.ConfirmationService", "moss.v1.StatusService"]
    {
        let request = HealthCheckRequest { service: service.to_owned() };
        let answer = health.check(request).await.unwrap().into_inner();
        assert_eq!(answer.status(), ServingStatus::Serving, "{service}");
    }
    let request = HealthCheckRequest { service: "moss.v1.Nothing".to_owned() };
    assert_eq!(health.check(request).await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test]
async fn own_files_are_for_their_owner_only() {
    let site = Site::allowing();
    let daemon = site.serve();
    let client = daemon.caller().await;
    client.done("create_file", json!({"path": "a.txt", "content": "x\n"})).await;
    let socket = site.socket();
    assert_eq!(mode(&socket), 0o600);
    assert_eq!(mode(socket.parent().unwrap()), 0o700);
    let mut directories = vec![site.state()];
    let mut files = 0;
    while let Some(directory) = directories.pop() {
        assert_eq!(mode(&directory), 0o700, "{}", directory.display());
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_symlink() {
                // What it leads to says who may use it.
                assert_eq!(std::fs::read_link(&path).unwrap(), socket, "{}", path.display());
            } else if path.is_dir() {
                directories.push(path);
            } else {
                assert_eq!(mode(&path), 0o600, "{}", path.display());
                files += 1;
            }
        }
    }
    assert!(files >= 4, "credentials, history and audit are files");
}

#[tokio::test]
async fn a_second_daemon_on_the_same_socket_is_refused() {
    let site = Site::new();
    let daemon = site.serve();
    let ended = site.serve_refused();
    assert_ne!(ended.code, Some(0));
    assert!(ended.stderr.contains("another daemon listens on"), "{}", ended.stderr);
    assert!(ended.stderr.contains(site.socket().to_str().unwrap()), "{}", ended.stderr);
    // The first one is not bothered.
    daemon.caller().await.done("list_directory", json!({"path": "."})).await;
    daemon.stop();
}

#[tokio::test]
async fn what_a_killed_daemon_left_behind_is_taken_over() {
    let site = Site::new();
    let daemon = site.serve();
    let token = daemon.token("caller");
    daemon.kill();
    assert!(site.socket().exists());
    let daemon = site.serve();
    assert_eq!(daemon.token("caller"), token, "clients need not read the credential again");
    daemon.caller().await.done("list_directory", json!({"path": "."})).await;
}

#[tokio::test]
async fn a_directory_that_others_can_enter_holds_no_socket() {
    let site = Site::new();
    let directory = site.outside("run/moss");
    std::fs::create_dir(&directory).unwrap();
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o777)).unwrap();
    let ended = site.serve_refused();
    assert_ne!(ended.code, Some(0));
    assert!(ended.stderr.contains(directory.to_str().unwrap()), "{}", ended.stderr);
    assert!(!site.socket().exists());
}

async fn assert_alive(daemon: &Daemon) {
    daemon.caller().await.done("list_directory", json!({"path": "."})).await;
}

#[tokio::test]
async fn what_is_not_grpc_does_no_harm() {
    use std::io::{Read as _, Write as _};
    let site = Site::new();
    let daemon = site.serve();
    let garbage: Vec<u8> =
        (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for bytes in [b"GET / HTTP/1.1\r\nHost: moss\r\n\r\n".as_slice(), b"", b"\0", &garbage] {
        let mut stream = UnixStream::connect(site.socket()).unwrap();
        // The daemon may hang up before it has read everything.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    }
    assert_alive(&daemon).await;
    daemon.stop();
}

#[tokio::test]
async fn an_unknown_method_is_not_there_for_anybody() {
    let site = Site::new();
    let daemon = site.serve();
    let approver = daemon.approver().await;
    let mut grpc = tonic::client::Grpc::new(approver.channel());
    grpc.ready().await.unwrap();
    let codec = tonic_prost::ProstCodec::<v1::GetStatusRequest, v1::GetStatusResponse>::default();
    let path = "/moss.v1.StatusService/Forget".parse().unwrap();
    let answer = grpc.unary(Request::new(v1::GetStatusRequest {}), path, codec).await;
    assert_eq!(answer.unwrap_err().code(), Code::Unimplemented);
    let status = approver.call(call("", json!({}))).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
}
