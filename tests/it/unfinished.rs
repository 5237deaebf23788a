//! Requests that begin and do not come on: they end, and what they hold has its bounds.

use serde_json::json;

use crate::harness::Site;
use crate::harness::raw_http2::RawHttp2;

/// As much as a client may send before the server lets it send more.
const WINDOW_BYTES: usize = 60_000;

#[tokio::test]
async fn a_request_that_does_not_come_on_ends() {
    let site = Site::new();
    site.config("[grpc]\nrequest_idle_ms = 100\n");
    let daemon = site.serve();
    let mut raw = RawHttp2::connect(&site);
    raw.begin(&daemon, 1, 100);
    assert_eq!(raw.ended(), 1);
    // The connection lives, and so do streams between whose messages nothing comes.
    raw.begin(&daemon, 3, 100);
    assert_eq!(raw.ended(), 3);
}

#[tokio::test]
async fn unfinished_requests_have_one_share_of_the_memory() {
    let site = Site::allowing();
    site.config("[grpc]\nconnection_arriving_bytes_max = 100000\narriving_bytes_max = 150000\n");
    let daemon = site.serve();
    let mut first = RawHttp2::connect(&site);
    first.begin(&daemon, 1, WINDOW_BYTES);
    first.begin(&daemon, 3, WINDOW_BYTES);
    assert!([1, 3].contains(&first.ended()), "the connection has no more");
    let mut second = RawHttp2::connect(&site);
    second.begin(&daemon, 1, WINDOW_BYTES);
    second.begin(&daemon, 3, 43_000);
    assert!([1, 3].contains(&second.ended()), "all callers together have no more");
    // Small requests, and those of a person, are taken all the same.
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    caller.done("list_directory", json!({ "path": "." })).await;
    let big = json!({ "path": "a.txt", "content": "x".repeat(90_000) });
    approver.done("create_file", big.clone()).await;
    drop((first, second));
    let big = json!({ "path": "b.txt", "content": "x".repeat(90_000) });
    crate::harness::until("the share is free again", async || {
        caller.call(crate::harness::call("create_file", big.clone())).await.is_ok()
    })
    .await;
}
