//! The protocol over HTTP as clients see it: requests in, responses and streams of events out.

use std::sync::atomic::{AtomicUsize, Ordering};

use http_body_util::BodyExt as _;
use hyper::client::conn::http1::{SendRequest, handshake};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::*;
use crate::tests::{Opener, Recorded, WAIT_MAX, initialize, stateless};

mod client_of_rmcp;
mod forms;

/// Lets in `alice`, `bob` and `carol`, and has the set `review` beside those that there always are.
#[derive(Debug)]
struct Door(Arc<Recorded>);

struct Server {
    front: HttpFront,
    backend: Arc<Recorded>,
}

struct HttpClient {
    sender: SendRequest<Full<Bytes>>,
    task: JoinHandle<()>,
    /// Ends once the connection has ended for the server.
    served: JoinHandle<()>,
    credential: Option<&'static str>,
    path: &'static str,
    session: Option<String>,
    revision: Option<&'static str>,
    ids: AtomicUsize,
}

struct Got {
    status: u16,
    head: HeaderMap,
    text: String,
}

impl HttpDoor for Door {
    fn admit(
        &self,
        credential: Option<&str>,
        workspace: Option<&str>,
    ) -> Result<HttpCaller, NotAdmitted> {
        match credential {
            Some(name @ ("alice" | "bob" | "carol")) => {
                let opener = Arc::new(Opener(Arc::clone(&self.0)));
                let workspace = workspace.unwrap_or_default().to_owned();
                Ok(HttpCaller { name: name.to_owned(), workspace, opener })
            }
            Some("late") => Err(NotAdmitted::Full("no room".to_owned())),
            _ => Err(NotAdmitted::Unknown("no credential".to_owned())),
        }
    }

    fn tool_set(&self, name: &str) -> Option<ToolSet> {
        let named =
            || ToolSet::Named { name: name.to_owned(), tools: vec!["read_file".to_owned()] };
        ToolSet::built_in(name).or_else(|| (name == "review").then(named))
    }
}

impl Server {
    fn new() -> Self {
        let front = HttpFront::new(ReachableNames::new([]), CancellationToken::new());
        Self { front, backend: Arc::new(Recorded::new()) }
    }

    async fn client(&self, credential: &'static str) -> HttpClient {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (front, door) = (self.front.clone(), Arc::new(Door(Arc::clone(&self.backend))));
        let served = tokio::spawn(async move { front.serve(far, door).await });
        let (sender, connection) = handshake(TokioIo::new(near)).await.unwrap();
        // It ends when the client drops it.
        let task = tokio::spawn(async move { drop(connection.await) });
        HttpClient {
            sender,
            task,
            served,
            credential: Some(credential),
            path: PATH,
            session: None,
            revision: None,
            ids: AtomicUsize::new(1),
        }
    }

    /// Waits until so many calls were made.
    async fn uses(&self, count: usize) {
        let are_made = async {
            while self.backend.uses.lock().unwrap().len() < count {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(WAIT_MAX, are_made).await.expect("the calls run");
    }

    /// Opens a session, and makes a call with the id `x` in it that hangs and whose connection is gone. The session
    /// goes on with another client. Returns the call, and what is sent once it is dropped.
    async fn lost_call(
        &self,
        credential: &'static str,
        other: &mut HttpClient,
        bytes: usize,
    ) -> (String, oneshot::Receiver<()>) {
        let mut client = self.session(credential, "2025-11-25").await;
        other.session.clone_from(&client.session);
        other.revision = client.revision;
        let (sender, hung) = oneshot::channel();
        *self.backend.hung.lock().unwrap() = Some(sender);
        let call = |bytes: usize| {
            let params = json!({ "name": "hang", "arguments": { "text": "x".repeat(bytes) } });
            let call =
                json!({ "jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params });
            call.to_string()
        };
        let request = client.request("POST").body(Full::from(call(bytes))).unwrap();
        let sent = tokio::spawn(client.sender.send_request(request));
        self.uses(1).await;
        client.task.abort();
        tokio::time::timeout(WAIT_MAX, client.served).await.expect("in time").unwrap();
        sent.abort();
        (call(0), hung)
    }

    /// A client with a session.
    async fn session(&self, credential: &'static str, revision: &'static str) -> HttpClient {
        let mut client = self.client(credential).await;
        let hello = client.post(initialize(revision).to_string()).await;
        assert_eq!(hello.message()["result"]["protocolVersion"], revision, "{}", hello.text);
        client.session = Some(hello.head[sessions::SESSION_HEADER].to_str().unwrap().to_owned());
        client.revision = Some(revision);
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.post(initialized.to_string()).await.status, 202);
        client
    }
}

impl HttpClient {
    fn request(&self, method: &str) -> http::request::Builder {
        let mut request = Request::builder()
            .method(method)
            .uri(self.path)
            .header("Host", "localhost:4000")
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        if let Some(credential) = self.credential {
            request = request.header("Authorization", format!("Bearer {credential}"));
        }
        if let Some(session) = &self.session {
            request = request.header(sessions::SESSION_HEADER, session);
        }
        if let Some(revision) = self.revision {
            request = request.header("MCP-Protocol-Version", revision);
        }
        request
    }

    async fn send(&mut self, request: Request<Full<Bytes>>) -> Got {
        let sent = async {
            self.sender.ready().await.unwrap();
            let response = self.sender.send_request(request).await.unwrap();
            let (head, body) = response.into_parts();
            let text = body.collect().await.unwrap().to_bytes();
            let text = String::from_utf8(text.to_vec()).unwrap();
            Got { status: head.status.as_u16(), head: head.headers, text }
        };
        tokio::time::timeout(WAIT_MAX, sent).await.expect("a response in time")
    }

    async fn post(&mut self, body: impl Into<Bytes>) -> Got {
        let body = body.into();
        let request = self.request("POST").body(Full::from(body)).unwrap();
        self.send(request).await
    }

    fn message(&self, method: &str, params: Value) -> Value {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    }

    async fn ask(&mut self, method: &str, params: Value) -> Got {
        self.post(self.message(method, params).to_string()).await
    }

    /// Asks in the revision without sessions.
    async fn ask_alone(&mut self, method: &str, params: Value) -> Got {
        let mut request = self.request("POST").header("Mcp-Method", method);
        if let Some(name) = params.get("name").and_then(Value::as_str) {
            request = request.header("Mcp-Name", name);
        }
        let message = self.message(method, stateless(params)).to_string();
        let request = request.header("MCP-Protocol-Version", "2026-07-28");
        self.send(request.body(Full::from(message)).unwrap()).await
    }
}

impl Got {
    /// The messages of the response: of a stream of events each, else the one.
    fn messages(&self) -> Vec<Value> {
        let read = |text: &str| {
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
        };
        match self.head.get("Content-Type").map(|kind| kind.to_str().unwrap()) {
            Some("text/event-stream") => {
                let data = self.text.lines().filter_map(|line| line.strip_prefix("data:"));
                data.map(str::trim).filter(|data| !data.is_empty()).map(read).collect()
            }
            _ => vec![read(&self.text)],
        }
    }

    fn message(&self) -> Value {
        self.messages().pop().unwrap_or_else(|| panic!("no message: {}", self.text))
    }

    fn error(&self) -> String {
        self.message()["error"]["message"]
            .as_str()
            .unwrap_or_else(|| panic!("{}", self.text))
            .into()
    }
}

#[tokio::test]
async fn who_may_not_come_in_is_told_why() {
    let server = Server::new();
    let mut client = server.client("mallory").await;
    let hello = initialize("2025-11-25").to_string();
    let refused = client.post(hello.clone()).await;
    assert_eq!((refused.status, refused.error().as_str()), (401, "no credential"));
    assert_eq!(refused.head["WWW-Authenticate"], "Bearer realm=\"moss\"");
    client.credential = None;
    client.path = "/elsewhere";
    // Who shows no credential does not learn what there is.
    assert_eq!(client.post(hello.clone()).await.status, 401);
    client.credential = Some("late");
    assert_eq!(client.post(hello.clone()).await.status, 503);
    client.credential = Some("alice");
    let missing = client.post(hello.clone()).await;
    assert_eq!(missing.status, 404);
    assert!(missing.error().contains("/mcp/SET"), "{}", missing.text);
    client.path = PATH;
    for (name, value, part) in [
        ("Host", "evil.example:4000", "this server is not `evil.example:4000`"),
        ("Origin", "http://evil.example", "`http://evil.example` may not use this server"),
    ] {
        let mut request = client.request("POST").body(Full::from(hello.clone())).unwrap();
        request.headers_mut().insert(name, value.parse().unwrap());
        let refused = client.send(request).await;
        assert_eq!(refused.status, 403, "{name}");
        assert!(refused.error().contains(part), "{}", refused.text);
    }
    assert!(server.backend.uses.lock().unwrap().is_empty());
}

#[tokio::test]
async fn sessions_of_each_revision_list_and_call() {
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let server = Server::new();
        let mut client = server.session("alice", revision).await;
        let listed = client.ask("tools/list", json!({})).await.message();
        assert_eq!(listed["result"]["tools"][0]["name"], "read_file", "{listed}");
        let meta = json!({ "progressToken": "p" });
        let params = json!({ "name": "echo", "arguments": { "a": 1 }, "_meta": meta });
        let called = client.ask("tools/call", params).await;
        let messages = called.messages();
        let done: Vec<_> =
            messages.iter().filter_map(|m| m["params"]["progress"].as_f64()).collect();
        assert_eq!(done, [1.0, 2.0], "{revision}: {}", called.text);
        assert_eq!(called.message()["result"]["content"][0]["text"], r#"{"a":1}"#, "{revision}");
        let used = server.backend.uses.lock().unwrap()[0].clone();
        assert!(used.session_id.starts_with("mcp-") && !used.has_forms, "{used:?}");
    }
}

#[tokio::test]
async fn requests_stand_by_themselves_in_the_newest_revision() {
    let server = Server::new();
    let mut client = server.client("alice").await;
    let found = client.ask_alone("server/discover", json!({})).await.message();
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let listed = client.ask_alone("tools/list", json!({})).await.message();
    assert_eq!(listed["result"]["ttlMs"], 60_000, "{listed}");
    let params = json!({ "name": "echo", "arguments": { "b": 2 } });
    let called = client.ask_alone("tools/call", params).await;
    assert_eq!(called.message()["result"]["content"][0]["text"], r#"{"b":2}"#);
    assert_eq!(server.backend.uses.lock().unwrap()[0].session_id, SESSIONLESS);
}

#[tokio::test]
async fn the_newest_revision_has_no_sessions_to_begin() {
    let server = Server::new();
    let mut client = server.client("alice").await;
    client.revision = Some("2026-07-28");
    let hello = client.post(initialize("2025-11-25").to_string()).await;
    assert_eq!((hello.status, hello.message()["error"]["code"].as_i64()), (404, Some(-32601)));
    assert_eq!(hello.message()["id"], 0, "{}", hello.text);
    assert!(hello.error().contains("server/discover"), "{}", hello.text);
}

#[tokio::test]
async fn arguments_stay_the_text_that_came() {
    let server = Server::new();
    let mut client = server.session("alice", "2025-06-18").await;
    let twice = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"a":1, "a":2}}}"#;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{{"name":"echo","arguments":{{"a":{}{}}}}}}}"#,
        "[".repeat(5_000),
        "]".repeat(5_000)
    );
    assert!(client.post(twice).await.text.contains(r#"{\"a\":1, \"a\":2}"#));
    assert_eq!(client.post(deep).await.status, 200);
    let uses = server.backend.uses.lock().unwrap();
    assert_eq!(uses[0].arguments_json, r#"{"a":1, "a":2}"#);
    assert_eq!(uses[1].arguments_json.len(), 10_000 + r#"{"a":}"#.len());
}

#[tokio::test]
async fn a_session_is_used_by_who_opened_it_with_its_set() {
    let server = Server::new();
    let mut alice = server.session("alice", "2025-11-25").await;
    let mut bob = server.client("bob").await;
    bob.session.clone_from(&alice.session);
    bob.revision = alice.revision;
    for method in ["tools/list", "tools/call", "ping"] {
        let stolen = bob.ask(method, json!({ "name": "echo" })).await;
        assert_eq!(stolen.status, 404, "{method}: {}", stolen.text);
    }
    let request = bob.request("DELETE").body(Full::default()).unwrap();
    assert_eq!(bob.send(request).await.status, 404);
    alice.path = "/mcp/all";
    assert_eq!(alice.ask("tools/list", json!({})).await.status, 404);
    alice.path = PATH;
    assert_eq!(alice.ask("tools/list", json!({})).await.status, 200);
    let again = alice.post(initialize("2025-11-25").to_string()).await;
    assert!(again.error().contains("initialized already"), "{}", again.text);
    let request = alice.request("DELETE").body(Full::default()).unwrap();
    assert_eq!(alice.send(request).await.status, 204);
    assert_eq!(alice.ask("tools/list", json!({})).await.status, 404);
}

#[tokio::test]
async fn sets_have_paths_of_their_own() {
    let server = Server::new();
    let mut client = server.client("alice").await;
    for (path, first) in [("/mcp", "read_file"), ("/mcp/", "read_file"), ("/mcp/all", "echo")] {
        client.path = path;
        let listed = client.ask_alone("tools/list", json!({})).await.message();
        assert_eq!(listed["result"]["tools"][0]["name"], first, "{path}");
    }
    client.path = "/mcp/review";
    let refused = client.ask_alone("tools/call", json!({ "name": "echo" })).await.message();
    assert!(refused["error"]["message"].as_str().unwrap().contains("`review`"), "{refused}");
    for path in ["/mcp/none", "/", "/mcpx", "/mcp/all/x", "/mcp/%61ll"] {
        client.path = path;
        let missing = client.ask_alone("tools/list", json!({})).await;
        assert_eq!(missing.status, 404, "{path}");
        let expected = format!("there is nothing at `{path}`");
        assert!(missing.error().contains(&expected), "{}", missing.text);
    }
}

#[tokio::test]
async fn what_is_no_message_is_refused_and_says_why() {
    let server = Server::new();
    let mut client = server.session("alice", "2025-06-18").await;
    for (body, part) in [
        (&b"[]"[..], "send each message by itself, in a request of its own"),
        (b"5", "expected an object"),
        (b"{", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b"", "no message"),
        (b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", "`jsonrpc`"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", "`id`"),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":1,\"a\":2}}",
            "twice",
        ),
    ] {
        let refused = client.post(body.to_vec()).await;
        assert_eq!(refused.status, 400, "{}", refused.text);
        assert!(refused.error().contains(part), "{}", refused.text);
    }
    let unknown = client.ask("tools/none", json!({})).await.message();
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    assert_eq!(client.ask("ping", json!({})).await.status, 200);
    client.session = None;
    assert_eq!(client.ask("tools/list", json!({})).await.status, 400);
}

#[tokio::test]
async fn a_body_that_says_it_is_too_long_is_refused_before_any_of_it_comes() {
    let server = Server::new();
    let (mut near, far) = tokio::io::duplex(1 << 16);
    let (front, door) = (server.front.clone(), Arc::new(Door(Arc::clone(&server.backend))));
    let served = tokio::spawn(async move { front.serve(far, door).await });
    let head = format!(
        "POST {PATH} HTTP/1.1\r\nHost: localhost:4000\r\nAuthorization: Bearer alice\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        LINE_BYTES_MAX + 1
    );
    near.write_all(head.as_bytes()).await.unwrap();
    let mut response = String::new();
    let read = near.read_to_string(&mut response);
    tokio::time::timeout(WAIT_MAX, read).await.expect("a response in time").unwrap();
    assert!(response.starts_with("HTTP/1.1 413 "), "{response}");
    assert!(response.contains("is longer than 33554432 bytes and was dropped"), "{response}");
    tokio::time::timeout(WAIT_MAX, served).await.expect("the connection ends").unwrap();
}

#[tokio::test]
async fn ids_of_every_type_come_back_or_are_refused() {
    let server = Server::new();
    let mut client = server.session("alice", "2025-11-25").await;
    let ping = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let longest = format!("\"{}\"", "a".repeat(line::ID_BYTES_MAX));
    for id in ["0", "-7", "9007199254740993", "9223372036854775807", "\"\"", "\"7\"", &longest] {
        let got = client.post(ping(id)).await;
        assert_eq!(got.message()["id"].to_string(), id, "{}", got.text);
        assert_eq!(got.message()["result"], json!({}), "{}", got.text);
    }
    let long = format!("\"{}\"", "a".repeat(line::ID_BYTES_MAX + 1));
    for id in ["null", "true", "1.5", "[1]", "{}", "99999999999999999999", &long] {
        let got = client.post(ping(id)).await;
        assert_eq!((got.status, &got.message()["id"]), (400, &Value::Null), "{}", got.text);
        assert!(got.error().contains("`id` must be"), "{}", got.text);
    }
}

#[tokio::test]
async fn a_call_before_initialize_is_refused_in_every_revision_with_sessions() {
    let server = Server::new();
    let mut client = server.client("alice").await;
    for revision in [None, Some("2025-03-26"), Some("2025-06-18"), Some("2025-11-25")] {
        client.revision = revision;
        let refused = client.ask("tools/call", json!({ "name": "echo", "arguments": {} })).await;
        assert_eq!(refused.status, 400, "{revision:?}: {}", refused.text);
    }
    assert!(server.backend.uses.lock().unwrap().is_empty());
}

#[tokio::test]
async fn ten_megabytes_of_arguments_pass_with_a_session_and_without() {
    let server = Server::new();
    let mut session = server.session("alice", "2025-11-25").await;
    let mut alone = server.client("alice").await;
    let text = "x".repeat(10_000_000);
    let call = json!({ "name": "echo", "arguments": { "text": text } });
    for got in
        [session.ask("tools/call", call.clone()).await, alone.ask_alone("tools/call", call).await]
    {
        let message = got.message();
        assert!(message["result"]["structuredContent"]["text"] == text.as_str(), "{}", got.status);
    }
}

#[tokio::test]
async fn a_call_ends_when_its_client_is_gone() {
    let server = Server::new();
    let mut client = server.client("alice").await;
    let (sender, hung) = oneshot::channel();
    *server.backend.hung.lock().unwrap() = Some(sender);
    let params = stateless(json!({ "name": "hang" }));
    let message = client.message("tools/call", params).to_string();
    let request = client
        .request("POST")
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", "hang")
        .header("MCP-Protocol-Version", "2026-07-28");
    let sent = client.sender.send_request(request.body(Full::from(message)).unwrap());
    let sent = tokio::spawn(sent);
    let is_running = async {
        while server.backend.uses.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(WAIT_MAX, is_running).await.expect("the call runs");
    client.task.abort();
    tokio::time::timeout(WAIT_MAX, hung).await.expect("it is dropped in time").unwrap();
    sent.abort();
}

#[tokio::test]
async fn a_response_without_room_ends_with_an_error_and_small_ones_go_on() {
    let server = Server::new();
    let all = server.front.shared.responses.of("alice").hold(128 << 20).unwrap();
    let mut session = server.session("alice", "2025-11-25").await;
    let mut alone = server.client("alice").await;
    let mut other = server.client("bob").await;
    let large = json!({ "name": "echo", "arguments": { "text": "x".repeat(100_000) } });
    let small = json!({ "name": "echo", "arguments": {} });
    for got in [
        session.ask("tools/call", large.clone()).await,
        alone.ask_alone("tools/call", large.clone()).await,
    ] {
        let error = got.messages().pop().unwrap();
        assert_eq!(error["error"]["code"], -32_000, "{}", got.text);
        assert!(error["id"].is_number(), "{}", got.text);
        assert!(got.error().contains("does not fit"), "{}", got.text);
    }
    assert_eq!(session.ask("tools/call", small.clone()).await.status, 200);
    let others = other.ask_alone("tools/call", large.clone()).await;
    assert_eq!(others.message()["result"]["isError"], false, "{}", others.text);
    drop(all);
    for got in
        [session.ask("tools/call", large.clone()).await, alone.ask_alone("tools/call", large).await]
    {
        assert!(got.text.len() > 100_000 && got.messages().pop().unwrap()["error"].is_null());
    }
    // Nothing is held once it was read.
    server.front.shared.responses.of("alice").hold(128 << 20).unwrap();
}

#[tokio::test]
async fn a_call_in_a_session_is_cancelled_by_its_id_which_is_used_once() {
    let server = Server::new();
    let mut client = server.session("alice", "2025-11-25").await;
    let (sender, hung) = oneshot::channel();
    *server.backend.hung.lock().unwrap() = Some(sender);
    let mut other = server.client("alice").await;
    other.session.clone_from(&client.session);
    other.revision = client.revision;
    let call = json!({ "jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": { "name": "hang" } });
    let call = call.to_string();
    let same = call.clone();
    let running = tokio::spawn(async move { client.post(call).await });
    let is_running = async {
        while server.backend.uses.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(WAIT_MAX, is_running).await.expect("the call runs");
    let twice = other.post(same).await;
    assert!(twice.error().contains("the id x still runs"), "{}", twice.text);
    let params = json!({ "requestId": "x" });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    assert_eq!(other.post(cancel.to_string()).await.status, 202);
    tokio::time::timeout(WAIT_MAX, hung).await.expect("it is dropped in time").unwrap();
    tokio::time::timeout(WAIT_MAX, running).await.expect("its stream ends").unwrap();
}

#[tokio::test]
async fn nothing_is_kept_of_streams_that_have_ended() {
    let server = Server::new();
    let mut client = server.session("alice", "2025-11-25").await;
    let mut other = server.client("alice").await;
    other.session.clone_from(&client.session);
    other.revision = client.revision;
    let done = other.ask("tools/call", json!({ "name": "echo", "arguments": {} })).await;
    let call = json!({ "jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": { "name": "hang" } });
    let call = call.to_string();
    let running = tokio::spawn(async move { client.post(call).await });
    server.uses(2).await;
    let params = json!({ "requestId": "x" });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    assert_eq!(other.post(cancel.to_string()).await.status, 202);
    let cancelled = tokio::time::timeout(WAIT_MAX, running).await.expect("its stream ends");
    for ended in [done, cancelled.unwrap()] {
        let ids = ended.text.lines().filter_map(|line| line.strip_prefix("id:"));
        let first = ids.map(str::trim).next().expect("its events have ids");
        let request = other.request("GET").header("Last-Event-ID", first);
        let resumed = other.send(request.body(Full::default()).unwrap()).await;
        assert_eq!((resumed.status, resumed.text.as_str()), (200, ""), "{first}");
    }
}

#[tokio::test]
async fn a_call_whose_connection_is_gone_holds_its_id_and_its_room_until_it_ends() {
    let server = Server::new();
    let mut other = server.client("alice").await;
    let (call, hung) = server.lost_call("alice", &mut other, 20 << 20).await;
    let twice = other.post(call).await;
    assert!(twice.error().contains("the id x still runs"), "{}", twice.text);
    let room = server.front.shared.bodies.of("alice");
    let large = || room.read(Full::from(vec![b'x'; LINE_BYTES_MAX]));
    let first = large().await.unwrap();
    assert!(large().await.is_err(), "the body of the call is held, too");
    let params = json!({ "requestId": "x" });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    assert_eq!(other.post(cancel.to_string()).await.status, 202);
    tokio::time::timeout(WAIT_MAX, hung).await.expect("it is dropped in time").unwrap();
    let is_free = async {
        while large().await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(WAIT_MAX, is_free).await.expect("its room is free in time");
    drop(first);
    let echo = json!({ "jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": { "name": "echo" } });
    let again = other.post(echo.to_string()).await;
    assert_eq!(again.message()["result"]["isError"], false, "{}", again.text);
}

#[tokio::test]
async fn a_session_that_is_deleted_cancels_calls_whose_connection_is_gone() {
    let server = Server::new();
    let mut other = server.client("alice").await;
    let (_, mut hung) = server.lost_call("alice", &mut other, 0).await;
    assert!(hung.try_recv().is_err(), "the call goes on without its connection");
    let request = other.request("DELETE").body(Full::default()).unwrap();
    assert_eq!(other.send(request).await.status, 204);
    tokio::time::timeout(WAIT_MAX, hung).await.expect("it is dropped in time").unwrap();
}

#[tokio::test]
async fn one_caller_does_not_take_all_sessions() {
    let server = Server::new();
    let mut alice = server.client("alice").await;
    let hello = initialize("2025-06-18").to_string();
    let mut last = String::new();
    for _ in 0..500 {
        let opened = alice.post(hello.clone()).await;
        assert_eq!(opened.status, 200, "{}", opened.text);
        last = opened.head[sessions::SESSION_HEADER].to_str().unwrap().to_owned();
    }
    let full = alice.post(hello.clone()).await;
    assert_eq!(full.status, 503);
    assert!(full.error().contains("has 500 sessions"), "{}", full.text);
    let mut bob = server.session("bob", "2025-06-18").await;
    assert_eq!(bob.ask("tools/list", json!({})).await.status, 200);
    alice.session = Some(last);
    let request = alice.request("DELETE").body(Full::default()).unwrap();
    assert_eq!(alice.send(request).await.status, 204);
    alice.session = None;
    assert_eq!(alice.post(hello).await.status, 200);
}

#[tokio::test]
async fn a_thousand_sessions_of_several_callers_are_open_and_no_more() {
    let server = Server::new();
    let hello = initialize("2025-11-25").to_string();
    let mut opened = Vec::new();
    for credential in ["alice", "bob"] {
        let mut client = server.client(credential).await;
        for _ in 0..500 {
            let got = client.post(hello.clone()).await;
            assert_eq!(got.status, 200, "{}", got.text);
            opened.push((
                credential,
                got.head[sessions::SESSION_HEADER].to_str().unwrap().to_owned(),
            ));
        }
    }
    let mut carol = server.client("carol").await;
    let full = carol.post(hello).await;
    assert_eq!(full.status, 503);
    assert!(full.error().contains("1000 sessions are open already"), "{}", full.text);
    // Who needs no session gets on, and every session works.
    assert_eq!(carol.ask_alone("tools/list", json!({})).await.status, 200);
    for (credential, session) in [&opened[0], &opened[499], &opened[500], &opened[999]] {
        let mut client = server.client(credential).await;
        client.session = Some(session.clone());
        client.revision = Some("2025-11-25");
        let called = client.ask("tools/call", json!({ "name": "echo", "arguments": {} })).await;
        assert_eq!(called.message()["result"]["isError"], false, "{}", called.text);
    }
}
