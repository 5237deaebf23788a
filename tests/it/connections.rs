//! Slots of connections: whoever holds them all keeps no approver out, no token holds more than its
//! share, and a slot that is given up is taken.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use moss_proto::v1;
use serde_json::json;
use tonic::{Code, Status};

use crate::harness::{BOUND, Client, Daemon, Site, call, reason, until};
use crate::metrics::{number, scrape};
use crate::tokens;

/// Slots beyond `grpc.connections_max`, for approvers.
const RESERVE: usize = 16;

/// A daemon with few slots on each of its sockets, and a port.
fn serve(site: &mut Site) -> Daemon {
    site.config("[grpc]\nconnections_max = 8\n");
    tokens::serve(site)
}

async fn read(client: &Client) -> Result<v1::CallResult, Status> {
    client.call(call("read_file", json!({"path": "a.txt"}))).await
}

/// Holds a caller to the answer that it has no slot.
async fn refused(client: &Client, word: &str) {
    let status = read(client).await.unwrap_err();
    let found = (status.code(), reason(&status));
    assert_eq!(found, (Code::ResourceExhausted, "CONNECTIONS_FULL".to_owned()), "{status:?}");
    let message = status.message();
    assert!(message.contains("grpc.connections_max") && message.contains(word), "{message}");
}

/// So many connections that made a request each.
async fn hold(count: usize, connect: impl AsyncFn() -> Client) -> Vec<Client> {
    let mut held = Vec::new();
    for _ in 0..count {
        let client = connect().await;
        read(&client).await.unwrap();
        held.push(client);
    }
    held
}

async fn lists(approver: &Client) {
    let request = v1::ListConfirmationsRequest::default();
    approver.confirmations().list_confirmations(request).await.unwrap();
}

#[tokio::test]
async fn callers_who_hold_all_slots_keep_no_approver_out() {
    let site = Site::new();
    site.write("a.txt", "x\n");
    site.config("[grpc]\nconnections_max = 8\n");
    let daemon = site.serve();
    let mut held = hold(8, async || daemon.caller().await).await;
    let further = daemon.caller().await;
    refused(&further, "approvers").await;
    lists(&daemon.approver().await).await;
    let listed = site.run(&["confirm", "list"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    // Neither do those who send nothing in the slots of approvers.
    let silent: Vec<_> =
        (0..2 * RESERVE).map(|_| UnixStream::connect(site.socket()).unwrap()).collect();
    lists(&daemon.approver().await).await;
    until("one gave way", async || daemon.log().contains("another connection needs its slot"))
        .await;
    // Who is in stays in, and who was refused is in when a slot is free.
    read(&held[0]).await.unwrap();
    drop((silent, held.pop(), further));
    until("the slot is free", async || read(&daemon.caller().await).await.is_ok()).await;
    daemon.stop();
}

#[tokio::test]
async fn a_named_token_holds_its_share_of_the_slots_until_it_is_revoked() {
    let mut site = Site::new();
    let names = ["a", "b", "c", "d"];
    let secrets = names.map(|name| tokens::create(&site, name));
    let daemon = serve(&mut site);
    let mut held = Vec::new();
    for (number, secret) in secrets.iter().enumerate() {
        held.extend(hold(2, async || daemon.dial(Some(secret)).await).await);
        if number == 0 {
            refused(&daemon.dial(Some(secret)).await, "`a`").await;
        }
    }
    // On another socket it has another share.
    read(&daemon.connect(Some(&secrets[0])).await).await.unwrap();
    let other = tokens::create(&site, "other");
    refused(&daemon.dial(Some(&other)).await, "approvers").await;
    // Its connections send nothing after that, and give way all the same.
    assert_eq!(tokens::revoke(&site, "a").code, Some(0));
    let came = hold(2, async || daemon.dial(Some(&other)).await).await;
    for client in &held[2..] {
        read(client).await.unwrap();
    }
    drop(came);
    daemon.stop();
}

#[tokio::test]
async fn a_connection_whose_token_is_revoked_is_closed_after_the_answer() {
    let mut site = Site::new();
    let secret = tokens::create(&site, "ci");
    site.argument("--metrics").argument("127.0.0.1:0");
    let daemon = serve(&mut site);
    let client = daemon.dial(Some(&secret)).await;
    read(&client).await.unwrap();
    let open = || number(&scrape(&daemon), "moss_connections{transport=\"tcp\"}");
    assert_eq!(open(), Some(1.0));
    assert_eq!(tokens::revoke(&site, "ci").code, Some(0));
    let status = read(&client).await.unwrap_err();
    assert_eq!(
        (status.code(), reason(&status).as_str()),
        (Code::Unauthenticated, "CREDENTIAL_INVALID")
    );
    until("it is closed", async || open() == Some(0.0)).await;
    daemon.stop();
}

#[tokio::test]
async fn a_connection_too_many_is_closed_and_a_freed_slot_is_taken() {
    let site = Site::new();
    site.config("[grpc]\nconnections_max = 2\n");
    let daemon = site.serve();
    let mut held = hold(2, async || daemon.caller().await).await;
    let mut approvers = Vec::new();
    for _ in 0..RESERVE {
        let approver = daemon.approver().await;
        lists(&approver).await;
        approvers.push(approver);
    }
    assert!(is_hung_up(&mut UnixStream::connect(site.socket()).unwrap()));
    until("it is logged", async || daemon.log().contains("refused a connection: too many")).await;
    // Who is in stays in.
    read(&held[0]).await.unwrap();
    held.pop();
    until("the slot is free", async || {
        !is_hung_up(&mut UnixStream::connect(site.socket()).unwrap())
    })
    .await;
}

/// Whether the other side closes the connection; otherwise it says something first.
fn is_hung_up(stream: &mut UnixStream) -> bool {
    stream.set_read_timeout(Some(BOUND)).unwrap();
    // The preface of HTTP/2 and empty settings: a server answers with its own.
    let hello = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    if stream.write_all(hello).is_err() {
        return true;
    }
    !matches!(stream.read(&mut [0; 9]), Ok(count) if count > 0)
}
