//! A client that speaks HTTP/2 frame by frame.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use crate::harness::{BOUND, Daemon, Site};

const FRAME_BYTES: usize = 16_000;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// A setting: how much of each response is sent before the client asks for more.
const INITIAL_WINDOW_SIZE: u8 = 4;

/// A connection on which a test writes its own frames.
pub(crate) struct RawHttp2(UnixStream);

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

// === impl RawHttp2 ===

impl RawHttp2 {
    pub(crate) fn connect(site: &Site) -> Self {
        Self::with_settings(site, &[])
    }

    /// Connects as a client that takes nothing of any response.
    pub(crate) fn reading_nothing(site: &Site) -> Self {
        Self::with_settings(site, &[0, INITIAL_WINDOW_SIZE, 0, 0, 0, 0])
    }

    fn with_settings(site: &Site, settings: &[u8]) -> Self {
        let mut stream = UnixStream::connect(site.socket()).unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
        stream.write_all(&frame(SETTINGS, 0, 0, settings)).unwrap();
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
    pub(crate) fn begin(&mut self, daemon: &Daemon, stream: u32, bytes: usize) {
        let message = [&[0][..], &(4_u32 << 20).to_be_bytes(), &vec![0; bytes - 5]].concat();
        let path = "/moss.v1.ToolService/CallTool";
        self.send(&daemon.token("caller"), stream, path, &message, 0);
    }

    /// Sends a whole request.
    pub(crate) fn request(
        &mut self,
        token: &str,
        stream: u32,
        path: &str,
        message: &impl prost::Message,
    ) {
        let length = u32::try_from(message.encoded_len()).unwrap().to_be_bytes();
        let message = [&[0][..], &length, &message.encode_to_vec()].concat();
        self.send(token, stream, path, &message, END_STREAM);
    }

    fn send(&mut self, token: &str, stream: u32, path: &str, message: &[u8], flags: u8) {
        let fields = [
            field(":method", "POST"),
            field(":scheme", "http"),
            field(":authority", "localhost"),
            field(":path", path),
            field("content-type", "application/grpc"),
            field("te", "trailers"),
            field("authorization", &format!("Bearer {token}")),
        ];
        self.0.write_all(&frame(HEADERS, END_HEADERS, stream, &fields.concat())).unwrap();
        let last = message.len().div_ceil(FRAME_BYTES) - 1;
        for (index, part) in message.chunks(FRAME_BYTES).enumerate() {
            let flags = if index == last { flags } else { 0 };
            self.0.write_all(&frame(DATA, flags, stream, part)).unwrap();
        }
    }

    /// Waits for the first stream of which the server sends headers: one that it ends, which has a reason
    /// in place of a reply, or one that waits to be read.
    pub(crate) fn answered(&mut self) -> (u32, bool) {
        loop {
            let (kind, flags, stream) = self.next();
            if kind == HEADERS {
                return (stream, flags & END_STREAM > 0);
            }
        }
    }

    /// Waits for the first stream that the server ends.
    pub(crate) fn ended(&mut self) -> u32 {
        loop {
            let (kind, flags, stream) = self.next();
            if kind == HEADERS && flags & END_STREAM > 0 {
                return stream;
            }
        }
    }
}
