//! A server that answers the four APIs with what the encoders make of the cases.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use moss_model_bridge::encode::{
    self, CallForms, ReplyHead, ReplyStream, ReplyUsage, StreamOptions,
};
use moss_model_bridge::{Api, NamespacedName, Reply};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::cases::{Case, FREE_FORM, NAMESPACED, cases};

/// What every reply is said to have cost.
pub(super) const USAGE: ReplyUsage =
    ReplyUsage { input_tokens: 11, output_tokens: 22, elapsed_ns: 33 };
/// The paths of the APIs, after the location of a case.
const PATHS: [(&str, Api); 4] = [
    ("/v1/chat/completions", Api::OpenAiChat),
    ("/v1/responses", Api::OpenAiResponses),
    ("/v1/messages", Api::AnthropicMessages),
    ("/api/chat", Api::Ollama),
];

/// A running server. Its answers are at `/CASE/CHUNKS`, where `CHUNKS` says how a body comes: at
/// once (`whole`), a byte at a time (`bytes`), or in chunks of odd sizes (`odd`).
pub(super) struct Server {
    pub(super) url: String,
    asked: Arc<Mutex<BTreeMap<String, usize>>>,
}

/// A response before it is cut up.
struct Response {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
}

// === impl Server ===

impl Server {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<BTreeMap<String, usize>>>::default();
        let (counted, cases) = (Arc::clone(&asked), Arc::new(cases()));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&cases), Arc::clone(&counted)));
            }
        });
        Self { url, asked }
    }

    /// How often a path was asked for.
    pub(super) fn asked(&self, path: &str) -> usize {
        self.asked.lock().unwrap().get(path).copied().unwrap_or_default()
    }
}

async fn serve(
    mut stream: TcpStream,
    cases: Arc<Vec<Case>>,
    asked: Arc<Mutex<BTreeMap<String, usize>>>,
) {
    stream.set_nodelay(true).unwrap();
    let Some((path, request)) = read(&mut stream).await else { return };
    *asked.lock().unwrap().entry(path.clone()).or_default() += 1;
    let (api, place) = PATHS
        .iter()
        .find_map(|(end, api)| Some((*api, path.strip_suffix(end)?)))
        .unwrap_or_else(|| panic!("{path} is the path of no API"));
    let (name, chunks) = place[1..].split_once('/').unwrap();
    let case = cases.iter().find(|case| case.name == name).unwrap();
    let Response { status, headers, body } = answer(api, case, &request);
    let mut head = format!("HTTP/1.1 {status} Said\r\nconnection: close\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += "transfer-encoding: chunked\r\n\r\n";
    // A client that has read enough goes before the end.
    let _ = send(&mut stream, &head, body.as_bytes(), chunks).await;
}

/// Reads the path of a request and its body.
async fn read(stream: &mut TcpStream) -> Option<(String, Value)> {
    let (mut asked, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        if let Some(end) = asked.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&asked[..end]).into_owned();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
            });
            let body = &asked[end + 4..];
            if body.len() >= length.unwrap_or(0_usize) {
                let path = head.split(' ').nth(1)?.to_owned();
                return Some((path, serde_json::from_slice(body).unwrap()));
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => asked.extend_from_slice(&buffer[..count]),
        }
    }
}

fn answer(api: Api, case: &Case, request: &Value) -> Response {
    let both = NamespacedName { namespace: "mcp__web".to_owned(), name: "search".to_owned() };
    let head = ReplyHead {
        id: "7f".to_owned(),
        model: request["model"].as_str().unwrap().to_owned(),
        created_unix_s: 1_700_000_000,
        input_tokens: USAGE.input_tokens,
        forms: CallForms {
            free_form: [FREE_FORM.to_owned()].into(),
            namespaced: [(NAMESPACED.to_owned(), both)].into(),
        },
    };
    if let (Some(failure), true) = (&case.failure, case.events.is_empty()) {
        let encode::FailureResponse { status, mut headers, body } = encode::error(api, failure);
        headers.push(("content-type", "application/json".to_owned()));
        return Response { status, headers, body: body.to_string() };
    }
    if request["stream"] != true {
        let reply = Reply::collect(case.events.clone());
        let body = encode::whole(api, &head, &reply, USAGE).to_string();
        let headers = vec![("content-type", "application/json".to_owned())];
        return Response { status: 200, headers, body };
    }
    let include_usage = request["stream_options"]["include_usage"] == true;
    let mut stream = ReplyStream::new(api, head, StreamOptions { include_usage });
    let headers = vec![("content-type", stream.content_type().to_owned())];
    let mut body = stream.keep_alive();
    for event in &case.events {
        body += &stream.push(event);
        body += &stream.keep_alive();
    }
    body += &match &case.failure {
        Some(failure) => stream.fail(failure),
        None => stream.finish(USAGE),
    };
    Response { status: 200, headers, body }
}

async fn send(
    stream: &mut TcpStream,
    head: &str,
    mut body: &[u8],
    chunks: &str,
) -> std::io::Result<()> {
    stream.write_all(head.as_bytes()).await?;
    let mut odd = 1_u32;
    while !body.is_empty() {
        let size = match chunks {
            "whole" => body.len(),
            "bytes" => 1,
            "odd" => {
                // Numbers that look random and are the same every time.
                odd = odd.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let most = 23.max(body.len() / 64);
                (odd >> 8) as usize % most + 1
            }
            other => panic!("{other} is no way to cut a body"),
        };
        let (chunk, rest) = body.split_at(size.min(body.len()));
        let framed = [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat();
        stream.write_all(&framed).await?;
        body = rest;
    }
    stream.write_all(b"0\r\n\r\n").await?;
    stream.shutdown().await
}
