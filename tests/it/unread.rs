//! Replies that nobody reads: what they hold has its bounds, and small ones come all the same.

use moss_proto::v1;
use serde_json::json;

use crate::harness::raw_http2::RawHttp2;
use crate::harness::{Site, call, reason, until};

const CALL: &str = "/moss.v1.ToolService/CallTool";
const STREAM: &str = "/moss.v1.ToolService/StreamCallTool";
/// What a reply has that is read from `large.txt`, and somewhat more.
const REPLY_BYTES: usize = 60_000;

fn read_large() -> v1::Call {
    call("read_file", json!({ "path": "large.txt" }))
}

fn whole() -> v1::CallToolRequest {
    v1::CallToolRequest { call: Some(read_large()) }
}

fn streamed() -> v1::StreamCallToolRequest {
    v1::StreamCallToolRequest { call: Some(read_large()) }
}

#[tokio::test]
async fn unread_replies_have_one_share_of_the_memory() {
    let site = Site::new();
    let (connection, all) = (2 * REPLY_BYTES, 3 * REPLY_BYTES);
    site.config(&format!(
        "[grpc]\nconnection_replies_bytes_max = {connection}\nreplies_bytes_max = {all}\n"
    ));
    site.write("large.txt", ("x".repeat(99) + "\n").repeat(500));
    site.write("small.txt", "x\n");
    let daemon = site.serve();
    let token = daemon.token("caller");
    let (mut first, mut second) =
        (RawHttp2::reading_nothing(&site), RawHttp2::reading_nothing(&site));
    for (stream, is_refused) in [(1, false), (3, false), (5, true), (7, true)] {
        first.request(&token, stream, CALL, &whole());
        assert_eq!(first.answered(), (stream, is_refused), "of the connection");
    }
    for (stream, is_refused) in [(1, false), (3, true)] {
        second.request(&token, stream, CALL, &whole());
        assert_eq!(second.answered(), (stream, is_refused), "of all callers");
    }
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    caller.done("read_file", json!({ "path": "small.txt" })).await;
    approver.done("read_file", json!({ "path": "large.txt" })).await;
    let full = caller.call(read_large()).await.unwrap_err();
    assert_eq!(
        (full.code(), reason(&full)),
        (tonic::Code::ResourceExhausted, "REPLIES_FULL".into())
    );
    assert!(full.message().contains("(grpc.replies_bytes_max)"), "{full:?}");
    drop(second);
    until("the share is free again", async || caller.call(read_large()).await.is_ok()).await;
}

#[tokio::test]
async fn the_result_of_a_stream_that_nobody_reads_has_its_share() {
    let site = Site::new();
    site.config(&format!("[grpc]\nreplies_bytes_max = {}\n", 2 * REPLY_BYTES));
    site.write("large.txt", ("x".repeat(99) + "\n").repeat(500));
    let daemon = site.serve();
    let token = daemon.token("caller");
    let mut raw = RawHttp2::reading_nothing(&site);
    for stream in [1, 3] {
        raw.request(&token, stream, STREAM, &streamed());
        assert_eq!(raw.answered(), (stream, false));
    }
    let caller = daemon.caller().await;
    until("both results wait", async || caller.call(read_large()).await.is_err()).await;
    let full = caller.call(read_large()).await.unwrap_err();
    assert_eq!(reason(&full), "REPLIES_FULL");
    drop(raw);
    until("the share is free again", async || caller.call(read_large()).await.is_ok()).await;
}
