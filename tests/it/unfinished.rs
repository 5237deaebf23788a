//! Requests that begin and do not come on: they end, and what they hold has its bounds.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use serde_json::json;

use crate::harness::{BOUND, Daemon, Site};

/// As much as a client may send before the server lets it send more.
const WINDOW_BYTES: usize = 60_000;
const FRAME_BYTES: usize = 16_000;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// A client that speaks HTTP/2 frame by frame.
struct Raw(UnixStream);

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A header field that is in no table, with its texts as they are.
fn field(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| {
        let length = text.len();
        // A length of seven bits, and what goes beyond.
        let head = if length < 127 { vec![length as u8] } else { vec![127, (length - 127) as u8] };
        [head, text.as_bytes().to_vec()].concat()
    };
    [vec![0], text(name), text(value)].concat()
}

// === impl Raw ===

impl Raw {
    fn connect(site: &Site) -> Self {
        let mut stream = UnixStream::connect(site.socket()).unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
        stream.write_all(&frame(SETTINGS, 0, 0, &[])).unwrap();
        let mut raw = Self(stream);
        // It lets the connection send more than the protocol begins with.
        while raw.next().0 != WINDOW_UPDATE {}
        raw
    }

    /// Reads a frame: its kind, flags and stream.
    fn next(&mut self) -> (u8, u8, u32) {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).unwrap();
        let [a, b, c, kind, flags, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.0.read_exact(&mut payload).unwrap();
        (kind, flags, u32::from_be_bytes(stream))
    }

    /// Begins a call of a tool: so many bytes of a message that is longer.
    fn begin(&mut self, daemon: &Daemon, stream: u32, bytes: usize) {
        let fields = [
            field(":method", "POST"),
            field(":scheme", "http"),
            field(":authority", "localhost"),
            field(":path", "/moss.v1.ToolService/CallTool"),
            field("content-type", "application/grpc"),
            field("te", "trailers"),
            field("authorization", &format!("Bearer {}", daemon.token("caller"))),
        ];
        self.0.write_all(&frame(HEADERS, END_HEADERS, stream, &fields.concat())).unwrap();
        let message = [&[0][..], &(4_u32 << 20).to_be_bytes(), &vec![0; bytes - 5]].concat();
        for part in message.chunks(FRAME_BYTES) {
            self.0.write_all(&frame(DATA, 0, stream, part)).unwrap();
        }
    }

    /// Waits for the first stream that the server ends.
    fn ended(&mut self) -> u32 {
        loop {
            let (kind, flags, stream) = self.next();
            if kind == HEADERS && flags & END_STREAM > 0 {
                return stream;
            }
        }
    }
}

#[tokio::test]
async fn a_request_that_does_not_come_on_ends() {
    let site = Site::new();
    site.config("[grpc]\nrequest_idle_ms = 100\n");
    let daemon = site.serve();
    let mut raw = Raw::connect(&site);
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
    let mut first = Raw::connect(&site);
    first.begin(&daemon, 1, WINDOW_BYTES);
    first.begin(&daemon, 3, WINDOW_BYTES);
    assert!([1, 3].contains(&first.ended()), "the connection has no more");
    let mut second = Raw::connect(&site);
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
