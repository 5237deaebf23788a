//! A client of `moss serve --mcp` that writes requests as clients write them, each on a connection of
//! its own, and reads what comes back.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::harness::{BOUND, Daemon};

/// The revision without sessions.
pub(crate) const NEWEST: &str = "2026-07-28";

/// A client of the port.
pub(crate) struct HttpClient {
    port: u16,
    token: String,
    path: String,
    revision: String,
    session: Option<String>,
    /// The one of several that it names.
    workspace: Option<String>,
    next_id: u64,
}

/// A response.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

/// The port on which a daemon speaks MCP.
pub(crate) fn port(daemon: &Daemon) -> u16 {
    let log = daemon.log();
    let (_, rest) = log.split_once("MCP on http://127.0.0.1:").expect("it speaks MCP on a port");
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

// === impl HttpClient ===

impl HttpClient {
    /// A client of the revision without sessions.
    pub(crate) fn alone(daemon: &Daemon, token: &str) -> Self {
        let (token, path, revision) = (token.to_owned(), "/mcp".to_owned(), NEWEST.to_owned());
        let (port, session, workspace) = (port(daemon), None, None);
        Self { port, token, path, revision, session, workspace, next_id: 0 }
    }

    /// The same client in a workspace that it names.
    pub(crate) fn in_workspace(self, workspace: Option<&str>) -> Self {
        Self { workspace: workspace.map(ToOwned::to_owned), ..self }
    }

    /// A client that has agreed on a session.
    pub(crate) fn session(daemon: &Daemon, token: &str, revision: &str) -> Self {
        Self::session_in(daemon, token, revision, None)
    }

    /// The same in a workspace that it names.
    pub(crate) fn session_in(
        daemon: &Daemon,
        token: &str,
        revision: &str,
        workspace: Option<&str>,
    ) -> Self {
        let mut client = Self { revision: revision.to_owned(), ..Self::alone(daemon, token) };
        client = client.in_workspace(workspace);
        let hello = client.initialize();
        assert_eq!(hello.message()["result"]["protocolVersion"], revision, "{hello:?}");
        client.session = hello.header("mcp-session-id");
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.post(&initialized.to_string(), &[]).status, 202);
        client
    }

    /// The same client of another set.
    pub(crate) fn of_set(mut self, set: &str) -> Self {
        self.path = format!("/mcp/{set}");
        self
    }

    /// Names the session of another client as its own.
    pub(crate) fn take_session_of(&mut self, other: &Self) {
        self.session.clone_from(&other.session);
    }

    /// Sends what opens a session.
    pub(crate) fn initialize(&mut self) -> HttpResponse {
        let info = json!({ "name": "test", "version": "1" });
        let params = json!({
            "protocolVersion": self.revision, "capabilities": {}, "clientInfo": info,
        });
        let message = self.message("initialize", params);
        self.post(&message.to_string(), &[])
    }

    fn message(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params })
    }

    /// Makes a request and returns the response as it came.
    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> HttpResponse {
        let mut headers = Vec::new();
        if self.revision == NEWEST {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = NEWEST.into();
            meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "1" });
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
            headers.push(("Mcp-Method", method.to_owned()));
            if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
                headers.push(("Mcp-Name", name.to_owned()));
            }
        }
        let message = self.message(method, params).to_string();
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.post(&message, &headers)
    }

    /// Makes a request and returns the message that responds to it.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.ask(method, params).message()
    }

    /// Calls a tool and returns the result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let response = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        response.get("result").unwrap_or_else(|| panic!("{response}")).clone()
    }

    /// Sends a message, with further headers; one of the same name takes the place of ours.
    pub(crate) fn post(&self, message: &str, headers: &[(&str, &str)]) -> HttpResponse {
        self.send("POST", message, headers)
    }

    /// Sends a request of any method.
    pub(crate) fn send(&self, method: &str, body: &str, headers: &[(&str, &str)]) -> HttpResponse {
        let mut stream = self.begin(method, body, headers);
        let mut response = Vec::new();
        stream.read_to_end(&mut response).unwrap();
        HttpResponse::read(&String::from_utf8(response).unwrap())
    }

    /// Sends a request; the response is left to the caller.
    pub(crate) fn begin(&self, method: &str, body: &str, headers: &[(&str, &str)]) -> TcpStream {
        let (host, length) = (format!("127.0.0.1:{}", self.port), body.len().to_string());
        let bearer = format!("Bearer {}", self.token);
        let mut all = vec![
            ("Host", host.as_str()),
            ("Connection", "close"),
            ("Authorization", &bearer),
            ("Content-Type", "application/json"),
            ("Content-Length", &length),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", &self.revision),
        ];
        if let Some(session) = &self.session {
            all.push(("Mcp-Session-Id", session));
        }
        if let Some(workspace) = &self.workspace {
            all.push(("Moss-Workspace", workspace));
        }
        all.retain(|(name, _)| headers.iter().all(|(other, _)| other != name));
        all.extend(headers);
        let mut head = format!("{method} {} HTTP/1.1\r\n", self.path);
        all.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        stream
    }
}

// === impl HttpResponse ===

impl HttpResponse {
    fn read(text: &str) -> Self {
        let (head, rest) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
        let mut response = Self {
            status: status.expect("a status"),
            head: head.to_owned(),
            body: rest.to_owned(),
        };
        if response.header("transfer-encoding").as_deref() == Some("chunked") {
            response.body = unchunked(rest);
        }
        response
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    }

    /// The last message: of a stream of events, the response.
    pub(crate) fn message(&self) -> Value {
        let is_stream = self.header("content-type").as_deref() == Some("text/event-stream");
        let text = match is_stream {
            true => {
                let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
                data.map(str::trim).rfind(|data| !data.is_empty()).unwrap_or_default()
            }
            false => &self.body,
        };
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// What an error says.
    #[track_caller]
    pub(crate) fn error(&self) -> String {
        let message = self.message();
        message["error"]["message"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }
}

fn unchunked(mut text: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = text.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            break;
        }
        whole.push_str(&rest[..size]);
        text = &rest[size + 2..];
    }
    whole
}
